"""Opens a table of others as a source."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from streamhouse.errors import Location, SourceError, did_you_mean
from streamhouse.ingest.base import RowSource
from streamhouse.ingest.not_null import required, required_of_those
from streamhouse.ingest.options import check_options
from streamhouse.ingest.tables.base import OtherTable, TableLook
from streamhouse.ingest.tables.connections import tables_connection
from streamhouse.ingest.tables.fluss import FlussAdded, FlussChanges, FlussLook, FlussTable, fluss_table
from streamhouse.ingest.tables.modes import refuse_kind, refuse_table
from streamhouse.ingest.tables.options import OtherTableOptions
from streamhouse.ingest.tables.sources import AddedRows, ChangedRows
from streamhouse.ingest.tables.types import has_type
from streamhouse.ingest.wrong_option import of_option
from streamhouse.model.connection import Connection
from streamhouse.model.lake_connection import IcebergConnection, PaimonConnection
from streamhouse.model.shape import SeenColumn
from streamhouse.model.table import Column
from streamhouse.model.types import Ranges
from streamhouse.stores.fitted import can_fit

KIND = "table"
_EVERY = timedelta(minutes=1)


def other_table(options: OtherTableOptions, root: Path, at: Location | None = None) -> "OtherTable | FlussTable":
    """The table that a source names; nothing is asked yet.

    Raises:
        SourceError: the settings have no such connection, or the mode is none of its tables.
        EnvironmentProblem: a secret is not where the settings say.
    """
    place = tables_connection(options.connection, root, at)
    refuse_kind(place.kind, options.mode, at)
    if isinstance(place, Connection):
        from streamhouse.ingest.tables.database import database_table

        every_s = (options.every or _EVERY).total_seconds()
        return database_table(options.table, options.connection, place, every_s, root, at)
    if options.every is not None:
        why = f"'every' is of tables of databases, and '{options.connection}' is of kind {place.kind}"
        raise SourceError(why, at=at, hint="leave it out: each snapshot is read as it comes")
    if isinstance(place, IcebergConnection):
        from streamhouse.ingest.tables.iceberg import iceberg_table

        return iceberg_table(options.table, options.connection, place, root, at)
    if isinstance(place, PaimonConnection):
        from streamhouse.ingest.tables.paimon import paimon_table

        return paimon_table(options.table, options.connection, place, options.mode, root, at)
    return fluss_table(options.table, options.connection, place, root, at)


def open_table(
    options: Mapping[str, Any],
    root: Path,
    *,
    columns: tuple[Column, ...] | None = None,
    skipped_ranges: Ranges | None = None,
    at: Location | None = None,
) -> RowSource:
    """Check the options; with `columns`, which a plan has, the table is not asked.

    Raises:
        SourceError: an option is wrong, there is no such table, or it has no such column.
        StoreUnavailableError: its catalog does not answer.
        EnvironmentProblem: a secret is not where the settings say.
    """
    checked = check_options(OtherTableOptions, KIND, options, at)
    table = other_table(checked, root, at)
    sure = {*checked.primary_key, *checked.not_null}
    taken = required_of_those(columns, sure) if columns else _columns(checked, table.look(), at)
    added = checked.mode == "append"
    if isinstance(table, FlussTable):
        kind = FlussAdded if added else FlussChanges
        return kind(table, taken, skipped_ranges=skipped_ranges, at=at)
    if added:
        return AddedRows(table, taken, skipped_ranges=skipped_ranges, at=at)
    return ChangedRows(table, taken, checked.primary_key, skipped_ranges=skipped_ranges, at=at)


def _columns(options: OtherTableOptions, look: TableLook | FlussLook, at: Location | None) -> tuple[Column, ...]:
    """The columns that a person declared, compared with the table; or all that it has."""
    there = {column.name: column for column in look.columns}
    if isinstance(look, FlussLook):
        refuse_table(options.table, options.mode, look.primary_key, at, others="append")
    if look.primary_key and options.mode == "upsert" and set(options.primary_key) != set(look.primary_key):
        hint = f"write primary_key: [{', '.join(look.primary_key)}], which its changelog goes by"
        with of_option("primary_key"):
            raise SourceError(f"the key of {options.table} is another one", at=at, hint=hint)
    if options.columns:
        for name, kind in options.columns.items():
            with of_option(f"columns.{name}"):
                _refuse_misfit(options, name, kind, there, at)
        found = [Column(name=name, type=kind) for name, kind in options.columns.items()]
    else:
        found = [Column(name=one.name, type=_readable(options, one, at)) for one in there.values()]
    return required(found, {*options.primary_key, *options.not_null}, at)


def _refuse_misfit(
    options: OtherTableOptions, name: str, kind: str, there: Mapping[str, SeenColumn], at: Location | None
) -> None:
    if name not in there:
        hint = did_you_mean(name, tuple(there), f"its columns are: {', '.join(there)}")
        raise SourceError(f"{options.table} has no column '{name}'", at=at, hint=hint)
    stored = _readable(options, there[name], at)
    if not can_fit(stored, kind):
        raise SourceError(
            f"column '{name}' of {options.table} is {stored} there, and is declared as {kind}",
            at=at,
            hint=f"declare it as {stored}, or another type that has all its values",
        )


def _readable(options: OtherTableOptions, column: SeenColumn, at: Location | None) -> str:
    if not has_type(column):
        raise SourceError(
            f"column '{column.name}' of {options.table} is {column.type}, which Spark does not have",
            at=at,
            hint="name under 'columns' what to take of each row, without it",
        )
    return column.type


def seen(
    options: Mapping[str, Any], root: Path, read: Sequence[str]
) -> tuple[list[SeenColumn], list[SeenColumn], tuple[str, ...]]:
    """The columns of a table now: those that a flow reads, the others, and the key; none that Spark cannot have.

    A column that was renamed is one that the flow reads, under its new name.

    Raises:
        SourceError: there is no such table any more, or it cannot be read.
        StoreUnavailableError: its catalog does not answer.
    """
    checked = OtherTableOptions.model_validate(dict(options))
    look = other_table(checked, root).look()
    named = {*checked.columns, *read} if checked.columns else {one.name for one in look.columns}
    taken = {look.name_now(name) for name in named}
    loose = [one.model_copy(update={"nullable": True}) for one in look.columns]
    is_other = checked.mode == "upsert" and set(look.primary_key) != set(checked.primary_key)
    key = look.primary_key if is_other else checked.primary_key
    others = [c for c in loose if c.name not in taken and has_type(c)]  # of others none can be read
    return [c for c in loose if c.name in taken and has_type(c)], others, key
