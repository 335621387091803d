"""Rows by key, in Arrow: which keys, which rows have them, which have them last."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from streamhouse.stores import keyed
from streamhouse.stores.equality import distinct_keys, plain_keys


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
