"""What every lake store does with rows before it writes and after it reads them; pure Arrow."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.errors import WriteRefusedError
from streamhouse.model.table import Column, Table
from streamhouse.stores.arrow import arrow_schema, conform, zero
from streamhouse.stores.base import Changes
from streamhouse.stores.equality import plain_keys

DELETED = "-D"
UPSERTED = "+U"


def rows_to_write(
    table: Table, changes: Changes, kind: str | None = None, owned: Sequence[str] | None = None
) -> pa.Table:
    """The rows of `changes` as the columns of `table`, checked.

    Args:
        table: Decides columns, types and key.
        changes: Deletes are allowed in a keyed table that does not merge.
        kind: Name of a column to append, '-D' in deleted rows (whose other columns are null)
            and '+U' in upserted ones. Given for keyed tables that do not merge.
        owned: `WriteContext.columns`; the key and these are the columns of the result.

    Returns:
        Log table and merging table: every upsert. Else each key once, with the row that wins; an
        upsert outdoes a delete of the same key.

    Raises:
        WriteRefusedError: a key or what the table is partitioned by is null, a column is absent, a value
            does not fit its type, rows are deleted where the table cannot delete, or `owned` does not fit
            the table.
    """
    columns = table.columns if owned is None else _partial(table, owned)
    deletes = changes.deletes if changes.deletes is not None and changes.deletes.num_rows else None
    if deletes is not None:
        _refuse_deletes(table)
    upserts = plain_keys(fitting(table, changes.upserts, columns), table.primary_key)
    refuse_nulls(table, upserts)
    if kind is None:
        return upserts
    parts = [upserts.append_column(kind, pa.repeat(UPSERTED, upserts.num_rows))]
    if deletes is not None:
        keys = fitting(table, deletes, [table.column(name) for name in table.primary_key])
        keys = plain_keys(keys, table.primary_key)
        refuse_nulls(table, keys)
        delete_rows = padded(keys, columns)
        parts.insert(0, delete_rows.append_column(kind, pa.repeat(DELETED, delete_rows.num_rows)))
    return winners(pa.concat_tables(parts), table)


def apart(table: Table, rows: pa.Table, kind: str) -> tuple[pa.Table, pa.Table]:
    """Of what `rows_to_write` gave with a `kind`: the rows to upsert, and the keys to delete."""
    deleted = pc.equal(rows.column(kind), DELETED)
    upserts = rows.filter(pc.invert(deleted)).drop_columns([kind])
    return upserts, rows.filter(deleted).select(list(table.primary_key))


def winners(rows: pa.Table, table: Table) -> pa.Table:
    """Of rows in the order they happened, the one of each key that the table's merge engine keeps; order is kept."""
    if table.first_row:
        return _highest(rows, table.primary_key, np.arange(rows.num_rows)[::-1])
    if table.version_column is None:
        return last_of_each_key(rows, table.primary_key)
    numbered = pa.table({"v": rows.column(table.version_column), "n": np.arange(rows.num_rows)})
    order = pc.sort_indices(numbered, [("v", "ascending"), ("n", "ascending")], null_placement="at_start")
    rank = np.empty(rows.num_rows, dtype=np.int64)
    rank[order.to_numpy()] = np.arange(rows.num_rows)
    return _highest(rows, table.primary_key, rank)


def not_outdone(rows: pa.Table, stored: pa.Table, table: Table) -> pa.Table:
    """The rows that win against the stored ones.

    Args:
        rows: Each key once.
        stored: The columns `deciding`, of at least the stored rows with these keys.
        table: Selects.
    """
    names = deciding(table)
    before = plain_keys(stored.select(names), table.primary_key).append_column(
        "", pa.array(np.full(stored.num_rows, -1))
    )
    after = rows.select(names).append_column("", pa.array(np.arange(rows.num_rows)))
    won = winners(pa.concat_tables([before, after]), table).column("").to_numpy()
    mask = np.zeros(rows.num_rows, dtype=bool)
    mask[won[won >= 0]] = True
    return rows.filter(pa.array(mask))


def deciding(table: Table) -> list[str]:
    """The columns of a table that selects which tell what row wins."""
    return [*table.primary_key, *([table.version_column] if table.version_column is not None else [])]


def last_of_each_key(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """`rows` without those that a later row with equal `keys` follows; order is kept."""
    return _highest(rows, keys, np.arange(rows.num_rows))


def _highest(rows: pa.Table, keys: Sequence[str], rank: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> pa.Table:
    """Of each key the row of the highest rank, which no two rows share; order is kept."""
    if rows.num_rows < 2:
        return rows
    highest = plain_keys(rows.select(list(keys)), keys).append_column("", pa.array(rank))
    best = highest.group_by(list(keys)).aggregate([("", "max")]).column("_max").to_numpy()
    if len(best) == rows.num_rows:
        return rows
    return rows.filter(pa.array(np.isin(rank, best)))  # not take(): that lacks chunked nested columns


def with_keys(rows: pa.Table, wanted: pa.Table) -> pa.Table:
    """The rows whose key is in `wanted`; its columns are the key, and each key is there once. NULL equals NULL."""
    keys = wanted.column_names
    wanted, own = plain_keys(wanted, keys), plain_keys(rows.select(keys), keys)
    if len(keys) == 1:
        return rows.filter(pc.is_in(own.column(0), value_set=wanted.column(0).combine_chunks()))
    own, wanted = _without_nulls([own, wanted])
    numbered = own.append_column("", pa.array(np.arange(rows.num_rows)))
    found = numbered.join(wanted, keys=wanted.column_names, join_type="left semi").column("").to_numpy()
    mask = np.zeros(rows.num_rows, dtype=bool)
    mask[found] = True
    return rows.filter(pa.array(mask))


def without_keys(rows: pa.Table, unwanted: pa.Table) -> pa.Table:
    """The rows whose key is not among `unwanted`, whose columns are the key. NULL equals NULL."""
    if not rows.num_rows or not unwanted.num_rows:
        return rows
    keys = unwanted.column_names
    own, unwanted = _without_nulls([plain_keys(rows.select(keys), keys), plain_keys(unwanted, keys)])
    numbered = own.append_column("", pa.array(np.arange(rows.num_rows)))
    mask = np.zeros(rows.num_rows, dtype=bool)
    mask[numbered.join(unwanted, keys=unwanted.column_names, join_type="left anti").column("").to_numpy()] = True
    return rows.filter(pa.array(mask))


def _without_nulls(parts: Sequence[pa.Table]) -> list[pa.Table]:
    """Keys with the same columns, such that Arrow joins NULL with NULL: by itself it takes no NULL for another one."""
    found = list(parts)
    for name in parts[0].column_names:
        if any(part.column(name).null_count for part in parts):
            found = [_marked(part, name) for part in found]
    return found


def _marked(rows: pa.Table, name: str) -> pa.Table:
    column = rows.column(name)
    filled = pc.fill_null(column, zero(column.type))
    return rows.set_column(rows.schema.get_field_index(name), name, filled).append_column(
        f"{name} IS NULL", pc.is_null(column)
    )


def absent(rows: pa.Table, others: pa.Table) -> list[int]:
    """Indexes of the rows that are not among `others`, which has the same columns; nulls are equal.

    No two `rows` are equal, and no column is nested.
    """
    ours = rows.append_column("", pa.array(np.arange(rows.num_rows)))
    theirs = others.append_column("", pa.array(np.full(others.num_rows, -1)))
    bounds = pa.concat_tables([ours, theirs]).group_by(rows.column_names).aggregate([("", "min"), ("", "max")])
    lowest, highest = bounds.column("_min").to_numpy(), bounds.column("_max").to_numpy()
    missing: list[int] = np.sort(highest[lowest >= 0]).tolist()
    return missing


def in_turn(parts: Sequence[Changes], key: Sequence[str]) -> Changes:
    """What happened when these changes of a keyed table happened one after the other.

    Args:
        parts: At least one, whose `upserts` have the columns of the key.
        key: Primary key.
    """
    names = list(key)
    upserts, deletes, before = parts[0].upserts, parts[0].deletes, parts[0].before
    for later in parts[1:]:
        touched = [rows.select(names) for rows in (upserts, deletes) if rows is not None]
        again = [rows.select(names) for rows in (later.upserts, later.deletes) if rows is not None]
        if before is not None and later.before is not None:
            before = pa.concat_tables([before, without_keys(later.before, pa.concat_tables(touched))])
        changed = pa.concat_tables(again)
        upserts = pa.concat_tables([without_keys(upserts, changed), later.upserts])
        all_deletes = [without_keys(deletes, changed)] if deletes is not None else []
        all_deletes += [later.deletes] if later.deletes is not None else []
        deletes = pa.concat_tables(all_deletes) if all_deletes else None
    return Changes(upserts, deletes if deletes is not None and deletes.num_rows else None, before)


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


def rows_to_set(table: Table, changes: Changes, kind: str, owned: Sequence[str] | None) -> pa.Table:
    """`rows_to_write` for `Store.replace` of a table that merges: each key once, with its `kind`.

    Raises:
        WriteRefusedError: as there; also when only `owned` columns are to be set.
    """
    if owned is not None:
        _partial(table, owned)
    return rows_to_write(table.replica, changes, kind)


def refuse_log(table: Table) -> None:
    """Refuse a table without a key, of which no row can be set.

    Raises:
        WriteRefusedError: it has no primary key.
    """
    if not table.primary_key:
        raise WriteRefusedError(f"{table.name} has no primary key, so its rows cannot be set")


def completed(partial: pa.Table, stored: pa.Table, key: Sequence[str], kind: str) -> pa.Table:
    """The whole rows that a partial write makes of the stored ones.

    Args:
        partial: What `rows_to_write` gives for `owned` columns: each key once, with its `kind`.
        stored: Whole rows as they are, of at least those of the keys that exist, each once.
        key: Primary key.
        kind: Name of the last column of `partial` and of the result.

    Returns:
        The columns of `stored`, then `kind`: '-D' where nothing of the row is left. A delete of
        a key that is not stored is left out. Order is that of `partial`.
    """
    names = list(key)
    places = plain_keys(stored.select(names), names).append_column("found", pa.array(np.arange(stored.num_rows)))
    numbered = partial.select(names).append_column("row", pa.array(np.arange(partial.num_rows)))
    found = numbered.join(places, keys=names, join_type="left outer").sort_by("row").column("found").combine_chunks()
    deleted = pc.equal(partial.column(kind), DELETED)
    written = set(partial.column_names)
    others = [name for name in stored.column_names if name not in written]
    other_columns = {name: stored.column(name).combine_chunks().take(found) for name in others}
    is_empty = deleted
    for column in other_columns.values():
        is_empty = pc.and_(is_empty, pc.is_null(column))
    rows = pa.table(
        {n: other_columns[n] if n in other_columns else partial.column(n) for n in stored.column_names},
        schema=stored.schema,
    )
    rows = rows.append_column(kind, pc.if_else(is_empty, DELETED, UPSERTED))
    return rows.filter(pc.or_(pc.invert(deleted), pc.is_valid(found)))


def _partial(table: Table, owned: Sequence[str]) -> list[Column]:
    """The key and the owned columns, in the order of the table."""
    if not table.primary_key or table.merge or table.selects:
        why = "merges values" if table.merge else "selects whole rows" if table.selects else "has no primary key"
        raise WriteRefusedError(f"{table.name} cannot be written in parts: it {why}")
    allowed = [name for name in table.column_names if name not in table.primary_key]
    if not owned or (stray := [name for name in owned if name not in allowed]):
        what = f"{', '.join(stray)} is none of them" if owned else "none is named"
        raise WriteRefusedError(f"a partial write of {table.name} names columns among {', '.join(allowed)}: {what}")
    wanted = {*table.primary_key, *owned}
    return [column for column in table.columns if column.name in wanted]


def fitting(table: Table, rows: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """`conform` of rows for a table.

    Raises:
        WriteRefusedError: a column is absent, or a value does not fit.
    """
    try:
        return conform(rows, columns)
    except KeyError as error:
        raise WriteRefusedError(
            f"rows for {table.name} lack a column: they have {', '.join(rows.column_names)}"
        ) from error
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise WriteRefusedError(f"a value does not fit {table.name}: {error}") from error


def refuse_nulls(table: Table, rows: pa.Table) -> None:
    """Refuse rows without a value in a column of the key that is never NULL, or that the table is partitioned by.

    Raises:
        WriteRefusedError: there is one.
    """
    for name in dict.fromkeys([*table.primary_key, *table.partition_by]):
        if name not in table.null_keys and (count := rows.column(name).null_count):
            role = "is part of its primary key" if name in table.primary_key else "it is partitioned by"
            raise WriteRefusedError(
                f"{count} rows for {table.name} have no {name}, which {role}",
                hint=f"give such rows a value of their own by COALESCE({name}, …) in SELECT",
            )


def _refuse_deletes(table: Table) -> None:
    if not table.primary_key:
        raise WriteRefusedError(f"{table.name} has no primary key, so no row can be deleted from it")
    if table.merge:
        raise WriteRefusedError(
            f"{table.name} adds values up, so a row cannot be deleted from it",
            hint="let the step recompute its keys: strategy recompute instead of merge",
        )
    if table.selects:
        raise WriteRefusedError(
            f"{table.name} has the merge engine {table.merge_engine}, so a row cannot be deleted from it",
            hint="merge_engine: deduplicate lets rows be deleted",
        )
