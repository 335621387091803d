"""From groups of a wish to dimensions of a block."""

from dataclasses import replace

from streamhouse.planner.language.bench import Bench, unit_of_column
from streamhouse.planner.language.conditions import leftover_filters
from streamhouse.planner.language.draft import Bands, Group, Noun, Time
from streamhouse.planner.language.levels import NAME_OR_DEED
from streamhouse.planner.language.offered_times import group_choices
from streamhouse.planner.language.owners import with_owner
from streamhouse.planner.language.place import NotPlacedError, Placed, RefusedError, UnclearError
from streamhouse.planner.language.scope import TIMES, is_key_like, is_number, is_quantity, is_whole_number, key_column
from streamhouse.planner.language.times import time_column
from streamhouse.planner.language.units import factor
from streamhouse.planner.request import Banded, ColumnRef, Cut, Grain

_FINE = frozenset({Grain.MINUTE, Grain.HOUR, Grain.HOUR_OF_DAY})


def dimension_of(bench: Bench, group: Group) -> str:
    """Add the dimension that a group needs; its name.

    Raises:
        NotPlacedError, UnclearError, RefusedError: it cannot be placed, may mean several things, or cannot be.
    """
    if isinstance(group, Time):
        return _time(bench, group)
    if isinstance(group, Bands):
        return _bands(bench, group)
    return _column(bench, group)


def _time(bench: Bench, group: Time) -> str:
    said = group.phrase or group.grain.value
    placed = time_column(bench, group.of, said, lambda names: group_choices(group, names))
    if placed.column.type == "date" and group.grain in _FINE:
        raise RefusedError(f"{placed.name} is a date: there is no {group.grain.value.replace('_', ' ')} of it")
    if group.grain is Grain.HOUR and any(
        isinstance(g, Time) and g.grain is Grain.DAY_OF_WEEK for g in bench.draft.groups
    ):
        group = replace(group, grain=Grain.HOUR_OF_DAY)
        bench.places.assume("the hours beside days of the week are hours of the day")
    of = bench.places.use(placed)
    bench.places.note(group.phrase, f"{group.grain.value.replace('_', ' ')} of {placed.name}")
    return bench.dimension(group.grain.value, Cut(of=of, grain=group.grain))


def _bands(bench: Bench, group: Bands) -> str:
    placed = bench.places.column(group.noun, want="number")
    own = unit_of_column(placed.column)
    scale = factor(group.unit, own) if group.unit and own else 1
    if scale is None:
        raise RefusedError(f"{placed.name} is not in {group.unit.name if group.unit else ''}")
    bounds = tuple(bound * scale for bound in group.bounds)
    bench.places.note(group.noun.text, f"bands of {placed.name} at {', '.join(map(str, bounds))}")
    return bench.dimension(f"{placed.column.name}_band", Banded(of=bench.places.use(placed), bounds=bounds))


def _column(bench: Bench, noun: Noun) -> str:
    places = bench.places
    own = key_column(bench.base)
    if not noun.per and not noun.around and len(noun.head.words) == 1 and _yes_or_no_thing(bench, noun):
        raise UnclearError(
            f"'by {noun.text}': done by {noun.text}, or one group for yes and one for no?", noun.text,
            (f"per {noun.text}",),
        )  # fmt: skip
    is_column = any(s.quality > NAME_OR_DEED for s in noun.head.of_kind("column"))
    if places.is_base(noun.head) and own and not is_column:
        places.contexts(noun.around)
        bench.filters += leftover_filters(bench)
        places.note(noun.text, f"{bench.base.name}.{own}")
        return bench.dimension(own, ColumnRef(column=own))
    placed = places.column(with_owner(places, bench.draft, _as_own_column(bench, noun, own)))
    if placed.column.type in TIMES and placed.column.type != "date":
        raise NotPlacedError(noun.text, f"{placed.name} is a time: say per day, per month or another length")
    unit = unit_of_column(placed.column)
    per = noun.per and not _is_second(bench, noun)
    divisor = not is_key_like(placed.column) and (
        ((unit or placed.column.unit) and (per or not is_whole_number(placed.column)))
        or (per and is_quantity(placed.column))
    )  # rooms per floor are a group for each floor, and so are jars by size
    if (
        is_number(placed.column)
        and divisor
        and placed.column.name not in placed.reach.table.primary_key
        and not placed.column.values
        and not placed.column.references
    ):
        raise UnclearError(
            f"'{noun.text}': a figure divided by {placed.name}, or a group for each of its values?", noun.text
        )
    bench.filters += [one for one in leftover_filters(bench) if one not in bench.filters]
    places.note(noun.text, placed.name)
    return bench.dimension(dimension_name(placed), places.use(placed))


def _is_second(bench: Bench, noun: Noun) -> bool:
    """Whether a name in the singular stands behind a group and "and": the size of "per dish and plate size"."""
    words = bench.draft.words
    before = words[noun.start - 1] if 0 < noun.start <= len(words) else ""
    return before == "and" and len(bench.draft.groups) > 1 and not noun.head.is_plural


def _as_own_column(bench: Bench, noun: Noun, own: str | None) -> Noun:
    """A noun that names the rows and a column of theirs as the column: each row is a group of its own otherwise."""
    if not bench.places.is_base(noun.head):
        return noun
    senses = tuple(s for s in noun.head.of_kind("column") if s.quality > NAME_OR_DEED and s.column != own)
    return replace(noun, head=replace(noun.head, senses=senses)) if senses else noun


def _yes_or_no_thing(bench: Bench, noun: Noun) -> bool:
    """Whether "by" may name who did it: "events by staff", where that is a column of yes and no."""
    found = bench.places.columns(noun)
    if not found or bench.draft.groups != [noun]:
        return False
    return found[0].column.type == "boolean" and found[0].column.name.startswith("is_") and bool(found[0].of.role)


def dimension_name(placed: Placed) -> str:
    """What a column is called in a result: its own name, with its role where that alone says little."""
    name = placed.column.name.lower()
    return f"{placed.of.role}_{name}" if placed.of.role and name in {"name", "id", "code", "title", "label"} else name
