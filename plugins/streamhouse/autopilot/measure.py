"""Whether a change helped: one number before and after, and how they compare. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from streamhouse.autopilot.epoch_figures import full, late_percent, rows_per_second
from streamhouse.autopilot.finding import Evidence, Goal
from streamhouse.model.types import Tier, format_duration
from streamhouse.state.records import EpochRecord

LEAST_EPOCHS = 3
"""Fewer epochs say nothing."""

_HIGHER = frozenset({Goal.ROWS_PER_SECOND})
_MAY_BE_LATE = 20.0  # of 100 epochs: more is the fault that the change was to mend
_TOLERANCE = 0.1  # machines are noisy
_FLOOR: Mapping[Goal, float] = {Goal.LATE_PERCENT: 10.0}  # a smaller difference is none
_WORDS: Mapping[Goal, str] = {
    Goal.LATE_PERCENT: "epochs of a hundred that took longer than promised before",
    Goal.ROWS_PER_SECOND: "rows a second of work",
    Goal.FILES: "files",
    Goal.BEHIND_S: "seconds behind",
}


def number(goal: Goal, evidence: Evidence, about: str, numbers: Mapping[str, float]) -> float | None:
    """The number of a goal; None: there is too little to tell it.

    Args:
        goal: Which number.
        evidence: What was seen of the flow; its epochs are those that count.
        about: The table that the finding is about, as the finding names it.
        numbers: Of the finding: epochs of fewer rows than were allowed then wait for nothing, and are left out; and
            epochs are late by what was promised then, as a weaker promise is no fresher table.
    """
    if goal is Goal.ROWS_PER_SECOND:
        busy = full(evidence.epochs, numbers.get("max_rows_per_epoch", 0))
        return rows_per_second(busy) if len(busy) >= LEAST_EPOCHS else None
    if goal is Goal.LATE_PERCENT:
        return late_percent(evidence.epochs, _promised(evidence, numbers)) if _is_enough(evidence) else None
    place = next((one for one in _places(evidence) if f"{one[0]} ({one[1]})" == about), None)
    if place is None:
        return None
    if goal is Goal.FILES and place in evidence.files:
        return evidence.files[place].files
    if goal is Goal.BEHIND_S and about not in evidence.unseen:
        return evidence.behind[place].total_seconds() if place in evidence.behind else 0.0
    return None


def promise_now(goal: Goal, evidence: Evidence) -> tuple[str, bool] | None:
    """What became of a promise that a change made, in words, and whether it holds.

    None: the change made none, or there is too little to say so.
    """
    promised = evidence.plan.freshness
    late = late_percent(evidence.epochs, promised)
    if goal is not Goal.LATE_PERCENT or late is None or not _is_enough(evidence):
        return None
    return f"{late:.0f} of 100 epochs took longer than {format_duration(promised)}", late <= _MAY_BE_LATE


def is_worse(goal: Goal, before: float, after: float) -> bool:
    """Whether the number moved against the goal by more than noise."""
    worse, better = (before, after) if goal in _HIGHER else (after, before)
    return worse - better > max(_TOLERANCE * abs(before), _FLOOR.get(goal, 0.0))


def helped(goal: Goal, before: float, after: float) -> bool:
    """Whether the number moved towards the goal at all."""
    return after > before if goal in _HIGHER else after < before


def compared(goal: Goal, before: float | None, after: float | None) -> str:
    """Both numbers in words."""
    return f"{_WORDS.get(goal, goal)}: {_shown(before)} before, {_shown(after)} after"


def within(epochs: Sequence[EpochRecord], begin: datetime, length: timedelta) -> tuple[EpochRecord, ...]:
    """The epochs that began and finished in `[begin, begin + length)`."""
    first, end = begin.timestamp() * 1000, (begin + length).timestamp() * 1000
    return tuple(record for record in epochs if record.started_ms >= first and record.finished_ms < end)


def _is_enough(evidence: Evidence) -> bool:
    return len(evidence.epochs) >= LEAST_EPOCHS


def _promised(evidence: Evidence, numbers: Mapping[str, float]) -> timedelta:
    """The freshness that was promised when the fault was found."""
    promised_ms = numbers.get("promised_ms")
    return evidence.plan.freshness if promised_ms is None else timedelta(milliseconds=promised_ms)


def _places(evidence: Evidence) -> list[tuple[str, Tier]]:
    return [(table.name, tier) for table in evidence.plan.tables.values() for tier in table.tiers.present]


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.0f}" if abs(value) >= 10 else f"{value:.2g}"
