"""The journal of `apply`: what was asked for, how far it is, and which version of each table serves."""

from collections.abc import Collection, Sequence

from pydantic import ValidationError
from sqlalchemy import Connection, Row, delete, insert, select, update

from streamhouse.errors import StateConflictError
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.state import epochs, plans
from streamhouse.state.instants import from_ms
from streamhouse.state.records import Change, EpochRecord, Phase, RetiredVersion
from streamhouse.state.schema import change as changes
from streamhouse.state.schema import epoch as epoch_table
from streamhouse.state.schema import retired_version, segment_total, table_total, table_version

_OPEN = (Phase.ASKED.value, Phase.BUILDING.value)


def ask(
    connection: Connection, plan: FlowPlan, outcome: Outcome, anew: Collection[str], by: str, now_ms: int
) -> Change:
    """Ask for `plan` to be carried out, instead of what was asked for before and is not done.

    Args:
        connection: In a transaction.
        plan: As compiled, over the names that people know.
        outcome: Of its difference from what is applied.
        anew: Tables that are built anew beside those that serve; each gets its next version.
        by: Who asks.
        now_ms: The time.
    """
    waiting = newest_open(connection, plan.flow)
    if waiting is not None and waiting.plan == plan and set(waiting.versions) == set(anew):
        return waiting
    withdraw(connection, plan.flow, now_ms)
    versions = {table: _next_version(connection, table, now_ms) for table in sorted(anew)}
    row = insert(changes).values(
        flow=plan.flow,
        phase=Phase.ASKED.value,
        outcome=outcome.value,
        body=plan.model_dump_json(),
        versions=versions,
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
    connection: Connection, change: Change, records: Collection[EpochRecord], old: FlowPlan | None, now_ms: int
) -> bool:
    """Make the plan of a change the applied one, and its versions the serving ones; False when it was given up.

    Args:
        connection: In a transaction.
        change: To complete.
        records: For each segment whose positions are other than its last epoch left them: an epoch that wrote nothing.
        old: What was applied before.
        now_ms: The time.
    """
    if not move(connection, change.id, Phase.APPLIED, None, now_ms):
        return False
    plans.save(connection, change.plan, now_ms)
    before = old.tables if old is not None else {}
    serving = versions(connection)
    for name in change.plan.tables:
        note(connection, name, now_ms)
    for name, version in change.versions.items():
        if name in before:
            _retire(connection, before[name], serving.get(name, 1), now_ms)
        connection.execute(
            update(table_version).where(table_version.c.table_name == name).values(version=version, switched_ms=now_ms)
        )
    for record in records:
        epochs.insert_finished(connection, record)
    forget(connection, change.candidate)
    return True


def versions(connection: Connection) -> dict[str, int]:
    """Table → the version that serves, of those that are not at their first."""
    rows = connection.execute(select(table_version).where(table_version.c.version > 1))
    return {row.table_name: row.version for row in rows}


def note(connection: Connection, table: str, now_ms: int) -> None:
    """Record that a table is served, at its first version when it is new."""
    known = connection.execute(select(table_version).where(table_version.c.table_name == table)).one_or_none()
    if known is None:
        connection.execute(insert(table_version).values(table_name=table, version=1, newest=1, switched_ms=now_ms))


def known(connection: Connection) -> set[str]:
    """Every table that was ever applied."""
    return set(connection.execute(select(table_version.c.table_name)).scalars())


def retired(connection: Connection) -> list[RetiredVersion]:
    """Versions that no longer serve and are not dropped, oldest first."""
    rows = connection.execute(select(retired_version).order_by(retired_version.c.retired_ms))
    return [RetiredVersion(Table.model_validate_json(row.body), row.version, from_ms(row.retired_ms)) for row in rows]


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


def _retire(connection: Connection, table: Table, version: int, now_ms: int) -> None:
    connection.execute(
        insert(retired_version).values(
            table_name=table.name, version=version, body=table.model_dump_json(), retired_ms=now_ms
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
        asked_by=row.asked_by,
        asked_at=from_ms(row.asked_ms),
        updated_at=from_ms(row.updated_ms),
        error=row.error,
    )
