"""The changes between two snapshots of a keyed table; pure Arrow."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from streamhouse.errors import Location, SourceError
from streamhouse.stores.base import Changes
from streamhouse.stores.equality import distinct_keys
from streamhouse.stores.keyed import absent, with_keys, without_keys


def changes_between(old: pa.Table, new: pa.Table, key: Sequence[str], *, before: bool = True) -> Changes:
    """The changes that lead from `old` to `new`, which have the same columns and each key once.

    A row with an array, a map or a struct counts as changed, because Arrow compares no such values.
    """
    if any(pa.types.is_nested(field.type) for field in new.schema) or not old.num_rows:
        changed = new
    else:
        mask = np.zeros(new.num_rows, dtype=bool)
        mask[absent(new, old)] = True
        changed = new.filter(pa.array(mask))
    names = list(key)
    deletes = without_keys(old.select(names), new.select(names))
    was = None
    if before:
        was = with_keys(old, distinct_keys(pa.concat_tables([changed.select(names), deletes]), names))
    return Changes(changed, deletes if deletes.num_rows else None, was)


def refuse_repeated(
    rows: pa.Table, others: pa.Table | None, key: Sequence[str], name: str, at: Location | None
) -> None:
    """Refuse rows whose key another row has, too.

    Args:
        rows: Have the columns of the key, of which none is NULL.
        others: Keys of further rows of the same snapshot; None: there are none.
        key: Its columns.
        name: Of the table.
        at: Where the source is defined.

    Raises:
        SourceError: a key is there twice; the error names one.
    """
    names = list(key)
    keys = distinct_keys(rows, names)
    twice = None
    if keys.num_rows != rows.num_rows:
        counted = rows.select(names).group_by(names).aggregate([([], "count_all")])
        twice = counted.filter(pa.compute.greater(counted.column("count_all"), 1)).slice(0, 1).select(names)
    elif others is not None and others.num_rows and keys.num_rows:
        twice = with_keys(others, keys).slice(0, 1)
    if twice is None or (others is not None and not twice.num_rows):
        return
    shown = ", ".join(f"{column}={values[0]!r}" for column, values in twice.to_pydict().items() if values)
    raise SourceError(
        f"{name} has more than one row with the key {shown or ', '.join(names)}",
        at=at,
        hint="name in primary_key the columns that tell its rows apart; without such columns, use mode append",
    )
