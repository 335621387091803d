"""What a wish says of now: rows of things that came to an end are left out, or it is asked whether they count."""

import re

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.draft import State
from streamhouse.planner.language.empty_columns import may_be_empty, when_empty
from streamhouse.planner.language.place import UnclearError
from streamhouse.planner.language.scope import TIMES, name_stems, spoken
from streamhouse.planner.language.tokens import stem
from streamhouse.planner.language.words import NOW, STATES
from streamhouse.planner.request import ColumnRef, Condition, During

_GOES_ON = re.compile(r"\b(while|still|as long as|until|current|active|not yet|so far|today)\b")


def leave_out_ended(bench: Bench) -> None:
    """Add the condition that rows of the base go on, where a wish says "now" and no other condition says it.

    Raises:
        UnclearError: the table has an end, and its description does not say that it is empty for what goes on.
    """
    said = next((word for word in bench.draft.words if word in NOW), "")
    ends = _ends(bench)
    if not said or not ends or _is_bound(bench, ends):
        return
    sure = [column for column in ends if is_empty_for_now(column)]
    if len(sure) != 1 or bench.base.event_time is not None:
        names = [f"{bench.base.name}.{column.name}" for column in ends]
        choices = tuple(f"without {spoken(column.name)}" for column in ends)
        raise UnclearError(f"'{said}': only rows of which {' or '.join(names)} is empty?", said, choices)
    name = f"{bench.base.name}.{sure[0].name}"
    bench.places.note(said, f"{name} is empty")
    bench.places.assume(f"'{said}' means that {name} is empty")
    bench.filters.append(Condition(left=ColumnRef(column=sure[0].name), operator="is null"))


def _ends(bench: Bench) -> list[CatalogColumn]:
    """Times of the base that say since when something is over."""
    words = {stem(word) for word in STATES["current"]}
    times = [one for one in bench.base.columns if one.type in TIMES and one.name != bench.base.event_time]
    return [one for one in times if is_empty_for_now(one) or name_stems(one) & words]


def is_empty_for_now(column: CatalogColumn) -> bool:
    """Whether the description of a time says that it is empty for what goes on."""
    return _GOES_ON.search(when_empty(column)) is not None


def ends_of_now(word: str, times: list[CatalogColumn], named: list[CatalogColumn]) -> list[CatalogColumn]:
    """The times that may be empty for what goes on: those that are called its end, or whose description says so.

    Args:
        word: For what goes on: "active", "open".
        times: Of the rows, but for the one at which each came to be.
        named: Those of them that are called an end. One with a description that speaks of no empty row is none.
    """
    if word not in {"current", "active"}:
        return named
    ongoing = [one for one in times if is_empty_for_now(one)]
    if len(ongoing) == 1 and all(one in ongoing or (one.description and not may_be_empty(one)) for one in named):
        return ongoing
    return named or ongoing


def _is_bound(bench: Bench, ends: list[CatalogColumn]) -> bool:
    """Whether a state or another condition already says whether it is over."""
    names = {column.name for column in ends}
    if any(isinstance(one, State) for one in bench.draft.filters):
        return True
    bound = [one.left for one in bench.filters if isinstance(one, Condition)]
    bound += [one.of for one in bench.filters if isinstance(one, During)]
    return any(isinstance(of, ColumnRef) and not of.role and of.column in names for of in bound)
