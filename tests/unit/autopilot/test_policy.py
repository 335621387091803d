"""What may be applied now, and why not."""

from dataclasses import replace
from datetime import timedelta

import pytest

from streamhouse.autopilot.finding import FaultKind, FlowFault, Goal, Means
from streamhouse.autopilot.policy import why_not
from streamhouse.model.outcome import Outcome
from streamhouse.project.autopilot import AutopilotMode, AutopilotSettings
from streamhouse.state.autopilot import AutopilotDecision, DecisionState
from streamhouse.state.records import AppliedChange
from tests.unit.autopilot.conftest import NOW

SMALL = FlowFault(
    FaultKind.SMALL_EPOCHS,
    "shop",
    "",
    "full",
    {},
    NOW,
    Means.EDIT,
    "more",
    {"max_rows_per_epoch": 9},
    Goal.ROWS_PER_SECOND,
)
DONE = AutopilotDecision(
    "other", "other:freshness:", "freshness", "edit", "late", "promise it", "late_percent", timedelta(minutes=9), NOW,
    "", id=7, state=DecisionState.KEPT, state_at=NOW - timedelta(minutes=5), applied_at=NOW - timedelta(minutes=15),
)  # fmt: skip


def asked(
    finding=SMALL,
    outcome=Outcome.SWAP,
    mode=AutopilotMode.AUTO,
    recent=(),
    busy=None,
    changed=None,
    now=NOW,
    **settings,
):
    limits = AutopilotSettings(**settings)
    return why_not(finding, outcome, mode=mode, settings=limits, recent=recent, now=now, busy=busy, changed=changed)


def test_what_no_limit_forbids_may_be_applied():
    assert asked() is None
    assert asked(outcome=Outcome.NO_OP, flows=("shop",), recent=[DONE]) is None
    assert asked(replace(SMALL, means=Means.UPKEEP), None) is None


@pytest.mark.parametrize("outcome", [Outcome.FORWARD, Outcome.REBUILD, Outcome.BLOCK, None])
def test_only_what_changes_no_row_is_applied(outcome):
    assert "only no-op and swap" in asked(outcome=outcome)


def test_a_person_does_what_no_program_should():
    assert asked(replace(SMALL, means=Means.PERSON), None) == "a person must do it"


@pytest.mark.parametrize("mode", [AutopilotMode.SUGGEST, AutopilotMode.OFF])
def test_only_the_mode_auto_applies(mode):
    assert asked(mode=mode) == f"the mode is {mode}"


def test_a_flow_that_is_not_listed_stays():
    assert "not among the flows that may be changed: other" in asked(flows=("other",))


@pytest.mark.parametrize(
    ("hours", "hour", "quiet"),
    [
        ("22:00-06:00", 23, True),
        ("22:00-06:00", 5, True),
        ("22:00-06:00", 6, False),
        ("22:00-06:00", 12, False),
        ("09:00-17:00", 12, True),
        ("09:00-17:00", 17, False),
        ("09:00-17:00", 8, False),
    ],
)
def test_quiet_hours(hours, hour, quiet):
    assert (asked(quiet_hours=hours, now=NOW.replace(hour=hour)) is not None) is quiet


def test_the_budget_of_a_day():
    old = replace(DONE, applied_at=NOW - timedelta(hours=25))
    assert asked(recent=[DONE, old], changes_per_day=2) is None
    assert asked(recent=[DONE, DONE], changes_per_day=2) == (
        "2 changes were applied in 24 hours, and no more than 2 may be"
    )
    assert asked(changes_per_day=0) is not None


def test_a_flow_that_was_changed_cools_down():
    mine = replace(DONE, flow="shop")
    assert "stays so for 1h" in asked(recent=[mine])
    assert asked(recent=[mine], cool_down=timedelta(minutes=4)) is None
    assert (
        asked(recent=[replace(mine, state_at=NOW - timedelta(minutes=70), applied_at=NOW - timedelta(minutes=80))])
        is None
    )


@pytest.mark.parametrize("by", ["ada", "change 7 of carts", "autopilot"])
def test_a_flow_that_anyone_changed_cools_down(by):
    changed = AppliedChange(9, by, NOW - timedelta(minutes=59))
    assert asked(changed=changed) == f"the flow was changed at 11:01 UTC by change 9 of {by} and stays so for 1h"
    assert asked(changed=replace(changed, at=NOW - timedelta(hours=1))) is None
    assert asked(replace(SMALL, means=Means.UPKEEP), None, changed=changed) is not None
    mine = replace(DONE, flow="shop")
    assert "11:55 UTC by the autopilot" in asked(recent=[mine], changed=changed), "the newest one counts"


@pytest.mark.parametrize("state", [DecisionState.ROLLED_BACK, DecisionState.REFUSED, DecisionState.LEFT])
def test_what_failed_is_not_tried_again_for_a_day(state):
    failed = replace(
        DONE,
        flow="shop",
        finding=SMALL.key,
        state=state,
        state_at=NOW - timedelta(hours=23),
        reason="worse",
        applied_at=None,
    )
    assert f"the same was {state} at 13:00 UTC: worse; not again for a day" in asked(recent=[failed])
    assert asked(recent=[replace(failed, state_at=NOW - timedelta(hours=24))]) is None
    assert asked(recent=[replace(failed, finding="shop:freshness:")]) is None


def test_upkeep_that_did_nothing_is_not_done_again_for_a_day():
    files = replace(SMALL, kind=FaultKind.SMALL_FILES, means=Means.UPKEEP, about="ods.orders (warm)")
    done = replace(
        DONE, flow="shop", finding=files.key, means="upkeep", before=60.0, after=60.0,
        state_at=NOW - timedelta(hours=2), applied_at=NOW - timedelta(hours=2),
    )  # fmt: skip
    assert "not again for a day" in asked(files, None, recent=[done])
    assert asked(files, None, recent=[replace(done, after=5.0)]) is None


def test_a_flow_that_something_else_changes_is_left_alone():
    assert asked(busy="change 3 of the flow is open") == "change 3 of the flow is open"
