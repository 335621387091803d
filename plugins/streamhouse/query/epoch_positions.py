"""Which position of each table an epoch stands for; pure, over what the state store recorded."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, TypeAlias

import pyarrow as pa

from streamhouse.errors import QueryRefusedError, RowsLostError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Position
from streamhouse.model.version import table_name
from streamhouse.query.moments import Moment
from streamhouse.state.records import EpochRecord

Segment: TypeAlias = tuple[str, str]
"""Flow and segment, which count their epochs together."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Epochs:
    """The epochs of a project.

    Attributes:
        plans: Applied plans over the names that stores hold.
        records: Finished epochs of a segment, the last one first.
        unfinished: Whether a segment has begun an epoch that it did not finish.
        last: The last finished epoch of each of some segments that finished one.
    """

    plans: Sequence[FlowPlan] = ()
    records: Callable[[str, str], Sequence[EpochRecord]] = field(default=lambda _flow, _segment: ())
    unfinished: Callable[[str, str], bool] = field(default=lambda _flow, _segment: True)
    last: Callable[[Collection[Segment]], Mapping[Segment, EpochRecord]] = field(default=lambda _segments: {})

    @cached_property
    def _writes(self) -> dict[Segment, frozenset[str]]:
        """Names that people know: an epoch may have written another version than the one that serves."""
        return {(p.flow, s.name): frozenset(map(table_name, s.tables)) for p in self.plans for s in p.segments}

    @cached_property
    def _reads(self) -> dict[Segment, frozenset[str]]:
        return {(p.flow, s.name): frozenset(map(table_name, s.reads)) for p in self.plans for s in p.segments}

    def positions(self, tables: Mapping[str, str], moment: Moment) -> dict[str, Position]:
        """Where tables stood when an epoch was finished: those that its segment writes, or read up to there.

        Args:
            tables: Name that stores hold → the one that people know.
            moment: The epoch.

        Raises:
            QueryRefusedError: no segment, or several, know of all of them, or there was no such epoch.
            RowsLostError: it is no longer recorded, or was of a version of a table that serves no more.
        """
        flow, segment, known = self._known(tables, moment)
        if missing := [shown for stored, shown in tables.items() if stored not in known]:
            raise RowsLostError(
                f"{moment} of {flow}/{segment} was before {', '.join(missing)} got the version that serves now",
                hint=f"{missing[0]}.history lists the epochs that can be asked for",
            )
        return {stored: known[stored] for stored in tables}

    def stored_names(self, tables: Collection[str], moment: Moment) -> dict[str, frozenset[str]]:
        """Table, as people know it → the names that stores hold of which an epoch says where they ended.

        Raises:
            QueryRefusedError, RowsLostError: see `positions`.
        """
        _, _, known = self._known({name: name for name in tables}, moment)
        return {name: frozenset(stored for stored in known if table_name(stored) == name) for name in tables}

    def _known(self, tables: Mapping[str, str], moment: Moment) -> tuple[str, str, dict[str, Position]]:
        """Flow and segment of an epoch, and where what it wrote and read ended."""
        flow, segment = self._segment_of(tables, moment)
        found = self.records(flow, segment)
        record = next((one for one in found if one.epoch == moment.value), None)
        if record is None:
            raise _no_epoch(f"{flow}/{segment}", found, moment)
        return flow, segment, {**record.end, **record.ends}

    def end_at_rest(self, stored: str) -> Position | None:
        """Where a table ends while nobody writes it; None: it is not known, or an epoch may have gone further."""
        writers = self._writers([stored])
        ends: Position = {}
        for flow, segment in writers:
            records = self.records(flow, segment)
            if not records or stored not in records[0].ends or self.unfinished(flow, segment):
                return None
            for bucket, offset in records[0].ends[stored].items():
                ends[bucket] = max(offset, ends.get(bucket, 0))
        return ends if writers else None

    def left_at(self, tables: Collection[str]) -> dict[str, Position]:
        """Where the last finished epochs left each table, which may have gone on since; empty: it is not known.

        Args:
            tables: Names that stores hold.
        """
        writers = {stored: self._writers([stored]) for stored in tables}
        records = self.last({segment for found in writers.values() for segment in found})
        every: dict[str, Position] = {}
        for stored, segments in writers.items():
            left = every.setdefault(stored, {})
            for record in (records[one] for one in segments if one in records):
                for bucket, offset in record.ends.get(stored, {}).items():
                    left[bucket] = max(offset, left.get(bucket, 0))
        return every

    def history(self, stored: str) -> pa.Table:
        """The epochs that tell where a table stood, newest first; columns as in `parts`."""
        rows: list[dict[str, Any]] = [
            {
                "epoch": record.epoch,
                "flow": record.flow,
                "segment": record.segment,
                "seen_at": _instant(record.at_ms),
                "finished_at": _instant(record.finished_ms),
                "rows": record.rows.get(stored, 0),
                "position": _text(record.ends[stored]),
            }
            for flow, segment in self._writers([stored])
            for record in self.records(flow, segment)
            if stored in record.ends
        ]
        return pa.Table.from_pylist(sorted(rows, key=lambda row: row["finished_at"], reverse=True), schema=_HISTORY)

    def _writers(self, tables: Sequence[str]) -> list[Segment]:
        return [one for one, written in self._writes.items() if written.issuperset(map(table_name, tables))]

    def _segment_of(self, tables: Mapping[str, str], moment: Moment) -> Segment:
        shown = ", ".join(sorted(tables.values()))
        names = {table_name(stored) for stored in tables}
        candidates = self._writers(list(tables)) or [
            one
            for one, written in self._writes.items()
            if written & names and (written | self._reads[one]).issuperset(names)
        ]
        if len(candidates) == 1:
            return candidates[0]
        hint = "each segment counts its epochs by itself: ask for TIMESTAMP AS OF, or for fewer tables at once"
        if candidates:
            several = ", ".join("/".join(one) for one in sorted(candidates))
            raise QueryRefusedError(f"{moment} of which segment: {several}?", at=moment.at, hint=hint)
        writers = {shown_: ["/".join(one) for one in self._writers([stored])] for stored, shown_ in tables.items()}
        if unwritten := [name for name, found in writers.items() if not found]:
            raise QueryRefusedError(f"no flow that ran writes {', '.join(unwritten)}", at=moment.at, hint=hint)
        raise QueryRefusedError(f"no segment knows of all of {shown}, so they share no epoch", at=moment.at, hint=hint)


def _no_epoch(name: str, found: Sequence[EpochRecord], moment: Moment) -> Exception:
    if not found:
        return QueryRefusedError(f"{name} has finished no epoch", at=moment.at)
    first, last = found[-1].epoch, found[0].epoch
    if moment.value > last:
        return QueryRefusedError(f"{name} has not come to {moment} yet; its last one is {last}", at=moment.at)
    if moment.value < first:
        return RowsLostError(
            f"where {name} stood at {moment} is no longer recorded; the oldest epoch that is: {first}",
            hint="ask for TIMESTAMP AS OF, or for VERSION AS OF of the lake",
        )
    return QueryRefusedError(f"{name} had no {moment}; there are {first} to {last}, some were left out", at=moment.at)


_HISTORY = pa.schema(
    [
        ("epoch", pa.int64()),
        ("flow", pa.string()),
        ("segment", pa.string()),
        ("seen_at", pa.timestamp("us", tz="UTC")),
        ("finished_at", pa.timestamp("us", tz="UTC")),
        ("rows", pa.int64()),
        ("position", pa.string()),
    ]
)


def _instant(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)


def _text(position: Position) -> str:
    return ", ".join(f"{key}: {value}" for key, value in position.items())
