"""Runners and what is wanted of them: the desired state of each flow, and which process sees to it (design D10)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from sqlalchemy import Connection, Row, delete, select, update

from streamhouse.errors import LeaseLostError, RunnerHeldError
from streamhouse.state.connect import Database
from streamhouse.state.damage import parsing
from streamhouse.state.instants import from_ms, to_ms
from streamhouse.state.put import owner_values, put
from streamhouse.state.records import Owner
from streamhouse.state.schema import runner as runners
from streamhouse.state.schema import wanted_flow as wishes

MAIN = "main"
"""The runner of a project that needs no more than one."""

CAPTURE = "capture:"
"""Before the name of a connection: the process that captures it, which is recorded as runners are. No runner has it."""


class WantedState(StrEnum):
    """What somebody wants a flow to be."""

    RUNNING = "running"
    STOPPED = "stopped"


@dataclass(frozen=True)
class WantedFlow:
    """What is wanted of one flow.

    Attributes:
        runner: Name of the runner that is to carry it.
        ask: Counts what was asked of the flow, from 1.
        over: The last `ask` whose try failed; 0: none did.
        error: Why that failed, as the command prints it; None: it did not.
    """

    flow: str
    wanted: WantedState
    runner: str
    ask: int
    requested_by: str
    requested_at: datetime
    over: int = 0
    error: str | None = None

    @property
    def is_due(self) -> bool:
        """Whether a runner is to carry it: it is wanted, and did not fail since it was asked."""
        return self.wanted is WantedState.RUNNING and self.over != self.ask


class Life(StrEnum):
    """Where a runner is in its life."""

    STARTING = "starting"
    RUNNING = "running"
    CLOSING = "closing"  # it takes up nothing any more
    STOPPED = "stopped"
    FAILED = "failed"
    LOST = "lost"  # never recorded: it fell silent, or its process is gone, before it was stopped or had failed

    @property
    def takes_up(self) -> bool:
        """Whether it carries what is asked of it from now on."""
        return self in (Life.STARTING, Life.RUNNING)


@dataclass(frozen=True)
class RunnerRecord:
    """A runner, or the last process that was it.

    Attributes:
        fencing: Rises by one with each process, from 1.
        life: As it is now; see `Life.LOST`.
        stage: What it does, in words for a person.
        log: File on its host; None: its output goes to who started it.
        error: Why it failed.
    """

    name: str
    owner: Owner
    fencing: int
    life: Life
    since: datetime
    beat_at: datetime
    stage: str
    log: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Claim:
    """The right to be the runner of a name, for `ttl` after each beat."""

    name: str
    owner: Owner
    fencing: int
    ttl: timedelta


def forget_all(connection: Connection) -> None:
    """Forget every runner, and that anything is wanted to run."""
    connection.execute(delete(runners))
    connection.execute(update(wishes).values(wanted=WantedState.STOPPED.value))


class Runners:
    """Runners of one project; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        """Touches nothing yet."""
        self._database = database

    # --- what is wanted -------------------------------------------------------------------------

    def ask(
        self, flow: str, wanted: WantedState, by: str, *, runner: str | None = None, now: datetime | None = None
    ) -> WantedFlow:
        """Record what a flow is to be. To ask for what is wanted already changes nothing, unless its try failed.

        Args:
            flow: Its name.
            wanted: What it is to be.
            by: Who asks.
            runner: That is to carry it; None: the one that was to before, at first `main`.
            now: The clock.
        """
        at = to_ms(now or datetime.now(UTC))
        return self._database.write(lambda connection: _ask(connection, flow, wanted, by, runner, at))

    def wanted(self, flow: str) -> WantedFlow | None:
        """What is wanted of a flow; None: nobody ever asked."""
        with self._database.read() as connection:
            row = connection.execute(select(wishes).where(wishes.c.flow == flow)).one_or_none()
        return _wanted(row) if row is not None else None

    def all_wanted(self, runner: str | None = None) -> list[WantedFlow]:
        """What is wanted of every flow that was asked of a runner (None: of any), by name."""
        query = select(wishes).order_by(wishes.c.flow)
        if runner is not None:
            query = query.where(wishes.c.runner == runner)
        with self._database.read() as connection:
            return [_wanted(row) for row in connection.execute(query)]

    def give_up(self, claim: Claim, wanted: WantedFlow, error: str) -> None:
        """Record that a flow could not be carried; it is tried again when it is asked again.

        Raises:
            LeaseLostError: another process is the runner by now.
        """

        def work(connection: Connection) -> None:
            _check(connection, claim)
            mine = (wishes.c.flow == wanted.flow) & (wishes.c.ask == wanted.ask)  # a later ask is not touched by it
            connection.execute(update(wishes).where(mine).values(over=wanted.ask, error=error))

        self._database.write(work)

    # --- the process that sees to it ------------------------------------------------------------

    def claim(
        self,
        name: str,
        owner: Owner,
        ttl: timedelta,
        *,
        alive: Callable[[Owner], bool],
        log: str | None = None,
        now: datetime | None = None,
    ) -> Claim:
        """Make `owner` the runner of that name, while it beats at least every `ttl`.

        Raises:
            RunnerHeldError: another living process is it.
        """
        at = now or datetime.now(UTC)

        def work(connection: Connection) -> Claim:
            row = connection.execute(select(runners).where(runners.c.name == name).with_for_update()).one_or_none()
            if row is not None:
                _refuse_living(_record(row, at, lambda o: o.host != owner.host or alive(o)), owner)
            claim = Claim(name, owner, row.fencing + 1 if row is not None else 1, ttl)
            put(connection, runners, {"name": name}, _claimed(claim, at, log), there=row is not None)
            return claim

        return self._database.write(work)

    def beat(self, claim: Claim, life: Life, stage: str, now: datetime | None = None) -> None:
        """Say that the runner lives, where it is in its life, and what it does.

        Raises:
            LeaseLostError: another process is the runner by now.
        """
        at = now or datetime.now(UTC)

        def work(connection: Connection) -> None:
            before = _check(connection, claim)
            values = {"beat_ms": to_ms(at), "expires_ms": to_ms(at + claim.ttl), "stage": stage}
            if before.life != life.value:
                values |= {"life": life.value, "life_ms": to_ms(at)}
            connection.execute(update(runners).where(runners.c.name == claim.name).values(**values))

        self._database.write(work)

    def retire(self, claim: Claim, now: datetime | None = None) -> bool:
        """Begin to close because nothing is to be carried; False: something is, by now.

        Raises:
            LeaseLostError: another process is the runner by now.
        """
        at = now or datetime.now(UTC)

        def work(connection: Connection) -> bool:
            _check(connection, claim)
            mine = connection.execute(select(wishes).where(wishes.c.runner == claim.name))
            if any(_wanted(row).is_due for row in mine):
                return False
            values = {"life": Life.CLOSING.value, "life_ms": to_ms(at), "stage": "closing"}
            connection.execute(update(runners).where(runners.c.name == claim.name).values(**values))
            return True

        return self._database.write(work)

    def end(self, claim: Claim, error: str | None = None, now: datetime | None = None) -> None:
        """Record the end of the process, the last thing it does: stopped or, with `error`, failed.

        Does nothing when another process is the runner by now.
        """
        at = to_ms(now or datetime.now(UTC))
        life = Life.STOPPED if error is None else Life.FAILED
        mine = (runners.c.name == claim.name) & (runners.c.fencing == claim.fencing)
        values = {"life": life.value, "life_ms": at, "expires_ms": at, "stage": life.value, "error": error}
        self._database.write(lambda connection: connection.execute(update(runners).where(mine).values(**values)))

    def runner(
        self, name: str = MAIN, now: datetime | None = None, *, alive: Callable[[Owner], bool] | None = None
    ) -> RunnerRecord | None:
        """The runner of that name as it is now; None: there never was one.

        Args:
            name: Of the runner.
            now: The clock.
            alive: Must answer True for processes of other hosts, of which it cannot know; None: as all do.
        """
        with self._database.read() as connection:
            row = connection.execute(select(runners).where(runners.c.name == name)).one_or_none()
        return _record(row, now or datetime.now(UTC), alive) if row is not None else None

    def captures(
        self, now: datetime | None = None, *, alive: Callable[[Owner], bool] | None = None
    ) -> list[RunnerRecord]:
        """Every capture that ever lived, by name; arguments as of `runner`."""
        return [one for one in self._records(now, alive) if one.name.startswith(CAPTURE)]

    def all(self, now: datetime | None = None, *, alive: Callable[[Owner], bool] | None = None) -> list[RunnerRecord]:
        """Every runner that ever lived, by name; arguments as of `runner`."""
        return [one for one in self._records(now, alive) if not one.name.startswith(CAPTURE)]

    def _records(self, now: datetime | None, alive: Callable[[Owner], bool] | None) -> list[RunnerRecord]:
        at = now or datetime.now(UTC)
        with self._database.read() as connection:
            return [_record(row, at, alive) for row in connection.execute(select(runners).order_by(runners.c.name))]


def _ask(
    connection: Connection, flow: str, wanted: WantedState, by: str, runner: str | None, now_ms: int
) -> WantedFlow:
    row = connection.execute(select(wishes).where(wishes.c.flow == flow).with_for_update()).one_or_none()
    before = _wanted(row) if row is not None else None
    name = runner or (before.runner if before is not None else MAIN)
    # A runner that is about to end because nothing is wanted of it must see this, or be seen to have ended.
    connection.execute(select(runners.c.name).where(runners.c.name == name).with_for_update()).all()
    as_wanted = before is not None and before.wanted is wanted and before.runner == name
    if before is not None and as_wanted and (wanted is WantedState.STOPPED or before.is_due):
        return before
    ask, over = (before.ask + 1, {}) if before is not None else (1, {"over": 0})
    values = {"wanted": wanted.value, "runner": name, "ask": ask, "asked_by": by, "asked_ms": now_ms, "error": None}
    put(connection, wishes, {"flow": flow}, {**values, **over}, there=row is not None)
    return _wanted(connection.execute(select(wishes).where(wishes.c.flow == flow)).one())


def _refuse_living(last: RunnerRecord, owner: Owner) -> None:
    if last.owner != owner and (last.life.takes_up or last.life is Life.CLOSING):
        raise RunnerHeldError(
            f"runner '{last.name}' is {last.owner}, since {last.since:%Y-%m-%d %H:%M:%S} UTC",
            hint="see: streamhouse runner status",
        )


def _claimed(claim: Claim, at: datetime, log: str | None) -> dict[str, object]:
    return {
        "fencing": claim.fencing,
        **owner_values(claim.owner),
        "claimed_ms": to_ms(at),
        "beat_ms": to_ms(at),
        "expires_ms": to_ms(at + claim.ttl),
        "life": Life.STARTING.value,
        "life_ms": to_ms(at),
        "stage": "starting",
        "log": log,
        "error": None,
    }


def _check(connection: Connection, claim: Claim) -> Row[tuple[object, ...]]:
    row = connection.execute(select(runners).where(runners.c.name == claim.name).with_for_update()).one_or_none()
    if row is None or row.fencing != claim.fencing:
        by = f" by {_owner(row)}" if row is not None else ""
        raise LeaseLostError(f"runner '{claim.name}' was taken over{by}; this process ({claim.owner}) must end")
    return row


def _wanted(row: Row[tuple[object, ...]]) -> WantedFlow:
    with parsing(f"what is wanted of flow '{row.flow}'"):
        return WantedFlow(
            flow=row.flow,
            wanted=WantedState(row.wanted),
            runner=row.runner,
            ask=row.ask,
            requested_by=row.asked_by,
            requested_at=from_ms(row.asked_ms),
            over=row.over,
            error=row.error,
        )


def _record(row: Row[tuple[object, ...]], now: datetime, alive: Callable[[Owner], bool] | None) -> RunnerRecord:
    with parsing(f"runner '{row.name}'"):
        life, owner = Life(row.life), _owner(row)
        if life not in (Life.STOPPED, Life.FAILED):
            dead = alive is not None and not alive(owner)
            life = Life.LOST if dead or row.expires_ms <= to_ms(now) else life
        return RunnerRecord(
            name=row.name,
            owner=owner,
            fencing=row.fencing,
            life=life,
            since=from_ms(row.life_ms),
            beat_at=from_ms(row.beat_ms),
            stage=row.stage,
            log=row.log,
            error=row.error,
        )


def _owner(row: Row[tuple[object, ...]]) -> Owner:
    return Owner(row.host, row.pid, from_ms(row.process_started_ms))
