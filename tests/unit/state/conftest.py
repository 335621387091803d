import os
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine

from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep, Segment
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import FOREVER, ReadMode, StepKind, Strategy
from streamhouse.state.records import Owner
from streamhouse.state.schema import metadata
from streamhouse.state.store import StateStore

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TTL = timedelta(seconds=30)


OTHER_DATABASE = "STREAMHOUSE_TEST_DATABASE"


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:///{tmp_path}/deep/state.db"


@pytest.fixture
def url(sqlite_url):
    """An empty database: SQLite, or the one whose URL is in `STREAMHOUSE_TEST_DATABASE`, emptied first."""
    other = os.environ.get(OTHER_DATABASE)
    if other:
        engine = create_engine(other)
        metadata.drop_all(engine)
        engine.dispose()
    return other or sqlite_url


@pytest.fixture
def store(url):
    with StateStore(url) as opened:
        yield opened


@pytest.fixture
def owner():
    return Owner("alpha", 100, NOW - timedelta(hours=1))


@pytest.fixture
def now():
    return NOW


@pytest.fixture
def lease(store, owner):
    return store.acquire("retail", owner, TTL, NOW)


@pytest.fixture
def flow_plan():
    return _flow_plan


def _flow_plan(sql="SELECT id FROM rows", flow="retail"):
    columns = (Column(name="id", type="bigint"),)
    table = Table(name="ods.orders", columns=columns, tiers=Tiers(hot=timedelta(hours=1), cold=FOREVER))
    step = PlannedStep(
        action="ingest_as_is",
        version="1.0.0",
        kind=StepKind.INGEST,
        reads=(PlannedRead(port="rows", table="orders", mode=ReadMode.CHANGES, columns=("id",)),),
        writes=table,
        sql=sql,
        strategy=Strategy.MAP,
        reason="a projection",
    )
    source = PlannedSource(name="orders", kind="files", options={"path": "data/*.csv"}, columns=columns)
    return FlowPlan(flow=flow, sources=(source,), segments=(Segment(name="main", steps=(step,)),))
