"""What tables lack, computed again from what their flows read; and marks of what they lack while it is not."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from streamhouse.change.building import now_ms
from streamhouse.engine.lease import LeaseGuard
from streamhouse.errors import StateConflictError, StreamhouseError, TableLostError
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.positions import FlowPositions, PositionSearch
from streamhouse.jobs.refill import Refill
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.model.version import table_name
from streamhouse.runtime.open import Open
from streamhouse.runtime.restating import Restating
from streamhouse.state.records import EpochRecord
from streamhouse.state.troubles import RESTORE
from streamhouse.stores.ledger import lost_as, take_for_known


@dataclass
class FlowRestore:
    """One flow on its way back."""

    records: PositionSearch
    found: FlowPositions
    refill: Refill
    guard: LeaseGuard

    @property
    def plan(self) -> FlowPlan:
        """Over the names that stores hold."""
        return self.found.stored

    @property
    def steps(self) -> Iterator[tuple[Segment, PlannedStep]]:
        """Each after those that it reads from."""
        return ((segment, step) for segment in self.plan.segments for step in segment.steps)


@dataclass
class Recompute:
    """Which tables of a project lack rows, and the way to compute them.

    Attributes:
        lacking: Table → what it lacks, in words; of those that lost rows themselves.
        resting: Table → the table that it is made from, directly or not, which lacks rows.
        did: Flow → what was computed, for people.
        ends: Table that was computed → where it ends now.
    """

    open: Open
    flows: Sequence[FlowRestore]
    say: Callable[[str], None] = lambda _: None
    lacking: dict[str, str] = field(default_factory=dict)
    resting: dict[str, str] = field(default_factory=dict)
    did: dict[str, list[str]] = field(default_factory=dict)
    ends: dict[str, Position] = field(default_factory=dict)
    _inputs: dict[tuple[str, str], dict[str, Position]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Look, and change nothing."""
        for one in self.flows:
            marked = {m.table: m for m in self.open.state.troubles.current(one.plan.flow) if m.job == RESTORE}
            for missing in one.refill.missing:
                if not missing.is_whole:
                    rows = "an unknown number of rows" if missing.lacking is None else f"{missing.lacking:,} changes"
                    self.lacking[missing.table.name] = f"{rows} that were lost with the hot tier"
            self._add_unread(one)
            for segment in one.plan.segments:
                if segment.name in one.found.unknown:
                    why = one.found.unknown[segment.name].why
                    self.lacking.update({name: f"rows: {why}" for name in segment.tables if name not in self.lacking})
                for name in segment.tables:
                    known, lacks = marked.get(table_name(name)), f"{table_name(name)} lacks "
                    if known is not None and known.text.startswith(lacks) and name not in self.lacking:
                        self.lacking[name] = known.text.removeprefix(lacks)
            for _, step in one.steps:
                causes = [read.table for read in step.reads if read.table in self.lacking or read.table in self.resting]
                if causes and step.writes.name not in self.lacking:
                    self.resting[step.writes.name] = self.resting.get(causes[0], causes[0])

    def _add_unread(self, one: FlowRestore) -> None:
        """A reader goes on at the end of a table that came back: what it had not read never reaches its tables."""
        readers = {reader.plan.flow: reader for reader in self.flows}
        for flow, segment, name, rows in one.refill.unread():
            for part, step in readers[flow].steps:
                if part.name == segment and name in {read.table for read in step.reads}:
                    text = f"{rows:,} changes of {table_name(name)}, which it had not read when the hot tier was lost"
                    self.lacking.setdefault(step.writes.name, text)

    def run(self, touched: Mapping[str, Position]) -> None:
        """Compute the tables that lack rows, and all that is made from them; nothing is recorded yet.

        Args:
            touched: Table that was filled from a lake → where it ends.

        Raises:
            StateConflictError: a table whose flow has no position cannot be computed.
        """
        self.ends.update(touched)
        for one in self.flows:
            last: dict[str, EpochRecord] = dict(one.found.last)
            restating = Restating(self.open, one.plan, last, say=self.say)
            self._add_unread(one)
            for segment in one.plan.segments:
                if segment.name in one.found.unknown:
                    last[segment.name] = self._at_end_of_inputs(one, segment)
                elif segment.name in last:
                    record = last[segment.name]
                    end = {name: self.ends.get(name, at) for name, at in record.end.items()}
                    last[segment.name] = replace(record, end=end)
                else:
                    continue
                for step in segment.steps:
                    if step.writes.name in self.lacking or step.writes.name in self.resting:
                        self._step(one, restating, segment, step)

    def begin_behind(self) -> None:
        """Record the positions of those segments that had none."""
        for one in self.flows:
            for segment in one.plan.segments:
                if (end := self._inputs.get((one.plan.flow, segment.name))) is not None:
                    one.records.begin_behind(one.found, segment, end, one.guard.lease)

    def mark(self) -> None:
        """Record what tables lack, and what rests on them; remove the marks of those that lack nothing any more."""
        troubles = self.open.state.troubles
        for one in self.flows:
            for table in one.plan.tables.values():
                name, flow, tier = table_name(table.name), one.plan.flow, table.tiers.target
                hint = f"compute it from what the flow reads: streamhouse restore {flow} --from-sources"
                if table.name in self.lacking:
                    error = TableLostError(f"{name} lacks {self.lacking[table.name]}", hint=hint)
                    troubles.failed(flow, name, tier, RESTORE, error)
                elif (cause := self.resting.get(table.name)) is not None:
                    text = f"{name} is made from {table_name(cause)}, which lacks rows"
                    troubles.failed(flow, name, tier, RESTORE, TableLostError(text, hint=hint))
                else:
                    troubles.mended(flow, name, tier, RESTORE)

    def _step(self, one: FlowRestore, restating: Restating, segment: Segment, step: PlannedStep) -> None:
        table, report = step.writes, self.did.setdefault(one.plan.flow, [])
        name = table_name(table.name)
        try:
            self._stand(table)
            found = restating.step(segment, step)
        except StreamhouseError as error:
            if segment.name in one.found.unknown:
                raise StateConflictError(
                    f"{name} cannot be computed again: {error.message}",
                    hint=f"build all tables of the flow again: streamhouse restore {one.plan.flow} --rebuild",
                ) from error
            report.append(f"{name}: nothing was computed again: {error.message}")
            return
        report.append(f"{name}: {found.upserts:,} rows were computed again from what the flow reads")
        if found.lost:
            report.append(f"{found.lost}, is not known: they came in any order")
        self.lacking.pop(table.name, None)
        self.resting.pop(table.name, None)
        self.ends[table.name] = self.open.stores[table.tiers.target].end(table)

    def _stand(self, table: Table) -> None:
        """Make a table of a lake that is gone, and take one that is older or another for the one there is."""
        store = self.open.stores[table.tiers.target]
        if table.tiers.target is not Tier.HOT and lost_as(store, table) is not None:
            take_for_known(store, table.name, table)
        if store.identity(table.name) is None:
            store.create(table)

    def _at_end_of_inputs(self, one: FlowRestore, segment: Segment) -> EpochRecord:
        end: dict[str, Position] = {}
        reads, own = segment.reads, segment.tables
        for source in one.plan.sources:
            if source.name in reads:
                end[source.name] = dict(open_source(source, self.open.project.root).available())
        for table in one.plan.readable:
            if table.name in reads and table.name not in own:
                store = self.open.stores[table.tiers.target]
                end[table.name] = dict(store.end(table)) if store.columns(table.name) is not None else {}
        self._inputs[one.plan.flow, segment.name] = end
        at_ms = now_ms()
        return EpochRecord(one.plan.flow, segment.name, 0, at_ms, at_ms, at_ms, {}, end)
