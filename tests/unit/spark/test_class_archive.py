"""The process that makes the archive of Spark's classes makes no other; a failure of it is written down."""

import pytest

from streamhouse.spark.class_archive import archive


@pytest.fixture(autouse=True)
def no_options(monkeypatch):
    monkeypatch.delenv("SPARK_SUBMIT_OPTS", raising=False)


def tried(folder, exercise="streamhouse.runtime.exercise"):
    said = []
    return archive(folder, exercise, lambda stage: said.append(stage.text)), said


def test_one_that_is_there_is_used_and_nothing_is_said(tmp_path):
    (tmp_path / "classes.jsa").touch()
    (first, *_), said = tried(tmp_path)
    assert (first, said) == (f"-XX:SharedArchiveFile={tmp_path / 'classes.jsa'}", [])


def test_the_process_that_makes_it_makes_no_other(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-XX:ArchiveClassesAtExit=x.jsa")
    assert tried(tmp_path / "spark") == ([], [])
    assert not (tmp_path / "spark").exists()


def test_a_failure_is_written_down(tmp_path):
    assert tried(tmp_path, "streamhouse.no_such_module") == ([], ["preparing Spark's classes, once"])
    assert "no_such_module" in (tmp_path / "classes.refused").read_text()
