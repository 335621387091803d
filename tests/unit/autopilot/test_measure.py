"""One number before and after."""

from dataclasses import replace
from datetime import timedelta

import pytest

from streamhouse.autopilot.finding import Goal, LakeFiles
from streamhouse.autopilot.measure import helped, is_worse, number, promise_now, within
from streamhouse.model.types import Tier
from tests.unit.autopilot.conftest import NOW, epochs

PLACE = "ods.orders (warm)"


@pytest.mark.parametrize(
    ("goal", "before", "after", "worse", "better"),
    [
        (Goal.ROWS_PER_SECOND, 100, 300, False, True),
        (Goal.ROWS_PER_SECOND, 100, 95, False, False),
        (Goal.ROWS_PER_SECOND, 100, 80, True, False),
        (Goal.LATE_PERCENT, 100, 0, False, True),
        (Goal.LATE_PERCENT, 2, 9, False, False),
        (Goal.LATE_PERCENT, 50, 70, True, False),
        (Goal.FILES, 60, 2, False, True),
    ],
)
def test_worse_is_against_the_goal_by_more_than_noise(goal, before, after, worse, better):
    assert (is_worse(goal, before, after), helped(goal, before, after)) == (worse, better)


def test_rows_a_second_are_of_epochs_that_work_as_much_as_before(seen):
    numbers = {"max_rows_per_epoch": 1_000}
    assert number(Goal.ROWS_PER_SECOND, seen(ran=epochs(rows=1_000)), "", numbers) == 5_000
    few = (*epochs(rows=1_000), *epochs(rows=3, took_ms=900))
    assert number(Goal.ROWS_PER_SECOND, seen(ran=few), "", numbers) == 5_000, "idle epochs are no slower work"
    assert number(Goal.ROWS_PER_SECOND, seen(ran=epochs(rows=3)), "", numbers) is None
    assert number(Goal.ROWS_PER_SECOND, seen(ran=epochs(count=2, rows=1_000)), "", numbers) is None


def test_late_epochs_are_those_of_what_is_promised_now(seen, plan):
    late = seen(ran=epochs(lag_ms=1_500))
    assert number(Goal.LATE_PERCENT, late, "", {}) == 100
    promised = replace(late, plan=plan.model_copy(update={"freshness": timedelta(seconds=2)}))
    assert number(Goal.LATE_PERCENT, promised, "", {}) == 0
    assert number(Goal.LATE_PERCENT, seen(ran=()), "", {}) is None


def test_a_weaker_promise_is_measured_by_the_one_before(seen, plan):
    numbers, weaker = {"promised_ms": 1_000.0}, plan.model_copy(update={"freshness": timedelta(seconds=2)})
    good, bad = (seen(plan=weaker, ran=epochs(lag_ms=lag_ms)) for lag_ms in (1_500, 2_500))
    assert number(Goal.LATE_PERCENT, good, "", numbers) == 100
    assert promise_now(Goal.LATE_PERCENT, good) == ("0 of 100 epochs took longer than 2s", True)
    assert promise_now(Goal.LATE_PERCENT, bad) == ("100 of 100 epochs took longer than 2s", False)
    assert promise_now(Goal.FILES, bad) is promise_now(Goal.LATE_PERCENT, seen(ran=epochs(count=2))) is None


def test_files_and_tiers_that_could_not_be_looked_at_have_no_number(seen):
    held = seen(
        files={("ods.orders", Tier.WARM): LakeFiles(60, 1)}, behind={("ods.orders", Tier.WARM): timedelta(hours=1)}
    )
    assert number(Goal.FILES, held, PLACE, {}) == 60
    assert number(Goal.BEHIND_S, held, PLACE, {}) == 3_600
    assert number(Goal.BEHIND_S, seen(), PLACE, {}) == 0
    assert number(Goal.FILES, seen(unseen={PLACE: "away"}), PLACE, {}) is None
    assert number(Goal.BEHIND_S, seen(unseen={PLACE: "away"}), PLACE, {}) is None
    assert number(Goal.FILES, seen(), "ods.gone (warm)", {}) is None


def test_only_epochs_of_the_time_after_a_change_count():
    found = within(epochs(count=10, every_s=1.0), NOW - timedelta(seconds=5), timedelta(seconds=2))
    assert [one.epoch for one in found] == [6, 7]
