"""Keeps the tables of flows small and quick to read: once, or again and again (design D9)."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Event, Thread
from time import monotonic
from typing import cast

from streamhouse.change.building import running_plan
from streamhouse.errors import RowsLostError, StreamhouseError, TableMissingError
from streamhouse.jobs.rounds import rounds
from streamhouse.jobs.tier import chosen_flows
from streamhouse.jobs.topic_journals import ShortenedTopics, reads_topics, shorten_topics
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import FOREVER, Position, Tier
from streamhouse.model.version import table_name
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, opened
from streamhouse.runtime.stores import open_upkeep
from streamhouse.state.records import is_candidate
from streamhouse.stores.base import LakeStore, Partition, PartitionedStore, PreparedStore
from streamhouse.stores.ledger import verify
from streamhouse.stores.mark import SNAPSHOT, read_mark
from streamhouse.stores.upkeep import Files, LakeUpkeep
from streamhouse.tiering.retention import covered, outlived, upcoming

UPKEEP = "upkeep"
"""The job under which the state store keeps what goes wrong."""

_SURELY_LOST = timedelta(days=3)  # a file of no snapshot that is younger may belong to a commit that is on its way
_A_DAY = timedelta(days=1)
_MANY_EPOCHS = 500  # of a flow; each commits to its lake tables, and lakes keep something of every commit until then
_LOOK_S = 15.0  # between two looks at how many there were
_END_S = 10.0
_READ_S = 600.0  # so long a read may take that nobody expects upkeep beside
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TableUpkeep:
    """What upkeep did to one table in one tier.

    Attributes:
        before: What the table consisted of; None: a tier without files of its own, hot.
        after: The same, afterwards.
        snapshots: Removed.
        orphans: Files of no snapshot that were removed; None: nobody asked for that.
        dropped: Partitions of rows that were past their time.
        waiting: Partitions past their time that stay: their rows are not all in the colder tiers, or not read.
        made: Partitions of tomorrow, so that its first rows need not wait for them.
    """

    flow: str
    table: str
    tier: Tier
    before: Files | None
    after: Files | None
    snapshots: int
    orphans: int | None = None
    dropped: tuple[Partition, ...] = ()
    waiting: tuple[Partition, ...] = ()
    made: tuple[Partition, ...] = ()


@dataclass(frozen=True)
class UpkeepRound:
    """What one round did.

    Attributes:
        tables: That were kept.
        failed: `table in tier`, or a journal → why it could not be kept, while others were.
        journals: Journal of a topic that became shorter → bytes before and after.
    """

    tables: tuple[TableUpkeep, ...] = ()
    failed: dict[str, StreamhouseError] = field(default_factory=dict)
    journals: dict[str, tuple[int, int]] = field(default_factory=dict)


def keep_up(
    project: Project,
    flows: Sequence[str] = (),
    *,
    full: bool = False,
    orphans: bool = False,
    every: timedelta | None = None,
    stop: Event | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> UpkeepRound:
    """Drop old partitions of flows' tables, make those of tomorrow, compact warm and cold ones, remove old snapshots.

    A tier that is not `forever` drops the partitions of days that are past its time, as far as colder tiers hold
    their rows and flows have read them. Flows, tiering and queries may run meanwhile. A snapshot from which a flow or
    tiering has yet to read on stays, whatever its age, and so does any younger than `keep_snapshots`; where a project
    says nothing about these, a few of the last day. The journals of topics become shorter. May be killed at any point
    and called again.

    Args:
        project: Holds the flows.
        flows: Their names; empty: every flow that ever ran.
        full: Write every file again instead of the small ones.
        orphans: Remove also files of no snapshot that are older than three days.
        every: Begin a round so long after the one before began, until `stop`; None: one round.
        stop: Ends it after the round in hand.
        say: Is called with what is being done.

    Returns:
        The last round.

    Raises:
        UnknownFlowError: a flow never ran.
        StreamhouseError: of the one round, the first table that could not be kept, after all others were.
            Rounds that come `every` so often record it as an event of the flow instead, and go on.
    """
    chosen = chosen_flows(project, flows, _has_upkeep)
    done = UpkeepRound()
    if not chosen:
        return done
    with opened(project, say=say) as open_:
        upkeep = _Upkeep(open_, open_upkeep(project, open_.spark), say)
        for began in rounds(every, stop or Event()):
            done = upkeep.round(chosen, began, full=full, orphans=orphans)
    if every is None:
        for error in done.failed.values():
            raise error
    return done


def _has_upkeep(plan: FlowPlan) -> bool:
    return reads_topics(plan) or any(table.upkeep_tiers for table in plan.tables.values())


@contextmanager
def upkeep_beside(open_: Open, flows: Sequence[str], every: timedelta) -> Iterator[None]:
    """Keep up the tables of flows every so often, in a thread, while the block runs them; orphans go once a day.

    After many epochs it does not wait so long. What goes wrong is recorded as an event of the flow, once. At its end
    the table in hand has some seconds.
    """
    if every == FOREVER:
        yield
        return
    stop, upkeep = Event(), _Upkeep(open_, open_upkeep(open_.project, open_.spark), lambda _: None)

    def repeat() -> None:
        cleaned, last_error = datetime.now(UTC) - _A_DAY, ""
        while _waited(open_, flows, every.total_seconds(), stop):
            now = datetime.now(UTC)
            orphans = now - cleaned >= _A_DAY
            try:
                upkeep.round(flows, now, orphans=orphans, patience=timedelta(seconds=_READ_S), stop=stop)
                cleaned = now if orphans else cleaned
            except Exception as error:  # noqa: BLE001  the next round may do better, and somebody shall know
                if not stop.is_set() and str(error) != last_error:
                    last_error = str(error)
                    _log.exception("upkeep")
                    _tell_all(open_, flows, last_error)

    thread = Thread(target=repeat, name="upkeep", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_END_S)  # what is cut off here has happened or not, as after a kill


def upkeep_once_a_day(open_: Open, flows: Sequence[str], say: Callable[[str], None] = lambda _: None) -> None:
    """Keep up the tables of flows when nobody did so for a day or many epochs, for processes that end soon.

    What goes wrong is recorded as a trouble of the flow.
    """
    if open_.project.settings.upkeep_every == FOREVER:
        return
    now = datetime.now(UTC)
    due = [flow for flow in flows if _is_due(open_, flow, now)]
    if due:
        upkeep = _Upkeep(open_, open_upkeep(open_.project, open_.spark), say)
        upkeep.round(due, now, orphans=True, patience=timedelta(seconds=_READ_S))


def _waited(open_: Open, flows: Sequence[str], every_s: float, stop: Event) -> bool:
    """Wait for the next round: so long, or until there were many epochs; False: it is time to stop."""
    began, before = monotonic(), None
    while (left := began + every_s - monotonic()) > 0:
        if stop.wait(min(left, _LOOK_S)):
            return False
        with suppress(StreamhouseError):  # the state store is away: the flows say so themselves
            now = _epochs(open_, flows)
            before = now if before is None else before
            if now - before >= _MANY_EPOCHS:
                break
    return not stop.is_set()


def _epochs(open_: Open, flows: Sequence[str]) -> int:
    """How many epochs all segments of flows have finished."""
    wanted = set(flows)
    return sum(record.epoch + 1 for record in open_.state.newest_epochs() if record.flow in wanted)


def _is_due(open_: Open, flow: str, now: datetime) -> bool:
    """Whether upkeep of a flow was last due a day or many epochs ago; what is due now is noted, at first nothing is."""
    noted, epochs = open_.project.state_dir / "cache" / "upkeep" / flow, _epochs(open_, [flow])
    known = noted.exists()
    if known and now.timestamp() - noted.stat().st_mtime < _A_DAY.total_seconds():
        text = noted.read_text(encoding="ascii")
        if epochs - (int(text) if text.isdigit() else 0) < _MANY_EPOCHS:
            return False
    noted.parent.mkdir(parents=True, exist_ok=True)
    noted.write_text(str(epochs), encoding="ascii")
    os.utime(noted, (now.timestamp(), now.timestamp()))
    return known


def _tell_all(open_: Open, flows: Sequence[str], text: str) -> None:
    with suppress(StreamhouseError):  # the state store is away: the flows say so themselves
        for flow in tuple(flows):
            open_.state.append_event(flow, "upkeep", text)


@dataclass
class _Upkeep:
    open: Open
    keepers: dict[Tier, LakeUpkeep]
    say: Callable[[str], None]
    recorded: set[str] = field(default_factory=set)  # what was wrong with journals

    def round(
        self,
        flows: Sequence[str],
        now: datetime,
        *,
        full: bool = False,
        orphans: bool = False,
        patience: timedelta = timedelta(0),
        stop: Event | None = None,
    ) -> UpkeepRound:
        """Keep up each table once; a snapshot that is younger than `patience` stays in any case."""
        results: list[TableUpkeep] = []
        failed: dict[str, StreamhouseError] = {}
        for flow, table, stored, tier in _upkeep_tables(self.open, tuple(flows)):
            if stop is not None and stop.is_set():
                break
            what = f"{table_name(table.name)} in {tier}"
            try:
                results.append(
                    self._keep(flow, table, stored, tier, now, full=full, orphans=orphans, patience=patience)
                )
                self.open.state.troubles.mended(flow, table_name(table.name), tier, UPKEEP)
            except TableMissingError:
                continue  # nothing was written to it yet
            except StreamhouseError as error:
                failed[what] = error
                if stop is not None and stop.is_set():
                    break
                self.open.state.troubles.failed(flow, table_name(table.name), tier, UPKEEP, error)
        done = self._shorten_topics(flows, stop or Event())
        return UpkeepRound(tuple(results), {**failed, **done.failed}, done.shortened)

    def _shorten_topics(self, flows: Sequence[str], stop: Event) -> ShortenedTopics:
        """Shorten the journals that flows read; what is wrong with one becomes an event of its flows, once."""
        done = shorten_topics(self.open.project, self.open.state, flows, stop.is_set)
        for journal, error in done.failed.items():
            text = f"the journal {journal} is not shortened: {error.code} {error.message}"
            if text not in self.recorded:
                self.recorded.add(text)
                _tell_all(self.open, done.flows[journal], text)
        return done

    def _keep(
        self,
        flow: str,
        table: Table,
        stored: Table,
        tier: Tier,
        now: datetime,
        *,
        full: bool,
        orphans: bool,
        patience: timedelta,
    ) -> TableUpkeep:
        what = f"{table_name(table.name)} in {tier}"
        for one in table.tiers.present:  # where one tier is lost, what the others have is not removed
            verify(self.open.stores[one], table if one is table.tiers.target else table.replica)
        self.say(f"looking for old partitions of {what}")
        dropped, waiting = _without_old(self.open, table, stored, tier, now)
        made = _with_upcoming(self.open, table, stored, tier, now)
        before = after = lost = None
        removed_snapshots = 0
        if tier is not Tier.HOT:
            self.say(f"compacting {what}")
            keeper = self.keepers[tier]
            before = keeper.files(stored)
            keeper.compact(stored, full=full)
            unread = min(_unread(self.open, table, stored, tier), key=lambda at: at[SNAPSHOT], default={})
            wanted = self.open.project.settings.keep_snapshots
            few = now - patience if wanted is None else None
            removed_snapshots = keeper.expire(
                stored, now - (wanted if wanted is not None else _A_DAY), unread, unless_many=few
            )
            lost = keeper.remove_orphans(stored, now - _SURELY_LOST) if orphans else None
            after = keeper.files(stored)
        return TableUpkeep(
            flow,
            table_name(table.name),
            tier,
            before,
            after,
            removed_snapshots,
            lost,
            dropped,
            waiting,
            made,
        )


def _without_old(
    open_: Open, table: Table, stored: Table, tier: Tier, now: datetime
) -> tuple[tuple[Partition, ...], tuple[Partition, ...]]:
    """Drop the partitions that are past their time: those that are gone, and those that stay for now."""
    store = open_.stores[tier]
    if table.keeps_all(tier) or not isinstance(store, PartitionedStore):
        return (), ()
    old = outlived(table, tier, store.partitions(stored), now)
    dropped_partitions: list[Partition] = []
    with suppress(RowsLostError):  # nobody knows what changed since then, until tiering has moved on
        coverage = covered(table, tier, open_.stores, _read_to(open_, stored)) if old else None
        if coverage is not None:
            dropped_partitions = store.drop_partitions(stored, old, coverage.until)
    return tuple(dropped_partitions), tuple(one for one in old if one not in dropped_partitions)


def _with_upcoming(open_: Open, table: Table, stored: Table, tier: Tier, now: datetime) -> tuple[Partition, ...]:
    """Make the partitions of tomorrow: those that were absent."""
    store = open_.stores[tier]
    if not isinstance(store, PreparedStore):
        return ()
    absent = upcoming(table, store.partitions(stored), now)
    if absent:
        store.make_partitions(stored, absent)
    return tuple(absent)


def _upkeep_tables(open_: Open, flows: Sequence[str]) -> Iterator[tuple[str, Table, Table, Tier]]:
    """Flow, its table, that table as a tier stores it, and which tier."""
    for flow in flows:
        for table in running_plan(open_.state, flow).tables.values():
            for tier in table.upkeep_tiers:
                yield flow, table, table if tier is table.tiers.target else table.replica, tier


def _read_to(open_: Open, stored: Table) -> list[Position]:
    """Where each flow stands that reads or writes a table; empty: at its beginning.

    A segment that its flow has no more stands nowhere.
    """
    plans = open_.state.running_plans()
    segments = {(flow, segment.name): segment for flow, plan in plans.items() for segment in plan.segments}
    epochs = [
        epoch
        for epoch in open_.state.newest_epochs()
        if is_candidate(epoch.flow) or (epoch.flow, epoch.segment) in segments
    ]
    found = [at[stored.name] for epoch in epochs for at in (epoch.end, epoch.ends) if stored.name in at]
    finished = {(epoch.flow, epoch.segment) for epoch in epochs}
    # A first epoch that died has recorded nothing, and its replay looks for what it wrote.
    found += [
        {}
        for (flow, name), segment in segments.items()
        if (stored.name in segment.tables or stored.name in segment.reads)
        and (flow, name) not in finished
        and open_.state.unfinished(flow, name) is not None
    ]
    return found


def _unread(open_: Open, table: Table, stored: Table, tier: Tier) -> list[Position]:
    """The snapshots from which somebody has yet to read on: flows, and tiering into colder lakes."""
    if tier is not table.tiers.target:
        return []  # a copy is read as it is; only what a flow writes is read on from
    found = _read_to(open_, stored)
    for colder in table.tiers.present[1:]:
        mark = read_mark(cast("LakeStore", open_.stores[colder]), table.replica, tier)
        if mark is not None:  # a first copy is made of what the table is then
            found.append(mark.offsets)
    return [at for at in found if at]
