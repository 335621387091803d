"""Exactly-once writes after a crash: what a dead attempt already wrote is not written again."""

from collections import Counter
from collections.abc import Callable
from time import sleep

import numpy as np
import pyarrow as pa

from streamhouse.errors import StateConflictError, StoreUnavailableError
from streamhouse.model.types import Position

_QUIET_S = 0.15
_QUIET_READS = 3
_LONGEST_S = 30.0


def settled_end(end: Callable[[], Position]) -> Position:
    """The end of a table once nothing more arrives from a writer that died.

    A killed process may have left bytes on their way to the server. They are taken to have
    arrived when the end does not move for `_QUIET_READS` reads, `_QUIET_S` apart.

    Raises:
        StoreUnavailableError: something still writes.
    """
    position, still = end(), 0
    for _ in range(int(_LONGEST_S / _QUIET_S)):
        sleep(_QUIET_S)
        now = end()
        still = still + 1 if now == position else 0
        position = now
        if still == _QUIET_READS:
            return position
    raise StoreUnavailableError(
        "the table still grows although its writer should be dead",
        hint="make sure that no other process runs this flow",
    )


def not_yet_written(name: str, rows: pa.Table, written: pa.Table) -> pa.Table:
    """`rows` without those in `written`, as a multiset: a row that is twice in `rows` may be there once.

    Args:
        name: Of the table, for the error.
        rows: What the epoch is to append.
        written: What an earlier attempt of it appended; same columns and types.

    Raises:
        StateConflictError: `written` has rows that `rows` lacks, so the epoch is another one now.
    """
    if not written.num_rows:
        return rows
    left = Counter(_encoded(written))
    mask = np.ones(rows.num_rows, dtype=bool)
    for index, row in enumerate(_encoded(rows)):
        if left[row] > 0:
            left[row] -= 1
            mask[index] = False
    if stray := left.total():
        raise StateConflictError(
            f"{name} holds {stray} rows that an earlier attempt of this epoch wrote and this one does not make",
            hint="the step's SQL or its inputs changed between the attempts; restate the table from this epoch on",
        )
    return rows.filter(pa.array(mask))


def _encoded(rows: pa.Table) -> list[str]:
    # repr distinguishes null from empty, NaN from null and -0.0 from 0.0, keeps every digit, and covers nested values.
    return [repr(row) for row in zip(*(column.to_pylist() for column in rows.columns), strict=True)]
