import re
import subprocess
from pathlib import Path

import pytest

from streamhouse.errors import EnvironmentProblem
from streamhouse.jobs.submit import cluster_conf, is_cluster, properties_text, submit, submit_words
from streamhouse.project.project import Project
from streamhouse.project.settings import SparkSettings
from streamhouse.runtime.session import _TUNED

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


@pytest.mark.parametrize(
    ("master", "driver"), [("yarn", "spark.yarn.appMasterEnv"), ("k8s://https://h:6443", "spark.kubernetes.driverEnv")]
)
def test_a_driver_elsewhere_has_our_variables(master, driver):
    given = {"STREAMHOUSE_STATE": "postgresql://db", "AWS_SECRET_ACCESS_KEY": "hush", "HOME": "/root"}
    conf = cluster_conf(SparkSettings(master=master, conf={"spark.pyspark.python": "/there/python"}), given)
    assert conf == {
        "spark.pyspark.python": "/there/python",
        f"{driver}.STREAMHOUSE_STATE": "postgresql://db",
        f"{driver}.AWS_SECRET_ACCESS_KEY": "hush",
        "spark.executorEnv.AWS_SECRET_ACCESS_KEY": "hush",
    }


def test_a_shell_of_yarn_gives_variables_as_they_are():
    value = '{"spark.a": "$HOME `b` c\\\\d \'"}'
    conf = cluster_conf(SparkSettings(master="yarn"), {"STREAMHOUSE_SPARK_CONF": value})
    script = f'X="{conf["spark.yarn.appMasterEnv.STREAMHOUSE_SPARK_CONF"]}"; printf %s "$X"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == value
    on_kubernetes = cluster_conf(SparkSettings(master="k8s://https://h:6443"), {"STREAMHOUSE_SPARK_CONF": value})
    assert on_kubernetes["spark.kubernetes.driverEnv.STREAMHOUSE_SPARK_CONF"] == value


def test_pages_of_spark_show_none_of_them():
    given = {"STREAMHOUSE_STATE": "x", "STREAMHOUSE_COLD_CATALOG": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    hidden = re.compile(_TUNED["spark.redaction.regex"])
    secret = [*cluster_conf(SparkSettings(master="yarn"), given), "spark.sql.catalog.cold.uri"]
    assert [key for key in secret if not hidden.search(key)] == ["spark.pyspark.python"]


FLOW = """\
flow: shop
sources: {orders: {files: {path: "data/*.jsonl"}}}
steps: [{use: keep, reads: {rows: orders}, writes: ods.orders}]
tables: {ods.orders: {tiers: {TIER: forever}}}
"""
KEEP = """\
/* ---
action: keep
step: ingest
inputs: {rows: {order_id: bigint}}
--- */
SELECT order_id FROM rows
"""


@pytest.mark.parametrize(
    ("tier", "given", "lacking"),
    [
        ("hot", {"WARM": "s3://bucket/warm"}, "fluss, state, cold"),
        ("warm", {"WARM": "s3://bucket/warm"}, "state, cold"),
        ("warm", {"COLD_CATALOG": "http://catalog", "COLD": "lake"}, "state, warm"),
    ],
)
def test_what_is_on_this_machine_alone_is_refused(tmp_path, monkeypatch, tier, given, lacking):
    for name, text in (
        ("flows/shop.yaml", FLOW.replace("TIER", tier)),
        ("actions/keep.sql", KEEP),
        ("data/a.jsonl", '{"order_id": 1}\n'),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for variable in ("FLUSS", "STATE", "WARM", "COLD", "COLD_CATALOG"):
        monkeypatch.delenv(f"STREAMHOUSE_{variable}", raising=False)
    for variable, value in given.items():
        monkeypatch.setenv(f"STREAMHOUSE_{variable}", value)
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "yarn")
    with pytest.raises(EnvironmentProblem, match=f"on this machine: {lacking}\n"):
        submit(Project.at(tmp_path), "main", [], ["shop"])
