"""As in "move-ins and move-outs per month": two figures with a time each, of which one decides the groups of both."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Time
from streamhouse.planner.language.offered_times import group_choices
from streamhouse.planner.request import ColumnRef, Condition, Cut, Question


def figures_of_two_times(wish: AnsweredWish) -> Question | None:
    """Groups by a time that one figure counts, beside a figure of all rows, where the wish names no time of groups."""
    block, base = wish.block, wish.base
    group = next((one for one in wish.draft.groups if isinstance(one, Time)), None)
    cut = next((one.of.of for one in block.dimensions if isinstance(one.of, Cut) and not one.of.of.role), None)
    if group is None or group.of is not None or cut is None or block.inner is not None or base.event_time is None:
        return None
    shown = [one for one in block.measures if one.name not in block.hidden]
    timed = [one for one in shown if one.function == "count" and one.named is None and one.of == cut]
    others = [one for one in shown if one not in timed]
    if not timed or not others or cut.column == base.event_time or _is_filled(wish, cut):
        return None
    names = [f"{base.name}.{one}" for one in (cut.column, base.event_time)]
    text = (
        f"'{group.phrase}': the figures have different times, {' and '.join(names)}, and a row of the result has "
        "one of them: which one?"
    )
    return Question(text=text, phrase=group.phrase, choices=group_choices(group, names))


def _is_filled(wish: AnsweredWish, of: ColumnRef) -> bool:
    """Whether only rows with that time count, so that all figures are of them: "invoices paid, and their amount"."""
    return any(
        isinstance(one, Condition) and one.left == of and one.operator == "is not null" for one in wish.block.filters
    )
