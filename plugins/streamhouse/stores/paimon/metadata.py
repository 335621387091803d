"""The metadata of a Paimon table: snapshots, files, and conditions in its own terms."""

from collections.abc import Sequence
from typing import Any

from streamhouse.stores.base import CARRIED, DataFile, Snapshot
from streamhouse.stores.paimon.partitions import is_drop
from streamhouse.stores.paimon.verified import snapshots_of
from streamhouse.stores.where import RowCondition

_METHODS = {"=": "equal", "<": "less_than", "<=": "less_or_equal", ">": "greater_than", ">=": "greater_or_equal"}


def retained(handle: Any) -> list[Snapshot]:
    """The snapshots that still exist, oldest first."""
    manager = snapshots_of(handle)
    last = manager.get_latest_snapshot()
    if last is None:
        return []
    first = manager.try_get_earliest_snapshot()
    found = (manager.get_snapshot_by_id(number) for number in range(first.id, last.id + 1))
    return [_snapshot(one) for one in found if one is not None]


def newest_before(handle: Any, at_ms: int) -> int | None:
    """The id of the newest snapshot of `at_ms` or before; 0 before the very first; None: it is no longer there."""
    found = retained(handle)
    before = [one.number for one in found if one.committed_ms <= at_ms]
    if before:
        return before[-1]
    return 0 if not found or found[0].number == 1 else None


def files(past: Any, where: Sequence[RowCondition]) -> list[DataFile]:
    """The files that a read of a handle opens."""
    builder = with_conditions(past.new_read_builder(), where)
    return [
        DataFile(file.file_path, file.row_count, file.file_size, split.bucket, partition=tuple(split.partition.values))
        for split in builder.new_scan().plan().splits()
        for file in split.files
    ]


def with_conditions(builder: Any, where: Sequence[RowCondition]) -> Any:
    """A read builder that leaves out rows which do not fulfil all of `where`."""
    if not where:
        return builder
    predicate_builder = builder.new_predicate_builder()

    def predicate(one: RowCondition) -> Any:
        if one.operator == "in":
            return predicate_builder.is_in(one.column, list(one.values))
        if one.operator in _METHODS:
            return getattr(predicate_builder, _METHODS[one.operator])(one.column, one.values[0])
        return (
            predicate_builder.is_null(one.column)
            if one.operator == "is null"
            else predicate_builder.is_not_null(one.column)
        )

    return builder.with_filter(predicate_builder.and_predicates([predicate(one) for one in where]))


def _snapshot(stored: Any) -> Snapshot:
    return Snapshot(
        number=stored.id,
        committed_ms=stored.time_millis,
        kind="drop"
        if is_drop(stored)
        else "compact"
        if CARRIED in (stored.properties or {})
        else stored.commit_kind.lower(),
        added_rows=stored.delta_record_count,
        total_rows=stored.total_record_count,
        properties=dict(stored.properties or {}),
    )
