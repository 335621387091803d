"""Flows that read a version of a table of another flow which no longer serves, and where they go on.

Such a version gets no more rows. A change lets the flow go on in the version that took its place (`changes.complete`).
That change may end in another way, and a flow may be several versions behind: it goes from each to the next.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection, Row, and_, select

from streamhouse.model.version import stored_name
from streamhouse.state.change_sums import is_whole
from streamhouse.state.damage import parsing
from streamhouse.state.instants import from_ms
from streamhouse.state.records import Move
from streamhouse.state.schema import change as changes
from streamhouse.state.schema import read_version, retired_version, table_version


@dataclass(frozen=True)
class OutdatedRead:
    """A table of another flow that a flow reads at a version which no longer serves.

    Attributes:
        table: Its name, as people know it.
        version: That is read.
        serving: The version that serves.
        at: Since when it does.
        since: The change by which another version took its place, for people; None: no record names it.
        move: Where the flow goes on; None: no record says it.
        to_rebuild: Tables of the flow that are rebuilt when it goes on there.
        followers: Further flow → its tables that are rebuilt once this one is done.
    """

    table: str
    version: int
    serving: int
    at: datetime
    since: str | None = None
    move: Move | None = None
    to_rebuild: frozenset[str] = frozenset()
    followers: dict[str, list[str]] = field(default_factory=dict)


_IS_OUTDATED = and_(
    read_version.c.table_name == table_version.c.table_name, read_version.c.version != table_version.c.version
)


def outdated_flows(connection: Connection) -> set[str]:
    """The flows of which `outdated_reads` gives something, or finds something damaged."""
    return set(connection.execute(select(read_version.c.flow).distinct().where(_IS_OUTDATED)).scalars())


def outdated_reads(connection: Connection, flow: str) -> list[OutdatedRead]:
    """What a flow reads of other flows at versions that no longer serve, by table.

    Raises:
        DamagedStateError: a record of it is damaged.
    """
    rows = select(read_version.c.version.label("read"), table_version).where(read_version.c.flow == flow, _IS_OUTDATED)
    behind = connection.execute(rows.order_by(table_version.c.table_name)).all()
    return [_outdated(connection, flow, row) for row in behind]


def _outdated(connection: Connection, flow: str, behind: Row[tuple[object, ...]]) -> OutdatedRead:
    table, version, serving = behind.table_name, behind.read, behind.version
    this = (retired_version.c.table_name == table) & (retired_version.c.version == version)
    replaced = select(changes, retired_version.c.positions).select_from(
        retired_version.outerjoin(changes, changes.c.id == retired_version.c.change)
    )
    row = connection.execute(replaced.where(this)).one_or_none()
    if row is None or row.id is None or not is_whole(row):
        return OutdatedRead(table, version, serving, from_ms(behind.switched_ms))
    with parsing(f"change {row.id} of flow '{row.flow}'"):
        return OutdatedRead(
            table,
            version,
            serving,
            from_ms(behind.switched_ms),
            f"change {row.id} of {row.flow}",
            _move(row, table, version),
            frozenset(row.followers.get(flow, ())),
            {other: list(tables) for other, tables in row.followers.items() if other != flow},
        )


def _move(row: Row[tuple[object, ...]], table: str, version: int) -> Move | None:
    """From a version to the one that took its place, as the positions of its flow say it then; None: they do not."""
    following = int(row.versions[table])
    ended, began = (row.positions.get(stored_name(table, one)) for one in (version, following))
    return None if ended is None or began is None else Move(following, dict(ended), dict(began))


def words(flow: str, found: OutdatedRead) -> str:
    """Why a flow stays behind there while no change is asked for, for people."""
    since = f" since {found.since}" if found.since is not None else ""
    if found.move is None:
        goes_on = f"no record says where {flow} goes on in version {found.serving}"
    else:
        goes_on = f"no change is asked for that lets {flow} go on in version {found.move.version}"
    return f"gets no more rows{since}, and {goes_on}"


def remedy(flow: str, found: OutdatedRead) -> str:
    """What to do about it."""
    if found.move is None:
        return "see: streamhouse restore --dry-run"
    return (
        f"streamhouse run {flow} asks for it again when it starts; why the last one ended: streamhouse changes {flow}"
    )


def known_moves(found: Iterable[OutdatedRead]) -> dict[str, Move]:
    """Table → where its reader goes on, of those of which that is recorded."""
    return {one.table: one.move for one in found if one.move is not None}
