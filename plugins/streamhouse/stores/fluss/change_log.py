"""What a change log means: changes of a range, and the state at an earlier offset; pure Arrow."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from streamhouse.stores.base import Changes
from streamhouse.stores.equality import plain_keys
from streamhouse.stores.fluss.log import AFTER, BEFORE, DELETED, INSERTED, LogBatch
from streamhouse.stores.keyed import without_keys

Kinds: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int8]]"
Indexes: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"


def whole_changes(batches: Mapping[str, list[LogBatch]], starts: Mapping[str, int], schema: pa.Schema) -> "ChangeLog":
    """One change log of all buckets, each update whole: its two images stand on one side of every cut.

    A cut between the images of an update counts as one before both.

    Args:
        batches: Bucket → batches from one offset before its range (when there is one) to its end.
        starts: Bucket → first offset of its range.
        schema: Of the rows.
    """
    whole_batches: list[LogBatch] = []
    for bucket, found in batches.items():
        parts = [batch for batch in found if batch.rows is not None and batch.rows.num_rows]
        if parts and parts[0].base < starts[bucket] and parts[0].kinds[0] != BEFORE:
            parts[0] = parts[0].cut(starts[bucket], parts[0].end)
        if parts and parts[-1].kinds.endswith(bytes([BEFORE])):
            parts[-1] = parts[-1].cut(parts[-1].base, parts[-1].end - 1)
        whole_batches += parts
    rows = pa.Table.from_batches([part.rows for part in whole_batches], schema=schema)
    return ChangeLog(rows, np.frombuffer(b"".join(part.kinds for part in whole_batches), dtype=np.int8))


class ChangeLog:
    """Rows in the order of their changes, with the kind of each."""

    def __init__(self, rows: pa.Table, kinds: Kinds) -> None:
        self.rows = rows
        self.kinds = kinds

    def changes(self, keys: Sequence[str], columns: Sequence[str]) -> Changes:
        """The log folded: the last row of each key, the keys that are gone, and the rows before."""
        first, last = self._bounds(keys)
        there = last[np.isin(self.kinds[last], (INSERTED, AFTER))]
        delete_indexes = last[self.kinds[last] == DELETED]
        before = first[np.isin(self.kinds[first], (BEFORE, DELETED))]
        rows = self.rows.select(list(columns))
        return Changes(
            upserts=_pick(rows, there),
            deletes=_pick(self.rows.select(list(keys)), delete_indexes) if len(delete_indexes) else None,
            before=_pick(rows, before),
        )

    def images(self) -> pa.Table:
        """Every row as a change left it, in their order; those of deletes are left out."""
        return self.rows.filter(pa.array(np.isin(self.kinds, (INSERTED, AFTER))))

    def undone(self, state: pa.Table, keys: Sequence[str]) -> pa.Table:
        """`state` as it was before the first change of this log.

        Args:
            state: The rows after the last change of the log, or after any earlier one: what the
                log says of a key is taken, and `state` only for keys it does not name.
            keys: Primary key; `state` has the columns of the log.
        """
        if not self.rows.num_rows:
            return state
        first, _ = self._bounds(keys)
        before = first[np.isin(self.kinds[first], (BEFORE, DELETED))]
        untouched = without_keys(state, _pick(self.rows.select(list(keys)), first))
        return pa.concat_tables([untouched, _pick(self.rows.select(state.column_names), before)])

    def _bounds(self, keys: Sequence[str]) -> tuple[Indexes, Indexes]:
        """Indexes of the first and of the last row of each key."""
        if not self.rows.num_rows:
            none = np.empty(0, dtype=np.int64)
            return none, none
        numbered = plain_keys(self.rows.select(list(keys)), keys).append_column(
            "", pa.array(np.arange(self.rows.num_rows))
        )
        bounds = numbered.group_by(list(keys), use_threads=False).aggregate([("", "min"), ("", "max")])
        return bounds.column("_min").to_numpy(), bounds.column("_max").to_numpy()


def _pick(rows: pa.Table, indexes: Indexes) -> pa.Table:
    mask = np.zeros(rows.num_rows, dtype=bool)
    mask[indexes] = True
    return rows.filter(pa.array(mask))  # not take(): that lacks chunked nested columns
