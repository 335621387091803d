"""Each rule speaks on its fault, and is silent on a flow that is well and on too little evidence."""

from dataclasses import replace
from datetime import timedelta

import pytest

from streamhouse.autopilot.finding import FaultKind, Goal, LakeFiles, Means
from streamhouse.autopilot.rules import findings, late_source, skew, small_epochs
from streamhouse.errors import StoreError
from streamhouse.model.flow import MAX_ROWS_PER_EPOCH
from streamhouse.model.plan import Segment
from streamhouse.model.types import StepKind, Tier
from streamhouse.state.records import FlowEvent
from streamhouse.state.troubles import TableTrouble
from tests.unit.autopilot.conftest import NOW, epochs, step

MIB = 1 << 20


def of(seen):
    return {(one.kind, one.about): one for one in findings({seen.flow: seen})}


def only(seen):
    (found,) = findings({seen.flow: seen})
    return found


def test_a_healthy_flow_has_nothing(healthy):
    assert findings({"shop": healthy}) == ()


@pytest.mark.parametrize("count", [0, 1, 9])
def test_a_few_epochs_are_no_pattern(seen, count):
    assert findings({"shop": seen(ran=epochs(count=count, rows=1_000, lag_ms=9_000))}) == ()


def test_full_epochs_are_too_small(seen):
    found = only(seen(ran=epochs(rows=1_000)))
    assert (found.kind, found.means, found.goal) == (FaultKind.SMALL_EPOCHS, Means.EDIT, Goal.ROWS_PER_SECOND)
    assert found.edits == {"max_rows_per_epoch": 10_000}
    assert "30 of 30 epochs read as many rows as they may (1,000)" in found.text
    assert found.numbers["rows_per_second"] == 5_000
    assert found.since < NOW - timedelta(seconds=58)


def test_some_full_epochs_are_none(seen):
    ran = (*epochs(count=20, rows=1_000), *(replace(one, epoch=100 + one.epoch) for one in epochs(count=10)))
    assert findings({"shop": seen(ran=ran)}) == ()


def test_epochs_that_are_as_large_as_the_default_are_large_enough(seen, plan):
    large = plan.model_copy(update={"max_rows_per_epoch": MAX_ROWS_PER_EPOCH})
    assert findings({"shop": seen(plan=large, ran=epochs(rows=MAX_ROWS_PER_EPOCH))}) == ()
    almost = plan.model_copy(update={"max_rows_per_epoch": MAX_ROWS_PER_EPOCH - 1})
    assert (
        only(seen(plan=almost, ran=epochs(rows=MAX_ROWS_PER_EPOCH))).edits["max_rows_per_epoch"] == MAX_ROWS_PER_EPOCH
    )


def test_segments_are_full_each_by_itself(seen, plan):
    two = plan.model_copy(
        update={"segments": (*plan.segments, Segment(name="lake", steps=(step("ads.orders", "dws.orders"),)))}
    )
    few = tuple(replace(one, segment="lake") for one in epochs(count=90, rows=1))
    (found,) = small_epochs(seen(plan=two, epochs=(*epochs(rows=1_000), *few)))
    assert found.about == "main"


def test_a_freshness_that_does_not_hold(seen):
    found = only(seen(ran=epochs(lag_ms=1_500)))
    assert (found.kind, found.goal) == (FaultKind.FRESHNESS, Goal.LATE_PERCENT)
    assert found.edits == {"freshness": "2s"}
    assert "30 of 30 epochs took longer than the promised 1s; 95 of 100 took up to 1,500 ms" in found.text


def test_a_freshness_that_mostly_holds(seen):
    late = tuple(replace(one, epoch=100 + one.epoch) for one in epochs(count=15, lag_ms=1_500))
    assert findings({"shop": seen(ran=(*epochs(count=15), *late))}) == ()


def test_full_epochs_are_not_told_as_a_freshness(seen):
    assert {one.kind for one in of(seen(ran=epochs(rows=1_000, lag_ms=1_500))).values()} == {FaultKind.SMALL_EPOCHS}


def test_a_source_that_fell_silent_however_long_ago(seen):
    past = epochs(now=NOW - timedelta(hours=2))
    found = only(seen(epochs=(), past=past))
    assert (found.kind, found.about, found.means) == (FaultKind.LATE_SOURCE, "orders", Means.PERSON)
    assert found.text.startswith("no rows from orders for 7,201 s; usually they come every 2 s")
    assert found.remedy == "ask ada whether it still delivers"


def test_a_source_that_is_as_slow_as_ever_or_of_a_flow_that_stands_is_not_late(seen):
    past = epochs(now=NOW - timedelta(hours=2))
    assert not [*late_source(seen(past=past, running=False))]
    assert not [*late_source(seen(past=epochs(now=NOW - timedelta(minutes=8), every_s=60)))]
    assert not [*late_source(seen(past=epochs(count=10, now=NOW - timedelta(hours=2))))]


def test_a_source_that_comes_in_bursts_is_not_late_in_a_pause_like_its_others(seen):
    first, second = epochs(now=NOW - timedelta(minutes=25)), epochs(now=NOW - timedelta(minutes=15))
    past = (*first, *(replace(one, epoch=100 + one.epoch) for one in second))
    assert not [*late_source(seen(past=past))]
    assert [*late_source(seen(past=past, now=NOW + timedelta(minutes=5)))]


def with_buckets(shares, per_epoch=100):
    at, made = dict.fromkeys(map(str, range(len(shares))), 0), []
    for one in epochs():
        start = dict(at)
        at = {bucket: offset + round(per_epoch * shares[int(bucket)]) for bucket, offset in at.items()}
        made.append(replace(one, start={"dws.orders__v2": start}, end={"dws.orders__v2": dict(at)}))
    return tuple(made)


def test_one_bucket_that_takes_most_rows(seen):
    (found,) = skew(seen(ran=with_buckets([0.85, 0.05, 0.05, 0.05])))
    assert (found.about, found.means) == ("dws.orders", Means.PERSON)
    assert "bucket 0 of dws.orders has 2,550 of 3,000 rows, 3.4 times its share; they are spread by id" in found.text


@pytest.mark.parametrize(
    ("shares", "buckets"),
    [([0.3, 0.25, 0.25, 0.2], 4), ([0.7, 0.3], 2), ([1.0], 1), ([0.025, 0.0, 0.0, 0.0], 4)],
)
def test_buckets_that_are_even_enough_alone_or_almost_empty(seen, plan, shares, buckets):
    steps = (
        plan.steps[0],
        step("dws.orders", "ods.orders", kind=StepKind.AGGREGATE, primary_key=("id",), buckets=buckets),
    )
    plan = plan.model_copy(update={"segments": (Segment(name="main", steps=steps),)})
    assert not [*skew(seen(plan=plan, ran=with_buckets(shares)))]


def test_where_a_source_begins_is_no_row(seen):
    begun = replace(epochs(count=1)[0], start={}, end={"orders": {"0": 10**9, "1": 5}})
    assert not [*skew(seen(ran=(begun,)))]


@pytest.mark.parametrize(
    ("files", "speaks"),
    [
        (LakeFiles(60, 60 * 10_000), True),
        (LakeFiles(49, 49 * 10_000), False),
        (LakeFiles(60, 60 * 8 * MIB), False),
        (LakeFiles(60, 60 * 10_000, places=30), False),  # compaction would leave one in each
        (LakeFiles(0, 0), False),
    ],
)
def test_many_small_files(seen, files, speaks):
    found = of(seen(files={("ods.orders", Tier.WARM): files}))
    assert bool(found) is speaks
    if speaks:
        one = found[FaultKind.SMALL_FILES, "ods.orders (warm)"]
        assert (one.means, one.goal) == (Means.UPKEEP, Goal.FILES)


@pytest.mark.parametrize(("minutes", "speaks"), [(29, False), (31, True)])
def test_a_tier_that_rows_wait_for(seen, minutes, speaks):
    found = of(seen(behind={("ods.orders", Tier.WARM): timedelta(minutes=minutes)}))
    assert [*found] == ([(FaultKind.TIERING_LAG, "ods.orders (warm)")] if speaks else [])


def test_epochs_that_fail_again_and_again(seen):
    events = tuple(FlowEvent("shop", "retry", "main waits: SH401 Fluss does not answer", NOW) for _ in range(3))
    mended = FlowEvent("shop", "retry", "main goes on after 1.0 s and 2 attempts: Fluss does not answer", NOW)
    found = only(seen(events=(*events, mended)))
    assert (found.kind, found.means) == (FaultKind.FAILURES, Means.PERSON)
    assert "tried again 3 times; the last: main waits: SH401" in found.text
    assert findings({"shop": seen(events=(*events[:2], mended, mended))}) == ()


def test_a_flow_that_failed(seen):
    failed = seen(error="SH503 a row\nmore", failed=True, running=False, ended=NOW - timedelta(hours=3))
    assert only(failed).since == NOW - timedelta(hours=3)
    assert only(failed).text == "the flow failed: SH503 a row"
    assert only(replace(failed, failed=False)).text == "the flow is lost: SH503 a row"


def test_rows_that_do_not_meet_expectations(seen):
    bad = tuple(replace(one, rows={"dws.orders__v2": 90, "dws.orders__v2__quarantine": 10}) for one in epochs())
    found = only(seen(ran=bad))
    assert (found.kind, found.about) == (FaultKind.EXPECTATIONS, "dws.orders")
    assert "300 of 3,000 rows of dws.orders" in found.text
    few = tuple(replace(one, rows={"dws.orders": 99, "dws.orders__quarantine": 1}) for one in epochs())
    assert findings({"shop": seen(ran=few)}) == ()


def test_what_waits_upstream_and_what_a_job_cannot_do(seen):
    error = StoreError("gone", hint="bring it back")
    trouble = TableTrouble("shop", "ods.orders", Tier.WARM, "tiering", error.code, "gone", error.hint, NOW, NOW, 7)
    found = of(
        seen(
            waiting=("ods.orders",),
            upstream={"orders: price went: waits for a person": NOW - timedelta(hours=5)},
            troubles=(trouble,),
        )
    )
    assert {kind for kind, _ in found} == {FaultKind.UPSTREAM, FaultKind.TROUBLE}
    assert found[FaultKind.TROUBLE, "ods.orders (warm)"].remedy == "bring it back"
    assert all(one.means is Means.PERSON for one in found.values())
    since = {about: one.since for (kind, about), one in found.items() if kind is FaultKind.UPSTREAM}
    assert since == {"ods.orders": None, "orders: price went: waits for a person": NOW - timedelta(hours=5)}


def test_a_table_that_nobody_reads(seen):
    found = only(seen(read=frozenset({"orders"})))
    assert (found.kind, found.about) == (FaultKind.UNUSED_TABLE, "ods.orders")
    assert found.since is None, "the plan does not say since when"


def test_two_flows_with_one_step(seen, plan):
    def reading(flow, table):
        other = plan.model_copy(
            update={
                "flow": flow,
                "sources": (),
                "segments": (Segment(name="main", steps=(step(table, "ods.orders"),)),),
            }
        )
        return seen(flow=flow, plan=other)

    found = findings({"a": reading("a", "ads.one"), "b": reading("b", "ads.two"), "shop": seen()})
    assert [(one.kind, one.flow, one.remedy) for one in found] == [
        (FaultKind.SHARED_STEP, "b", "read ads.one in place of ads.two")
    ]


def test_what_shows_no_beginning_has_none(seen):
    files = {("ods.orders", Tier.WARM): LakeFiles(60, 60 * 10_000)}
    assert only(seen(files=files)).since is None
    bad = [replace(one, rows={"dws.orders": 90, "dws.orders__quarantine": 10}) for one in epochs()[15:]]
    found = only(seen(ran=(*epochs()[:15], *bad)))
    assert found.since.timestamp() * 1000 == bad[0].started_ms, "when the first row went there"


def test_a_fault_has_the_same_key_when_it_is_seen_again(seen):
    first, later = (only(seen(ran=epochs(rows=rows))) for rows in (1_000, 990))
    assert first.key == later.key
    assert first.text != later.text
