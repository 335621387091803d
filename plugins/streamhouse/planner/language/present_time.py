"""What a wish says of now: what goes on has an empty time, and what came to an end is left out, or asked about."""

import re

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.draft import State
from streamhouse.planner.language.empty_columns import may_be_empty, when_empty
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.place import NotPlacedError, UnclearError
from streamhouse.planner.language.scope import TIMES, name_stems, spoken
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.language.words import NOW, STATES
from streamhouse.planner.request import ColumnRef, Comparator, Condition, During, Filter

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


def filters_of_state(bench: Bench, clause: State) -> list[Filter]:
    """The condition on the column, mostly a time, that is empty while something goes on: "open", "running".

    Raises:
        NotPlacedError: the base has no such column.
        UnclearError: it has several.
    """
    stems_of_end = {stem(word) for word in STATES[clause.word]}
    times = _later_times(bench)
    named = [c for c in times if name_stems(c) & stems_of_end]
    found = [c for c in times if stem(clause.word) in stems(when_empty(c))] or _ends_of_now(clause.word, times, named)
    found = found or [
        c for c in bench.base.columns if stem(clause.word) in stems(when_empty(c)) and not _asked(bench, c)
    ]
    if not found:
        raise NotPlacedError(clause.phrase)
    if len(found) > 1:
        names = [f"{bench.base.name}.{column.name}" for column in found]
        raise UnclearError(f"'{clause.phrase}': which of {' and '.join(names)} is empty then?", clause.phrase, names)
    bench.places.note(clause.phrase, f"{bench.base.name}.{found[0].name} is {'not ' if clause.negated else ''}empty")
    bench.places.assume(f"'{clause.phrase}' means that {bench.base.name}.{found[0].name} is empty")
    operator: Comparator = "is not null" if clause.negated else "is null"
    return [Condition(left=ColumnRef(column=found[0].name), operator=operator)]


def _asked(bench: Bench, column: CatalogColumn) -> bool:
    """Whether a wish wants a column, or a measure of it: where the column is empty it says nothing."""
    measures = {name for name, one in bench.base.measures.items() if column.name in one.sql}
    senses = (
        sense for mention in mentions_of(bench.draft) for sense in mention.senses if sense.table == bench.base.name
    )
    return any(sense.column == column.name or sense.measure in measures for sense in senses)


def _ends(bench: Bench) -> list[CatalogColumn]:
    """Times of the base that say since when something is over."""
    words = {stem(word) for word in STATES["current"]}
    return [one for one in _later_times(bench) if is_empty_for_now(one) or name_stems(one) & words]


def _later_times(bench: Bench) -> list[CatalogColumn]:
    """The times of the base, but for the one at which each row came to be."""
    return [one for one in bench.base.columns if one.type in TIMES and one.name != bench.base.event_time]


def is_empty_for_now(column: CatalogColumn) -> bool:
    """Whether the description of a time says that it is empty for what goes on."""
    return _GOES_ON.search(when_empty(column)) is not None


def _ends_of_now(word: str, times: list[CatalogColumn], named: list[CatalogColumn]) -> list[CatalogColumn]:
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
    said = [one for noun in bench.draft.nouns if noun.predicate for one in noun.head.of_kind("column")]
    ended = next((one.column for one in said if one.table == bench.base.name and one.column in names), None)
    if ended is not None:  # "which are closed at the moment"
        bench.places.assume(f"what is so 'now' or 'at the moment' has {bench.base.name}.{ended}")
        return True
    bound = [one.left for one in bench.filters if isinstance(one, Condition)]
    bound += [one.of for one in bench.filters if isinstance(one, During)]
    return any(isinstance(of, ColumnRef) and not of.role and of.column in names for of in bound)
