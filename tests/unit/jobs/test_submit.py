from pathlib import Path

import pytest

from streamhouse.errors import EnvironmentProblem
from streamhouse.jobs.submit import is_cluster, properties_text, submit, submit_words
from streamhouse.project.project import Project
from streamhouse.project.settings import SparkSettings

GOLDEN = Path(__file__).parents[2] / "fixtures" / "submit"


@pytest.mark.parametrize(
    ("master", "cluster"),
    [
        ("local[*]", False),
        ("local", False),
        ("spark://host:7077", False),
        ("yarn", True),
        ("k8s://https://h:6443", True),
    ],
)
def test_who_places_the_driver(master, cluster):
    assert is_cluster(SparkSettings(master=master)) is cluster


@pytest.mark.parametrize(("name", "master"), [("yarn", "yarn"), ("kubernetes", "k8s://https://kube:6443")])
def test_the_call(name, master, golden):
    words = submit_words(
        SparkSettings(master=master, conf={"spark.hadoop.fs.s3a.secret.key": "hush"}),
        program="/opt/spark/bin/spark-submit",
        name="streamhouse-shop-main",
        application=Path("/opt/engine/streamhouse/cli/cluster_app.py"),
        jars=[Path("/jars/a.jar"), Path("/jars/b.jar")],
        properties=Path("/shop/.streamhouse/cache/submit/main.properties"),
        arguments=["runner", "start", "--name", "main", "--foreground", "--project", "/shop"],
    )
    assert not any("hush" in word for word in words)
    golden("\n".join(words) + "\n", GOLDEN / f"{name}.txt")


def test_settings_are_written_as_java_reads_them(golden):
    conf = {
        "spark.executor.memory": "4g",
        "spark.hadoop.fs.s3a.secret.key": r"a\b=c:d",
        "spark.driver.extraJavaOptions": " -Da=b\n-Dc=d",
        "odd key:=": "x",
    }
    golden(properties_text(conf), GOLDEN / "settings.properties")


def test_what_is_on_this_machine_alone_is_refused(tmp_path, monkeypatch):
    (tmp_path / "flows").mkdir()
    for variable in ("STREAMHOUSE_FLUSS", "STREAMHOUSE_STATE", "STREAMHOUSE_WARM", "STREAMHOUSE_COLD"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "yarn")
    monkeypatch.setenv("STREAMHOUSE_WARM", "s3://bucket/warm")
    with pytest.raises(EnvironmentProblem, match="fluss, state, cold"):
        submit(Project.at(tmp_path), "main", [])
