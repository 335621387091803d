"""The state store: one object in front of the database, one short transaction for each call."""

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Self

from sqlalchemy import Connection, insert, select

from streamhouse.model.definition import Definition
from streamhouse.model.plan import FlowPlan
from streamhouse.model.review import Review, SwapGate
from streamhouse.model.types import Position
from streamhouse.state import changes, definitions, epochs, leases, plans, progress, runners, versions
from streamhouse.state.approvals import Approvals
from streamhouse.state.autopilot import Decisions
from streamhouse.state.changes import Wish
from streamhouse.state.connect import Database
from streamhouse.state.definitions import Definitions
from streamhouse.state.epoch_records import EpochRecords
from streamhouse.state.instants import from_ms, to_ms
from streamhouse.state.known_tables import KnownTables
from streamhouse.state.metrics import Metrics
from streamhouse.state.overview import Overview
from streamhouse.state.plans import Unreadable
from streamhouse.state.proposals import ProposalRecords
from streamhouse.state.records import (
    Change,
    EpochRecord,
    FlowEvent,
    FlowProgress,
    Lease,
    Owner,
    Phase,
    PlanRevision,
    RunnerState,
    UnreadableChange,
)
from streamhouse.state.runners import Runners
from streamhouse.state.schema import event as events
from streamhouse.state.table_records import TableRecords
from streamhouse.state.tier_asks import TierAsks
from streamhouse.state.troubles import Troubles
from streamhouse.state.upstream import Upstream


class StateStore(EpochRecords):
    """Applied plans, leases, epochs and events of one project.

    All methods may be called from several threads and processes. Each is one transaction, and each
    may raise `StoreUnavailableError` (retryable), `DiskFullError` and, when another version of
    Streamhouse wrote the store, `StateConflictError`.
    """

    def __init__(self, url: str) -> None:
        """Connect to nothing yet; the first call creates what is missing.

        Args:
            url: A database URL, such as `sqlite:////path/state.db`.

        Raises:
            FileFormatError: `url` is no database URL.
            MissingPackageError: the driver that the URL asks for is not installed.
        """
        self._database = Database(url)
        self.definitions = Definitions(self._database)
        """The files that plans follow from."""
        self.tables = TableRecords(self._database)
        """What is known of tables besides their rows."""
        self.upstream = Upstream(self._database)
        """What changed upstream of the flows."""
        self.approvals = Approvals(self._database)
        """What people were asked."""
        self.runners = Runners(self._database)
        """Runners, and what is wanted of them."""
        self.tier_asks = TierAsks(self._database)
        """Rounds of tiering that were asked of runners."""
        self.metrics = Metrics(self._database)
        """What epochs took and wrote, by minute and by hour."""
        self.stored_tables = KnownTables(self._database)
        """Tables that must be there."""
        self.troubles = Troubles(self._database)
        """What goes wrong with tables while their flows run on."""
        self.autopilot = Decisions(self._database)
        """What the autopilot proposed and did."""
        self.proposals = ProposalRecords(self._database)
        """What the planner proposed."""
        self.overview = Overview(self._database)
        """Every flow on one look."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def location(self) -> str:
        """Where the state is, for messages; a password is hidden."""
        return self._database.location

    def close(self) -> None:
        """Write what metrics are in memory, and release the connections."""
        self.metrics.flush()
        self._database.close()

    # --- plans ---------------------------------------------------------------------------------

    def save_plan(self, plan: FlowPlan, now: datetime | None = None, *, definition: Definition | None = None) -> int:
        """Record `plan` as applied; return its revision, from 1. The plan applied last gets no new one.

        Args:
            plan: As compiled.
            now: The time for the record.
            definition: The files that it follows from; None: they are not known.
        """
        now_ms = to_ms(now or datetime.now(UTC))

        def work(connection: Connection) -> int:
            definitions.save(connection, plan, definition, now_ms)
            return versions.take_up(connection, plan, now_ms)

        return self._database.write(work)

    def plan(self, flow: str) -> tuple[int, FlowPlan] | None:
        """The revision and the plan applied last; None when the flow was never applied."""
        with self._database.read() as connection:
            return plans.newest(connection, flow)

    def plans(self, unreadable: Unreadable | None = None) -> dict[str, tuple[int, FlowPlan]]:
        """Flow → the revision and the plan applied last, by name; `unreadable` as of `plans.newest_of_all`."""
        with self._database.read() as connection:
            return plans.newest_of_all(connection, unreadable)

    def history(self, flow: str) -> list[PlanRevision]:
        """Every revision of a flow, oldest first."""
        with self._database.read() as connection:
            return list(plans.history(connection, flow))

    def plan_at(self, flow: str, revision: int) -> FlowPlan | None:
        """An applied plan of a flow, also an earlier one; None when there is none, or this version cannot read it."""
        with self._database.read() as connection:
            return plans.at_revision(connection, flow, revision)

    # --- changes: the journal of `apply` --------------------------------------------------------

    def ask_change(self, wish: Wish, by: str) -> Change:
        """Ask for a plan to be carried out; the same again is the same change.

        A change of the flow that is not done yet is withdrawn.

        Args:
            wish: What.
            by: Who asks.
        """
        now_ms = to_ms(datetime.now(UTC))
        return self._database.write(lambda connection: changes.ask(connection, wish, by, now_ms))

    def change(self, change_id: int) -> Change:
        """The change with this id; KeyError when there is none."""
        with self._database.read() as connection:
            return changes.one(connection, change_id)

    def open_change(self, flow: str, environment: str | None = None) -> Change | None:
        """What was asked of a flow, in an environment (None: production), and is not done; None: nothing."""
        with self._database.read() as connection:
            return changes.newest_open(connection, flow, environment)

    def flows_in_change(self) -> set[str]:
        """The flows of which something was asked that is not done."""
        with self._database.read() as connection:
            return changes.open_flows(connection)

    def environments(self, unreadable: list[UnreadableChange] | None = None) -> list[Change]:
        """What is built in environments, the newest first; `unreadable` as of `changes.recent`."""
        with self._database.read() as connection:
            return changes.in_environments(connection, unreadable)

    def promote(self, change: Change, gate: SwapGate = SwapGate.AUDIT) -> Change:
        """Ask production for what an environment has; what was asked of it before and is not done is withdrawn.

        Args:
            change: Of the environment.
            gate: What lets its tables serve.

        Raises:
            StateConflictError: another plan was applied to production meanwhile.
        """
        now_ms = to_ms(datetime.now(UTC))
        return self._database.write(lambda connection: changes.promote(connection, change, gate, now_ms))

    def recent_changes(
        self, flow: str | None = None, limit: int = 20, unreadable: list[UnreadableChange] | None = None
    ) -> list[Change]:
        """The newest changes of a flow (None: of all), the last one first; `unreadable` as of `changes.recent`."""
        with self._database.read() as connection:
            return list(changes.recent(connection, flow, limit, unreadable))

    def withdraw_change(self, flow: str, environment: str | None = None) -> None:
        """Give up what was asked of a flow, in an environment (None: production), and is not done; see `go_on`."""
        now_ms = to_ms(datetime.now(UTC))
        self._database.write(lambda connection: changes.give_up_all(connection, flow, now_ms, environment))

    def go_on(self, flow: str) -> Change | None:
        """Ask a flow to go on in the versions that took the place of those it reads; see `changes.go_on`.

        Returns:
            What is asked of it and not done; None: nothing.
        """
        now_ms = to_ms(datetime.now(UTC))

        def work(connection: Connection) -> Change | None:
            if changes.newest_open(connection, flow) is None:
                changes.go_on(connection, flow, now_ms)
            return changes.newest_open(connection, flow)

        return self._database.write(work)

    def let_serve(self, change_id: int) -> Change:
        """Let what a change built serve, whatever its audit found; KeyError when there is no such change.

        Raises:
            StateConflictError: it is done or given up, or built in an environment.
        """
        now_ms = to_ms(datetime.now(UTC))
        return self._database.write(lambda connection: changes.let_serve(connection, change_id, now_ms))

    def give_up(self, change_id: int) -> Change | UnreadableChange:
        """Give up a change that is not done; KeyError when there is none. Its flow drops later what it built.

        Where it was to let its flow go on in other versions of what it reads, that is asked for again; see `go_on`.

        Raises:
            StateConflictError: it is done, or given up already.
        """
        now_ms = to_ms(datetime.now(UTC))
        return self._database.write(lambda connection: changes.give_up(connection, change_id, now_ms))

    def note_review(self, change: Change, review: Review) -> None:
        """Record what was found of the tables of a change, which is in an environment."""
        self._database.write(lambda connection: changes.note_review(connection, change.id, review))

    def judge(self, lease: Lease, change: Change, review: Review) -> bool:
        """Record what was found of the tables of a change; whether they may serve, or else wait for a person.

        Raises:
            LeaseLostError: another runner took the flow over.
        """
        now_ms = to_ms(datetime.now(UTC))

        def work(connection: Connection) -> bool:
            leases.check(connection, lease)
            return changes.judge(connection, change.id, review, now_ms)

        return self._database.write(work)

    def left_behind(self, flow: str, unreadable: list[UnreadableChange] | None = None) -> list[Change]:
        """Changes of a flow that were given up, and whose tables may still be there; see `changes.left_behind`."""
        with self._database.read() as connection:
            return changes.left_behind(connection, flow, unreadable)

    def cleared(self, change: Change) -> None:
        """Record that nothing is left of what a change built."""
        self._database.write(lambda connection: changes.cleared(connection, change.id))

    def move_change(self, lease: Lease, change: Change, phase: Phase, error: str | None = None) -> bool:
        """Record how far a change is; False when it was given up meanwhile.

        Raises:
            LeaseLostError: another runner took the flow over.
        """
        now_ms = to_ms(datetime.now(UTC))

        def work(connection: Connection) -> bool:
            leases.check(connection, lease)
            return changes.move(connection, change.id, phase, error, now_ms)

        return self._database.write(work)

    def complete_change(
        self,
        lease: Lease,
        change: Change,
        records: Collection[EpochRecord] = (),
        at: Mapping[str, Position] = MappingProxyType({}),
        *,
        ends: Mapping[str, Mapping[str, Position | None]] = MappingProxyType({}),
        ahead: bool = False,
    ) -> bool:
        """Make the plan of a change the applied one and its versions the serving ones, at once.

        Flows that read a table of which another version serves now are asked to go on there.

        Args:
            lease: Of the flow.
            change: To complete.
            records: For each segment whose positions become other ones: an epoch, later than any, that wrote nothing.
            at: How far the flow is: source, or table as stores call it → position; also of what was rebuilt.
            ends: Segment that keeps its positions → table → its end behind the last finished epoch, None to forget
                it; of the tables that it writes now and did not before.
            ahead: The versions that served may have rows that `at` does not tell of: nobody can go back to them.

        Returns:
            Whether it was done; False: the change was given up meanwhile.

        Raises:
            LeaseLostError: another runner took the flow over.
        """
        now_ms = to_ms(datetime.now(UTC))

        def work(connection: Connection) -> bool:
            leases.check(connection, lease)
            return changes.complete(connection, change, records, at, now_ms, ends=ends, ahead=ahead)

        return self._database.write(work)

    def forget_candidate(self, change: Change) -> None:
        """Remove the epochs of tables that were being filled for a change."""
        self._database.write(lambda connection: changes.forget(connection, change.candidate))

    def versions(self, flow: str | None = None) -> dict[str, int]:
        """Table → the version that serves, of those that are not at their first.

        For a flow, tables of other flows are at the version that it reads: until it has gone on, the one before.
        """
        with self._database.read() as connection:
            return versions.versions(connection, flow)

    def running_plans(self, unreadable: Unreadable | None = None) -> dict[str, FlowPlan]:
        """`plans` over the names that stores hold, of one moment; `unreadable` as of `plans.newest_of_all`."""
        with self._database.read() as connection:
            return versions.running_plans(connection, unreadable)

    # --- leases --------------------------------------------------------------------------------

    def acquire(
        self, flow: str, owner: Owner, ttl: timedelta, now: datetime, *, alive: Callable[[Owner], bool] | None = None
    ) -> Lease:
        """Make `owner` the one runner of `flow` until `now + ttl`; it is then `running`.

        A flow changes hands when its lease was released or ran out, and at once when `alive` says
        that its holder, a process of the same host, is gone. The owner itself gets a new lease,
        which makes its older one void. Without `alive` every process counts as living.

        Raises:
            LeaseHeldError: another living runner has it; the message names host, process and time.
        """
        lives = alive or (lambda _: True)
        return self._database.write(lambda connection: leases.acquire(connection, flow, owner, ttl, now, lives))

    def renew(self, lease: Lease, now: datetime) -> Lease:
        """The lease, now good until `now + ttl`; call it well before it runs out.

        Raises:
            LeaseLostError: another runner took the flow over.
        """
        return self._database.write(lambda connection: leases.renew(connection, lease, now))

    def release(self, lease: Lease, now: datetime | None = None) -> None:
        """Free the flow for another runner; do nothing when one already has it."""
        at = now or datetime.now(UTC)
        self._database.write(lambda connection: leases.release(connection, lease, at))

    def disown(self) -> None:
        """Free every flow and forget every runner: those that hold them belong to another project."""

        def work(connection: Connection) -> None:
            leases.free_all(connection)
            runners.forget_all(connection)

        self._database.write(work)

    def set_runner_state(
        self, lease: Lease, state: RunnerState, error: str | None = None, now: datetime | None = None
    ) -> None:
        """Record what the runner says of itself; `error` is its last error's text.

        Raises:
            LeaseLostError: another runner took the flow over.
        """
        at = now or datetime.now(UTC)
        self._database.write(lambda connection: leases.set_state(connection, lease, state, error, at))

    # --- flows ---------------------------------------------------------------------------------

    def restore(
        self,
        lease: Lease,
        plan: FlowPlan | None,
        at: Mapping[str, int],
        segments: Mapping[str, tuple[EpochRecord | None, tuple[int, int] | None]],
        above: int = 0,
    ) -> None:
        """Take over what the tables of a flow tell, in place of what is recorded; all of it or nothing.

        Args:
            lease: Of the flow.
            plan: By which they were written, over the names that people know; None: the one that is applied.
            at: Table → the version at which they have it; also of those of other flows that it reads.
            segments: Name → the last finished epoch, and number and `at_ms` of one that is to run again.
            above: The highest generation of the flow that its tables tell of: the next one is higher.

        Raises:
            LeaseLostError: another runner took the flow over.
        """
        now_ms = to_ms(datetime.now(UTC))

        def work(connection: Connection) -> None:
            leases.check(connection, lease)
            if plan is not None:
                changes.withdraw(connection, lease.flow, now_ms)
                versions.restore(connection, plan, at, now_ms)
            versions.next_generation(connection, lease.flow, above)
            for segment, (done, begun) in segments.items():
                epochs.take_over(connection, lease.flow, segment, done, begun, now_ms)

        self._database.write(work)

    def flows(self) -> list[str]:
        """Every flow that was applied or run, by name."""
        with self._database.read() as connection:
            return progress.known_flows(connection)

    def progress(
        self, flow: str, now: datetime | None = None, *, alive: Callable[[Owner], bool] | None = None
    ) -> FlowProgress:
        """How a flow is doing; one that never ran is `stopped` with no epochs.

        With `alive` a runner that died is `lost` before its lease runs out; it must answer True for
        processes of other hosts, of which it cannot know.
        """
        with self._database.read() as connection:
            return progress.of_flow(connection, flow, now or datetime.now(UTC), alive)

    def append_event(self, flow: str, kind: str, text: str, at: datetime | None = None) -> None:
        """Record something a person may want to know later."""
        row = insert(events).values(flow=flow, kind=kind, text=text, at_ms=to_ms(at or datetime.now(UTC)))
        self._database.write(lambda connection: connection.execute(row))

    def events(self, flow: str | None = None, limit: int = 50) -> list[FlowEvent]:
        """The newest events of a flow (None: of all), oldest first."""
        query = select(events).order_by(events.c.id.desc()).limit(limit)
        with self._database.read() as connection:
            rows = connection.execute(query if flow is None else query.where(events.c.flow == flow)).all()
        return [FlowEvent(row.flow, row.kind, row.text, from_ms(row.at_ms)) for row in reversed(rows)]
