"""Comparisons with a period that a condition leaves out, so that nothing is compared: each is asked back."""

from datetime import timedelta

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.request import Block, Condition, Cut, During, Filter, Grain, Question

_LONGEST = {
    Grain.MINUTE: timedelta(minutes=1), Grain.HOUR: timedelta(hours=1), Grain.DAY: timedelta(days=1),
    Grain.WEEK: timedelta(days=7), Grain.MONTH: timedelta(days=31), Grain.QUARTER: timedelta(days=92),
    Grain.YEAR: timedelta(days=366),
}  # fmt: skip


def period_left_out(_tokens: tuple[Token, ...], draft: Draft, found: Shaped) -> Question | None:
    """As in "revenue in March compared with the month before", where only rows of March would be read."""
    compared = any(one.kind in {"change", "previous"} for one in found.block.derived)
    cut = _cut(found.block)
    if not compared or cut is None or not any(_is_one_period(one, cut) for one in found.block.filters):
        return None
    phrase = next((one.phrase for one in draft.figures if one.window in {"change", "previous"}), "")
    unit = cut.grain.value
    return Question(
        text=f"'{phrase}': the {unit} before is no part of the time that is asked for; "
        f"only {unit}s within it can be compared: name a longer time, or none",
        phrase=phrase,
    )


def _cut(block: Block) -> Cut | None:
    return next((one.of for one in block.dimensions if isinstance(one.of, Cut) and not one.of.grain.comes_again), None)


def _is_one_period(one: Filter, cut: Cut) -> bool:
    """Whether a condition leaves no more than one of the periods that are compared."""
    if isinstance(one, During) and one.of == cut.of and one.since is not None and one.until is not None:
        return one.until - one.since <= _LONGEST.get(cut.grain, timedelta(0))
    return isinstance(one, Condition) and isinstance(one.left, Cut) and one.left.of == cut.of and _same(one, cut)


def _same(one: Condition, cut: Cut) -> bool:
    """Whether only one month of each year, or one day of each week or month, is read."""
    assert isinstance(one.left, Cut)
    single = one.operator == "=" or len(one.values) == 1
    finer = {Grain.MONTH_OF_YEAR: {Grain.MONTH}, Grain.DAY_OF_WEEK: {Grain.DAY}, Grain.DAY_OF_MONTH: {Grain.DAY}}
    return single and cut.grain in finer.get(one.left.grain, set())
