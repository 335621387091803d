"""Whether two results hold the same rows."""

from collections import Counter
from typing import Any

import pyarrow as pa


def difference(wanted: pa.Table, found: pa.Table, *, whole: bool) -> str:
    """How `found` differs from `wanted` in words, whatever the order of rows; empty: it does not.

    Args:
        wanted: What the batch gives.
        found: With the same columns.
        whole: It should have every row; otherwise some, and none that `wanted` lacks.
    """
    if whole and _in_order(wanted).equals(_in_order(found)):
        return ""
    missing, stray = _counted(wanted), _counted(found)
    both = missing & stray
    missing, stray = missing - both, stray - both
    if not whole and both and not stray:
        return ""
    examples = [f"{word} {next(iter(rows))}" for word, rows in (("misses", missing), ("has", stray)) if rows]
    counts = f"{missing.total():,} of {wanted.num_rows:,} rows missing, {stray.total():,} others"
    return f"{counts}: {'; '.join(examples)}"


def _in_order(rows: pa.Table) -> pa.Table:
    return rows.sort_by([(name, "ascending") for name in rows.column_names]).combine_chunks()


def _counted(rows: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(column.to_pylist() for column in rows.columns), strict=True))
