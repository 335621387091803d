"""All queries of Nexmark in one flow, over events that come in parts and out of order: each result equals the batch."""

import shutil
from pathlib import Path

import pytest

from benchmarks.nexmark_parts.events import STREAMS, Load, generate, write
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.plan import FlowPlan
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests.gate.levels import deep
from tests.golden import Golden
from tests.oracle import assert_same_rows, batch

pytestmark = deep(
    "all queries of a corpus; test_histories.py and spark/test_strategies_exact.py have each strategy",
    only=("test_every_query_equals_the_batch",),
)

EXAMPLE = Path(__file__).parents[2] / "examples" / "nexmark"
STRATEGIES = Path(__file__).parents[1] / "fixtures" / "nexmark" / "strategies.txt"
LOAD = Load(events=9000, rate=100)  # 90 seconds of event time, late by up to two
PARTS = 3
QUERIES = 23


@pytest.fixture
def root(tmp_path):
    for folder in ("actions", "flows"):
        shutil.copytree(EXAMPLE / folder, tmp_path / folder)
    for stream in STREAMS:
        (tmp_path / "data" / stream).mkdir(parents=True)
    return tmp_path


def test_events_are_the_same_for_the_same_seed():
    whole, again = generate(LOAD, 0, LOAD.events), generate(LOAD, 0, LOAD.events)
    assert whole == again
    assert generate(Load(events=9000, seed=2, rate=100), 0, LOAD.events) != whole
    assert {name: rows.num_rows for name, rows in whole.items()} == {"person": 180, "auction": 540, "bid": 8280}
    assert len(whole["bid"]["dateTime"].unique()) == 8280


def test_strategies(root, golden: Golden):
    for _ in write(LOAD, root / "data", parts=PARTS):
        pass
    plan = plan_of(Project(root, Settings()), "nexmark")
    assert len({number_of(name) for name in results_of(plan)}) == QUERIES
    golden("".join(f"{step.id}: {step.strategy}\n" for step in sorted(plan.steps, key=order)), STRATEGIES)


@pytest.mark.services
@pytest.mark.spark
def test_every_query_equals_the_batch(root, spark, fluss):
    project = Project(root, Settings(fluss=fluss))
    stores = open_stores(project, spark, fluss)
    plan, epochs = None, 0
    try:
        for _ in write(LOAD, root / "data", parts=PARTS):
            plan = plan or plan_of(project, "nexmark")
            with project.state() as state:
                open_ = Open(project, spark, fluss, stores, state)
                epochs += carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True).epochs
        assert epochs >= PARTS
        sources = {}
        for source in plan.sources:
            opened = open_source(source, root)
            sources[source.name] = opened.read({}, opened.available())
        for name, expected in batch(spark, plan, sources).items():
            table = plan.tables[name]
            assert expected.num_rows, f"{name} has no rows: the data does not test it"
            actual = stores[table.tiers.target].read_state(table)
            assert_same_rows(actual, expected, key=table.primary_key, name=name)
    finally:
        for table in plan.tables.values() if plan else ():
            stores[table.tiers.target].drop(table.name)
        for store in stores.values():
            store.close()


def results_of(plan: FlowPlan) -> list[str]:
    return [name for name in plan.tables if not name.startswith("ods.")]


def number_of(name: str) -> int:
    return int(name.split(".q")[1].split("_", maxsplit=1)[0])


def order(step):
    return (number_of(step.id), step.id) if ".q" in step.id else (-1, step.id)
