"""Epochs: begun before anything is written, finished when everything is readable.

A database does not see a flipped bit in a value. A flow that goes on from other positions passes over rows, or reads
them twice, so each record has a checksum.
"""

import heapq
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from zlib import crc32

from sqlalchemy import Connection, Row, Table, Update, and_, bindparam, delete, func, insert, select, update

from streamhouse.errors import StateConflictError
from streamhouse.model.types import Position
from streamhouse.state.damage import damaged, parsing
from streamhouse.state.records import EpochRecord
from streamhouse.state.schema import epoch as epochs
from streamhouse.state.schema import segment_total, table_total

RETAINED_EPOCHS = 1_000
_SUM = "sum"
_IN_RECORD = ("start", "end", "ends", "rows", "layer_visible_ms", "computed")

# What every epoch asks is put together once: that takes longer than SQLite takes to answer.
_MINE = (epochs.c.flow == bindparam("of_flow")) & (epochs.c.segment == bindparam("of_segment"))
_THIS = _MINE & (epochs.c.epoch == bindparam("of_epoch"))
_NEWEST = select(epochs).where(_MINE).order_by(epochs.c.epoch.desc()).limit(1)
_RECENT = (
    select(epochs)
    .where(_MINE, epochs.c.finished_ms.is_not(None))
    .order_by(epochs.c.epoch.desc())
    .limit(bindparam("most"))
)
_ONE = select(epochs).where(_THIS)
_UNFINISHED = select(epochs.c.epoch).where(_MINE, epochs.c.finished_ms.is_(None))
_BEGIN = insert(epochs)
_BEGIN_AGAIN = update(epochs).where(_THIS).values(fencing=bindparam("now_fencing"), started_ms=bindparam("now_started"))
_FINISH = (
    update(epochs)
    .where(_THIS)
    .values(
        at_ms=bindparam("now_at"),
        started_ms=bindparam("now_started"),
        finished_ms=bindparam("now_finished"),
        record=bindparam("now_record"),
    )
)
_PRUNE = delete(epochs).where(_MINE, epochs.c.epoch <= bindparam("to_epoch"))


def _adding(table: Table, key: str, column: str) -> Update:
    this = (table.c.flow == bindparam("of_flow")) & (table.c[key] == bindparam("of_key"))
    return update(table).where(this).values({column: table.c[column] + bindparam("more")})


_ADD_EPOCHS = _adding(segment_total, "segment", "epochs")
_ADD_ROWS = _adding(table_total, "table_name", "rows")


def begin(connection: Connection, flow: str, segment: str, epoch: int, at_ms: int, fencing: int, now_ms: int) -> int:
    """Record an attempt of `epoch`; return the `at_ms` of its first attempt, which all must use.

    Raises:
        StateConflictError: the epoch is finished, or an earlier one is not.
    """
    mine = {"of_flow": flow, "of_segment": segment}
    before = connection.execute(_NEWEST, mine).one_or_none()
    name = f"{flow}/{segment}"
    if before is not None and before.epoch == epoch and before.finished_ms is None:
        connection.execute(_BEGIN_AGAIN, {**mine, "of_epoch": epoch, "now_fencing": fencing, "now_started": now_ms})
        return int(before.at_ms)
    if before is not None and before.epoch >= epoch:
        raise StateConflictError(
            f"{name}: epoch {epoch} cannot begin, epoch {before.epoch} was recorded before",
            hint="the checkpoint is older than the state store; restore both from the same moment",
        )
    if before is not None and before.finished_ms is None:
        raise StateConflictError(
            f"{name}: epoch {epoch} cannot begin, epoch {before.epoch} is not finished",
            hint="the checkpoint is newer than the state store; restore both from the same moment",
        )
    attempt = {"epoch": epoch, "fencing": fencing, "at_ms": at_ms, "started_ms": now_ms, "finished_ms": None}
    connection.execute(_BEGIN, {"flow": flow, "segment": segment, **attempt})
    return at_ms


def finish(connection: Connection, record: EpochRecord) -> bool:
    """Record that all writes of an epoch are readable; whether it is new, for the same record changes nothing.

    Raises:
        StateConflictError: the epoch was not begun, or is finished otherwise.
    """
    mine = {"of_flow": record.flow, "of_segment": record.segment}
    this = {**mine, "of_epoch": record.epoch}
    begun = connection.execute(_ONE, this).one_or_none()
    name = f"{record.flow}/{record.segment}: epoch {record.epoch}"
    if begun is None:
        raise StateConflictError(f"{name} cannot finish, it was never begun")
    if begun.finished_ms is not None:
        if _record(begun) == record:
            return False
        raise StateConflictError(f"{name} is already finished with another result")
    times = {"now_at": record.at_ms, "now_started": record.started_ms, "now_finished": record.finished_ms}
    connection.execute(_FINISH, {**this, **times, "now_record": _parts(record)})
    if not connection.execute(_ADD_EPOCHS, {"of_flow": record.flow, "of_key": record.segment, "more": 1}).rowcount:
        connection.execute(insert(segment_total).values(flow=record.flow, segment=record.segment, epochs=1))
    # The lease row is locked: no other transaction adds to the same totals now.
    for table, rows in record.rows.items():
        if not connection.execute(_ADD_ROWS, {"of_flow": record.flow, "of_key": table, "more": rows}).rowcount:
            connection.execute(insert(table_total).values(flow=record.flow, table_name=table, rows=rows))
    connection.execute(_PRUNE, {**mine, "to_epoch": record.epoch - RETAINED_EPOCHS})
    return True


def replace_all_finished(connection: Connection, records: Iterable[EpochRecord]) -> None:
    """As `insert_finished` of each, in place of what an attempt that was cut off recorded of the same epoch."""
    for record in records:
        same = (epochs.c.flow == record.flow, epochs.c.segment == record.segment, epochs.c.epoch == record.epoch)
        connection.execute(delete(epochs).where(*same))
        insert_finished(connection, record)


def insert_finished(connection: Connection, record: EpochRecord) -> None:
    """Record an epoch that wrote nothing: from here on, positions are as it says."""
    connection.execute(
        insert(epochs).values(
            flow=record.flow,
            segment=record.segment,
            epoch=record.epoch,
            fencing=0,
            at_ms=record.at_ms,
            started_ms=record.started_ms,
            finished_ms=record.finished_ms,
            record=_parts(record),
        )
    )


def last(connection: Connection, flow: str, segment: str) -> EpochRecord | None:
    """The last finished epoch; None when none is."""
    found = recent(connection, flow, segment, limit=1)
    return found[0] if found else None


def recent(connection: Connection, flow: str, segment: str | None, limit: int) -> list[EpochRecord]:
    """Finished epochs of a segment (None: of all), the last one first.

    Those of one segment are in the order of their numbers: a clock may go back. Segments number their own epochs, so
    between two of them the time counts.
    """
    if segment is not None:
        return [_record(row) for row in connection.execute(_RECENT, _of_segment(flow, segment, limit))]
    segments = connection.execute(select(epochs.c.segment).where(epochs.c.flow == flow).distinct()).scalars().all()
    each = [connection.execute(_RECENT, _of_segment(flow, one, limit)).all() for one in segments]
    merged = heapq.merge(*each, key=lambda row: (row.finished_ms, row.epoch), reverse=True)
    return [_record(row) for row in islice(merged, limit)]


def _of_segment(flow: str, segment: str, limit: int) -> dict[str, object]:
    return {"of_flow": flow, "of_segment": segment, "most": limit}


def newest(connection: Connection) -> list[EpochRecord]:
    """The last finished epoch of every segment of every flow, candidates too."""
    known, one = select(epochs.c.flow, epochs.c.segment).distinct().subquery(), epochs.alias()
    # Looked up by the key, from its end on: to group all epochs would read the record of each.
    last_of = (
        select(one.c.epoch)
        .where(one.c.flow == known.c.flow, one.c.segment == known.c.segment, one.c.finished_ms.is_not(None))
        .order_by(one.c.epoch.desc())
        .limit(1)
        .scalar_subquery()
    )
    same = [epochs.c[name] == known.c[name] for name in ("flow", "segment")]
    query = select(epochs).join(known, and_(*same, epochs.c.epoch == last_of))
    return [_record(row) for row in connection.execute(query)]


def unfinished(connection: Connection, flow: str, segment: str) -> int | None:
    """The epoch that was begun and not finished; there is at most one."""
    found = connection.execute(_UNFINISHED, {"of_flow": flow, "of_segment": segment}).scalar_one_or_none()
    return int(found) if found is not None else None


def newest_known(connection: Connection, flow: str, segment: str) -> int | None:
    """The highest number of an epoch that was ever begun or finished, as far as it is recorded; None: none was."""
    query = select(func.max(epochs.c.epoch)).where(epochs.c.flow == flow, epochs.c.segment == segment)
    found = connection.execute(query).scalar_one_or_none()
    return int(found) if found is not None else None


def recorded_times(connection: Connection, flow: str, segment: str, numbers: Collection[int]) -> dict[int, int]:
    """Epoch → its recorded time, epoch milliseconds, of those of `numbers` that are known, done or begun.

    A restore may know an epoch and not its time: such a one is left out.
    """
    return {number: at_ms for number, at_ms in _times(connection, flow, segment, numbers).items() if at_ms}


def times_or_never(connection: Connection, flow: str, segment: str, numbers: Collection[int]) -> dict[int, int | None]:
    """As `recorded_times`, and None for a number that no epoch ever had: an earlier one and a later one are known.

    Old epochs go from the oldest on, so nothing is missing between two that are known.
    """
    mine = (epochs.c.flow == flow, epochs.c.segment == segment)
    lowest, highest = connection.execute(select(func.min(epochs.c.epoch), func.max(epochs.c.epoch)).where(*mine)).one()
    found = _times(connection, flow, segment, numbers)
    never = {number for number in numbers if lowest is not None and lowest < number < highest} - found.keys()
    return dict.fromkeys(never) | {number: at_ms for number, at_ms in found.items() if at_ms}


def _times(connection: Connection, flow: str, segment: str, numbers: Collection[int]) -> dict[int, int]:
    mine = (epochs.c.flow == flow, epochs.c.segment == segment, epochs.c.epoch.in_(numbers))
    rows = connection.execute(select(epochs.c.epoch, epochs.c.at_ms).where(*mine)).all()
    with parsing(f"the times of epochs of {flow}/{segment}"):
        return {int(number): int(at_ms) for number, at_ms in rows}


def wrote_rows(connection: Connection, flow: str, table: str) -> bool:
    """Whether an epoch of a flow wrote rows to a table, as stores call it; also one that is no longer recorded."""
    mine = (table_total.c.flow == flow, table_total.c.table_name == table)
    return bool(connection.execute(select(table_total.c.rows).where(*mine)).scalar_one_or_none())


def note_ends(connection: Connection, flow: str, segment: str, ends: Mapping[str, Position | None]) -> None:
    """Say where tables end since the last finished epoch; None: nobody knows until it is said again."""
    known = last(connection, flow, segment)
    if known is None:
        return
    noted = {name: at for name, at in {**known.ends, **ends}.items() if at is not None}
    this = (epochs.c.flow == flow) & (epochs.c.segment == segment) & (epochs.c.epoch == known.epoch)
    connection.execute(update(epochs).where(this).values(record=_parts(replace(known, ends=noted))))


def take_over(
    connection: Connection,
    flow: str,
    segment: str,
    done: EpochRecord | None,
    begun: tuple[int, int] | None,
    now_ms: int,
) -> None:
    """Take over what the tables tell of a segment's epochs, in place of all that is recorded of them.

    Args:
        connection: In a transaction.
        flow: Whose.
        segment: Which part of it.
        done: The last finished epoch; None: none is.
        begun: Number and `at_ms` of an epoch that may have written something and is to run again; None: there is none.
        now_ms: The time.
    """
    connection.execute(delete(epochs).where(epochs.c.flow == flow, epochs.c.segment == segment))
    if done is not None:
        insert_finished(connection, done)
    if begun is not None:
        begin(connection, flow, segment, begun[0], begun[1], 0, now_ms)


def _parts(record: EpochRecord) -> dict[str, object]:
    """What stands in the column `record`."""
    parts = {part: getattr(record, part) for part in _IN_RECORD}
    return {**parts, _SUM: _sum_of(record)}


def _record(row: Row[tuple[object, ...]]) -> EpochRecord:
    """An epoch as it was recorded; those of earlier versions have no checksum.

    Raises:
        StateConflictError: it is damaged.
    """
    what = f"epoch {row.epoch} of {row.flow}/{row.segment}"
    with parsing(what):
        parts = {name: value for name, value in row.record.items() if name != _SUM}
        found = EpochRecord(row.flow, row.segment, row.epoch, row.at_ms, row.started_ms, row.finished_ms, **parts)
        recorded = row.record.get(_SUM)
        is_whole = recorded is None or recorded == _sum_of(found)
    if not is_whole:
        raise damaged(what)
    return found


def _sum_of(record: EpochRecord) -> int:
    """A checksum of all that a record says; times of its attempts are no part of what follows from it."""
    said = [record.flow, record.segment, record.epoch, record.at_ms, *(getattr(record, part) for part in _IN_RECORD)]
    return crc32(json.dumps(said, sort_keys=True).encode())
