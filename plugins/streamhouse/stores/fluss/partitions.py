"""Partitions as Fluss names them, and their buckets as positions do; pure.

A partition is named by its values, `2026-11-21` or `2026-11-21$de`. In a position its buckets are
`2026-11-21#17/0`: 17 is its number, which no other partition of the cluster ever has, so that one
that was dropped and created again is not taken for the old one. Of a table without partitions they are `0`.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.errors import WriteRefusedError
from streamhouse.model.table import Table
from streamhouse.stores.base import Partition

_BETWEEN_VALUES = "$"
_NAMED = re.compile(r"(?!__)[A-Za-z0-9_-]{1,200}")
_LONGEST = 200  # of a whole name, which is a part of a folder's

Parts = dict[str, pa.Table]
"""Name of a partition → its rows, in their order; of a table without partitions all rows under `WHOLE`."""

WHOLE = ""


def bucket_key(number: int, name: str = WHOLE, partition_id: int | None = None) -> str:
    """How a position names a bucket.

    Example:
        >>> bucket_key(1), bucket_key(0, "2026-11-21", 17)
        ('1', '2026-11-21#17/0')
    """
    return str(number) if partition_id is None else f"{name}#{partition_id}/{number}"


def bucket_of(key: str) -> tuple[int | None, int]:
    """The id of the partition and the number of the bucket that `bucket_key` named.

    Example:
        >>> bucket_of("1"), bucket_of("2026-11-21#17/0")
        ((None, 1), (17, 0))
    """
    partition, _, number = key.rpartition("/")
    return (int(partition.rpartition("#")[2]) if partition else None), int(number)


def name_of(key: str) -> str:
    """The name of the partition of a bucket.

    Example:
        >>> name_of("2026-11-21#17/0")
        '2026-11-21'
    """
    return key.rpartition("#")[0]


def in_order(keys: Iterable[str]) -> list[str]:
    """By partition, then by number.

    Example:
        >>> in_order(["10", "9"]), in_order(["b#1/0", "a#2/10", "a#2/9"])
        (['9', '10'], ['a#2/9', 'a#2/10', 'b#1/0'])
    """
    return sorted(keys, key=lambda key: (key.rpartition("/")[0], int(key.rpartition("/")[2])))


def partition_name(values: Sequence[object]) -> str:
    """The name of a partition.

    Example:
        >>> partition_name([date(2026, 11, 21), "de", -5])
        '2026-11-21$de$-5'
    """
    return _BETWEEN_VALUES.join(str(value) for value in values)


def name_values(name: str) -> list[str]:
    """The values of a partition, as text."""
    return name.split(_BETWEEN_VALUES)


def partition_values(table: Table, name: str) -> Partition:
    """The values of a partition."""
    kinds = (table.column(column).type for column in table.partition_by)
    return tuple(_value(kind, text) for kind, text in zip(kinds, name_values(name), strict=True))


def partitions_in(table: Table, rows: pa.Table) -> dict[str, Partition]:
    """Name → values of the partitions that rows stand in.

    Raises:
        WriteRefusedError: a partition column has a null, or a value that Fluss cannot name a partition by.
    """
    names = list(table.partition_by)
    if nulls := [name for name in names if rows.column(name).null_count]:
        raise WriteRefusedError(
            f"{', '.join(nulls)} is NULL in a row for {table.name}, which is partitioned by it",
            hint="leave such rows out, or give them a value, such as coalesce(x, 'none')",
        )
    try:
        found = [tuple(row.values()) for row in rows.select(names).group_by(names).aggregate([]).to_pylist()]
    except (ValueError, OverflowError) as error:
        raise WriteRefusedError(f"Fluss cannot name a partition of {table.name}: {error}") from error
    for values in found:
        _refuse_unnameable(table, values)
    return {partition_name(values): values for values in sorted(found)}


def by_partition(table: Table, rows: pa.Table) -> Parts:
    """The rows of each partition.

    Raises:
        WriteRefusedError: see `partitions_in`.
    """
    if not table.partition_by:
        return {WHOLE: rows}
    found = partitions_in(table, rows)
    if len(found) == 1:
        return dict.fromkeys(found, rows)
    return {name: rows.filter(_are(rows, table.partition_by, values)) for name, values in found.items()}


def _are(rows: pa.Table, names: Sequence[str], values: Sequence[object]) -> pa.ChunkedArray:
    first, *others = (
        pc.equal(rows.column(name), pa.scalar(value, rows.schema.field(name).type))
        for name, value in zip(names, values, strict=True)
    )
    for other in others:
        first = pc.and_(first, other)
    return first


def _refuse_unnameable(table: Table, values: Sequence[object]) -> None:
    for column, value in zip(table.partition_by, values, strict=True):
        if not _NAMED.fullmatch(str(value)):
            raise WriteRefusedError(
                f"Fluss cannot name a partition of {table.name} by {column} = {str(value)[:100]!r}",
                hint="it takes 1 to 200 letters, digits, '-' and '_', and no '__' at the beginning: "
                f"partition by another column, or make {column} such, as with regexp_replace",
            )
    if len(partition_name(values)) > _LONGEST:
        raise WriteRefusedError(f"the name of a partition of {table.name} is longer than {_LONGEST} letters")


def _value(kind: str, text: str) -> date | str | int:
    if kind == "date":
        return date.fromisoformat(text)
    return text if kind == "string" else int(text)
