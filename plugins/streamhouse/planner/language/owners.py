"""Whose value or group it is: "engines of each station" are grouped by the station of the engine, not of its driver."""

from dataclasses import replace

from streamhouse.planner.language.draft import Draft, Noun
from streamhouse.planner.language.levels import NEARLY_NAME, WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.place import CLOSE, Placed, PlaceFinder, UnclearError
from streamhouse.planner.language.scope import spoken

_BETWEEN = frozenset("of from at in the each every a an our all".split())
_BEHIND = frozenset("of from at in".split())
_BEFORE_GROUPS = _BETWEEN | {"per"}


def one_meant(places: PlaceFinder, draft: Draft, value: Mention, near: list[Placed], cues: tuple[str, ...]) -> Placed:
    """The one place of a value among several that are as good.

    Raises:
        UnclearError: none of the words around it says which.
    """
    near = places.directed(near, (*cues, *value.cues)) or near
    near = _owned(places, draft, value, near) if len(near) > 1 else near
    near = _of_thing_behind(places, draft, value, near) if len(near) > 1 else near
    if len(near) > 1:
        choices = [f"{one} '{placed.value}'" for one, placed in zip(_told_apart(places, near), near, strict=True)]
        raise UnclearError(f"'{value.text}' may mean {' or '.join(choices)}: which one?", value.text, choices)
    return near[0]


def _of_thing_behind(places: PlaceFinder, draft: Draft, value: Mention, near: list[Placed]) -> list[Placed]:
    """As in "German exams": of several places that of the thing right behind a value, else all of them."""
    behind = [one for one in mentions_of(draft) if one.start == value.end and one.end > one.start]
    tables = {table for one in behind for table in one.tables(WHOLE_NAME)}
    found = [one for one in near if one.reach.table.name in tables]
    if len(found) != 1 or value.best_of("table") >= NEARLY_NAME:
        return near
    places.assume(f"'{value.text}' is {places.called(found[0])}")
    return found


def with_owner(places: PlaceFinder, draft: Draft, group: Noun) -> Noun:
    """A group of which several places are as good, with the thing whose group it is: "engines of each station".

    It is the thing right before the words, or the one that a ranking is about: "for each station, the engine with …".
    """
    found = places.columns(group) if not group.around else []
    near = [one for one in found if one.cost - found[0].cost < CLOSE]
    if len(near) < 2 or places.directed(near, group.cues):
        return group
    target = draft.best.target.head if draft.best is not None and isinstance(draft.best.target, Noun) else None
    for owner in (_right_before(draft, group.head), target):
        if owner is None:
            continue
        tables = owner.tables(NEARLY_NAME) - {places.scope.base.name}
        over = [one for one in near if one.reach.table.name in tables]
        if len(over) == 1 and over[0].of.role:
            places.assume(f"'{group.text}' is {places.called(over[0])}")
            return replace(group, around=(owner,))
    return group


def _right_before(draft: Draft, mention: Mention) -> Mention | None:
    """The thing right before the words of a group: "engines" of "engines of each station"."""
    start = mention.start
    while start and draft.said[start - 1 : start] and draft.said[start - 1] in _BEFORE_GROUPS:
        start -= 1
    return next((one for one in mentions_of(draft) if one.end == start and one is not mention), None)


def _told_apart(places: PlaceFinder, near: list[Placed]) -> list[str]:
    """What several places are called, each otherwise: "station name of the station of the engine"."""
    names = [places.called(one).replace("_", " ") if one.of.role else spoken(one.column.name) for one in near]
    if len(set(names)) == len(names):
        return names
    return [" of the ".join([spoken(one.column.name), *_steps(places, one)]) for one in near]


def _steps(places: PlaceFinder, placed: Placed) -> list[str]:
    steps = [step.key.columns[0] for step in places.scope.chain(placed.of.role) if step.key is not None]
    return [spoken(key) for key in reversed(steps)]


def _owned(places: PlaceFinder, draft: Draft, mention: Mention, near: list[Placed]) -> list[Placed]:
    """Of several places that words may mean, the only one over the thing that stands right before the words.

    Returns:
        One place, or all of them where no thing stands there, or several places are over it.
    """
    start = mention.start
    while start and draft.said[start - 1 : start] and draft.said[start - 1] in _BETWEEN:
        start -= 1
    if start == mention.start or not _BEHIND & set(draft.said[start : mention.start]):
        return near
    owners = {
        sense.table
        for one in mentions_of(draft)
        if one.end == start
        for sense in one.of_kind("table")
        if sense.quality >= NEARLY_NAME
    }
    found = [one for one in near if owners & _passed(places, one)]
    if len(found) != 1 or places.scope.base.name in owners:
        return near
    places.assume(f"'{mention.text}' is {places.called(found[0])}")
    return found


def _passed(places: PlaceFinder, placed: Placed) -> set[str]:
    """The tables over which a place is reached."""
    tables = {step.table.name for step in places.scope.chain(placed.of.role)}
    return tables - ({placed.reach.table.name} if placed.column.references is None else set())
