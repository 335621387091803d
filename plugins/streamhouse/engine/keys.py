"""Rows by key, in Arrow: which keys, which rows have them, which have them last."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.errors import WriteRefusedError
from streamhouse.model.table import Table
from streamhouse.stores import keyed
from streamhouse.stores.equality import distinct_keys, plain_keys

_TIMES = "_times"


def key_rows(rows: pa.Table, columns: Mapping[str, str] | Sequence[str]) -> pa.Table:
    """The distinct keys of `rows`, as Spark compares them; a mapping `{name wanted: column here}` also renames."""
    names = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
    selected = rows.select(list(names.values())).rename_columns(list(names))
    return distinct_keys(selected, list(names))


def union_keys(parts: Sequence[pa.Table]) -> pa.Table:
    """The distinct rows of all parts, which have the same columns."""
    merged = pa.concat_tables([part.select(parts[0].column_names) for part in parts])
    return distinct_keys(merged, merged.column_names)


def without_keys(rows: pa.Table, keys: pa.Table) -> pa.Table:
    """The rows whose key is not in `keys`; the columns of `keys` say what the key is."""
    return keyed.without_keys(rows, keys.cast(rows.select(keys.column_names).schema))


def last_of_each_key(rows: pa.Table, key: Sequence[str]) -> pa.Table:
    """Of rows in the order they happened, the last of each key, in which -0.0 is 0.0; without a key, all."""
    return plain_keys(keyed.last_of_each_key(rows, key), key) if key else rows


def one_of_each_key(rows: pa.Table, table: Table) -> pa.Table:
    """The rows of a result that was computed as a whole, in which a key has one row; equal rows are one.

    Their order means nothing, so neither of two different rows could win.

    Raises:
        WriteRefusedError: a key has two rows that differ.
    """
    found = last_of_each_key(rows, table.primary_key)
    _refuse_others(rows, found, table, table.primary_key)
    return found


def refuse_several(rows: pa.Table, table: Table, origin: str) -> None:
    """Refuse different rows of one key that are made of one row of an input.

    Their order means nothing: a join finds rows in another order in each run. Of rows that are made of different rows
    the last one wins, or what the merge engine says; a version column decides between rows of one row, too.

    Args:
        rows: That are to be written, with a further column.
        table: It has a primary key.
        origin: The further column: rows that are made of one row have one value there.

    Raises:
        WriteRefusedError: two rows that are made of one row have one key, and one version, and differ.
    """
    key = [*keyed.deciding(table), origin]
    _refuse_others(rows, last_of_each_key(rows, key), table, key, of_one_row=True)


def storable(rows: pa.Table, table: Table) -> pa.Table:
    """The rows whose key a row of the table may have: without NULL in columns of the key that have none."""
    for name in table.primary_key:
        if name not in table.null_keys and rows.column(name).null_count:
            rows = rows.filter(pc.is_valid(rows.column(name)))
    return rows


def two_rows(
    table: Table, key: Mapping[str, object], differing: Sequence[str] = (), *, of_one_row: bool = False
) -> WriteRefusedError:
    """The error for two rows of a table that have one key and differ; `of_one_row`: they are made of one row."""
    shown = ", ".join(f"{name} = {value!r}" for name, value in key.items())
    which = f", which differ in {', '.join(differing)}" if differing else ""
    which += "; both are made of one row of the input" if of_one_row else ""
    hint = "group by the key, or choose one of the rows with row_number()"
    return WriteRefusedError(
        f"{table.name} gets two rows with {shown}, its primary key{which}",
        hint=f"{hint}; if more columns tell the rows apart, declare them in primary_key",
    )


def _refuse_others(
    rows: pa.Table, found: pa.Table, table: Table, key: Sequence[str], *, of_one_row: bool = False
) -> None:
    """Refuse rows of which `found` has another one with the same `key`, unless they are equal to it."""
    if found.num_rows == rows.num_rows:
        return
    rows = plain_keys(rows, key)
    repeated = _repeated(storable(rows, table), list(key))
    kept = {_text(row, key): row for row in keyed.with_keys(found, repeated).to_pylist()}
    for row in keyed.with_keys(rows, repeated).to_pylist():
        other = kept[_text(row, key)]
        if differing := [name for name in rows.column_names if repr(row[name]) != repr(other[name])]:
            shown = {name: row[name] for name in table.primary_key}
            raise two_rows(table, shown, differing, of_one_row=of_one_row)


def _text(row: Mapping[str, object], key: Sequence[str]) -> str:
    return repr([row[name] for name in key])


def _repeated(rows: pa.Table, key: list[str]) -> pa.Table:
    """The keys that more than one row has."""
    numbered = rows.select(key)
    numbered = numbered.append_column(_TIMES, pa.repeat(1, numbered.num_rows))
    counted = numbered.group_by(key).aggregate([(_TIMES, "sum")])
    return counted.filter(pc.greater(counted.column(f"{_TIMES}_sum"), 1)).select(key)
