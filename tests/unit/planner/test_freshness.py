"""Whether a promise can hold, by what epochs took and how often they begin."""

from datetime import timedelta

import pytest

from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep, Segment
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import FOREVER, ReadMode, StepKind, Strategy
from streamhouse.planner.freshness import freshness_estimate

COLUMNS = (Column(name="id", type="bigint"),)
SLOW = [*range(100, 1_100, 10)]  # 95% up to 1,040 ms
QUICK = [5] * 20


def step(name: str, reads: str) -> PlannedStep:
    return PlannedStep(
        action="made",
        version="1.0.0",
        kind=StepKind.CLEAN,
        reads=(PlannedRead(port="rows", table=reads, mode=ReadMode.CHANGES, columns=("id",)),),
        writes=Table(name=name, columns=COLUMNS, tiers=Tiers(hot=timedelta(hours=1), warm=FOREVER)),
        sql="SELECT id FROM rows",
        strategy=Strategy.MAP,
        reason="a projection",
    )


INGEST, CLEAN, OTHER = step("ods.orders", "orders"), step("dwd.orders", "ods.orders"), step("dwd.clicks", "clicks")
PLAN = FlowPlan(
    flow="shop",
    sources=tuple(PlannedSource(name=name, kind="files", columns=COLUMNS) for name in ("orders", "clicks")),
    segments=(
        Segment(name="first", steps=(INGEST,)),
        Segment(name="second", steps=(CLEAN,), interval=timedelta(seconds=5)),
        Segment(name="hourly", steps=(OTHER,), interval=timedelta(hours=1)),
    ),
)


@pytest.mark.parametrize(
    ("promised_s", "step", "work", "holds", "text"),
    [
        (0.01, INGEST, {"first": SLOW}, False, "95% of 100 epochs of segment first worked up to 1,040 ms"),
        (2, INGEST, {"first": SLOW}, True, "95% of 100 epochs of segment first worked up to 1,040 ms"),
        (2, INGEST, {}, None, "whether 2s holds is unknown: 0 epochs of segment first have finished"),
        (2, INGEST, {"first": QUICK[:9]}, None, "9 epochs of segment first have finished, and 10 show"),
        (6, CLEAN, {"first": QUICK, "second": SLOW}, False, "second worked up to 1,040 ms, and one begins every 5s"),
        (7, CLEAN, {"first": QUICK, "second": SLOW}, True, "one begins every 5s"),
        (4, CLEAN, {}, False, "one begins every 5s"),
        (1, CLEAN, {"first": SLOW, "second": QUICK}, False, "second worked up to 5 ms, and one begins every 5s"),
        (7, CLEAN, {"second": SLOW}, None, "0 epochs of segment first have finished"),
        (2, OTHER, {"first": SLOW, "second": SLOW, "hourly": QUICK}, False, "one begins every 1h"),
    ],
)
def test_a_promise_against_what_rows_pass(promised_s, step, work, holds, text):
    found = freshness_estimate(timedelta(seconds=promised_s), step, PLAN, work)
    assert found.holds is holds
    assert text in found.text
    assert holds is not False or found.least > timedelta(seconds=promised_s)
