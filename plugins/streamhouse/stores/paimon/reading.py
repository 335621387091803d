"""What a Paimon table holds at a snapshot, and what changed between two."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from streamhouse.errors import RowsLostError, StoreError
from streamhouse.model.table import Column, Table
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import ROWS_OF_A_FILE, UNPLACED, Changes
from streamhouse.stores.equality import distinct_keys
from streamhouse.stores.keyed import (
    DELETED,
    UPSERTED,
    absent,
    completed,
    deciding,
    in_turn,
    last_of_each_key,
    not_outdone,
    padded,
    with_keys,
    without_keys,
)
from streamhouse.stores.paimon.metadata import with_conditions
from streamhouse.stores.paimon.partitions import is_drop
from streamhouse.stores.paimon.private import splits_of
from streamhouse.stores.paimon.schema import KIND, stored_columns
from streamhouse.stores.paimon.verified import (
    prove_metadata,
    proven,
    refuse_other_rows,
    refuse_other_total,
    snapshots_of,
)
from streamhouse.stores.where import RowCondition

_APPENDED = 0  # source of a file that a writer wrote; a compaction's is 1
_ROW_KIND = "_row_kind"
_OVERWRITE = "OVERWRITE"
_MAX_PUSHED_KEYS = 1000

SNAPSHOTS_HINT = "table.lake.snapshots lists those that exist; upkeep expires old ones"


def state(
    handle: Any,
    table: Table,
    snapshot_id: int,
    columns: Sequence[str],
    keys: pa.Table | None = None,
    where: Sequence[RowCondition] = (),
) -> pa.Table:
    """All rows at a snapshot; with `keys` (key columns, distinct) those rows only; others than `where` may be left out.

    Raises:
        RowsLostError: the snapshot was expired.
    """
    shown = _columns(table, columns)
    if snapshot_id == 0:
        return arrow_schema(shown).empty_table()
    snapshot = snapshot_at(handle, table, snapshot_id)
    past = _as_of(handle, snapshot)
    for_rows = keys.column_names if keys is not None else [one.column for one in where]
    wanted_names = list(dict.fromkeys([*columns, *for_rows]))
    builder = past.new_read_builder().with_projection(_present(past, wanted_names))
    if keys is not None and keys.num_rows <= _MAX_PUSHED_KEYS:
        predicate_builder = (
            builder.new_predicate_builder()
        )  # of each key column alone: a superset, which is cut down below
        values = {name: keys.column(name).unique().to_pylist() for name in keys.column_names}
        builder = builder.with_filter(
            predicate_builder.and_predicates([predicate_builder.is_in(name, v) for name, v in values.items()])
        )
    elif where:
        builder = with_conditions(builder, [one for one in where if one.column in _present(past, [one.column])])
    splits = proven(past, builder.new_scan().plan().splits())
    if keys is None and not where:
        refuse_other_total(table, snapshot, splits)
    found = builder.new_read().to_arrow(splits)
    if keys is None and not where and not table.primary_key:
        refuse_other_rows(table, snapshot, found.num_rows)
    rows = padded(found, _columns(table, wanted_names))
    return (rows if keys is None else with_keys(rows, keys)).select(list(columns))


@dataclass(frozen=True)
class PaimonPart:
    """A part of the rows of a snapshot, which is read alone.

    Attributes:
        rows: How many its files have; of a key there may be several.
        splits: pypaimon's.
    """

    rows: int
    splits: tuple[Any, ...]


def state_parts(handle: Any, table: Table, snapshot_id: int) -> list[PaimonPart]:
    """The rows of a snapshot in parts, the same and in the same order at each call.

    Of a log each part is a file, of a table with a primary key a bucket of a partition, since the rows of a key are
    in several of its files.

    Raises:
        RowsLostError: the snapshot was expired.
    """
    snapshot = snapshot_at(handle, table, snapshot_id)
    past = _as_of(handle, snapshot)
    splits = proven(past, past.new_read_builder().new_scan().plan().splits())
    refuse_other_total(table, snapshot, splits)
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for split in splits:
        place = (str(split.partition.values), split.bucket)
        if table.primary_key:
            groups.setdefault(place, []).append(split)
            continue
        for file in split.files:
            groups[*place, file.file_name] = [split.filter_file(lambda one, file=file: one is file)]
    return [PaimonPart(sum(map(_row_count, found)), tuple(found)) for _, found in sorted(groups.items())]


def rows_of(past: Any, table: Table, parts: Sequence[PaimonPart], columns: Sequence[str]) -> pa.Table:
    """The rows of some parts of a snapshot.

    Args:
        past: The handle of the table as of the snapshot.
        table: With the columns of that snapshot.
        parts: Of the same snapshot.
        columns: Those wanted.
    """
    builder = past.new_read_builder().with_projection(_present(past, columns))
    found = builder.new_read().to_arrow([split for part in parts for split in part.splits])
    return padded(found, _columns(table, columns))


def _row_count(split: Any) -> int:
    return int(sum(file.row_count for file in split.files))


def placed(handle: Any, table: Table, snapshot_id: int, columns: Sequence[str], column: str) -> pa.Table:
    """All rows of a log at a snapshot, with `column`, which gives their order; see `PlacedStore.read_placed`.

    Raises:
        RowsLostError: the snapshot was expired.
    """
    shown = _columns(table, columns)
    number = pa.field(column, pa.int64())
    if snapshot_id == 0:
        return arrow_schema(shown).append(number).empty_table()
    past = at_snapshot(handle, table, snapshot_id)
    builder = past.new_read_builder().with_projection(_present(past, columns))
    read = builder.new_read()
    found = [arrow_schema(shown).append(number).empty_table()]
    for begin, split in _in_order(proven(past, builder.new_scan().plan().splits())):
        rows = padded(read.to_arrow([split]), shown)
        found.append(rows.append_column(number, pa.array(range(begin, begin + rows.num_rows), pa.int64())))
    return pa.concat_tables(found)


def _in_order(splits: Sequence[Any]) -> list[tuple[int, Any]]:
    """A split for each file, with the number of its first row.

    The files of one partition and bucket are listed in the order of their commits; between several of these the time
    at which a file was written gives the order. A compaction puts rows of many commits together, and lists its file
    last; what was written before its end may be older or newer than its rows.
    """
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for split in splits:
        for file in split.files:
            single = split.filter_file(lambda one, file=file: one is file)
            groups.setdefault((*split.partition.values, split.bucket), []).append(single)
    newest = max((_written(one) for files in groups.values() for one in files if _is_joined(one)), default=None)
    found: list[tuple[int, int, Any]] = []  # a time that never goes back in a group, where its numbers begin, the file
    for files in groups.values():
        joined = [at for at, one in enumerate(files) if _is_joined(one)]
        last = 0
        for at, one in enumerate(files):
            if _is_joined(one):
                found.append((_written(one), UNPLACED.start, one))
                continue
            last = max(last, _written(one))
            is_later = newest is not None and _written(one) > newest and at > max(joined, default=-1)
            found.append((last, UNPLACED.stop if is_later else 0, one))
    found.sort(key=lambda one: one[0])
    return [(begin + (at << ROWS_OF_A_FILE), one) for at, (_, begin, one) in enumerate(found)]


def _is_joined(split: Any) -> bool:
    """Whether its file was written by a compaction, or may have been."""
    return bool(split.files[0].file_source != _APPENDED)


def _written(split: Any) -> int:
    """When its file was, in milliseconds; a later one has a larger number, but in the hour when clocks are set back."""
    time = split.files[0].creation_time
    return time.get_millisecond() if time is not None else 0


def at_snapshot(handle: Any, table: Table, snapshot_id: int) -> Any:
    """The handle of a table as it was.

    Raises:
        RowsLostError: the snapshot was expired, or never was.
    """
    return _as_of(handle, snapshot_at(handle, table, snapshot_id))


def _as_of(handle: Any, snapshot: Any) -> Any:
    prove_metadata(handle, snapshot)
    return handle.copy({"scan.snapshot-id": str(snapshot.id)})


def snapshot_at(handle: Any, table: Table, snapshot_id: int) -> Any:
    """One snapshot, whose state somebody asks for.

    Raises:
        RowsLostError: it was expired, or never was.
    """
    found = snapshots_of(handle).get_snapshot_by_id(snapshot_id)
    if found is not None:
        return found
    newest = snapshots_of(handle).get_latest_snapshot()
    if newest is None or newest.id < snapshot_id:
        raise RowsLostError(f"Paimon has no snapshot {snapshot_id} of {table.name}", hint=SNAPSHOTS_HINT)
    raise RowsLostError(f"Paimon no longer holds {table.name} as of snapshot {snapshot_id}", hint=SNAPSHOTS_HINT)


def whole_rows(handle: Any, table: Table, partial: pa.Table) -> pa.Table:
    """`keyed.completed` with the newest stored rows; the stored columns may be more than those of `table`."""
    latest = snapshots_of(handle).get_latest_snapshot()
    wide = table.model_copy(update={"columns": stored_columns(handle)})
    keys = partial.select(list(table.primary_key))
    return completed(
        partial, state(handle, wide, latest.id if latest else 0, wide.column_names, keys), table.primary_key, KIND
    )


def winning_rows(handle: Any, table: Table, rows: pa.Table) -> pa.Table:
    """`keyed.not_outdone` by the newest stored rows; of these only what decides is read."""
    latest = snapshots_of(handle).get_latest_snapshot()
    keys = rows.select(list(table.primary_key))
    return not_outdone(rows, state(handle, table, latest.id if latest else 0, deciding(table), keys), table)


def with_rows_set(handle: Any, table: Table, rows: pa.Table) -> pa.Table:
    """Every row of the newest snapshot, but of the keys of `rows` only those that its `KIND` does not delete."""
    latest = snapshots_of(handle).get_latest_snapshot()
    wide = table.model_copy(update={"columns": stored_columns(handle)})
    stored = state(handle, wide, latest.id if latest else 0, wide.column_names)
    set_ = rows.filter(pa.compute.equal(rows.column(KIND), UPSERTED))
    return pa.concat_tables([without_keys(stored, rows.select(list(table.primary_key))), padded(set_, wide.columns)])


def changes(handle: Any, table: Table, start: int, end: int, columns: Sequence[str]) -> Changes:
    """What the snapshots `start + 1 … end` did; from 0 it is the state at `end`.

    Raises:
        RowsLostError: a snapshot of the range was expired.
    """
    if start >= end:
        return Changes(upserts=arrow_schema(_columns(table, columns)).empty_table())
    if start == 0:
        return Changes(upserts=state(handle, table, end, columns))
    key = list(table.primary_key)
    snapshots = [snapshot_of(handle, table, number) for number in range(start + 1, end + 1)]
    if key and any(_replaced(snapshot) for snapshot in snapshots):
        # `PaimonStore.replace` writes every row again, and of two states nobody can tell what was deleted or dropped.
        if drops := [snapshot.id for snapshot in snapshots if is_drop(snapshot)]:
            bounds = zip([start, *drops], [*(number - 1 for number in drops), end], strict=True)
            wanted_names = list(dict.fromkeys([*columns, *key]))
            done = in_turn([changes(handle, table, *bound, wanted_names) for bound in bounds], key)
            return Changes(done.upserts.select(list(columns)), done.deletes)
        old, new = (state(handle, table, snapshot_id, table.column_names) for snapshot_id in (start, end))
        return _difference(old, new, key, columns)
    if table.merge:
        # The files of a snapshot hold what was added; what a reader wants is the sum.
        touched = distinct_keys(_delta(handle, table, snapshots, key), key)
        return Changes(upserts=state(handle, table, end, columns, keys=touched))
    wanted_names = list(dict.fromkeys([*columns, *key]))
    delta = _delta(handle, table, snapshots, wanted_names)
    if not key:
        return Changes(upserts=delta.select(list(columns)))
    folded = last_of_each_key(delta, key)
    is_delete = pa.compute.equal(folded.column(_ROW_KIND), DELETED)
    deletes = folded.filter(is_delete).select(key)
    return Changes(
        upserts=folded.filter(pa.compute.invert(is_delete)).select(list(columns)),
        deletes=deletes if deletes.num_rows else None,
    )


def rows_written(handle: Any, table: Table, snapshot_id: int) -> int:
    """How many rows a reader of the changes of one snapshot has to read.

    Raises:
        RowsLostError: it was expired.
    """
    snapshot = snapshot_of(handle, table, snapshot_id)
    if _replaced(snapshot):
        return int(snapshot.total_record_count)
    return int(snapshot.delta_record_count) if snapshot.commit_kind == "APPEND" else 0


def _replaced(snapshot: Any) -> bool:
    return snapshot.commit_kind == _OVERWRITE and not is_drop(snapshot)


def snapshot_of(handle: Any, table: Table, snapshot_id: int) -> Any:
    """One snapshot.

    Raises:
        RowsLostError: it was expired.
    """
    snapshot = snapshots_of(handle).get_snapshot_by_id(snapshot_id)
    if snapshot is None:
        raise RowsLostError(
            f"Paimon no longer holds snapshot {snapshot_id} of {table.name}, which was not read yet",
            hint="keep snapshots longer than the reader may be down, then rebuild the tables downstream",
        )
    return snapshot


def _difference(old: pa.Table, new: pa.Table, key: Sequence[str], columns: Sequence[str]) -> Changes:
    if any(pa.types.is_nested(field.type) for field in new.schema):
        changed = new  # Arrow cannot compare such values: every row may be another one
    else:
        mask = np.zeros(new.num_rows, dtype=bool)
        mask[absent(new, old)] = True
        changed = new.filter(pa.array(mask))
    deletes = without_keys(old.select(list(key)), new.select(list(key)))
    return Changes(upserts=changed.select(list(columns)), deletes=deletes if deletes.num_rows else None)


def _delta(handle: Any, table: Table, snapshots: Sequence[Any], columns: Sequence[str]) -> pa.Table:
    """Rows as written, oldest snapshot first, with their kind in `_row_kind`."""
    builder = handle.new_stream_read_builder().with_projection(_present(handle, columns)).with_include_row_kind(True)
    scan, read = builder.new_streaming_scan(), builder.new_read()
    shown = [Column(name=_ROW_KIND, type="string"), *_columns(table, columns)]
    parts = [arrow_schema(shown).empty_table()]
    for snapshot in snapshots:
        if _replaced(snapshot):
            raise StoreError(
                f"snapshot {snapshot.id} of {table.name} overwrote rows, so what changed in it is unknown",
                hint="rebuild the tables downstream",
            )
        if snapshot.commit_kind != "APPEND":
            continue
        prove_metadata(handle, snapshot)
        splits = proven(handle, splits_of(scan, snapshot))
        if splits:
            of_schema = read if snapshot.schema_id == handle.table_schema.id else _python_read(handle, columns)
            parts.append(padded(of_schema.to_arrow(splits), shown))
    return pa.concat_tables(parts)


def _python_read(handle: Any, columns: Sequence[str]) -> Any:
    """A slower reader, for files of another schema than the handle's: the Rust one fails on their row kinds."""
    builder = handle.copy({"read.native.enabled": "false"}).new_stream_read_builder()
    return builder.with_projection(_present(handle, columns)).with_include_row_kind(True).new_read()


def _columns(table: Table, names: Sequence[str]) -> list[Column]:
    return [table.column(name) for name in names]


def _present(handle: Any, names: Sequence[str]) -> list[str]:
    """Those of `names` that the schema of the handle has; a past one may lack some."""
    known = {field.name for field in handle.table_schema.fields}
    return [name for name in names if name in known]
