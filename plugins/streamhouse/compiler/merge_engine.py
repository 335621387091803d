"""Checks the merge engine that a flow names for a table against the step that writes it; pure."""

from collections.abc import Mapping

from streamhouse.errors import MergeEngineError, StreamhouseError, TierError, UnknownColumnError, did_you_mean
from streamhouse.model.flow import Flow, Step
from streamhouse.model.table import Column, TableOptions
from streamhouse.model.types import MergeEngine, ReadMode, Strategy, Tier
from streamhouse.sql.classify import Classification, InputInfo

_VERSIONS = ("int", "bigint", "timestamp", "timestamp_ntz")  # what Fluss compares
_SELECTING = (MergeEngine.FIRST_ROW, MergeEngine.VERSIONED)


def ruled_out(options: TableOptions) -> dict[Strategy, str]:
    """Strategies that the table's merge engine does not go with, with the reason."""
    if options.merge_engine is MergeEngine.PARTIAL_UPDATE:
        return {Strategy.MERGE: "a table with several writers does not fold"}
    if options.merge_engine in (None, MergeEngine.AGGREGATION):
        return {}
    return {Strategy.MERGE: f"merge_engine is {options.merge_engine}, so nothing is folded"}


def engine_errors(
    step: Step,
    flow: Flow,
    options: TableOptions,
    how: Classification,
    inputs: Mapping[str, InputInfo],
    columns: tuple[Column, ...],
) -> list[StreamhouseError]:
    """What keeps a table from having the merge engine its flow names; empty when it names none.

    Args:
        step: Writes the table.
        flow: Names the engine.
        options: Of the table.
        how: The strategy chosen with `ruled_out`.
        inputs: Of every port.
        columns: Of the table.
    """
    table, engine = step.writes, options.merge_engine
    path = f"tables.{table}"
    at = flow.places.get(f"{path}.merge_engine", flow.places.get(path, flow.at))
    errors = _version_errors(step, flow, options, how, columns)
    if engine is not None and not how.primary_key:
        errors.append(
            MergeEngineError(
                f"{table} has no primary key by which rows would meet, and merge_engine is {engine}",
                at=at,
                hint="declare output.primary_key in the action, or primary_key here",
            )
        )
    elif engine is MergeEngine.AGGREGATION and how.strategy is not Strategy.MERGE:
        errors.append(
            MergeEngineError(
                f"{table} cannot be an aggregation, its step is kept up to date by {how.strategy}: {how.reason}",
                at=at,
                hint="SUM, COUNT, MIN, MAX by key over append-only input can be folded; else leave merge_engine out",
            )
        )
    if engine not in _SELECTING:
        return errors
    if updated := [
        step.reads[port].table
        for port, info in inputs.items()
        if info.mode is ReadMode.CHANGES and not info.append_only
    ]:
        errors.append(
            MergeEngineError(
                f"{table} cannot be {engine}: rows of {' and '.join(updated)} are updated, and what a row was "
                "before depends on when it is read",
                at=at,
                hint="read a table or source without a primary key",
            )
        )
    elif how.strategy is not Strategy.MAP:
        errors.append(
            MergeEngineError(
                f"{table} cannot be {engine}, its step is kept up to date by {how.strategy}: {how.reason}",
                at=at,
                hint="only rows that are each made of one row of a table without a primary key can win or lose",
            )
        )
    if options.tiers is not None and options.tiers.target is Tier.COLD:
        errors.append(
            TierError(
                f"{table} is {engine}, and the cold tier takes every row as it comes",
                at=at,
                hint="add a hot or warm tier: the cold tier gets the rows that won",
            )
        )
    return errors


def selection(options: TableOptions) -> tuple[bool, str | None]:
    """`Table.first_row` and `Table.version_column` of a table with these options."""
    versioned = options.merge_engine is MergeEngine.VERSIONED and options.version_column is not None
    return options.merge_engine is MergeEngine.FIRST_ROW, (options.version_column or "").lower() if versioned else None


def _version_errors(
    step: Step, flow: Flow, options: TableOptions, how: Classification, columns: tuple[Column, ...]
) -> list[StreamhouseError]:
    table, name = step.writes, options.version_column
    path = f"tables.{table}"
    at = flow.places.get(f"{path}.version_column", flow.places.get(f"{path}.merge_engine", flow.at))
    if options.merge_engine is not MergeEngine.VERSIONED:
        if name is None:
            return []
        message = f"{table} has a version_column, and merge_engine is {options.merge_engine or 'left out'}"
        return [MergeEngineError(message, at=at, hint="write merge_engine: versioned, or leave version_column out")]
    fitting = [c.name for c in columns if c.type in _VERSIONS and c.name not in how.primary_key]
    known = f"columns that could: {', '.join(fitting) or 'none'}"
    if name is None:
        message = f"{table} is versioned, and nothing says by which column"
        return [MergeEngineError(message, at=at, hint=f"add version_column; {known}")]
    if name.lower() not in [c.name for c in columns]:
        message = f"version_column names '{name}', which is no output column"
        return [UnknownColumnError(message, at=at, hint=did_you_mean(name, fitting, known))]
    if name.lower() not in fitting:
        kind = next(c.type for c in columns if c.name == name.lower())
        why = "part of the primary key" if name.lower() in how.primary_key else kind
        message = f"version_column {name} is {why}; a version is one of {', '.join(_VERSIONS)}, outside the primary key"
        return [MergeEngineError(message, at=at, hint=known)]
    return []
