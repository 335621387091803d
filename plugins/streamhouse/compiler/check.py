"""Checks of a step against its action, before any SQL is looked at."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

from sqlglot import exp

from streamhouse.errors import (
    Location,
    MissingParameterError,
    PortError,
    StreamhouseError,
    TypeMismatchError,
    UnknownColumnError,
    UnknownKeyError,
    UnknownTableError,
    did_you_mean,
)
from streamhouse.model.action import Action, Parameter
from streamhouse.model.flow import Flow, Step
from streamhouse.model.table import Column, Table
from streamhouse.model.types import ReadMode
from streamhouse.sql.parameters import typed_literal
from streamhouse.sql.types import canonical_type, fits


@dataclass(frozen=True)
class Readable:
    """A source or table as a step sees it."""

    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    source: bool = False
    forgets_after: timedelta | None = None  # days that are older are dropped from the tier that readers follow
    names_partitions: tuple[str, ...] = ()  # columns of texts that the hot tier names partitions by

    @classmethod
    def of(cls, table: Table) -> Self:
        """A table of a flow."""
        return cls(
            table.columns,
            table.primary_key,
            forgets_after=table.forgets_after,
            names_partitions=table.named_by if table.tiers.hot is not None else (),
        )


def read_place(step: Step, port: str) -> Location:
    """Where a step says what a port reads."""
    own = step.reads[port].at
    return own if own != Location("") else step.places.get(f"reads.{port}", step.at)


def check_reads(flow: Flow, written: Collection[str], external: Collection[str]) -> list[StreamhouseError]:
    """An error for each read of something that no source, step or flow makes."""
    unknown = [
        (step, port, read.table)
        for step in flow.steps
        for port, read in step.reads.items()
        if read.table not in flow.sources and read.table not in written and read.table not in external
    ]
    known = [*flow.sources, *written, *external] if unknown else []
    return [
        UnknownTableError(
            f"nothing makes '{table}'",
            at=read_place(step, port),
            hint=did_you_mean(table, known, f"sources and tables: {', '.join(known)}"),
        )
        for step, port, table in unknown
    ]


def check_table_options(flow: Flow, written: Collection[str]) -> list[StreamhouseError]:
    """An error for each table of `tables:` that no step writes."""
    return [
        UnknownTableError(
            f"'tables' names {name}, which no step of this flow writes",
            at=flow.places.get(f"tables.{name}", flow.at),
            hint=did_you_mean(name, written, f"this flow writes: {', '.join(sorted(written))}"),
        )
        for name in flow.tables
        if name not in written
    ]


def check_schema_change(flow: Flow, written: Collection[str]) -> list[StreamhouseError]:
    """An error for each table of `schema_change` that no step writes."""
    return [
        UnknownTableError(
            f"'schema_change' names {name}, which no step of this flow writes",
            at=flow.places.get(f"schema_change.tables.{name}", flow.at),
            hint=did_you_mean(name, written, f"this flow writes: {', '.join(sorted(written))}"),
        )
        for name in flow.schema_change.tables
        if name not in written
    ]


def check_layer(step: Step, action: Action) -> list[StreamhouseError]:
    """An error when the step writes into a layer that its kind does not write."""
    layer = step.writes.split(".")[0]
    if layer == action.step.layer:
        return []
    return [
        PortError(
            f"{action.action} is a {action.step} action and writes {action.step.layer}, not {layer}",
            at=step.places.get("writes", step.at),
            hint=f"write to {action.step.layer}.{step.writes.split('.')[1]}, or change 'step' of the action",
        )
    ]


def check_ports(step: Step, action: Action, sources: Collection[str]) -> list[StreamhouseError]:
    """An error for each port without a table, each unknown port, and each source read as lookup."""
    errors: list[StreamhouseError] = [
        PortError(
            f"the port '{port}' of {action.action} reads nothing",
            at=step.places.get("reads", step.at),
            hint=f"add it: reads: {{{port}: layer.table}}",
        )
        for port in action.inputs
        if port not in step.reads
    ]
    for port, read in step.reads.items():
        if port not in action.inputs:
            hint = did_you_mean(port, action.inputs, f"its ports are: {', '.join(action.inputs) or 'none'}")
            place = step.places.get(f"key:reads.{port}", read_place(step, port))
            errors.append(PortError(f"{action.action} has no port '{port}'", at=place, hint=hint))
        elif read.mode is ReadMode.LOOKUP and read.table in sources:
            cause = f"the source '{read.table}' cannot be read as lookup"
            hint = "write it to a table with an ingest step, and look that up"
            errors.append(PortError(cause, at=read_place(step, port), hint=hint))
    return errors


def check_columns(step: Step, action: Action, readable: Mapping[str, Readable]) -> list[StreamhouseError]:
    """An error for each declared column that the table of a port lacks, or has with a type that does not fit."""
    errors: list[StreamhouseError] = []
    for port, declared in action.inputs.items():
        table = step.reads[port].table
        own = {c.name.lower(): c for c in readable[table].columns}
        for name, kind in declared.items():
            try:
                wanted = canonical_type(kind)
            except ValueError as error:
                errors.append(TypeMismatchError(f"column '{name}' of port '{port}': {error}", at=action.at))
                continue
            column, place = own.get(name.lower()), read_place(step, port)
            if column is None:
                cause = f"{table} has no column '{name}', which port '{port}' of {action.action} needs"
                hint = did_you_mean(name, own, f"its columns are: {', '.join(own)}")
                errors.append(UnknownColumnError(cause, at=place, hint=hint))
            elif not fits(column.type, wanted):
                cause = f"{table}.{column.name} is {column.type}, but port '{port}' of {action.action} takes {wanted}"
                convert = f"convert it upstream: CAST({column.name} AS {wanted})"
                errors.append(TypeMismatchError(cause, at=place, hint=convert))
            elif column.nullable and name in action.never_null.get(port, ()):
                cause = (
                    f"{table}.{column.name} may be NULL, but port '{port}' of {action.action} takes {wanted} not null"
                )
                hint = (
                    f"upstream, give such rows a value, COALESCE({column.name}, …), or declare the column of the source"
                )
                errors.append(TypeMismatchError(cause, at=place, hint=f"{hint} as not null"))
    return errors


def parameter_literals(step: Step, action: Action) -> tuple[dict[str, exp.Expr], list[StreamhouseError]]:
    """Parameter → its value as a literal, and an error for each that is wrong, missing or unknown."""
    literals: dict[str, exp.Expr] = {}
    errors: list[StreamhouseError] = [
        UnknownKeyError(name, action.params, at=step.places.get(f"key:with.{name}", step.at))
        for name in step.params
        if name not in action.params
    ]
    for name, declared in action.params.items():
        is_set = name in step.params
        value: Any = step.params[name] if is_set else declared.default
        if value is None:
            errors.append(_missing(name, declared, step, action))
            continue
        try:
            at = step.places.get(f"with.{name}", step.at) if is_set else action.at
            literals[name] = typed_literal(name, declared.type, value, at)
        except ValueError as error:
            errors.append(TypeMismatchError(f"parameter '{name}': {error}", at=action.at))
        except TypeMismatchError as error:
            errors.append(error)
    return literals, errors


def _missing(name: str, declared: Parameter, step: Step, action: Action) -> MissingParameterError:
    return MissingParameterError(
        f"{action.action} needs the parameter '{name}' ({declared.type})",
        at=step.places.get(f"with.{name}", step.places.get("use", step.at)),
        hint=f"add it: with: {{{name}: …}}",
    )
