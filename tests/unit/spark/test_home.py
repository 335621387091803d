"""Spark's home without zips."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from streamhouse.spark.home import use_installed_python


@pytest.fixture(autouse=True)
def no_home(monkeypatch):
    """No home in the environment, whatever a test leaves there."""
    monkeypatch.setenv("SPARK_HOME", "")
    monkeypatch.delenv("SPARK_HOME")


def test_it_links_to_all_but_the_zips(tmp_path):
    home = tmp_path / "cache" / "home"
    use_installed_python(home)
    package = Path(find_spec("pyspark").origin).parent
    assert os.environ["SPARK_HOME"] == str(home)
    assert (home / "jars").resolve() == package / "jars"
    assert (home / "bin" / "spark-submit").is_file()
    assert not (home / "python").exists()


def test_links_that_are_there_are_kept_and_stale_ones_replaced(tmp_path, monkeypatch):
    (tmp_path / "jars").symlink_to("/nowhere")
    for _ in range(2):
        monkeypatch.delenv("SPARK_HOME", raising=False)
        use_installed_python(tmp_path)
        assert list((tmp_path / "jars").glob("spark-core*.jar"))


def test_a_home_of_the_environment_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    use_installed_python(tmp_path / "home")
    assert os.environ["SPARK_HOME"] == "/opt/spark"
    assert not (tmp_path / "home").exists()


def test_where_no_links_can_be_made_spark_starts_as_before(tmp_path):
    (tmp_path / "file").touch()
    use_installed_python(tmp_path / "file" / "home")
    assert "SPARK_HOME" not in os.environ
