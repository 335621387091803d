"""Checks what files say of the meaning of tables against the tables that their flows write. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pydantic import Field

from streamhouse.compiler.measures import measure_errors
from streamhouse.errors import (
    FileFormatError,
    Location,
    MeaningError,
    StreamhouseError,
    TypeMismatchError,
    UnknownColumnError,
    UnknownTableError,
    did_you_mean,
)
from streamhouse.model.action import Action
from streamhouse.model.meaning import ColumnMeaning, DimensionMeaning, Meaning
from streamhouse.model.notice import Notice
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import NAME, Frozen
from streamhouse.sql.values import typed_value

if TYPE_CHECKING:
    from streamhouse.registry import Registry

GRAINS = ("minute", "hour", "day", "week", "month", "quarter", "year")
"""Levels of a time, from fine to coarse."""

TIMES = frozenset({"timestamp", "timestamp_ntz", "date"})
"""Types of columns that have such levels."""

_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})


class SoundMeanings(Frozen):
    """What the meanings of one flow's tables came to, where nothing was wrong with any.

    Attributes:
        references: Column that is referred to → the types of the columns that refer to it.
    """

    notices: tuple[Notice, ...] = ()
    references: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class MeaningMemory(Protocol):
    """Knows flows whose files and plans are as they were when their meanings were sound."""

    def sound_meanings(self, flow: str) -> SoundMeanings | None:
        """What they came to then; None: it is not known."""

    def keep_sound_meanings(self, flow: str, found: SoundMeanings) -> None:
        """Remember it."""


@dataclass(frozen=True)
class FileMeaning:
    """What one file says of one table.

    Attributes:
        places: Path of what the file says → its place; of its keys after `key:`.
        root: Path of the meaning in the file.
        at: Place of what has none of its own.
    """

    meaning: Meaning
    table: Table
    places: Mapping[str, Location]
    root: tuple[str, ...]
    at: Location

    def key(self, *path: str) -> Location:
        """Where the last key of a path stands."""
        return self.places.get(f"key:{'.'.join((*self.root, *path))}") or self.value(*path)

    def value(self, *path: str) -> Location:
        """Where the value at a path stands; of a mapping, where its key does."""
        return self.places.get(".".join((*self.root, *path)), self.at)


def check_meanings(
    registry: "Registry", plans: Mapping[str, FlowPlan], remembered: MeaningMemory
) -> tuple[list[StreamhouseError], list[Notice]]:
    """What is wrong, and what is odd, with the meanings of the tables that some plans write; in no order.

    What an action says is wrong when it fits none of the tables that it makes. An action that no flow uses makes
    none, and `alone` checks it.

    Args:
        registry: What the plans follow from.
        plans: Of all flows.
        remembered: Of a flow that it knows, no action is read.
    """
    tables = {name: table for plan in plans.values() for name, table in plan.tables.items()}
    errors: list[StreamhouseError] = []
    notices: list[Notice] = []
    of_actions: dict[tuple[str, ...], list[list[StreamhouseError]]] = {}
    for plan in plans.values():
        known = remembered.sound_meanings(plan.flow)
        if known is not None and _hold(known, tables):
            found = _Flow([], dict.fromkeys(_actions(registry, plan)), known)
        else:
            found = _flow(registry, plan, tables)
            if not found.errors and not any(one for lists in found.of_actions.values() for one in lists or ()):
                remembered.keep_sound_meanings(plan.flow, found.came_to)
        errors += found.errors
        notices += found.came_to.notices
        for action, wrong in found.of_actions.items():
            of_actions.setdefault(action, []).extend(wrong or [[]])
    for lists in of_actions.values():
        everywhere = set.intersection(*({str(error) for error in one} for one in lists))
        errors += (error for error in lists[0] if str(error) in everywhere)
    return errors, notices


@dataclass(frozen=True)
class _Flow:
    """`errors`: in its own file. `of_actions`: action → what is wrong with it for each table that it makes here."""

    errors: list[StreamhouseError]
    of_actions: Mapping[tuple[str, ...], list[list[StreamhouseError]] | None]
    came_to: SoundMeanings


def _actions(registry: "Registry", plan: FlowPlan) -> list[tuple[str, ...]]:
    """What distinguishes the actions of each step from all others; a flow that has files of its own has its own."""
    own = (plan.flow,) if plan.flow in registry.parts else ()
    return [(step.action, step.version, *own) for step in plan.steps]


def _flow(registry: "Registry", plan: FlowPlan, tables: Mapping[str, Table]) -> _Flow:
    flow, actions = registry.flow(plan.flow), registry.of_flow(plan.flow)
    errors: list[StreamhouseError] = []
    notices: list[Notice] = []
    references: dict[str, set[str]] = {}
    of_actions: dict[tuple[str, ...], list[list[StreamhouseError]] | None] = {}
    for step, key in zip(plan.steps, _actions(registry, plan), strict=True):
        action = actions.action(f"{step.action}@{step.version}")
        table = tables[step.writes.name]
        every = [FileMeaning(action.meaning, table, action.places, (), action.at)]
        of_actions[key] = [*(of_actions.get(key) or ()), list(_errors(every[0], tables))]
        options = flow.tables.get(table.name)
        if options is not None:
            every.append(FileMeaning(options.meaning, table, flow.places, ("tables", table.name), flow.at))
            errors += _errors(every[1], tables)
        types = {c.name: c.type for c in table.columns}
        for said in every:
            notices += _shared_synonyms(said)
            for name, column in said.meaning.columns.items():
                if column.references is not None:
                    references.setdefault(column.references, set()).add(types.get(name.lower(), ""))
    kinds_by_reference = {reference: tuple(sorted(kinds)) for reference, kinds in sorted(references.items())}
    return _Flow(errors, of_actions, SoundMeanings(notices=tuple(notices), references=kinds_by_reference))


def _hold(known: SoundMeanings, tables: Mapping[str, Table]) -> bool:
    nowhere = Location("")
    return not any(
        error
        for reference, kinds in known.references.items()
        for kind in kinds
        for error in _reference_errors(reference, kind or None, nowhere, tables)
    )


def _measure_names(said: FileMeaning) -> Iterator[StreamhouseError]:
    names = {c.name for c in said.table.columns}
    for name in said.meaning.measures:
        at = said.key("measures", name)
        if not re.fullmatch(NAME, name):
            yield _no_name(name, "a measure", at)
        if name.lower() in names:
            yield MeaningError(
                f"the measure '{name}' has the name of a column of {said.table.name}",
                at=at,
                hint=f"call it by what it does to it, such as 'total_{name}', and give it the synonym '{name}'",
            )


def _errors(said: FileMeaning, tables: Mapping[str, Table]) -> Iterator[StreamhouseError]:
    for name, column in said.meaning.columns.items():
        yield from _column_errors(name, column, said, tables)
    yield from _measure_names(said)
    measures, columns = said.meaning.measures, said.table.columns
    if measures:
        placed = {name: said.value("measures", name, "sql") for name in measures}
        places = {name: at if at != said.at else said.value("measures", name) for name, at in placed.items()}
        sql = {name: measure.sql for name, measure in measures.items()}
        yield from measure_errors(sql, columns, places)
    for name, dimension in said.meaning.dimensions.items():
        yield from _dimension_errors(name, dimension, said)


def meaning_errors(action: Action, table: Table, tables: Mapping[str, Table]) -> list[StreamhouseError]:
    """What is wrong with what an action says of a table that it would make; `tables` are those of all flows."""
    return list(_errors(FileMeaning(action.meaning, table, action.places, (), action.at), tables))


def _column_errors(
    name: str, column: ColumnMeaning, said: FileMeaning, tables: Mapping[str, Table]
) -> Iterator[StreamhouseError]:
    own = {c.name: c.type for c in said.table.columns}
    kind = own.get(name.lower())
    if kind is None:
        yield _unknown(name, own, said.table.name, said.key("columns", name))
    elif odd := [code for code in column.values if not _fits(code, kind)]:
        yield TypeMismatchError(
            f"'{odd[0]}' is no value of {name}, which is {kind}",
            at=said.key("columns", name, "values", odd[0]),
            hint="write the value as the column has it, and the words for it behind the colon",
        )
    if column.references is not None:
        yield from _reference_errors(column.references, kind, said.value("columns", name, "references"), tables)


def _reference_errors(
    reference: str, kind: str | None, at: Location, tables: Mapping[str, Table]
) -> Iterator[StreamhouseError]:
    name, _, column = reference.rpartition(".")
    if name not in tables:
        hint = did_you_mean(name, tables, f"tables: {', '.join(sorted(tables))}")
        yield UnknownTableError(f"references names {name}, which no flow writes", at=at, hint=hint)
        return
    types = {c.name: c.type for c in tables[name].columns}
    other = types.get(column.lower())
    if other is None:
        yield _unknown(column, types, name, at)
    elif column.lower() not in tables[name].primary_key:
        key = ", ".join(tables[name].primary_key)
        yield MeaningError(
            f"references names {reference}, which is no key: several rows may have one value",
            at=at,
            hint=f"the key of {name} is {key}" if key else f"{name} has no primary key; give it one, or leave this out",
        )
    elif kind is not None and kind != other and not {kind, other} <= _WHOLE:
        yield TypeMismatchError(
            f"this column is {kind}, and {reference} is {other}",
            at=at,
            hint="CAST one of them to the type of the other",
        )


def _dimension_errors(name: str, dimension: DimensionMeaning, said: FileMeaning) -> Iterator[StreamhouseError]:
    own = {c.name: c.type for c in said.table.columns}
    at = said.key("dimensions", name)
    if not re.fullmatch(NAME, name):
        yield _no_name(name, "a dimension", at)
    column = dimension.on(name, own)
    if column is None and (dimension.column is not None or not dimension.hierarchy):
        place = said.value("dimensions", name, "column") if dimension.column is not None else at
        yield _unknown(dimension.column or name, own, said.table.name, place)
    is_time = own.get(column or "") in TIMES
    for number, level in enumerate(dimension.hierarchy):
        if level.lower() in own or (is_time and level in GRAINS):
            continue
        long, short = (said.value("dimensions", name, *path, str(number)) for path in (("hierarchy",), ()))
        place = long if long != said.at else short
        if level in GRAINS and column is not None:
            yield MeaningError(
                f"{column} is {own[column]} and has no {level}", at=place, hint="name the column of a time by `column`"
            )
        else:
            yield _unknown(level, [*own, *(GRAINS if is_time else ())], said.table.name, place)


def _shared_synonyms(said: FileMeaning) -> Iterator[Notice]:
    """Words that people cannot tell columns of the table by."""
    meant: dict[str, str] = {column.name: column.name for column in said.table.columns}
    for name, column in said.meaning.columns.items():
        for number, synonym in enumerate(column.synonyms):
            first = meant.setdefault(synonym.lower().replace(" ", "_"), name)
            if first != name.lower() and first != name:
                at = said.value("columns", name, "synonyms", str(number))
                yield Notice(
                    f"'{synonym}' means both {first} and {name} of {said.table.name}",
                    at,
                    "leave it to one of them; a wish that has it is asked back",
                )


def _fits(code: str, kind: str) -> bool:
    if kind == "boolean":
        return code in {"true", "false"}
    try:
        typed_value(code, kind)
    except ValueError:
        return False
    return True


def _unknown(name: str, known: Sequence[str] | Mapping[str, str], table: str, at: Location) -> UnknownColumnError:
    hint = did_you_mean(name, list(known), f"its columns are: {', '.join(known)}")
    return UnknownColumnError(f"{table} has no column '{name}'", at=at, hint=hint)


def _no_name(name: str, what: str, at: Location) -> FileFormatError:
    hint = "a name begins with a letter and has lower-case letters, digits and _"
    return FileFormatError(f"'{name}' cannot name {what}", at=at, hint=hint)
