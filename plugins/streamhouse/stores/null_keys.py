"""Keys and partitions that may be NULL, in the stores in which they never are: Fluss and Paimon.

Such a store has another value in place of NULL (`stand_in`), and one more column, of the key where there is one, whose
bits say in which columns that is so: the lowest is for the first column of `Table.identifying`. A plan says by
`Table.null_keys` that a table is made so. A table whose key is never NULL is stored as it is, and so is one that was
made before its key could be NULL: it refuses such rows. Who reads goes by the stored table, for a flow that reads it
may know an older or newer plan. Only the two stores know of the column: they put it in on the way in, and take it out
on the way out. Iceberg stores NULL as it is.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import date
from functools import wraps
from typing import Any, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.errors import SchemaConflictError, WriteRefusedError
from streamhouse.model.shape import Shape
from streamhouse.model.table import NULL_BITS, Column, Table
from streamhouse.model.types import Position
from streamhouse.stores.arrow import zero
from streamhouse.stores.base import Changes, DataFile, WriteContext
from streamhouse.stores.keyed import fitting, refuse_nulls
from streamhouse.stores.where import RowCondition

F = TypeVar("F", bound=Callable[..., Any])
_TYPE = "bigint"
_STAND_INS: dict[str, date | str | int] = {"date": date.max, "string": "null"}  # of days, one that is never too old


def stand_in(kind: str) -> date | str | int:
    """What a column of this type that a table is partitioned by has in place of NULL.

    Every store can name a partition by it, and a day of it is never past its time. A row with this very value may be in
    the same partition.
    """
    return _STAND_INS.get(kind, 0)


def stored_form(table: Table) -> Table:
    """The table as a store has it whose keys are never NULL; the table itself where its key is never NULL.

    Raises:
        SchemaConflictError: a column has the name of the column of bits.
    """
    if not table.null_keys:
        return table
    if NULL_BITS in table.column_names:
        raise SchemaConflictError(
            f"{table.name} has a column {NULL_BITS}, a name that stores need for themselves", hint="rename the column"
        )
    # After the last column of the key: columns that are added later come after all others.
    names = table.column_names
    end = max(names.index(name) for name in table.identifying) + 1
    bits = Column(name=NULL_BITS, type=_TYPE, nullable=False)
    return table.model_copy(
        update={
            "columns": (*table.columns[:end], bits, *table.columns[end:]),
            "primary_key": (*table.primary_key, NULL_BITS) if table.primary_key else (),
            "bucket_key": table.hashed,
            "null_keys": (),
        }
    )


def encoded(table: Table, rows: pa.Table) -> pa.Table:
    """Rows with all columns of the key, as they are stored.

    Raises:
        WriteRefusedError: a column is absent, or a value does not fit.
    """
    bits = pa.repeat(pa.scalar(0, pa.int64()), rows.num_rows)
    keys = fitting(table, rows, [table.column(name) for name in table.identifying])
    for number, name in enumerate(table.identifying):
        column = keys.column(name)
        if column.null_count:
            bits = pc.bit_wise_or(bits, pc.if_else(pc.is_null(column), 1 << number, 0))
            in_place = name in table.partition_by
            value = pa.scalar(stand_in(table.column(name).type), column.type) if in_place else zero(column.type)
            column = pc.fill_null(column, value)
        rows = rows.set_column(rows.schema.get_field_index(name), name, column)
    return rows.append_column(NULL_BITS, bits)


def decoded(table: Table, rows: pa.Table) -> pa.Table:
    """Rows as they were before `encoded`; they may lack columns of the key."""
    if NULL_BITS not in rows.column_names:
        return rows
    bits = rows.column(NULL_BITS)
    rows = rows.drop_columns([NULL_BITS])
    if not pc.any(pc.not_equal(bits, 0)).as_py():
        return rows
    for number, name in enumerate(table.identifying):
        if name in rows.column_names:
            is_null = pc.not_equal(pc.bit_wise_and(bits, 1 << number), 0)
            values = pc.if_else(is_null, pa.scalar(None, rows.column(name).type), rows.column(name))
            rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), values)
    return rows


def shown(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Stored columns without the one of bits."""
    return tuple(column for column in columns if column.name != NULL_BITS)


def without_bits(shape: Shape) -> Shape:
    """The shape of a stored table, as that of the table."""
    if all(one.name != NULL_BITS for one in shape.columns):
        return shape
    key = tuple(name for name in shape.primary_key if name != NULL_BITS)
    columns = (one for one in shape.columns if one.name != NULL_BITS)
    # Which of them may be NULL only the plan knows.
    seen = tuple(one.model_copy(update={"nullable": True}) if one.name in key else one for one in columns)
    return shape.model_copy(update={"columns": seen, "primary_key": key})


def creates(method: F) -> F:
    """For `Store.create` and `add_columns`: they get the stored form of the table, that of the one that is stored."""

    @wraps(method)
    def call(store: Any, table: Table) -> None:
        if table.identifying and store.columns(table.name) is not None:
            table = _as_stored(store, table)
        method(store, stored_form(table))

    return cast("F", call)


def writes(method: F) -> F:
    """For `Store.write` and `replace`."""

    @wraps(method)
    def call(store: Any, table: Table, changes: Changes, context: WriteContext) -> Position:
        stored = _as_stored(store, table)
        refuse_unstorable(table, lambda: stored.null_keys, changes.upserts)
        if not stored.null_keys:
            table = stored
        else:
            refuse_nulls(table, fitting(table, changes.upserts, [table.column(name) for name in table.identifying]))
            deletes = None if changes.deletes is None else encoded(table, changes.deletes)
            table, changes = stored_form(stored), Changes(encoded(table, changes.upserts), deletes)
        position: Position = method(store, table, changes, context)
        return position

    return cast("F", call)


def reads_state(method: F) -> F:
    """For `Store.read_state`."""

    @wraps(method)
    def call(store: Any, table: Table, at: Position | None = None, columns: tuple[str, ...] | None = None) -> pa.Table:
        table = _as_stored(store, table)
        if not table.null_keys:
            return method(store, table, at, columns)
        names = table.column_names if columns is None else columns
        return decoded(table, method(store, stored_form(table), at, _with_bits(table, names)))

    return cast("F", call)


def reads_where(method: F) -> F:
    """For `FilteredStore.read_where`: what it is to leave out by a column that may be NULL it does not leave out."""

    @wraps(method)
    def call(
        store: Any, table: Table, at: Position | None, columns: tuple[str, ...], where: Sequence[RowCondition]
    ) -> pa.Table:
        table = _as_stored(store, table)
        if not table.null_keys:
            return method(store, table, at, columns, where)
        names = _with_bits(table, columns)
        return decoded(table, method(store, stored_form(table), at, names, _answerable(table, where)))

    return cast("F", call)


def reads_placed(method: F) -> F:
    """For `PlacedStore.read_placed`."""

    @wraps(method)
    def call(store: Any, table: Table, at: Position | None, columns: tuple[str, ...], column: str) -> pa.Table:
        table = _as_stored(store, table)
        if not table.null_keys:
            return method(store, table, at, columns, column)
        return decoded(table, method(store, stored_form(table), at, _with_bits(table, columns), column))

    return cast("F", call)


def lists_files(method: F) -> F:
    """For `LakeMetadata.list_files`; see `reads_where`."""

    @wraps(method)
    def call(
        store: Any, table: Table, at: Position | None = None, where: Sequence[RowCondition] = ()
    ) -> list[DataFile]:
        table = _as_stored(store, table)
        files: list[DataFile] = method(store, stored_form(table), at, _answerable(table, where))
        return files

    return cast("F", call)


def reads_changes(method: F) -> F:
    """For `Store.read_changes`."""

    @wraps(method)
    def call(
        store: Any, table: Table, start: Position, end: Position, columns: tuple[str, ...] | None = None
    ) -> Changes:
        table = _as_stored(store, table)
        if not table.null_keys:
            return cast("Changes", method(store, table, start, end, columns))
        names = table.column_names if columns is None else columns
        found = method(store, stored_form(table), start, end, _with_bits(table, names))
        parts = (found.upserts, found.deletes, found.before)
        return Changes(*(None if part is None else decoded(table, part) for part in parts))

    return cast("F", call)


def reads_log(method: F) -> F:
    """For `LoggedStore.read_log`."""

    @wraps(method)
    def call(store: Any, table: Table, start: Position, end: Position, columns: tuple[str, ...]) -> pa.Table:
        table = _as_stored(store, table)
        return decoded(table, method(store, stored_form(table), start, end, _with_bits(table, columns)))

    return cast("F", call)


def refuse_unstorable(table: Table, takes: Callable[[], Collection[str]], rows: pa.Table) -> None:
    """Refuse rows with NULL in a column that may have it by the plan, and not in the table that is stored.

    Args:
        table: As the plan has it.
        takes: Gives the columns in which the stored table takes NULL; is asked only where rows have one.
        rows: To write; they may lack columns.

    Raises:
        WriteRefusedError: there is one.
    """
    names = set(rows.column_names)
    for name in (name for name in table.null_keys if name in names):
        if (count := rows.column(name).null_count) and name not in takes():
            raise WriteRefusedError(
                f"{count} rows for {table.name} have no {name}, and the table was made before it could take them",
                hint=f"write COALESCE({name}, …) in SELECT, or fill the tables of the flow again: "
                "streamhouse restore FLOW --rebuild",
            )


def _as_stored(store: Any, table: Table) -> Table:
    """The table, with NULL where its stored form has it; the stored form itself stays as it is."""
    if not table.identifying or NULL_BITS in table.column_names:
        return table
    nulls = table.identifying if NULL_BITS in store.stored_names(table.name) else ()
    return table if nulls == table.null_keys else table.model_copy(update={"null_keys": nulls})


def _with_bits(table: Table, names: tuple[str, ...]) -> tuple[str, ...]:
    return (*names, NULL_BITS) if set(names) & set(table.null_keys) else names


def _answerable(table: Table, where: Sequence[RowCondition]) -> list[RowCondition]:
    """Conditions on stored columns that no row is left out by which has to be there.

    A row with NULL fulfils no comparison, so that what is stored in its place may.
    """
    return [one for one in where if one.column not in table.null_keys or not one.operator.startswith("is ")]
