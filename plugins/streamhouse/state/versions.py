"""Which version of each table serves, which one each flow reads, and which ones served once."""

from collections.abc import Collection, Mapping

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.model.version import at_versions, stored_name
from streamhouse.state import plans
from streamhouse.state.damage import parsing
from streamhouse.state.instants import from_ms
from streamhouse.state.records import Change, Move, Phase, RetiredVersion, VersionSince
from streamhouse.state.schema import change as change_table
from streamhouse.state.schema import generation as generations
from streamhouse.state.schema import read_version, retired_version, table_version


def versions(connection: Connection, flow: str | None = None) -> dict[str, int]:
    """Table → the version that serves, of those that are not at their first; for a flow, as it reads them."""
    rows = connection.execute(select(table_version).where(table_version.c.version > 1))
    serving = {row.table_name: row.version for row in rows}
    return serving if flow is None else serving | read_versions(connection, flow)


def read_versions(connection: Connection, flow: str) -> dict[str, int]:
    """Table of another flow → the version at which this one reads it."""
    rows = connection.execute(select(read_version).where(read_version.c.flow == flow))
    return {row.table_name: row.version for row in rows}


def running_plans(connection: Connection, unreadable: plans.Unreadable | None = None) -> dict[str, FlowPlan]:
    """Flow → its applied plan, over the names that stores hold; arguments and errors as of `plans.newest_of_all`."""
    serving = versions(connection)
    read: dict[str, dict[str, int]] = {}
    for row in connection.execute(select(read_version)):
        read.setdefault(row.flow, {})[row.table_name] = row.version
    applied = plans.newest_of_all(connection, unreadable)
    return {flow: at_versions(plan, serving | read.get(flow, {})) for flow, (_, plan) in applied.items()}


def served(connection: Connection) -> dict[str, tuple[VersionSince, ...]]:
    """Table → the versions that served, oldest first; the last one serves.

    The journal of changes has every switch, but not those that it was restored without.
    """
    applied = (change_table.c.phase == Phase.APPLIED.value) & change_table.c.environment.is_(None)
    query = select(change_table.c.id, change_table.c.versions, change_table.c.updated_ms).where(applied)
    replaced = {(row.table_name, row.change): int(row.version) for row in connection.execute(select(retired_version))}
    switches: dict[str, list[VersionSince]] = {}
    for row in connection.execute(query.order_by(change_table.c.updated_ms, change_table.c.id)):
        for name, version in row.versions.items():
            known = switches.setdefault(name, [])
            if not known:  # a change that fails takes a number, too: what served before the third may be the first
                known.append(VersionSince(replaced.get((name, row.id), 1 if version == 2 else 0)))
            known.append(VersionSince(version, int(row.updated_ms)))
    return {
        row.table_name: _chain(VersionSince(row.version, int(row.switched_ms)), switches.get(row.table_name, []))
        for row in connection.execute(select(table_version))
    }


def _chain(now: VersionSince, switches: list[VersionSince]) -> tuple[VersionSince, ...]:
    if not switches and now.version == 1:
        return (VersionSince(1),)
    if not switches or switches[-1] != now:
        return (VersionSince(0), now)
    return tuple(switches)


def readers(connection: Connection, tables: Collection[str], flow: str = "") -> dict[str, dict[str, int]]:
    """Flow, other than the one named → table → the version at which it reads it."""
    rows = connection.execute(
        select(read_version).where(read_version.c.table_name.in_(tables), read_version.c.flow != flow)
    )
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        found.setdefault(row.flow, {})[row.table_name] = row.version
    return found


def known(connection: Connection) -> set[str]:
    """Every table that was ever applied."""
    return set(connection.execute(select(table_version.c.table_name)).scalars())


def generation(connection: Connection, flow: str) -> int:
    """How many times a flow took up a plan or versions of tables, or more; 0: an earlier version of Streamhouse did.

    A clock may go back, and one plan may be taken up with several versions. This number only rises.
    """
    query = select(generations.c.number).where(generations.c.flow == flow)
    return int(connection.execute(query).scalar_one_or_none() or 0)


def next_generation(connection: Connection, flow: str, above: int = 0) -> None:
    """Let the generation of a flow rise, beyond `above`, too."""
    number, this = max(generation(connection, flow), above) + 1, generations.c.flow == flow
    if not connection.execute(update(generations).where(this).values(number=number)).rowcount:
        connection.execute(insert(generations).values(flow=flow, number=number))


def take_up(connection: Connection, plan: FlowPlan, now_ms: int, moves: Mapping[str, Move] | None = None) -> int:
    """Record a plan as applied, with the versions at which it reads tables of other flows; return its revision."""
    next_generation(connection, plan.flow)
    serving, read = versions(connection), read_versions(connection, plan.flow)
    connection.execute(delete(read_version).where(read_version.c.flow == plan.flow))
    for table in plan.external:
        version = read.get(table.name, serving.get(table.name, 1))
        if moves and table.name in moves:
            version = moves[table.name].version
        connection.execute(insert(read_version).values(flow=plan.flow, table_name=table.name, version=version))
    for name in plan.tables:
        if connection.execute(select(table_version).where(table_version.c.table_name == name)).one_or_none() is None:
            connection.execute(insert(table_version).values(table_name=name, version=1, newest=1, switched_ms=now_ms))
    return plans.save(connection, plan, now_ms)


def allocate(
    connection: Connection,
    plan: FlowPlan,
    to_rebuild: Collection[str],
    now_ms: int,
    *,
    moves: Mapping[str, Move],
    may_go_back: bool = True,
) -> dict[str, int]:
    """Table → the version that it gets: the next one, or the one to go back to when a change is undone.

    Args:
        connection: In a transaction.
        plan: That is wanted.
        to_rebuild: Its tables that get another version.
        now_ms: The time.
        moves: See `Change`.
        may_go_back: Versions that served before count.
    """
    back = _undone(connection, plan, to_rebuild, moves) if may_go_back else {}
    return back or {table: _next_version(connection, table, now_ms) for table in sorted(to_rebuild)}


def later_ms(connection: Connection, tables: Collection[str], now_ms: int) -> int:
    """The time, or a later one: other versions of these tables serve from then on, and the clock may have gone back."""
    query = select(func.max(table_version.c.switched_ms)).where(table_version.c.table_name.in_(tables))
    last_ms = connection.execute(query).scalar_one_or_none()
    return now_ms if last_ms is None else max(now_ms, int(last_ms) + 1)


def _serve(connection: Connection, name: str, version: int, now_ms: int) -> None:
    dropped(connection, name, version)  # it served once, and serves again
    this = table_version.c.table_name == name
    connection.execute(update(table_version).where(this).values(version=version, switched_ms=now_ms))


def swap(
    connection: Connection, change: Change, at: Mapping[str, Position], now_ms: int, *, ahead: bool = False
) -> dict[str, Move]:
    """Let the versions of a change serve.

    Args:
        connection: In a transaction; the plan that was applied before is still the newest.
        change: That is done.
        at: How far its flow is: source, or table as stores call it → position; also of the new versions.
        now_ms: The time.
        ahead: The versions that served may have rows that `at` does not tell of.

    Returns:
        Table → where its readers go on, of those of which another version served before.
    """
    applied = plans.newest(connection, change.flow)
    before, revision = (applied[1].tables, applied[0]) if applied is not None else ({}, 0)
    serving = versions(connection)
    moves = {}
    for name, version in change.versions.items():
        old = serving.get(name, 1)
        left = None if name in before else _former_table(connection, change.flow, name, old, version)
        if name in before or left is not None:
            body = (left or before[name]).model_dump_json()
            positions = {} if left or ahead else dict(at)  # nobody knows how far it is: it is not gone back to
            row = {"table_name": name, "version": old, "body": body, "change": change.id, "revision": revision}
            connection.execute(insert(retired_version).values(**row, positions=positions, retired_ms=now_ms))
        if name in before:
            moves[name] = Move(version, *(at.get(stored_name(name, one), {}) for one in (old, version)))
        _serve(connection, name, version, now_ms)
    return moves


def _former_table(connection: Connection, flow: str, name: str, old: int, new: int) -> Table | None:
    """The table that a step gave up some time ago, whose name means another version now; None: there is none."""
    if old == new or name not in known(connection):
        return None
    for one in reversed(plans.history(connection, flow)):
        plan = plans.at_revision(connection, flow, one.revision)
        if plan is not None and name in plan.tables:
            return plan.tables[name]
    return None


def restore(connection: Connection, plan: FlowPlan, at: Mapping[str, int], now_ms: int) -> None:
    """Take over which plan wrote the tables of a flow, and at which versions, from the tables themselves."""
    take_up(connection, plan, now_ms)
    for name in plan.tables.keys() & at.keys():
        version, this = at[name], table_version.c.table_name == name
        row = connection.execute(select(table_version).where(this)).one()
        if row.version != version:
            values = {"version": version, "newest": max(version, row.newest), "switched_ms": now_ms}
            connection.execute(update(table_version).where(this).values(**values))
            dropped(connection, name, version)  # it serves again
    for table in plan.external:
        this = (read_version.c.flow == plan.flow) & (read_version.c.table_name == table.name)
        connection.execute(update(read_version).where(this).values(version=at.get(table.name, 1)))


def retired(connection: Connection) -> list[RetiredVersion]:
    """Versions that no longer serve and are not dropped, oldest first."""
    rows = connection.execute(select(retired_version).order_by(retired_version.c.retired_ms, retired_version.c.version))
    return [_retired(row) for row in rows]


def _retired(row: Row[tuple[object, ...]]) -> RetiredVersion:
    with parsing(f"version {row.version} of {row.table_name}, which served before"):
        table, at = Table.model_validate_json(row.body), from_ms(row.retired_ms)
        return RetiredVersion(table, row.version, row.change, dict(row.positions), at)


def dropped(connection: Connection, table: str, version: int) -> None:
    """Record that a retired version is gone."""
    this = (retired_version.c.table_name == table) & (retired_version.c.version == version)
    connection.execute(delete(retired_version).where(this))


def _next_version(connection: Connection, table: str, now_ms: int) -> int:
    this = table_version.c.table_name == table
    row = connection.execute(select(table_version).where(this).with_for_update()).one_or_none()
    if row is None:
        connection.execute(insert(table_version).values(table_name=table, version=1, newest=1, switched_ms=now_ms))
        return 1
    connection.execute(update(table_version).where(this).values(newest=row.newest + 1))
    return int(row.newest) + 1


def _undone(
    connection: Connection, plan: FlowPlan, to_rebuild: Collection[str], moves: Mapping[str, Move]
) -> dict[str, int]:
    """Table → the version it had before the last change, when that built just these, and they are to be as they were.

    They need not be filled then: they have everything up to where they were left, and read on from there.
    """
    rows = connection.execute(
        select(retired_version)
        .where(retired_version.c.table_name.in_(plan.tables))
        .order_by(retired_version.c.change.desc())
    ).all()
    last = [row for row in rows if row.change == rows[0].change]
    if not last or {row.table_name for row in last} != set(to_rebuild):
        return {}
    former = plans.at_revision(connection, plan.flow, last[0].revision)
    back = {row.table_name: int(row.version) for row in last}
    moved_to = {table: one.version for table, one in moves.items()}
    wanted = versions(connection, plan.flow) | moved_to | back
    for step in plan.steps:
        if step.writes.name not in back:
            continue
        same = [other for other in former.steps if other.id == step.id] if former is not None else []
        stored = {stored_name(read.table, wanted.get(read.table, 1)) for read in step.reads}
        if same != [step] or not stored <= set(last[0].positions):
            return {}
    return back
