import re
import subprocess
from pathlib import Path

import pytest

from streamhouse.errors import EnvironmentProblem
from streamhouse.host.submit import (
    cluster_conf,
    is_cluster,
    shown_secrets,
    submit,
    submit_words,
    where_it_is,
)
from streamhouse.model.spark_conf import SHUT
from streamhouse.project.project import Project
from streamhouse.project.settings import SparkSettings
from streamhouse.spark.settings_file import properties_text

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
    given = {
        "STREAMHOUSE_STATE": "postgresql://db",
        "AWS_REGION": "eu-west-1",
        "HOME": "/root",
        "STREAMHOUSE_CACHE": "/here/cache",
    }
    conf = cluster_conf(SparkSettings(master=master, conf={"spark.pyspark.python": "/there/python"}), given)
    assert conf == {
        "spark.pyspark.python": "/there/python",
        "spark.driver.memory": "2g",
        "spark.log.level": "WARN",
        f"{driver}.STREAMHOUSE_STATE": "postgresql://db",
        f"{driver}.AWS_REGION": "eu-west-1",
        "spark.executorEnv.AWS_REGION": "eu-west-1",
        **SHUT,
    }


KUBERNETES = "k8s://https://h:6443"
IN_DRIVER = "spark.kubernetes.driver.secretKeyRef"


def test_what_a_secret_of_kubernetes_holds_is_handed_on_by_nobody_else():
    given = {"STREAMHOUSE_STATE": "postgresql://s:hush@db", "AWS_SECRET_ACCESS_KEY": "hush", "AWS_REGION": "r"}
    settings = {f"{IN_DRIVER}.STREAMHOUSE_STATE": "shop:state", f"{IN_DRIVER}.AWS_SECRET_ACCESS_KEY": "shop:key"}
    spark = SparkSettings(master=KUBERNETES, conf=settings)
    conf = cluster_conf(spark, given)
    assert "hush" not in properties_text(conf)
    assert conf["spark.kubernetes.executor.secretKeyRef.AWS_SECRET_ACCESS_KEY"] == "shop:key"
    assert "spark.kubernetes.executor.secretKeyRef.STREAMHOUSE_STATE" not in conf
    assert conf["spark.kubernetes.driverEnv.AWS_REGION"] == "r"
    assert shown_secrets(spark, given) == []
    whole = {f"{IN_DRIVER}.STREAMHOUSE_SPARK_CONF": "shop:conf", "spark.executor.memory": "1g"}
    spark = SparkSettings(master=KUBERNETES, conf={**whole, "spark.sql.catalog.cold.credential": "hush"})
    assert whole.items() <= cluster_conf(spark, {"STREAMHOUSE_SPARK_CONF": "hush"}).items()
    assert "hush" not in properties_text(cluster_conf(spark, {"STREAMHOUSE_SPARK_CONF": "hush"}))
    assert shown_secrets(spark, {}) == []
    other = {"spark.kubernetes.executor.secretKeyRef.AWS_SECRET_ACCESS_KEY": "read:key"}
    assert other.items() <= cluster_conf(SparkSettings(master=KUBERNETES, conf={**settings, **other}), given).items()


@pytest.mark.parametrize(
    ("environment", "conf", "shown"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "x", "AWS_ACCESS_KEY_ID": "x"}, {}, ["AWS_SECRET_ACCESS_KEY"]),
        ({"AWS_SESSION_TOKEN": "x", "AWS_WEB_IDENTITY_TOKEN_FILE": "/var/run/x"}, {}, ["AWS_SESSION_TOKEN"]),
        ({"AWS_SECRET_ACCESS_KEY": ""}, {}, []),
        ({"STREAMHOUSE_STATE": "postgresql+psycopg://s:x@db/s"}, {}, ["STREAMHOUSE_STATE"]),
        ({"STREAMHOUSE_STATE": "postgresql+psycopg://s@db/s"}, {}, []),
        ({"STREAMHOUSE_COLD_CATALOG": "jdbc:postgresql://db/i?user=a&password=x"}, {}, ["STREAMHOUSE_COLD_CATALOG"]),
        ({"STREAMHOUSE_COLD_CATALOG": "http://polaris/api"}, {}, []),
        ({"STREAMHOUSE_SECRET_KAFKA": "x"}, {}, ["STREAMHOUSE_SECRET_KAFKA"]),
        ({"STREAMHOUSE_COLD_CREDENTIAL": "a:b"}, {}, ["STREAMHOUSE_COLD_CREDENTIAL"]),
        ({}, {"spark.hadoop.fs.s3a.secret.key": "x"}, ["spark.hadoop.fs.s3a.secret.key"]),
        ({}, {"spark.sql.catalog.cold.s3.secret-access-key": "x"}, ["spark.sql.catalog.cold.s3.secret-access-key"]),
        ({}, {"spark.hadoop.fs.s3a.aws.credentials.provider": "a.Class", "spark.executor.memory": "1g"}, []),
        ({}, {"spark.kubernetes.authenticate.submission.oauthToken": "x"}, []),
        ({"AWS_SECRET_ACCESS_KEY": "x"}, {"spark.kubernetes.driverEnv.AWS_SECRET_ACCESS_KEY": "x"}, []),
    ],
)
def test_what_a_pod_would_show(environment, conf, shown):
    assert shown_secrets(SparkSettings(master=KUBERNETES, conf=conf), environment) == shown
    assert shown_secrets(SparkSettings(master="yarn", conf=conf), environment) == []


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
    hidden = re.compile(SHUT["spark.redaction.regex"])
    secret = [*cluster_conf(SparkSettings(master="yarn"), given), "spark.sql.catalog.cold.uri"]
    assert [key for key in secret if not hidden.search(key) and key not in SHUT] == [
        "spark.pyspark.python",
        "spark.driver.memory",
        "spark.log.level",
    ]


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


def shop(folder, monkeypatch, tier, given):
    for name, text in (
        ("flows/shop.yaml", FLOW.replace("TIER", tier)),
        ("actions/keep.sql", KEEP),
        ("data/a.jsonl", '{"order_id": 1}\n'),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    for variable in ("FLUSS", "STATE", "WARM", "COLD", "COLD_CATALOG"):
        monkeypatch.delenv(f"STREAMHOUSE_{variable}", raising=False)
    for variable, value in given.items():
        monkeypatch.setenv(f"STREAMHOUSE_{variable}", value)


@pytest.mark.parametrize(
    ("tier", "given", "lacking"),
    [
        ("hot", {"WARM": "s3://bucket/warm"}, "fluss, state, cold"),
        ("warm", {"WARM": "s3://bucket/warm"}, "state, cold"),
        ("warm", {"COLD_CATALOG": "http://catalog", "COLD": "lake"}, "state, warm"),
    ],
)
def test_what_is_on_this_machine_alone_is_refused(tmp_path, monkeypatch, tier, given, lacking):
    shop(tmp_path, monkeypatch, tier, {**given, "SPARK_MASTER": "yarn"})
    with pytest.raises(EnvironmentProblem, match=f"on this machine: {lacking}\n"):
        submit(Project.at(tmp_path), "main", [], ["shop"])


def test_a_secret_that_a_pod_would_show_is_refused(tmp_path, monkeypatch):
    given = {
        "STATE": "postgresql+psycopg://s:hush@db/s",
        "WARM": "s3://bucket/warm",
        "COLD": "lake",
        "COLD_CATALOG": "http://catalog",
        "SPARK_MASTER": KUBERNETES,
    }
    shop(tmp_path, monkeypatch, "warm", given)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    with pytest.raises(EnvironmentProblem) as refused:
        submit(Project.at(tmp_path), "main", [], ["shop"])
    assert "AWS_SECRET_ACCESS_KEY, STREAMHOUSE_STATE" in str(refused.value)
    assert f"{IN_DRIVER}.AWS_SECRET_ACCESS_KEY: SECRET:KEY" in str(refused.value)
    assert "hush" not in str(refused.value)
    assert not list((tmp_path / ".streamhouse").rglob("*.properties"))


@pytest.mark.parametrize(
    ("master", "conf", "place"),
    [
        ("local[*]", {}, None),
        ("spark://host:7077", {}, None),
        ("yarn", {}, "yarn application -list (its name: streamhouse-shop-main)"),
        (
            KUBERNETES,
            {"spark.kubernetes.namespace": "flows"},
            "kubectl -n flows describe pod -l spark-role=driver,spark-app-name=streamhouse-shop-main",
        ),
    ],
)
def test_where_people_look_for_a_runner_that_does_not_come(master, conf, place):
    assert where_it_is(SparkSettings(master=master, conf=conf), "shop", "main") == place


def test_the_label_of_a_pod_is_as_spark_makes_it():
    assert where_it_is(SparkSettings(master=KUBERNETES), "My_ shop", "b_").endswith("=streamhouse-my-shop-b")
