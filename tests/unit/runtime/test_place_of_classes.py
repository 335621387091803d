"""One folder for what is made of a Java and a Spark, in each process that uses both."""

import pytest

from streamhouse.install.jars import SPARK_JARS
from streamhouse.install.java import JavaInstallation
from streamhouse.runtime import session
from streamhouse.runtime.session import place_of
from streamhouse.spark.home import use_installed_python


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("STREAMHOUSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SPARK_HOME", "")
    monkeypatch.delenv("SPARK_HOME")
    return tmp_path / "cache"


@pytest.fixture
def java(tmp_path):
    return JavaInstallation(tmp_path, 17)


def test_a_process_that_inherits_the_home_of_another_has_its_archive(java, cache):
    place = place_of(java)
    assert place.parent == cache / "spark"
    use_installed_python(place / "home")  # names it in the environment, for Spark and all that is started from here
    assert place_of(java) == place


def test_another_spark_has_a_folder_of_its_own(java, tmp_path, monkeypatch):
    place = place_of(java)
    for name in ("a", "b"):
        (tmp_path / name / "jars").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    found = [place]
    for home in ("a", "b", "link"):  # the class path has the name that the environment gives
        monkeypatch.setenv("SPARK_HOME", str(tmp_path / home))
        found.append(place_of(java))
    assert len(set(found)) == 4


@pytest.mark.parametrize("name", ["HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH"])
def test_another_class_path_has_a_folder_of_its_own(java, monkeypatch, name):
    monkeypatch.delenv(name, raising=False)
    before = place_of(java)
    monkeypatch.setenv(name, "/etc/hadoop")
    assert place_of(java) != before


def test_other_jars_have_a_folder_of_their_own(java, monkeypatch):
    before = place_of(java)
    monkeypatch.setattr(session, "SPARK_JARS", SPARK_JARS[1:])
    assert place_of(java) != before
