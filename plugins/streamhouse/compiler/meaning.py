"""Checks what files say of the meaning of tables against the tables that their flows write. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pydantic import Field

from streamhouse.compiler.meaning_words import (
    GRAINS,
    MeaningPlaces,
    has_word,
    level_paths,
    meaning_errors,
    named_errors,
    not_from_coarse_to_fine,
)
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
from streamhouse.model.meaning import ColumnMeaning, DimensionMeaning, Meaning, MeasureMeaning, NamedMeaning
from streamhouse.model.notice import Notice
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import NAME, Frozen
from streamhouse.registry.parse_sql import parse_measure
from streamhouse.sql.values import typed_value

if TYPE_CHECKING:
    from streamhouse.registry import Registry

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
class FileMeaning(MeaningPlaces):
    """What one file says of one table."""

    meaning: Meaning
    table: Table


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


def word_errors(action: Action) -> Iterator[StreamhouseError]:
    """What is wrong with the words of an action, whatever table it makes."""
    places = MeaningPlaces(action.places, (), action.at)
    yield from meaning_errors(action.meaning, places)
    yield from _unparsed(action.meaning.measures, places)


def _unparsed(measures: Mapping[str, MeasureMeaning], places: MeaningPlaces) -> Iterator[StreamhouseError]:
    for name, measure in measures.items():
        at = places.value("measures", name, "sql")
        try:
            if has_word(measure.sql):
                parse_measure(measure.sql, at)
        except StreamhouseError as error:
            error.at, error.message = at, f"measures.{name}: {error.message}"
            yield error


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
    errors: list[StreamhouseError] = list(named_errors(flow, MeaningPlaces(flow.places, (), flow.at)))
    notices: list[Notice] = []
    references: dict[str, set[str]] = {}
    of_actions: dict[tuple[str, ...], list[list[StreamhouseError]] | None] = {}
    for step, key in zip(plan.steps, _actions(registry, plan), strict=True):
        action = actions.action(f"{step.action}@{step.version}")
        table = tables[step.writes.name]
        every = [FileMeaning(action.places, (), action.at, action.meaning, table)]
        of_actions[key] = [*(of_actions.get(key) or ()), list(_errors(every[0], tables))]
        options = flow.tables.get(table.name)
        if options is not None:
            every.append(FileMeaning(flow.places, ("tables", table.name), flow.at, options.meaning, table))
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
    yield from meaning_errors(said.meaning, said)
    for name, column in said.meaning.columns.items():
        yield from _column_errors(name, column, said, tables)
    yield from _measure_names(said)
    columns = said.table.columns
    measures = {name: one for name, one in said.meaning.measures.items() if has_word(one.sql)}
    if measures:
        places = {name: said.value("measures", name, "sql") for name in measures}
        sql = {name: measure.sql for name, measure in measures.items()}
        yield from measure_errors(sql, columns, places)
    for name, dimension in said.meaning.dimensions.items():
        yield from _dimension_errors(name, dimension, said)


def errors_of_meaning(action: Action, table: Table, tables: Mapping[str, Table]) -> list[StreamhouseError]:
    """What is wrong with what an action says of a table that it would make; `tables` are those of all flows."""
    return list(_errors(FileMeaning(action.places, (), action.at, action.meaning, table), tables))


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
    elif kind != "boolean":
        yield from _one_value_twice(name, column, kind, said)
    if column.references is not None:
        yield from _reference_errors(column.references, kind, said.value("columns", name, "references"), tables)


def _one_value_twice(name: str, column: ColumnMeaning, kind: str, said: FileMeaning) -> Iterator[MeaningError]:
    first_spellings: dict[object, str] = {}
    for code in column.values:
        first = first_spellings.setdefault(typed_value(code, kind), code)
        if first != code:
            at = said.key("columns", name, "values", code)
            yield MeaningError(f"'{first}' and '{code}' are one value of {name}", at=at, hint="remove one of them")


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
    if (
        column is None
        and has_word(dimension.column or name)
        and (dimension.column is not None or not dimension.hierarchy)
    ):
        place = said.value("dimensions", name, "column") if dimension.column is not None else at
        yield _unknown(dimension.column or name, own, said.table.name, place)
    kind = own.get(column or "", "")
    known_grains = _grains_of(kind)
    passed_itself = False  # whether a level was the time itself
    for level, path in zip(dimension.hierarchy, level_paths(dimension, name, said), strict=True):
        place = said.value("dimensions", name, *path)
        if passed_itself and level in known_grains:
            yield not_from_coarse_to_fine(name, str(column), level, place)
            passed_itself = False  # one message is enough
        passed_itself = passed_itself or (kind in TIMES and level.lower() == column)
        if level.lower() in own or level in known_grains or not has_word(level):
            continue
        if level in GRAINS and column is not None:
            yield MeaningError(
                f"{column} is {kind} and has no {level}", at=place, hint="name the column of a time by `column`"
            )
        else:
            yield _unknown(level, [*own, *known_grains], said.table.name, place)


def _grains_of(kind: str) -> tuple[str, ...]:
    """The levels that values of a type have: a date has no hours."""
    if kind == "date":
        return GRAINS[GRAINS.index("day") :]
    return GRAINS if kind in TIMES else ()


def _shared_synonyms(said: FileMeaning) -> Iterator[Notice]:
    """Words that people cannot tell columns of the table by."""
    table, columns, measures = said.table.name, said.meaning.columns, said.meaning.measures
    meant = {column.name: column.name for column in said.table.columns}
    named: list[tuple[str, str, NamedMeaning]] = [("columns", *one) for one in columns.items()]
    yield from _twice_meant(said, table, meant, named)
    # A measure may be called like the column that it folds.
    yield from _twice_meant(
        said, table, {name: name for name in measures}, [("measures", *m) for m in measures.items()]
    )


def _twice_meant(
    said: FileMeaning, table: str, meant: dict[str, str], named: Sequence[tuple[str, str, NamedMeaning]]
) -> Iterator[Notice]:
    for kind, name, one in named:
        for number, synonym in enumerate(one.synonyms):
            first = meant.setdefault(synonym.lower().replace(" ", "_"), name)
            if first != name.lower() and first != name:
                at = said.value(kind, name, "synonyms", str(number))
                yield Notice(
                    f"'{synonym}' means both {first} and {name} of {table}",
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
