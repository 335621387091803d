"""Looks at flows that were applied, without Spark. What cannot be looked at is absent, and said; the rest counts."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from streamhouse.autopilot.finding import Evidence, LakeFiles
from streamhouse.errors import StreamhouseError, TableMissingError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.model.version import table_name
from streamhouse.project.project import Project
from streamhouse.runtime.cold import cold_reader
from streamhouse.runtime.owner import liveness
from streamhouse.runtime.stores import warm_reader
from streamhouse.state.instants import from_ms, to_ms
from streamhouse.state.plans import Unreadable, noting, refuse_unreadable
from streamhouse.state.records import AppliedChange, EpochRecord, RunnerState
from streamhouse.state.store import StateStore
from streamhouse.state.waits import WaitsFor, waits_of
from streamhouse.stores.base import LakeMetadata, NeedsSparkError, Snapshot
from streamhouse.stores.mark import ROUND

_EPOCHS = 300  # of a segment, the newest: many flows are looked at each minute
_EVENTS = 500


@dataclass
class Observer:
    """Looks at the flows of one project; the readers of lakes are opened when a table first needs them."""

    project: Project
    state: StateStore
    _opened: dict[Tier, LakeMetadata | None] = field(default_factory=dict)

    def look(self, flows: Collection[str], window: timedelta, now: datetime) -> dict[str, Evidence]:
        """Flow → what is known of it, of those flows that were applied.

        A flow of which a plan, an epoch or what waits cannot be read is absent.

        Args:
            flows: Their names; empty: all.
            window: How far back epochs and events count.
            now: The time.

        Raises:
            StoreUnavailableError, StateConflictError: as `StateStore` does; one of `flows` cannot be read.
        """
        unreadable: Unreadable = {}
        applied = {flow: plan for flow, (_, plan) in self.state.plans(unreadable).items()}
        read = frozenset(
            name for plan in applied.values() for step in plan.steps for name in (r.table for r in step.reads)
        )
        stored = self.state.running_plans({})
        found: dict[str, Evidence] = {}
        for flow, plan in applied.items():
            if not flows or flow in flows:
                with noting(unreadable, flow):
                    found[flow] = self._one(plan, stored.get(flow, plan), read, window, now)
        for flow in flows:
            refuse_unreadable(unreadable, [flow])
        return found

    def _one(
        self, plan: FlowPlan, stored: FlowPlan, read: frozenset[str], window: timedelta, now: datetime
    ) -> Evidence:
        flow, changed = plan.flow, self.state.overview.newest_applied_change(plan.flow)
        since = now - window if changed is None else max(now - window, changed.at)
        known = [one for segment in plan.segments for one in self.state.recent_epochs(flow, segment.name, _EPOCHS)]
        past = sorted(known, key=lambda one: one.finished_ms)
        progress = self.state.progress(flow, alive=liveness())
        ended = progress.state in (RunnerState.FAILED, RunnerState.LOST)
        lakes = _Lakes(self._reader, lambda table, tier: self.state.tables.tier_age(flow, table, tier), past, now)
        for table in stored.tables.values():
            lakes.look(table)
        return Evidence(
            flow,
            plan,
            now,
            running=progress.state is RunnerState.RUNNING,
            failed=progress.state is RunnerState.FAILED,
            error=(progress.error or f"its runner is {progress.state}") if ended else None,
            ended=progress.since if ended else None,
            changed=changed,
            epochs=_of_this_plan(past, now - window, changed),
            past=tuple(past),
            events=tuple(event for event in self.state.events(flow, limit=_EVENTS) if event.at >= since),
            troubles=tuple(self.state.troubles.current(flow)),
            files=lakes.files,
            behind=lakes.behind,
            waiting=self._waiting(plan),
            upstream=self._upstream(flow),
            read=read,
            unseen=lakes.unseen,
        )

    def _waiting(self, plan: FlowPlan) -> tuple[str, ...]:
        segments = plan.segments_of(self.state.upstream.waiting(plan.flow))
        return tuple(name for segment in segments for name in segment.tables)

    def _upstream(self, flow: str) -> dict[str, datetime]:
        found = (one for one in waits_of(self.state, flow) if not one.is_edit)
        return {one.text: one.since for one in found if one.whom is not WaitsFor.RUNNER}

    def _reader(self, tier: Tier) -> LakeMetadata | None:
        if tier not in self._opened:
            self._opened[tier] = warm_reader(self.project) if tier is Tier.WARM else cold_reader(self.project)
        return self._opened[tier]


@dataclass
class _Lakes:
    """What is found of the tables of one flow."""

    reader: Callable[[Tier], LakeMetadata | None]
    tier_age: Callable[[str, Tier], timedelta | None]
    past: list[EpochRecord]
    now: datetime
    files: dict[tuple[str, Tier], LakeFiles] = field(default_factory=dict)
    behind: dict[tuple[str, Tier], timedelta] = field(default_factory=dict)
    unseen: dict[str, str] = field(default_factory=dict)

    def look(self, table: Table) -> None:
        """Look at every lake tier of a table, which is as stores hold it."""
        for tier in table.tiers.present:
            if tier is Tier.HOT:
                continue
            is_copy = tier is not table.tiers.target
            try:
                self._tier(table.replica if is_copy else table, tier, is_copy=is_copy)
            except (StreamhouseError, NeedsSparkError, OSError) as error:
                message = error.message if isinstance(error, StreamhouseError) else str(error)
                self.unseen[f"{table_name(table.name)} ({tier})"] = message

    def _tier(self, table: Table, tier: Tier, *, is_copy: bool) -> None:
        reader = self.reader(tier)
        if reader is None:
            raise NeedsSparkError("only Spark reads this tier")
        place = (table_name(table.name), tier)
        try:
            found = reader.list_files(table)
        except TableMissingError:
            filled_ms = 0  # nothing was written to it yet
        else:
            places = {(one.partition, one.bucket) for one in found}
            self.files[place] = LakeFiles(len(found), sum(one.bytes for one in found), max(1, len(places)))
            filled_ms = _filled_ms(reader.list_snapshots(table)) if is_copy else 0
        if is_copy and (waits := self._waits(table.name, tier, filled_ms)) is not None:
            self.behind[place] = waits

    def _waits(self, stored: str, tier: Tier, filled_ms: int) -> timedelta | None:
        """For how long rows of a table have waited to be copied; None: none was written since it was filled."""
        wrote = [one.finished_ms for one in self.past if one.rows.get(stored) and one.finished_ms > filled_ms]
        if not wrote:
            return None
        first_ms = wrote[0]
        if self.past[0].epoch > 0 and self.past[0].finished_ms > filled_ms:
            # Epochs of before are not known: a flow that writes steadily wrote rows since it was filled.
            age = self.tier_age(table_name(stored), tier)
            since_ms = filled_ms if filled_ms or age is None else to_ms(self.now - age)
            first_ms = min(first_ms, since_ms) if since_ms else first_ms
        return max(timedelta(0), self.now - from_ms(first_ms))


def _of_this_plan(past: list[EpochRecord], since: datetime, changed: AppliedChange | None) -> tuple[EpochRecord, ...]:
    """Epochs that finished since then and show what the plan does that is applied now."""
    began_ms = 0 if changed is None else to_ms(changed.at)
    return tuple(one for one in past if one.finished_ms >= to_ms(since) and one.started_ms >= began_ms)


def _filled_ms(snapshots: list[Snapshot]) -> int:
    """When tiering filled a copy last. Compaction says again what the newest round said, in a later snapshot."""
    rounds: dict[int, int] = {}
    for one in snapshots:
        number = one.properties.get(ROUND, "")
        if number.isdigit():
            rounds.setdefault(int(number), one.committed_ms)
    return rounds[max(rounds)] if rounds else 0
