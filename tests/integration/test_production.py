"""The topology of a small production as plain processes: PostgreSQL, S3, two tablet servers, a Spark cluster."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from streamhouse.project.project import Project
from streamhouse.services.ports import LOOPBACK
from streamhouse.services.services import Services
from streamhouse.stores.fluss.catalog import FlussCatalog
from streamhouse.stores.fluss.wire.cluster import Wire
from tests.flows import assert_equals_batch, drop_tables
from tests.gate.levels import deep, soak
from tests.kills import run
from tests.patience import SOAKING
from tests.production import object_store, postgres, second_tablet_server, spark_cluster

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "tests" / "fixtures" / "spread_sinks"
FLOW = "spread"
SECRET = "a-secret-that-no-process-may-show"
LOG = "ods.spread_log"
PARTITIONS = "reader_takes_up or at_that_moment or made_anew or (by_days and key)"

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("a state store on PostgreSQL, and a cluster of two tablet servers and Spark workers"),
]


@pytest.fixture(scope="module")
def database():
    with postgres() as url:
        yield url


def pass_with(tests, **environment):
    """Run tests in a process of their own, over what the environment names."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *tests],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout


def test_the_state_store_is_the_same_on_postgresql(database):
    pass_with(["tests/unit/state"], STREAMHOUSE_TEST_DATABASE=database)


@pytest.fixture
def lake(tmp_path):
    """The variables by which processes reach an object store with the bucket `lake`."""
    with object_store(tmp_path / "objects", "lake") as variables:
        yield variables


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A Fluss of two tablet servers."""
    folder = tmp_path_factory.mktemp("fluss")
    services = Services(folder / "cluster")
    try:
        address = services.up().fluss
        with second_tablet_server(folder / "cluster", folder / "second"):
            yield address
    finally:
        services.down()


@soak
def test_partitions_on_two_tablet_servers(cluster):
    """Rows, reads, drops and tiering of partitioned tables, as on one."""
    chosen = [] if SOAKING else ["-k", PARTITIONS]
    contract, histories = "tests/contract/test_hot_partitions.py", "tests/integration/test_reading_histories.py"
    pass_with(
        [contract, f"{histories}::test_hot_and_warm_by_days_that_are_dropped", *chosen], STREAMHOUSE_TEST_FLUSS=cluster
    )


def test_a_flow_on_two_tablet_servers_a_spark_cluster_and_postgresql(
    tmp_path, cluster, database, lake, spark, monkeypatch
):
    root = tmp_path / "project"
    shutil.copytree(PROJECT, root)
    for name, value in lake.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("STREAMHOUSE_WARM", "s3://lake/warm")
    monkeypatch.setenv("STREAMHOUSE_FLUSS", cluster)
    monkeypatch.setenv("STREAMHOUSE_STATE", database)
    monkeypatch.setenv("STREAMHOUSE_COLD", spark.conf.get("spark.sql.catalog.cold.warehouse"))
    project = Project.at(root)
    with spark_cluster(tmp_path / "spark", 2, os.environ, SECRET) as master:
        monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", master)
        monkeypatch.setenv("SPARK_LOCAL_IP", LOOPBACK)
        code, printed = run(project, FLOW)
        assert code == 0, printed
        assert "Traceback" not in printed
        executors = list((tmp_path / "spark").glob("worker*/app-*"))
        assert {folder.parent.name for folder in executors} == {"worker0", "worker1"}
    logs = [file for folder in (tmp_path / "spark", root / ".streamhouse" / "logs") for file in folder.rglob("*")]
    shown = [file for file in logs if file.is_file() and SECRET.encode() in file.read_bytes()]
    assert [file.name for file in shown] == ["spark-defaults.conf"]
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
    assert not (root / ".streamhouse" / "state.db").exists()
    with project.state() as state:
        assert state.overview.rows_written()[LOG] > 0
    with Wire(cluster) as wire:
        assert len(set(FlussCatalog(wire).locate(LOG).leaders.values())) == 2
    assert_equals_batch(project, FLOW, spark)
    drop_tables(project, FLOW, spark)
