"""The journal of `apply`: what was asked for, how far it is, and which version of each table serves."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from pydantic import ValidationError
from sqlalchemy import Connection, Row, delete, insert, select, update

from streamhouse.errors import StateConflictError
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.state import epochs, plans
from streamhouse.state.instants import from_ms
from streamhouse.state.records import Change, EpochRecord, Meaning, Move, Phase, RetiredVersion
from streamhouse.state.schema import change as changes
from streamhouse.state.schema import epoch as epoch_table
from streamhouse.state.schema import meaning, read_version, retired_version, segment_total, table_total, table_version

_OPEN = (Phase.ASKED.value, Phase.BUILDING.value)


@dataclass(frozen=True)
class Wish:
    """What is asked of a flow.

    Attributes:
        plan: As compiled, over the names that people know.
        outcome: Of its difference from what is applied.
        anew: Tables that are built anew beside those that serve; each gets its next version.
        moves: See `Change`.
        followers: See `Change`.
        copies: See `Change`.
        marks: See `Change`.
    """

    plan: FlowPlan
    outcome: Outcome
    anew: frozenset[str] = frozenset()
    moves: Mapping[str, Move] = field(default_factory=dict)
    followers: Mapping[str, Collection[str]] = field(default_factory=dict)
    copies: frozenset[str] = frozenset()
    marks: Mapping[str, Sequence[str]] = field(default_factory=dict)


def ask(connection: Connection, wish: Wish, by: str, now_ms: int) -> Change:
    """Ask for a plan to be carried out.

    It takes the place of what was asked for before and is not done; tables that were to be built anew for the
    sake of another flow's change still are.
    """
    flow = wish.plan.flow
    waiting = newest_open(connection, flow)
    if waiting is not None and waiting.moves:
        anew = wish.anew | (set(waiting.versions) & set(wish.plan.tables))
        wish = replace(wish, anew=anew, moves={**waiting.moves, **wish.moves})
    if waiting is not None and waiting.plan == wish.plan and set(waiting.versions) == set(wish.anew):
        return waiting
    withdraw(connection, flow, now_ms)
    row = insert(changes).values(
        flow=flow,
        phase=Phase.ASKED.value,
        outcome=wish.outcome.value,
        body=wish.plan.model_dump_json(),
        versions={table: _next_version(connection, table, now_ms) for table in sorted(wish.anew)},
        moves={table: asdict(move) for table, move in wish.moves.items()},
        followers={other: sorted(tables) for other, tables in wish.followers.items()},
        copies=sorted(wish.copies),
        marks={table: list(columns) for table, columns in wish.marks.items()},
        asked_by=by,
        asked_ms=now_ms,
        updated_ms=now_ms,
    )
    [key] = connection.execute(row).inserted_primary_key or (0,)
    return one(connection, int(key))


def one(connection: Connection, change_id: int) -> Change:
    """The change with this id; KeyError when there is none."""
    row = connection.execute(select(changes).where(changes.c.id == change_id)).one_or_none()
    if row is None:
        raise KeyError(change_id)
    return _change(row)


def newest_open(connection: Connection, flow: str) -> Change | None:
    """What is asked for and not done; there is at most one of a flow."""
    query = select(changes).where(changes.c.flow == flow, changes.c.phase.in_(_OPEN))
    row = connection.execute(query.order_by(changes.c.id.desc()).limit(1)).one_or_none()
    return _change(row) if row is not None else None


def recent(connection: Connection, flow: str | None, limit: int) -> Sequence[Change]:
    """The newest changes of a flow (None: of all), the last one first."""
    query = select(changes).order_by(changes.c.id.desc()).limit(limit)
    rows = connection.execute(query if flow is None else query.where(changes.c.flow == flow))
    return [_change(row) for row in rows]


def withdraw(connection: Connection, flow: str, now_ms: int) -> None:
    """Give up what is asked for and not done."""
    mine = (changes.c.flow == flow) & changes.c.phase.in_(_OPEN)
    connection.execute(update(changes).where(mine).values(phase=Phase.WITHDRAWN.value, updated_ms=now_ms))


def move(connection: Connection, change_id: int, phase: Phase, error: str | None, now_ms: int) -> bool:
    """Record how far a change is; False when somebody gave it up, or it is done."""
    this = (changes.c.id == change_id) & changes.c.phase.in_(_OPEN)
    moved = connection.execute(update(changes).where(this).values(phase=phase.value, error=error, updated_ms=now_ms))
    return bool(moved.rowcount)


def complete(
    connection: Connection,
    change: Change,
    records: Collection[EpochRecord],
    ends: Mapping[str, tuple[Position, Position]],
    now_ms: int,
) -> bool:
    """Make the plan of a change the applied one, and its versions the serving ones; False when it was given up.

    Flows that read a table of which another version serves now are asked to go on there.

    Args:
        connection: In a transaction.
        change: To complete.
        records: For each segment whose positions are other than its last epoch left them: an epoch that wrote nothing.
        ends: Table that was built anew → where its old version ended, and where its new one stands.
        now_ms: The time.
    """
    if not move(connection, change.id, Phase.APPLIED, None, now_ms):
        return False
    applied = plans.newest(connection, change.flow)
    before = applied[1].tables if applied is not None else {}
    serving = versions(connection)
    revision = take_up(connection, change.plan, now_ms, change.moves)
    _mark(connection, change, revision, now_ms)
    for name, version in change.versions.items():
        if name in before:
            ended, began = ends.get(name, ({}, {}))
            _retire(connection, before[name], serving.get(name, 1), Move(version, ended, began), now_ms)
        connection.execute(
            update(table_version).where(table_version.c.table_name == name).values(version=version, switched_ms=now_ms)
        )
    for record in records:
        epochs.insert_finished(connection, record)
    forget(connection, change.candidate)
    _ask_readers(connection, change, ends, now_ms)
    return True


def take_up(connection: Connection, plan: FlowPlan, now_ms: int, moves: Mapping[str, Move] | None = None) -> int:
    """Record a plan as applied, with the versions at which it reads tables of other flows; return its revision."""
    serving, read = versions(connection), _read_versions(connection, plan.flow)
    connection.execute(delete(read_version).where(read_version.c.flow == plan.flow))
    for table in plan.external:
        version = read.get(table.name, serving.get(table.name, 1))
        if moves and table.name in moves:
            version = moves[table.name].version
        connection.execute(insert(read_version).values(flow=plan.flow, table_name=table.name, version=version))
    for name in plan.tables:
        _note(connection, name, now_ms)
    return plans.save(connection, plan, now_ms)


def versions(connection: Connection, flow: str | None = None) -> dict[str, int]:
    """Table → the version that serves, of those that are not at their first; for a flow, as it reads them."""
    rows = connection.execute(select(table_version).where(table_version.c.version > 1))
    serving = {row.table_name: row.version for row in rows}
    return serving if flow is None else serving | _read_versions(connection, flow)


def _read_versions(connection: Connection, flow: str) -> dict[str, int]:
    rows = connection.execute(select(read_version).where(read_version.c.flow == flow))
    return {row.table_name: row.version for row in rows}


def _ask_readers(
    connection: Connection, change: Change, ends: Mapping[str, tuple[Position, Position]], now_ms: int
) -> None:
    """Ask every other flow that reads what was built anew to go on with it, and to build anew what rests on it."""
    reads = select(read_version).where(
        read_version.c.table_name.in_(change.versions), read_version.c.flow != change.flow
    )
    moves: dict[str, dict[str, Move]] = {}
    for row in connection.execute(reads).all():
        if row.table_name in ends:
            to = Move(change.versions[row.table_name], *ends[row.table_name])
            moves.setdefault(row.flow, {})[row.table_name] = to
    for flow, own in moves.items():
        waiting, applied = newest_open(connection, flow), plans.newest(connection, flow)
        if applied is None:
            continue
        anew = frozenset(change.followers.get(flow, ()))
        wish = Wish(
            waiting.plan if waiting is not None else applied[1],
            Outcome.REBUILD if anew else Outcome.SWAP,
            anew | frozenset(waiting.versions if waiting is not None else ()),
            own,
            {other: tables for other, tables in change.followers.items() if other != flow},
            waiting.copies if waiting is not None else frozenset(),
            waiting.marks if waiting is not None else {},
        )
        ask(connection, wish, f"change {change.id} of {change.flow}", now_ms)


def _note(connection: Connection, table: str, now_ms: int) -> None:
    known = connection.execute(select(table_version).where(table_version.c.table_name == table)).one_or_none()
    if known is None:
        connection.execute(insert(table_version).values(table_name=table, version=1, newest=1, switched_ms=now_ms))


def _mark(connection: Connection, change: Change, revision: int, now_ms: int) -> None:
    """Record which columns mean something else from now on; all rows of a table computed anew mean the same."""
    for table in set(change.versions) - change.copies:
        connection.execute(delete(meaning).where(meaning.c.table_name == table))
    for table, columns in change.marks.items():
        connection.execute(delete(meaning).where(meaning.c.table_name == table, meaning.c.column_name.in_(columns)))
        for column in columns:
            row = insert(meaning).values(table_name=table, column_name=column, revision=revision, since_ms=now_ms)
            connection.execute(row)


def meanings(connection: Connection, table: str) -> dict[str, Meaning]:
    """Column → since when it means what the applied plan says; of those only that ever meant something else."""
    rows = connection.execute(select(meaning).where(meaning.c.table_name == table).order_by(meaning.c.column_name))
    return {row.column_name: Meaning(row.revision, from_ms(row.since_ms)) for row in rows}


def known(connection: Connection) -> set[str]:
    """Every table that was ever applied."""
    return set(connection.execute(select(table_version.c.table_name)).scalars())


def retired(connection: Connection) -> list[RetiredVersion]:
    """Versions that no longer serve and are not dropped, oldest first."""
    rows = connection.execute(select(retired_version).order_by(retired_version.c.retired_ms))
    return [
        RetiredVersion(
            Table.model_validate_json(row.body),
            row.version,
            Move(row.version, row.ended, row.began),
            from_ms(row.retired_ms),
        )
        for row in rows
    ]


def readers(connection: Connection, table: str) -> dict[str, int]:
    """Other flow → the version at which it reads a table."""
    rows = connection.execute(select(read_version).where(read_version.c.table_name == table))
    return {row.flow: row.version for row in rows}


def dropped(connection: Connection, table: str, version: int) -> None:
    """Record that a retired version is gone."""
    this = (retired_version.c.table_name == table) & (retired_version.c.version == version)
    connection.execute(delete(retired_version).where(this))


def forget(connection: Connection, flow: str) -> None:
    """Remove the epochs of a candidate."""
    for table in (epoch_table, segment_total, table_total):
        connection.execute(delete(table).where(table.c.flow == flow))


def _next_version(connection: Connection, table: str, now_ms: int) -> int:
    row = connection.execute(
        select(table_version).where(table_version.c.table_name == table).with_for_update()
    ).one_or_none()
    if row is None:
        connection.execute(insert(table_version).values(table_name=table, version=1, newest=1, switched_ms=now_ms))
        return 1
    newest = int(row.newest) + 1
    connection.execute(update(table_version).where(table_version.c.table_name == table).values(newest=newest))
    return newest


def _retire(connection: Connection, table: Table, version: int, to: Move, now_ms: int) -> None:
    connection.execute(
        insert(retired_version).values(
            table_name=table.name,
            version=version,
            body=table.model_dump_json(),
            ended=to.ended,
            began=to.began,
            retired_ms=now_ms,
        )
    )


def _change(row: Row[tuple[object, ...]]) -> Change:
    try:
        plan = FlowPlan.model_validate_json(row.body)
    except ValidationError as error:
        raise StateConflictError(
            f"change {row.id} of flow '{row.flow}' was recorded by another version of Streamhouse",
            hint=f"withdraw it, and ask again: streamhouse apply {row.flow}",
        ) from error
    return Change(
        id=row.id,
        flow=row.flow,
        plan=plan,
        outcome=Outcome(row.outcome),
        phase=Phase(row.phase),
        versions=dict(row.versions),
        moves={table: Move(**move) for table, move in row.moves.items()},
        followers=dict(row.followers),
        copies=frozenset(row.copies),
        marks={table: tuple(columns) for table, columns in row.marks.items()},
        asked_by=row.asked_by,
        asked_at=from_ms(row.asked_ms),
        updated_at=from_ms(row.updated_ms),
        error=row.error,
    )
