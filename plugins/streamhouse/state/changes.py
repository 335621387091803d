"""The journal of `apply`: what was asked for, and how far it is."""

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, insert, select, update

from streamhouse.errors import StateConflictError
from streamhouse.model.definition import Definition
from streamhouse.model.forgetting import Forgetting
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.model.review import AuditVerdict, Review, SwapGate
from streamhouse.model.types import Position
from streamhouse.state import definitions, epochs, meanings, plans, versions
from streamhouse.state.change_rows import IS_OPEN, QUERY, change_of, persons_of, persons_text, read_changes
from streamhouse.state.change_sums import is_whole, with_environment, with_sum
from streamhouse.state.damage import DamagedStateError, parsing
from streamhouse.state.instants import from_ms, to_ms
from streamhouse.state.outdated_reads import known_moves, outdated_reads
from streamhouse.state.records import OVER, AppliedChange, Change, EpochRecord, Move, Phase, UnreadableChange
from streamhouse.state.schema import change as changes
from streamhouse.state.schema import epoch as epoch_table
from streamhouse.state.schema import forgetting as forgettings
from streamhouse.state.schema import review as reviews
from streamhouse.state.schema import segment_total, table_total


@dataclass(frozen=True)
class Wish:
    """What is asked of a flow.

    Attributes:
        plan: As compiled, over the names that people know.
        outcome: Of its difference from what is applied.
        to_rebuild: Tables that are rebuilt beside those that serve; each gets its next version.
        moves: See `Change`.
        followers: See `Change`.
        copies: See `Change`.
        marks: See `Change`.
        environment: See `Change`.
        gate: What lets the new tables serve. None: as the same wish said before, or else that their audit passes;
            one that waits for a person goes on only when it is given.
        definition: The files that the plan follows from. None: those of an equal plan that was asked for or applied
            before, if there was one; else they are not known.
        forgetting: See `Change`.
    """

    plan: FlowPlan
    outcome: Outcome
    to_rebuild: frozenset[str] = frozenset()
    moves: Mapping[str, Move] = field(default_factory=dict)
    followers: Mapping[str, Collection[str]] = field(default_factory=dict)
    copies: frozenset[str] = frozenset()
    marks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    environment: str | None = None
    gate: SwapGate | None = None
    definition: Definition | None = None
    forgetting: Forgetting | None = None


def ask(connection: Connection, wish: Wish, by: str, now_ms: int) -> Change:
    """Ask for a plan to be carried out.

    It takes the place of what was asked for before, there, and is not done; tables that were to be rebuilt for
    the sake of another flow's change still are.
    """
    flow = wish.plan.flow
    waiting = newest_open(connection, flow, wish.environment)
    if waiting is not None and waiting.moves:
        to_rebuild = wish.to_rebuild | (set(waiting.versions) & set(wish.plan.tables))
        wish = replace(wish, to_rebuild=to_rebuild, moves={**waiting.moves, **wish.moves})
    known = wish.definition or definitions.of_plan(connection, wish.plan)
    wish = replace(wish, plan=_of_versions(wish.plan, {*wish.to_rebuild, *wish.moves}))
    definitions.save(connection, wish.plan, known, now_ms)
    same = waiting is not None and (waiting.plan, waiting.moves) == (wish.plan, wish.moves)
    if same and waiting is not None and set(waiting.versions) == set(wish.to_rebuild):
        return waiting if wish.gate is None else _open_gate(connection, waiting, wish.gate, now_ms)
    withdraw(connection, flow, now_ms, wish.environment)
    return _insert(connection, wish, by, now_ms)


def _insert(connection: Connection, wish: Wish, by: str, now_ms: int) -> Change:
    applied, to_rebuild = plans.newest(connection, wish.plan.flow), wish.to_rebuild
    values = {
        "flow": wish.plan.flow,
        "outcome": wish.outcome.value,
        "body": wish.plan.model_dump_json(),
        "versions": versions.allocate(
            connection, wish.plan, to_rebuild, now_ms, moves=wish.moves, may_go_back=wish.forgetting is None
        ),
        "moves": {table: asdict(move) for table, move in wish.moves.items()},
        "followers": {other: sorted(tables) for other, tables in wish.followers.items()},
        "copies": sorted(wish.copies),
        "environment": wish.environment,
        "base": applied[0] if applied is not None else 0,
        "asked_by": by,
    }
    marks = with_sum(values, {table: list(columns) for table, columns in wish.marks.items()})
    times = {"asked_ms": now_ms, "updated_ms": now_ms}
    row = insert(changes).values(phase=Phase.ASKED.value, marks=marks, **values, **times)
    [key] = connection.execute(row).inserted_primary_key or (0,)
    gate = (wish.gate or SwapGate.AUDIT).value
    connection.execute(insert(reviews).values(change=int(key), gate=gate, body=None, cleared=0))
    if wish.forgetting is not None:
        connection.execute(insert(forgettings).values(change=int(key), body=persons_text(wish.forgetting)))
    return one(connection, int(key))


def _of_versions(plan: FlowPlan, changed: AbstractSet[str]) -> FlowPlan:
    """The plan without what was given up of tables of which another version is to serve: its offsets are others."""
    if changed.isdisjoint(plan.given_up):
        return plan
    return plan.model_copy(update={"given_up": {n: ranges for n, ranges in plan.given_up.items() if n not in changed}})


def let_serve(connection: Connection, change_id: int, now_ms: int) -> Change:
    """Let what a change built serve, whatever its audit found; KeyError when there is no such change.

    Raises:
        StateConflictError: it is done or given up, or built in an environment.
    """
    change = one(connection, change_id)
    if not change.is_open:
        raise StateConflictError(f"change {change_id} is {change.phase} already", hint="see: streamhouse changes")
    if change.environment is not None:
        raise StateConflictError(
            f"change {change_id} is built in '{change.environment}'",
            hint=f"streamhouse env promote {change.flow} {change.environment}",
        )
    return _open_gate(connection, change, SwapGate.OPEN, now_ms)


def _open_gate(connection: Connection, change: Change, gate: SwapGate, now_ms: int) -> Change:
    """Say what lets the tables of an open change serve; one that waits goes on from where it is."""
    _note(connection, change.id, gate=gate.value)
    if change.waits:
        move(connection, change.id, Phase.BUILDING, None, now_ms)
    return one(connection, change.id)


def note_review(connection: Connection, change_id: int, review: Review) -> None:
    """Record what was found of the tables of a change."""
    _note(connection, change_id, body=review.model_dump_json())


def judge(connection: Connection, change_id: int, review: Review, now_ms: int) -> bool:
    """Record what was found of the tables of a change; whether they may serve, or else wait for a person."""
    note_review(connection, change_id, review)
    gate = one(connection, change_id).gate
    if gate is SwapGate.OPEN or (gate is SwapGate.AUDIT and review.passed):
        return True
    failed = review.found(AuditVerdict.FAILED)
    move(connection, change_id, Phase.WAITING, "; ".join(failed) if failed else None, now_ms)
    return False


def left_behind(connection: Connection, flow: str, unreadable: list[UnreadableChange] | None = None) -> list[Change]:
    """Changes of a flow that were given up after they may have begun to build tables, which may still be there.

    Arguments and errors as of `recent`.
    """
    was_abandoned = changes.c.phase.in_((Phase.WITHDRAWN.value, Phase.FAILED.value)) & (reviews.c.cleared == 0)
    return read_changes(connection.execute(QUERY.where(changes.c.flow == flow, was_abandoned)), unreadable)


def cleared(connection: Connection, change_id: int) -> None:
    """Record that nothing is left of what a change built."""
    _note(connection, change_id, cleared=1)


def _note(connection: Connection, change_id: int, **values: object) -> None:
    if not connection.execute(update(reviews).where(reviews.c.change == change_id).values(values)).rowcount:
        row = {
            "change": change_id,
            "gate": SwapGate.AUDIT.value,
            "cleared": 0,
            **values,
        }  # asked before there were audits
        connection.execute(insert(reviews).values(row))


def one(connection: Connection, change_id: int) -> Change:
    """The change with this id.

    Raises:
        KeyError: there is none.
    """
    row = connection.execute(QUERY.where(changes.c.id == change_id)).one_or_none()
    if row is None:
        raise KeyError(change_id)
    return change_of(row)


def newest_open(connection: Connection, flow: str, environment: str | None = None) -> Change | None:
    """What is asked for and not done; there is at most one of a flow in each environment (None: production)."""
    query = QUERY.where(_open_in(flow, environment))
    row = connection.execute(query.order_by(changes.c.id.desc()).limit(1)).one_or_none()
    return change_of(row) if row is not None else None


def open_flows(connection: Connection) -> set[str]:
    """The flows of which `newest_open` gives something, in production or an environment, or finds it damaged."""
    return set(connection.execute(select(changes.c.flow).distinct().where(IS_OPEN)).scalars())


def recent(
    connection: Connection, flow: str | None, limit: int, unreadable: list[UnreadableChange] | None = None
) -> Sequence[Change]:
    """The newest changes of a flow (None: of all), the last one first.

    Args:
        connection: To the state store.
        flow: Its name.
        limit: How many, with those that cannot be read.
        unreadable: Gets those that cannot be read, which the result lacks; None: the error of the first one is raised.

    Raises:
        OtherVersionError, DamagedStateError: a change cannot be read.
    """
    query = QUERY.order_by(changes.c.id.desc()).limit(limit)
    return read_changes(connection.execute(query if flow is None else query.where(changes.c.flow == flow)), unreadable)


def newest_applied(connection: Connection, flow: str) -> AppliedChange | None:
    """The change of a flow that was applied last, also by a person; None: the journal has none."""
    mine = (changes.c.flow == flow) & (changes.c.phase == Phase.APPLIED.value)
    query = select(changes.c.id, changes.c.asked_by, changes.c.updated_ms).where(mine)
    # The clock may have gone back, and what an environment built was asked for before others: the revision on which
    # each rests rises.
    newest = query.order_by(changes.c.base.desc(), changes.c.updated_ms.desc(), changes.c.id.desc()).limit(1)
    row = connection.execute(newest).one_or_none()
    return None if row is None else AppliedChange(row.id, row.asked_by, from_ms(row.updated_ms))


def _later_than_applied(connection: Connection, flow: str, now_ms: int) -> int:
    """The time, or one behind the last change that was applied: a clock may go back."""
    before = newest_applied(connection, flow)
    return now_ms if before is None else max(now_ms, to_ms(before.at) + 1)


def in_environments(connection: Connection, unreadable: list[UnreadableChange] | None = None) -> list[Change]:
    """What is built in environments, the newest first; arguments and errors as of `recent`."""
    query = QUERY.where(changes.c.environment.is_not(None), IS_OPEN)
    return read_changes(connection.execute(query.order_by(changes.c.id.desc())), unreadable)


def promote(connection: Connection, change: Change, gate: SwapGate, now_ms: int) -> Change:
    """Ask production for what an environment has.

    Args:
        connection: In a transaction.
        change: Of the environment.
        gate: What lets its tables serve.
        now_ms: The time.

    Raises:
        StateConflictError: another plan was applied to production meanwhile.
    """
    applied = plans.newest(connection, change.flow)
    if applied is None or applied[0] != change.base:
        raise StateConflictError(
            f"{change.flow} has moved on since '{change.environment}' was made from revision {change.base}",
            hint=f"create it again: streamhouse apply {change.flow} --env {change.environment}",
        )
    withdraw(connection, change.flow, now_ms)
    this = (changes.c.id == change.id) & IS_OPEN
    row = connection.execute(select(changes).where(this)).one_or_none()
    if row is not None:
        values = with_environment(row, None)
        connection.execute(update(changes).where(this).values(updated_ms=now_ms, **values))
    _open_gate(connection, change, gate, now_ms)
    return one(connection, change.id)


def give_up(connection: Connection, change_id: int, now_ms: int) -> Change | UnreadableChange:
    """Give up a change that is not done, also one that cannot be read; see `go_on`.

    Raises:
        KeyError: there is none.
        StateConflictError: it is done, or given up already.
    """
    query = QUERY.where(changes.c.id == change_id)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise KeyError(change_id)
    if not move(connection, change_id, Phase.WITHDRAWN, row.error, now_ms):
        raise StateConflictError(f"change {change_id} is {row.phase} already", hint="see: streamhouse changes")
    unreadable: list[UnreadableChange] = []
    readable = read_changes(connection.execute(query), unreadable)
    if row.environment is None:
        with suppress(DamagedStateError):  # what cannot be read is not asked for again; `waits_of` names its reader
            go_on(connection, row.flow, now_ms, row)
    return readable[0] if readable else unreadable[0]


def give_up_all(connection: Connection, flow: str, now_ms: int, environment: str | None = None) -> None:
    """Give up what is asked for and not done, in an environment (None: in production); see `go_on`."""
    row = connection.execute(QUERY.where(_open_in(flow, environment)).limit(1)).one_or_none()
    withdraw(connection, flow, now_ms, environment)
    if row is not None and environment is None:
        go_on(connection, flow, now_ms, row)


def go_on(connection: Connection, flow: str, now_ms: int, given_up: Row[tuple[object, ...]] | None = None) -> None:
    """Ask a flow, of which nothing is asked, to go on in the versions that took the place of those it reads.

    Versions that no longer serve get no more rows. It goes on with its applied plan. What the change that brought a
    version said to rebuild in this flow is rebuilt. Nothing is asked where no record says where it goes on.

    Args:
        connection: In a transaction.
        flow: Its name.
        now_ms: The time.
        given_up: The change that was to let it go on, as `QUERY` gives it; None: there is none.
    """
    found, applied = outdated_reads(connection, flow), plans.newest(connection, flow)
    moves = known_moves(found)
    if given_up is not None and is_whole(given_up):
        moves |= {one.table: Move(**given_up.moves[one.table]) for one in found if one.table in given_up.moves}
    if applied is None or not moves:
        return
    due = [one for one in found if one.table in moves]
    to_rebuild = frozenset().union(*(one.to_rebuild for one in due)) & applied[1].tables.keys()
    others = {other for one in due for other in one.followers}
    wish = Wish(
        applied[1],
        Outcome.REBUILD if to_rebuild else Outcome.SWAP,
        to_rebuild,
        moves,
        {other: frozenset().union(*(one.followers.get(other, ()) for one in due)) for other in others},
    )
    by = next((one.since for one in due if one.since is not None), None)
    if given_up is not None:
        wish, by = _with_gate(wish, given_up), given_up.asked_by
    ask(connection, wish, by or "run", now_ms)


def _with_gate(wish: Wish, given_up: Row[tuple[object, ...]]) -> Wish:
    """The wish, with what a change that was given up had to let tables serve, and whose rows it left out."""
    with parsing(f"change {given_up.id} of flow '{given_up.flow}'"):
        person = persons_of(given_up.forgetting) if given_up.forgetting is not None else None
        gate = SwapGate(given_up.gate) if given_up.gate is not None else None
        return replace(wish, gate=gate, copies=frozenset(given_up.copies) & wish.to_rebuild, forgetting=person)


def withdraw(connection: Connection, flow: str, now_ms: int, environment: str | None = None) -> None:
    """Give up what is asked for and not done, in an environment (None: in production)."""
    mine = _open_in(flow, environment)
    connection.execute(delete(forgettings).where(forgettings.c.change.in_(select(changes.c.id).where(mine))))
    connection.execute(update(changes).where(mine).values(phase=Phase.WITHDRAWN.value, updated_ms=now_ms))


def _open_in(flow: str, environment: str | None) -> ColumnElement[bool]:
    return and_(changes.c.flow == flow, IS_OPEN, changes.c.environment.is_not_distinct_from(environment))


def move(connection: Connection, change_id: int, phase: Phase, error: str | None, now_ms: int) -> bool:
    """Record how far a change is; False when it was given up, or is done."""
    this = (changes.c.id == change_id) & IS_OPEN
    moved = connection.execute(update(changes).where(this).values(phase=phase.value, error=error, updated_ms=now_ms))
    if moved.rowcount and phase in OVER:
        connection.execute(delete(forgettings).where(forgettings.c.change == change_id))
    return bool(moved.rowcount)


def complete(
    connection: Connection,
    change: Change,
    records: Collection[EpochRecord],
    at: Mapping[str, Position],
    now_ms: int,
    *,
    ends: Mapping[str, Mapping[str, Position | None]] = MappingProxyType({}),
    ahead: bool = False,
) -> bool:
    """Make the plan of a change the applied one, and its versions the serving ones; False when it was given up.

    Flows that read a table of which another version serves now are asked to go on there; see also `go_on`.

    Args:
        connection: In a transaction.
        change: To complete.
        records: For each segment whose positions are other than its last epoch left them: an epoch that wrote nothing.
        at: How far the flow is: source, or table as stores call it → position; also of what was rebuilt.
        now_ms: The time.
        ends: See `StateStore.complete_change`.
        ahead: See there.
    """
    now_ms = versions.later_ms(connection, change.versions, _later_than_applied(connection, change.flow, now_ms))
    if not move(connection, change.id, Phase.APPLIED, None, now_ms):
        return False
    before, served = versions.versions(connection), versions.retired(connection)
    back = {one.table.name for one in served if change.versions.get(one.table.name) == one.version}
    moves = versions.swap(connection, change, at, now_ms, ahead=ahead)
    revision = versions.take_up(connection, change.plan, now_ms, change.moves)
    meanings.mark(connection, change, revision, now_ms, before=before, back=back)
    for record in records:
        epochs.insert_finished(connection, record)
    for segment, tables in ends.items():
        epochs.note_ends(connection, change.flow, segment, tables)
    forget(connection, change.candidate)
    if change.forgetting is not None:  # what compared earlier versions may show rows of these persons
        own = select(changes.c.id).where(changes.c.flow == change.flow)
        connection.execute(update(reviews).where(reviews.c.change.in_(own)).values(body=None))
    _ask_readers(connection, change, moves, before, now_ms)
    go_on(connection, change.flow, now_ms)
    return True


def _ask_readers(
    connection: Connection, change: Change, moves: Mapping[str, Move], before: Mapping[str, int], now_ms: int
) -> None:
    """Ask every other flow that reads what was rebuilt to go on with it, and to rebuild what rests on it.

    One that reads an older version than the one that served `before` goes on in the version that followed its own
    first, and is asked again then.
    """
    for flow, read in versions.readers(connection, change.versions, change.flow).items():
        own = {table: moves[table] for table, at in read.items() if table in moves and at == before.get(table, 1)}
        waiting, applied = newest_open(connection, flow), plans.newest(connection, flow)
        if applied is None or not own:
            continue
        to_rebuild = frozenset(change.followers.get(flow, ()))
        wish = Wish(
            waiting.plan if waiting is not None else applied[1],
            Outcome.REBUILD if to_rebuild else Outcome.SWAP,
            to_rebuild | frozenset(waiting.versions if waiting is not None else ()),
            own,
            {other: tables for other, tables in change.followers.items() if other != flow},
            _copies_of_reader(change, waiting, to_rebuild),
            waiting.marks if waiting is not None else {},
            gate=change.gate if change.forgetting is not None else waiting.gate if waiting is not None else None,
            forgetting=change.forgetting,
        )
        ask(connection, wish, f"change {change.id} of {change.flow}", now_ms)


def _copies_of_reader(change: Change, waiting: Change | None, to_rebuild: frozenset[str]) -> frozenset[str]:
    waiting_copies = waiting.copies if waiting is not None else frozenset()
    return waiting_copies | (to_rebuild & change.forgetting.copies if change.forgetting is not None else frozenset())


def forget(connection: Connection, flow: str) -> None:
    """Remove the epochs of a candidate."""
    for table in (epoch_table, segment_total, table_total):
        connection.execute(delete(table).where(table.c.flow == flow))
