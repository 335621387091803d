"""What a Spark context is started with."""

import os

import pytest

from streamhouse.spark.launch import of_context, on_class_path

JARS = {"spark.jars": "/a.jar,/b.jar"}


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]", "local[2,3]"])
def test_an_executor_in_the_process_of_the_driver_copies_no_jars(master):
    options = {**JARS, "spark.master": master, "spark.app.name": "a"}
    assert of_context(options, is_new=True) == {**options, "spark.jars": ""}


@pytest.mark.parametrize("master", ["local-cluster[2,1,1024]", "spark://localhost:7077", "k8s://https://a", "yarn"])
def test_executors_elsewhere_fetch_them(master):
    options = {**JARS, "spark.master": master}
    assert of_context(options, is_new=True) == options


def test_so_does_the_executor_of_a_java_process_that_an_earlier_session_started():
    options = {**JARS, "spark.master": "local[2]"}
    assert of_context(options, is_new=False) == options


@pytest.mark.parametrize(
    ("before", "jars", "seen"),
    [
        (None, ["/a.jar", "/b.jar"], "/a.jar:/b.jar"),
        ("/own/*", ["/a.jar"], "/own/*:/a.jar"),
        ("/own/*", [""], "/own/*"),
        (None, [""], None),
    ],
)
def test_jars_come_after_what_is_on_the_class_path_and_only_while_java_starts(monkeypatch, before, jars, seen):
    name = "SPARK_DIST_CLASSPATH"
    monkeypatch.setenv(name, "")
    monkeypatch.delenv(name)
    if before is not None:
        monkeypatch.setenv(name, before)
    with on_class_path(jars):
        assert os.environ.get(name) == seen
    assert os.environ.get(name) == before
