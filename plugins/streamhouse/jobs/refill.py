"""Hot tables that are gone, brought back from their copies in the lakes (docs/restore.md)."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from shutil import rmtree
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from streamhouse.change.building import last_epochs
from streamhouse.engine.lease import leased
from streamhouse.engine.row_order import ROW, unplaced
from streamhouse.engine.vector import covers
from streamhouse.errors import StateConflictError, StreamhouseError
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.model.version import table_name
from streamhouse.runtime.open import Open
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.runtime.restating import Restating
from streamhouse.spark.results import collected_rows
from streamhouse.state.records import EpochRecord, Lease
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, LakeStore, NotedStore, WriteContext
from streamhouse.tiering.mark import Mark, read_mark
from streamhouse.tiering.restate import EVERYTHING, apply, difference, filling
from streamhouse.tiering.retention import retention_of
from streamhouse.tiering.union import state_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BEGUN, _DONE = "begun", "done"


@dataclass(frozen=True)
class Missing:
    """A hot table that is gone.

    Attributes:
        left: Where it ended behind the last epoch.
        copies: Lake tier → how far its copy reaches.
    """

    segment: Segment
    step: PlannedStep
    table: Table
    left: Position
    copies: dict[Tier, Mark]

    @property
    def best(self) -> Tier | None:
        """The lake whose copy reaches furthest; None: there is no copy."""
        return max(self.copies, key=lambda tier: sum(self.copies[tier].offsets.values()), default=None)

    @property
    def lacking(self) -> int:
        """Rows that no lake has: an update counts as two."""
        reached = self.copies[self.best].offsets if self.best is not None else {}
        return sum(max(0, offset - reached.get(bucket, 0)) for bucket, offset in self.left.items())

    @property
    def name(self) -> str:
        """As people know it."""
        return table_name(self.table.name)


class Refill:
    """What is gone of the hot tables of one flow, and its way back."""

    def __init__(self, open_: Open, plan: FlowPlan, last: Mapping[str, EpochRecord]) -> None:
        """Look, and change nothing.

        Args:
            open_: Everything connected.
            plan: Over the names that stores hold.
            last: Segment → the last epoch that is known, as it is to be.
        """
        self._open, self._plan, self._last = open_, plan, last
        self.missing = [*self._missing()]

    def refuse_unsafe(self) -> None:
        """Before anything is changed.

        Raises:
            StateConflictError: an epoch is half done that read or wrote what is gone.
        """
        missing_tables = {one.table.name for one in self.missing}
        for plan in self._readers():
            for segment in plan.segments:
                unfinished = self._open.state.unfinished(plan.flow, segment.name)
                if unfinished is not None and missing_tables & (segment.reads | set(segment.tables)):
                    raise StateConflictError(
                        f"epoch {unfinished} of {plan.flow}/{segment.name} was half done when the hot tier was lost: "
                        "it cannot be known which of its rows the lakes have",
                        hint=f"build the tables again from their sources: streamhouse restore {plan.flow} --rebuild",
                    )

    def describe(self) -> tuple[list[str], list[str]]:
        """For people: what comes back, and what does not."""
        did, lost = [], []
        for one in self.missing:
            if one.best is None and not any(one.left.values()):
                did.append(f"{one.name}: its hot table, which had no rows, is made again")
                continue
            if one.best is None:
                did.append(f"{one.name}: its hot table is made again, empty: no lake has a copy")
                lost.append(f"{one.name}: all of its rows, {sum(one.left.values()):,} by the offsets of its log")
                continue
            did.append(f"{one.name}: its hot table is filled again from the {one.best} tier")
            if unordered := self._unordered(one.best, one.table):
                text = f"the order of {unordered:,} rows, which upkeep wrote together in the {one.best} tier"
                lost.append(f"{one.name}: {text}")
            if one.lacking:
                lost.append(f"{one.name}: {one.lacking:,} changes behind the last tiered offset")
            elif one.segment.name not in self._last:
                lost.append(f"{one.name}: what was written behind the last tiered offset; it is not known how much")
        for flow, segment, name, rows in self._unread():
            lost.append(f"{flow}/{segment} had not read {rows:,} changes of {name}: it goes on behind them")
        return did, lost

    def run(self, lease: Lease, *, from_sources: bool) -> list[str]:
        """Bring the tables back, and let their readers go on at their ends; returns what was computed again."""
        if not self.missing:
            return []
        report, state = [], self._open.state
        with ExitStack() as stack:
            leases = {lease.flow: lease}
            for plan in self._readers():
                if plan.flow not in leases:
                    guard = stack.enter_context(leased(state, plan.flow, this_owner(), alive=is_alive))
                    leases[plan.flow] = guard.lease
            for one in self.missing:
                self._fill(one)
            if from_sources:
                report += self._compute()
            ends = {one.table.name: self._hot.end(one.table) for one in self.missing}
            for plan in self._readers():
                self._go_on(plan, ends, leases[plan.flow])
            for one in self.missing:
                self._note(one, _DONE)
        return report

    @property
    def _hot(self) -> NotedStore:
        return cast("NotedStore", self._open.stores[Tier.HOT])

    def _missing(self) -> Iterator[Missing]:
        for segment in self._plan.segments:
            for step in segment.steps:
                for table in (step.writes, step.quarantine):
                    if table is None or table.tiers.target is not Tier.HOT:
                        continue
                    left = self._last[segment.name].ends.get(table.name, {}) if segment.name in self._last else {}
                    if not self._is_missing(table, left):
                        continue
                    marks = {
                        tier: read_mark(self._lake(tier), table.replica, Tier.HOT) for tier in table.tiers.present[1:]
                    }
                    copies = {tier: mark for tier, mark in marks.items() if mark is not None}
                    if copies or segment.name in self._last:
                        yield Missing(segment, step, table, left, copies)

    def _is_missing(self, table: Table, left: Position) -> bool:
        """Also one that an earlier attempt has made, or begun to fill."""
        if self._hot.columns(table.name) is None or self._hot.noted(_writer(table)) == _BEGUN:
            return True
        return any(left.values()) and not any(self._hot.end(table).values())

    def _lake(self, tier: Tier) -> LakeStore:
        return cast("LakeStore", self._open.stores[tier])

    def _note(self, one: Missing, text: str) -> None:
        self._hot.note(_writer(one.table), text, [one.table.name])

    def _fill(self, one: Missing) -> None:
        """From the lake that reaches furthest; the others get what they lack, and all say where the new log ends."""
        table, hot = one.table, self._hot
        hot.drop(table.name)
        hot.create(table)
        self._note(one, _BEGUN)
        if one.best is None:
            return
        rows = self._rows(one.best, table)
        with filling(table, self._unexpired_rows(table, rows)) as found:
            apply(table, found, hot, lambda number: WriteContext(_writer(table), number), lambda _: None)
        end = hot.end(table)
        for tier, mark in one.copies.items():
            lacks = Changes(arrow_schema(table.columns).empty_table())
            if mark.offsets != one.copies[one.best].offsets:
                lacks = self._lacks(one, rows, tier)
            again = Mark(mark.round + 1, Tier.HOT, end)
            context = WriteContext(f"tiering/{table.name}", again.round, properties=again.properties())
            self._lake(tier).write(table.replica, lacks, context)

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
        return rows.where(F.col(table.ages_by) >= F.lit(oldest))

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

    def _compute(self) -> list[str]:
        """Of tables of which rows are missing still, from what the flow reads."""
        report = []
        restating = Restating(self._open, self._plan, self._last)
        for one in self.missing:
            whole = one.best is not None and not one.lacking
            if whole or one.table.name != one.step.writes.name or one.segment.name not in self._last:
                continue
            try:
                found = restating.step(one.segment, one.step)
            except StreamhouseError as error:
                report.append(f"{one.name}: nothing was computed again: {error.message}")
                continue
            report.append(f"{one.name}: {found.upserts:,} rows were computed again from what the flow reads")
            if found.lost:
                report.append(f"{found.lost}, is not known: they came in any order")
        return report

    def _readers(self) -> list[FlowPlan]:
        """This flow, and the others that read what is gone, over the names that stores hold."""
        missing_tables = {one.table.name for one in self.missing}
        others = {name: plan for name, plan in self._open.state.running_plans().items() if name != self._plan.flow}
        return [
            self._plan,
            *(plan for plan in others.values() if missing_tables & {table.name for table in plan.external}),
        ]

    def _unread(self) -> Iterator[tuple[str, str, str, int]]:
        left = {one.table.name: one for one in self.missing}
        for plan in self._readers():
            for segment, record in self._records(plan).items():
                for name, at in record.end.items():
                    if name in left and not covers({name: at}, {name: left[name].left}):
                        rows = sum(max(0, end - at.get(bucket, 0)) for bucket, end in left[name].left.items())
                        yield plan.flow, segment, left[name].name, rows

    def _records(self, plan: FlowPlan) -> Mapping[str, EpochRecord]:
        return self._last if plan.flow == self._plan.flow else last_epochs(self._open.state, plan)

    def _go_on(self, plan: FlowPlan, ends: Mapping[str, Position], lease: Lease) -> None:
        """Positions in the old logs mean nothing in the new ones: their readers go on at their ends."""
        # The rows that are cached stand at such positions too, and could be taken for those of the new logs.
        rmtree(self._open.project.state_dir / "cache" / "states" / plan.flow, ignore_errors=True)
        segments = {}
        for segment, record in last_epochs(self._open.state, plan).items():
            end = {name: dict(ends.get(name, at)) for name, at in record.end.items()}
            new_ends = {name: dict(ends.get(name, at)) for name, at in record.ends.items()}
            if (end, new_ends) != (record.end, record.ends):
                # Spark may have planned the next epoch: its log must not be taken for that of this one.
                segments[segment] = (replace(record, epoch=record.epoch + 2, end=end, ends=new_ends, rows={}), None)
        if segments:
            self._open.state.restore(lease, None, {}, segments)
        objects = {table_name(name) for name in ends} | ends.keys()
        pins = self._open.state.upstream.pins(plan.flow)
        self._open.state.upstream.save_pins(plan.flow, {}, keep=[name for name in pins if name not in objects])


def _writer(table: Table) -> str:
    return f"restore/{table.name}"
