"""An archive of Spark's classes is used where it is, and Spark starts without it where it cannot be."""

import pytest

from streamhouse.spark.class_archive import archive


@pytest.fixture(autouse=True)
def no_options(monkeypatch):
    monkeypatch.delenv("SPARK_SUBMIT_OPTS", raising=False)


def told(folder, exercise="streamhouse.runtime.exercise"):
    said = []
    return archive(folder, exercise, said.append), said


def test_one_that_is_there_is_used_and_nothing_is_said(tmp_path):
    (tmp_path / "classes.jsa").touch()
    (first, *_), said = told(tmp_path)
    assert (first, said) == (f"-XX:SharedArchiveFile={tmp_path / 'classes.jsa'}", [])


def test_what_could_not_be_made_is_not_tried_again(tmp_path):
    (tmp_path / "classes.refused").write_text("exit 1")
    assert told(tmp_path) == ([], [])


def test_where_nothing_can_be_written_spark_starts_without(tmp_path):
    (tmp_path / "file").touch()
    assert told(tmp_path / "file" / "spark") == ([], [])


def test_the_process_that_makes_it_makes_no_other(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-XX:ArchiveClassesAtExit=x.jsa")
    assert told(tmp_path / "spark") == ([], [])
    assert not (tmp_path / "spark").exists()


def test_a_failure_is_kept_for_whoever_looks(tmp_path, monkeypatch):
    options, said = told(tmp_path, "streamhouse.no_such_module")
    assert (options, said) == ([], ["preparing Spark's classes, once"])
    kept = (tmp_path / "classes.refused").read_text()
    assert kept.startswith("exit 1\n")
    assert "no_such_module" in kept
    assert told(tmp_path) == ([], [])
