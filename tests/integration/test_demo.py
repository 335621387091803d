"""The demo, on a part of the data and on all: every table, in every tier, equals the same SQL run once as a batch."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.demo import FLOWS
from streamhouse.project.project import Project
from streamhouse.runtime.open import plan_of
from streamhouse.runtime.stores import open_stores
from tests.flows import drop_tables
from tests.gate.levels import deep
from tests.oracle import assert_same_rows, batch

ROOT = Path(__file__).parents[2]
SIZES = {"part": 40_000, "whole": 1_469_307}
"""Transactions of each size."""

pytestmark = [pytest.mark.services, pytest.mark.spark]


@pytest.fixture(
    scope="module",
    params=["part", pytest.param("whole", marks=deep("a year of rows; forty thousand of them stay"))],
)
def size(request):
    return request.param


@pytest.fixture(scope="module")
def transactions(size):
    return SIZES[size]


@pytest.fixture(scope="module")
def project(tmp_path_factory, fluss, spark, size, transactions):
    """The project of this repository, elsewhere, so that a run by hand is left alone."""
    root = tmp_path_factory.mktemp("demo")
    for folder in ("actions", "flows"):
        shutil.copytree(ROOT / folder, root / folder)
    if size == "part":
        flow = root / "flows" / "retail.yaml"
        whole = "table: transactions, speed: max"
        text = flow.read_text()
        assert whole in text
        flow.write_text(text.replace(whole, f"{whole}, limit: {transactions}"))
    settings = {
        "fluss": fluss,
        "cold": {"warehouse": spark.conf.get("spark.sql.catalog.cold.warehouse")},
        "spark": {"master": "local[2]"},
    }
    (root / "streamhouse.yaml").write_text(json.dumps(settings))
    found = Project.at(root)
    yield found
    for flow in FLOWS:  # the other size has tables of the same names
        drop_tables(found, flow, spark)


def streamhouse(project, *arguments):
    """What a command prints as JSON."""
    command = [Path(sys.executable).with_name("streamhouse"), *arguments, "--json", "--project", str(project.root)]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def first(project):
    """What the first run of the demo says."""
    return streamhouse(project, "demo")


def test_every_table_in_every_tier_equals_the_batch(first, project, spark, fluss, transactions):
    stores = open_stores(project, spark, fluss)
    known = {}
    for flow in FLOWS:
        plan = plan_of(project, flow)
        sources = {}
        for source in plan.sources:
            opened = open_source(source, project.root)
            sources[source.name] = opened.read({}, opened.available())
        expected = batch(spark, plan, sources, {table.name: known[table.name] for table in plan.external})
        known |= expected
        for name, table in plan.tables.items():
            for tier in table.tiers.present:
                held = table if tier is table.tiers.target else table.replica
                actual = stores[tier].read_state(held)
                assert_same_rows(actual, expected[name], key=table.primary_key, name=f"{name} ({tier})")
    for store in stores.values():
        store.close()
    assert known["ods.transactions"].num_rows == transactions
    assert known["ads.discount_alerts"].num_rows > 0


def test_a_second_run_finds_nothing_new_and_says_the_same(first, project):
    second = streamhouse(project, "demo")
    assert [flow["epochs"] for flow in second["flows"]] == [0, 0]
    assert all(move["rows"] == 0 for move in second["tiering"])
    assert second["results"] == first["results"]


def test_a_query_counts_the_rows_that_were_replayed(first, project, transactions):
    counted = streamhouse(project, "query", "SELECT count(*) AS n FROM ods.transactions")
    assert counted["rows"] == [{"n": transactions}]


def test_status_tells_rows_and_freshness_of_every_layer(first, project, transactions):
    status = streamhouse(project, "status", "retail")
    text = json.dumps(status)
    assert f'"ods.transactions": {transactions}' in text
    assert all(f'"{layer}"' in text for layer in ("ods", "dwd", "dws", "ads"))
