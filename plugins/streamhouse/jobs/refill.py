"""Hot tables that are gone, brought back from their copies in the lakes (docs/restore.md)."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from shutil import rmtree
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from streamhouse.change.building import last_epochs
from streamhouse.engine.observed import BEGUN, filling_writer
from streamhouse.engine.row_order import ROW, unplaced
from streamhouse.engine.vector import covers
from streamhouse.jobs.copy_marks import CopyMarks
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.model.version import table_name
from streamhouse.runtime.open import Open
from streamhouse.spark.results import collected_rows
from streamhouse.state.records import EpochRecord, Lease
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, LakeStore, NotedStore, WriteContext
from streamhouse.stores.ledger import lost_as, take_for_known
from streamhouse.stores.mark import Mark, note_filled
from streamhouse.tiering.restate import EVERYTHING, apply, difference, filling
from streamhouse.tiering.retention import retention_of
from streamhouse.tiering.union import state_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_DONE = "done"


@dataclass(frozen=True)
class Missing:
    """A hot table that is lost.

    Attributes:
        left: Where it ended behind the last epoch; None: it is not known.
        own: Where it ends, if it is an older one that reaches further than every copy; None: it does not.
        copies: Lake tier → how far its copy reaches.
    """

    segment: Segment
    step: PlannedStep
    table: Table
    left: Position | None
    own: Position | None
    copies: dict[Tier, Mark]

    @property
    def best(self) -> Tier | None:
        """The lake whose copy reaches furthest; None: there is no copy, or the table itself reaches further."""
        if self.own is not None:
            return None
        return max(self.copies, key=lambda tier: sum(self.copies[tier].offsets.values()), default=None)

    @property
    def lacking(self) -> int | None:
        """Rows that no tier has, an update counts as two; None: it is not known how many."""
        if self.left is None:
            return None
        reached = self.own if self.own is not None else self.copies[self.best].offsets if self.best is not None else {}
        return sum(max(0, offset - reached.get(bucket, 0)) for bucket, offset in self.left.items())

    @property
    def is_whole(self) -> bool:
        """Whether some tier is known to have all of its rows."""
        return self.lacking == 0

    @property
    def name(self) -> str:
        """As people know it."""
        return table_name(self.table.name)


@dataclass(frozen=True)
class FlowRecords:
    """A flow whose tables come back, or which reads some that do.

    Attributes:
        plan: Over the names that stores hold.
        last: Segment → the last epoch that is known, as it is to be.
        lost: Segment → its tables that are lost, and what happened to each.
    """

    plan: FlowPlan
    last: Mapping[str, EpochRecord]
    lost: Mapping[str, Mapping[str, str]]


class Refill:
    """What is lost of the hot tables of one flow, and its way back."""

    def __init__(self, open_: Open, flow: str, flows: Mapping[str, FlowRecords], copies: CopyMarks) -> None:
        """Look, and change nothing.

        Args:
            open_: Everything connected.
            flow: Whose tables.
            flows: Its records, and those of every flow that may read them.
            copies: How far the copies of its tables reach.
        """
        self._open, self._flow, self._flows, self._copies = open_, flow, flows, copies
        self._plan, self._last = flows[flow].plan, flows[flow].last
        self.missing = [*self._missing()]

    def describe(self) -> tuple[list[str], list[str]]:
        """For people: what comes back, and what does not."""
        did, lost = [], []
        for one in self.missing:
            if one.own is not None:
                did.append(
                    f"{one.name}: its hot table is an older one, which reaches further than every lake, and stays"
                )
            elif one.best is None and one.left is not None and not any(one.left.values()):
                did.append(f"{one.name}: its hot table, which had no rows, is made again")
                continue
            elif one.best is None:
                did.append(f"{one.name}: its hot table is made again, empty: no lake has a copy")
                if one.left is None:
                    lost.append(f"{one.name}: all of its rows; it is unknown how many there were")
                else:
                    lost.append(f"{one.name}: all of its rows, {sum(one.left.values()):,} by the offsets of its log")
                continue
            else:
                did.append(f"{one.name}: its hot table is filled again from the {one.best} tier")
            if one.best is not None and (unordered := self._unordered(one.best, one.table)):
                text = f"the order of {unordered:,} rows, which upkeep wrote together in the {one.best} tier"
                lost.append(f"{one.name}: {text}")
            if one.lacking:
                lost.append(f"{one.name}: {one.lacking:,} changes behind the last tiered offset")
            elif one.lacking is None:
                lost.append(f"{one.name}: what was written behind the last tiered offset; it is not known how much")
        for flow, segment, name, rows in self.unread():
            changes = f"{rows:,} changes of {table_name(name)}"
            lost.append(f"{flow}/{segment} had not read {changes}: it goes on behind them")
        return did, lost

    def run(self) -> None:
        """Bring the tables back."""
        for one in self.missing:
            self._fill(one)

    def done(self) -> None:
        """Record that the tables, and the positions of their readers, are as they are to be."""
        for one in self.missing:
            self._note(one, _DONE)

    @property
    def _hot(self) -> NotedStore:
        return cast("NotedStore", self._open.stores[Tier.HOT])

    def _missing(self) -> Iterator[Missing]:
        for segment in self._plan.segments:
            lost = self._flows[self._flow].lost.get(segment.name, {})
            last = self._last.get(segment.name)
            for step in segment.steps:
                for table in (step.writes, step.quarantine):
                    if table is not None and table.tiers.target is Tier.HOT and table.name in lost:
                        copies = self._copies.of_table(table)
                        left = last.ends.get(table.name) if last is not None else None
                        yield Missing(segment, step, table, left, self._own(table, lost[table.name], copies), copies)

    def _own(self, table: Table, what: str, copies: Mapping[Tier, Mark]) -> Position | None:
        """Where an older table ends that has all that its copies have."""
        if not what.startswith("ends "):
            return None
        end = self._hot.end(table)
        reached = all(covers({table.name: end}, {table.name: mark.offsets}) for mark in copies.values())
        return end if reached else None

    def _lake(self, tier: Tier) -> LakeStore:
        return cast("LakeStore", self._open.stores[tier])

    def _note(self, one: Missing, text: str) -> None:
        self._hot.note(filling_writer(one.table), text, [one.table.name])

    def _fill(self, one: Missing) -> None:
        """From the lake that reaches furthest; the others get what they lack, and all say where the new log ends."""
        table, hot = one.table, self._hot
        if one.own is not None:
            take_for_known(hot, table.name, table)
            self._note(one, BEGUN)
            for tier in table.tiers.present[1:]:  # those that are older, too, go on from their own marks
                self._take_copy(table, tier, one.copies)
                if tier in one.copies:
                    note_filled(self._lake(tier), table.replica, one.copies[tier])
            return
        hot.drop(table.name)
        hot.create(table)
        self._note(one, BEGUN)
        for tier in table.tiers.present[1:]:
            self._take_copy(table, tier, one.copies)
        if one.best is None:
            return
        rows = self._rows(one.best, table)
        with filling(table, self._unexpired_rows(table, rows)) as found:
            apply(table, found, hot, lambda number: WriteContext(filling_writer(table), number), lambda _: None)
        end = hot.end(table)
        for tier, mark in one.copies.items():
            lacks = Changes(arrow_schema(table.columns).empty_table())
            if mark.offsets != one.copies[one.best].offsets:
                lacks = self._lacks(one, rows, tier)
            best = one.copies[one.best]
            next_mark = Mark(mark.round + 1, Tier.HOT, end, best.epochs, best.times)
            context = WriteContext(f"tiering/{table.name}", next_mark.round, properties=next_mark.properties())
            self._lake(tier).write(table.replica, lacks, context)
            note_filled(self._lake(tier), table.replica, next_mark)

    def _take_copy(self, table: Table, tier: Tier, copies: Mapping[Tier, Mark]) -> None:
        """Take an older copy for the one that is known; what is left of one without rounds goes."""
        lake = self._lake(tier)
        if lost_as(lake, table.replica) is not None or tier not in copies:
            if tier not in copies:
                lake.drop(table.replica.name)
            take_for_known(lake, table.replica.name, table.replica)

    def _rows(self, tier: Tier, table: Table) -> "DataFrame":
        """What a lake has; of a log with `ROW`, or in its order."""
        store = self._lake(tier)
        return state_frame(self._open.spark, store, table.replica, None, table.column_names, order=ROW)

    def _unordered(self, tier: Tier, table: Table) -> int:
        """How many rows of a log cannot come back in their order; one row alone needs none."""
        from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

        rows = self._unexpired_rows(table, self._rows(tier, table)) if table.keeps_order else None
        if rows is None or ROW not in rows.columns:
            return 0
        [(unordered, count)] = collected_rows(rows.agg(F.count_if(unplaced()), F.count("*")))
        return int(unordered) if count > 1 else 0

    def _unexpired_rows(self, table: Table, rows: "DataFrame") -> "DataFrame":
        """Those that the hot tier would not have dropped by their day."""
        from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

        if table.ages_by is None or table.keeps_all(Tier.HOT):
            return rows
        oldest = (datetime.now(UTC) - retention_of(table, Tier.HOT)).date()
        day = F.col(table.ages_by)
        return rows.where(day.isNull() | (day >= F.lit(oldest)))

    def _lacks(self, one: Missing, rows: "DataFrame", tier: Tier) -> Changes:
        """What a copy has not that another one, which reaches further, has."""
        table, best = one.table.replica, cast("Tier", one.best)
        step = one.step.model_copy(update={"writes": table})
        if one.step.quarantine is not None and one.table.name == one.step.quarantine.name:
            step = step.model_copy(update={"columns": table.columns})
        with difference(step, rows, self._rows(tier, table), EVERYTHING) as found:
            parts = list(found.parts)
        if not parts:
            return Changes(arrow_schema(table.columns).empty_table())
        deletes = [part.deletes for part in parts if part.deletes is not None and table.keeps_all(best)]
        upserts = pa.concat_tables([part.upserts for part in parts])
        return Changes(upserts, pa.concat_tables(deletes) if deletes and table.primary_key else None)

    def readers(self) -> list[FlowPlan]:
        """This flow, and the others that read what is lost, over the names that stores hold."""
        missing_tables = {one.table.name for one in self.missing}
        others = [one.plan for flow, one in self._flows.items() if flow != self._flow]
        return [
            self._plan,
            *(plan for plan in others if missing_tables & {table.name for table in plan.external}),
        ]

    def unread(self) -> Iterator[tuple[str, str, str, int]]:
        """Flow, segment, table that comes back, as stores call it, and how many of its changes it had not read."""
        left = {one.table.name: one for one in self.missing}
        for plan in self.readers():
            for segment, record in self._flows[plan.flow].last.items():
                for name, at in record.end.items():
                    ended = left[name].left if name in left else None
                    if ended is not None and not covers({name: at}, {name: ended}):
                        rows = sum(max(0, end - at.get(bucket, 0)) for bucket, end in ended.items())
                        yield plan.flow, segment, name, rows


def go_on_at(open_: Open, plan: FlowPlan, ends: Mapping[str, Position], lease: Lease) -> None:
    """Positions in tables that were lost mean nothing in those that came back: a flow goes on at their ends.

    Args:
        open_: Everything connected.
        plan: Of the flow, over the names that stores hold.
        ends: Table that came back → its end.
        lease: Of the flow.
    """
    # The rows that are cached stand at such positions too, and could be taken for those of the new logs.
    rmtree(open_.project.state_dir / "cache" / "states" / plan.flow, ignore_errors=True)
    segments = {}
    for segment, record in last_epochs(open_.state, plan).items():
        end = {name: dict(ends.get(name, at)) for name, at in record.end.items()}
        new_ends = {name: dict(ends.get(name, at)) for name, at in record.ends.items()}
        written = {name for one in plan.segments if one.name == segment for name in one.tables}
        new_ends |= {name: dict(ends[name]) for name in written & ends.keys()}
        if (end, new_ends) != (record.end, record.ends):
            # Spark may have planned the next epoch: its log must not be taken for that of this one.
            segments[segment] = (replace(record, epoch=record.epoch + 2, end=end, ends=new_ends, rows={}), None)
    if segments:
        open_.state.restore(lease, None, {}, segments)
    forget_pins(open_, plan.flow, ends)


def forget_pins(open_: Open, flow: str, tables: Collection[str]) -> None:
    """What a restore makes again, or drops, is no change upstream: a flow takes it for what it then is."""
    objects = {table_name(name) for name in tables} | set(tables)
    pins = open_.state.upstream.pins(flow)
    open_.state.upstream.save_pins(flow, {}, keep=[name for name in pins if name not in objects])
