"""Evidence of a small flow that is well; a test says what ails it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.autopilot.finding import Evidence
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep, Segment
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import FOREVER, ReadMode, StepKind, Strategy
from streamhouse.state.records import EpochRecord

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
COLUMNS = (Column(name="id", type="bigint"),)


def step(name, reads, sql="SELECT id FROM rows", kind=StepKind.INGEST, **table):
    return PlannedStep(
        action=f"make_{name.split('.')[1]}",
        version="1.0.0",
        kind=kind,
        reads=(PlannedRead(port="rows", table=reads, mode=ReadMode.CHANGES, columns=("id",)),),
        writes=Table(name=name, columns=COLUMNS, tiers=Tiers(hot=timedelta(hours=1), warm=FOREVER), **table),
        sql=sql,
        strategy=Strategy.MAP,
        reason="a projection",
    )


@pytest.fixture
def plan():
    steps = (
        step("ods.orders", "orders"),
        step("dws.orders", "ods.orders", kind=StepKind.AGGREGATE, primary_key=("id",), buckets=4),
    )
    return FlowPlan(
        flow="shop",
        owner="ada",
        freshness=timedelta(seconds=1),
        max_rows_per_epoch=1_000,
        sources=(PlannedSource(name="orders", kind="files", columns=COLUMNS),),
        segments=(Segment(name="main", steps=steps),),
    )


def epochs(*, count=30, rows=100, lag_ms=300, every_s=2.0, took_ms=200, now=NOW, key="a.csv", **more):
    """Epochs of one segment, the last of which ended a second before `now`."""
    made = []
    for number in range(count):
        at = round((now - timedelta(seconds=1 + (count - 1 - number) * every_s)).timestamp() * 1000) - lag_ms
        made.append(
            EpochRecord(
                "shop",
                "main",
                number,
                at_ms=at,
                started_ms=at,
                finished_ms=at + took_ms,
                start={"orders": {key: number * rows}},
                end={"orders": {key: (number + 1) * rows}},
                rows={"ods.orders": rows, "dws.orders": rows},
                layer_visible_ms={"ods": at + lag_ms // 2, "dws": at + lag_ms},
                **more,
            )
        )
    return tuple(made)


@pytest.fixture
def healthy(plan):
    past = epochs()
    return Evidence("shop", plan, NOW, epochs=past, past=past, read=frozenset({"orders", "ods.orders"}))


@pytest.fixture
def seen(healthy):
    """The healthy flow with something else; `ran` are its epochs."""

    def made(*, ran=None, **more):
        if ran is not None:
            more |= {"epochs": ran, "past": ran}
        return replace(healthy, **more)

    return made
