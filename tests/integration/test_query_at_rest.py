"""A project whose Fluss is down: it is started only for what no lake holds."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from streamhouse.jobs.query import QueryService
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Column, Table
from streamhouse.model.types import StepKind, Strategy, Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.owner import this_owner
from streamhouse.runtime.stores import open_stores
from streamhouse.services.services import running
from streamhouse.state.records import EpochRecord
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.tiering.move import tier
from tests.gate.levels import deep

pytestmark = [pytest.mark.services, deep("starts Fluss for a query; test_query.py has the answers")]

COLUMNS = (Column(name="id", type="bigint"), Column(name="n", type="int"))
LOG = Table(name="dwd.rest_log", columns=COLUMNS, buckets=2, tiers={"hot": "1h", "warm": "forever"})
KEYED = Table(name="dws.rest_keyed", columns=COLUMNS, primary_key=("id",), tiers={"hot": "1h", "warm": "forever"})
TABLES = (LOG, KEYED)
PLAIN = "select sum(l.n) as log, sum(k.n) as keyed from dwd.rest_log l join dws.rest_keyed k using (id)"


def step(table):
    return PlannedStep(
        action="a", version="1.0.0", kind=StepKind.CLEAN, reads=(), writes=table, sql="SELECT 1", strategy=Strategy.MAP,
        reason="test",
    )  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return Project(tmp_path_factory.mktemp("rest"), Settings())


def write(project, epoch, *, moved, finished=True):
    """One epoch that writes a row into both tables; tiered afterwards or not."""
    with running(project.root) as endpoints, project.state() as state:
        stores = open_stores(project, None, endpoints.fluss, [Tier.HOT, Tier.WARM])
        state.save_plan(
            FlowPlan(flow="f", sources=(), segments=(Segment(name="main", steps=tuple(map(step, TABLES))),))
        )
        now = datetime.now(UTC)
        lease = state.acquire("f", this_owner(), timedelta(minutes=1), now)
        state.begin_epoch(lease, "main", epoch, 1, now)
        ends = {}
        for table in TABLES:
            stores[Tier.HOT].create(table)
            rows = pa.Table.from_pylist([{"id": epoch, "n": 1}], schema=arrow_schema(COLUMNS))
            ends[table.name] = stores[Tier.HOT].write(table, Changes(rows), WriteContext(writer="f/main", epoch=epoch))
        if finished:
            state.finish_epoch(lease, EpochRecord("f", "main", epoch, 1, 1, 1, ends=ends))
        state.release(lease)
        if moved:
            for table in TABLES:
                tier(table, stores[Tier.HOT], stores[Tier.WARM])
        for store in stores.values():
            store.close()


def ask(project, sql):
    told = []
    with QueryService(project, say=told.append) as asking:
        answer = asking.ask(sql, measure=True)
    return answer.rows.to_pylist(), {read.tier for read in answer.reads}, any("Fluss" in stage for stage in told)


# What takes longer to import than a small query takes.
HEAVY = """
import sys
from pathlib import Path
from streamhouse.jobs.query import run_query
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings

rows = run_query(Project(Path(sys.argv[1]), Settings()), "select sum(n) as n from dws.rest_keyed")
heavy = {"pandas", "polars", "pyarrow.dataset", "pyiceberg", "pypaimon", "pyspark"}
print(rows.to_pylist(), sorted(heavy & set(sys.modules)))
"""


def test_fluss_is_started_for_what_only_it_holds(project):
    write(project, 0, moved=True)
    assert ask(project, PLAIN) == ([{"log": 1, "keyed": 1}], {Tier.WARM}, False)
    assert ask(project, "select count(*) as n from dwd.rest_log$hot") == ([{"n": 1}], {Tier.HOT}, True)
    with running(project.root):  # somebody may be writing: the hot tier is read
        rows, tiers, started = ask(project, PLAIN)
        assert (rows, Tier.HOT in tiers, started) == ([{"log": 1, "keyed": 1}], True, False)
        command = [sys.executable, "-c", HEAVY, str(project.root)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout.strip() == "[{'n': 1}] []", f"a first answer imported what is slow\n{done.stderr}"
    write(project, 1, moved=False)
    rows, tiers, started = ask(project, PLAIN)
    assert (rows, Tier.HOT in tiers, started) == ([{"log": 2, "keyed": 2}], True, True)
    write(project, 2, moved=True, finished=False)  # it may have written more than tiering saw
    rows, tiers, started = ask(project, PLAIN)
    assert (rows, Tier.HOT in tiers, started) == ([{"log": 3, "keyed": 3}], True, True)
