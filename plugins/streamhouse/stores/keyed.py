"""What every lake store does with rows before it writes and after it reads them; pure Arrow."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.errors import WriteRefusedError
from streamhouse.model.table import Column, Table
from streamhouse.stores.arrow import arrow_schema, conform
from streamhouse.stores.base import Changes

DELETED = "-D"
UPSERTED = "+U"


def rows_to_write(table: Table, changes: Changes, kind: str | None = None) -> pa.Table:
    """The rows of `changes` as the columns of `table`, checked.

    Args:
        table: Decides columns, types and key.
        changes: Deletes are allowed in a keyed table that does not merge.
        kind: Name of a column to append, '-D' in deleted rows (whose other columns are null)
            and '+U' in upserted ones. Given for keyed tables that do not merge.

    Returns:
        Log table and merging table: every upsert. Else each key once, with its last row; an
        upsert outdoes a delete of the same key.

    Raises:
        WriteRefusedError: a key is null, a column is absent, a value does not fit its type, or
            rows are deleted where the table cannot delete.
    """
    deletes = changes.deletes if changes.deletes is not None and changes.deletes.num_rows else None
    if deletes is not None and not table.primary_key:
        raise WriteRefusedError(f"{table.name} has no primary key, so no row can be deleted from it")
    if deletes is not None and table.merge:
        raise WriteRefusedError(
            f"{table.name} adds values up, so a row cannot be deleted from it",
            hint="let the step recompute its keys: strategy recompute instead of merge",
        )
    upserts = _conform(table, changes.upserts, table.columns)
    _refuse_null_keys(table, upserts)
    if kind is None:
        return upserts
    parts = [upserts.append_column(kind, pa.repeat(UPSERTED, upserts.num_rows))]
    if deletes is not None:
        keys = _conform(table, deletes, [table.column(name) for name in table.primary_key])
        _refuse_null_keys(table, keys)
        gone = padded(keys, table.columns)
        parts.insert(0, gone.append_column(kind, pa.repeat(DELETED, gone.num_rows)))
    return last_of_each_key(pa.concat_tables(parts), table.primary_key)


def last_of_each_key(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """`rows` without those that a later row with equal `keys` follows; order is kept."""
    if rows.num_rows < 2:
        return rows
    numbered = rows.select(list(keys)).append_column("", pa.array(np.arange(rows.num_rows)))
    last = numbered.group_by(list(keys)).aggregate([("", "max")]).column("_max").to_numpy()
    if len(last) == rows.num_rows:
        return rows
    kept = np.zeros(rows.num_rows, dtype=bool)
    kept[last] = True
    return rows.filter(pa.array(kept))  # not take(): that lacks chunked nested columns


def with_keys(rows: pa.Table, wanted: pa.Table) -> pa.Table:
    """The rows whose key is in `wanted`; its columns are the key, and each key is there once."""
    keys = wanted.column_names
    if len(keys) == 1:
        return rows.filter(pc.is_in(rows.column(keys[0]), value_set=wanted.column(0).combine_chunks()))
    numbered = rows.select(keys).append_column("", pa.array(np.arange(rows.num_rows)))
    found = numbered.join(wanted, keys=keys, join_type="left semi").column("").to_numpy()
    kept = np.zeros(rows.num_rows, dtype=bool)
    kept[found] = True
    return rows.filter(pa.array(kept))


def padded(rows: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """`rows` with exactly `columns`, by name and with their types; absent ones are null.

    Rows written before a column was added, and deletes, lack columns.
    """
    schema = arrow_schema(columns)
    have = set(rows.column_names)
    arrays = [
        rows.column(field.name).cast(field.type) if field.name in have else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(arrays, schema=schema)


def _conform(table: Table, rows: pa.Table, columns: Sequence[Column]) -> pa.Table:
    try:
        return conform(rows, columns)
    except KeyError as error:
        raise WriteRefusedError(
            f"rows for {table.name} lack a column: they have {', '.join(rows.column_names)}"
        ) from error
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise WriteRefusedError(f"a value does not fit {table.name}: {error}") from error


def _refuse_null_keys(table: Table, rows: pa.Table) -> None:
    for name in table.primary_key:
        if count := rows.column(name).null_count:
            raise WriteRefusedError(
                f"{count} rows for {table.name} have no {name}, which is part of its primary key",
                hint=f"filter them in the step's SQL: WHERE {name} IS NOT NULL",
            )
