"""Tiering: fill the tiers that a flow does not write from the one it does, each row exactly once.

The lake's snapshot holds, in one commit, the rows of a round and the offsets where the next round
begins. A round that was killed has therefore either happened or not; the next one starts where the
lake says. The ledger records it afterwards, so that a lake which is behind its record is noticed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import cast

from streamhouse.errors import StateConflictError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.base import Changes, LakeStore, LogStore, Store, WriteContext
from streamhouse.stores.ledger import verify
from streamhouse.stores.mark import Mark, WriterEpochs, again, note_filled, read_mark
from streamhouse.tiering.cut import behind, counts_rows, cut, within

ROUND_ROWS = 1_000_000


@dataclass(frozen=True)
class MoveProgress:
    """What went from one tier to another, so far.

    Attributes:
        rows: Written to `target`: appended rows, or upserts and deletes of keys. Never more than
            what the source holds between `start` and `end`.
        start: Where the lake's copy ended before.
        end: Where it ends now.
        goal: Where it will end; the source's end when the move began.
        gone_rows: That the source had dropped before the lake was asked for, so the copy begins behind them.
    """

    table: str
    source: Tier
    target: Tier
    rows: int
    start: Position
    end: Position
    goal: Position
    gone_rows: int = 0

    @property
    def waiting_rows(self) -> int | None:
        """Rows from `end` to `goal`; None where positions do not count rows."""
        if not counts_rows(self.goal):
            return None
        return sum(offset - self.end.get(bucket, 0) for bucket, offset in self.goal.items())


OnProgress = Callable[[MoveProgress], None]


def tier(
    table: Table,
    source: Store,
    lake: LakeStore,
    *,
    max_rows: int = ROUND_ROWS,
    on_progress: OnProgress | None = None,
    age_of_copy: Callable[[], timedelta | None] = lambda: None,
    epochs: Callable[[], WriterEpochs] = WriterEpochs,
) -> MoveProgress:
    """Bring the lake's copy of `table` up to where `source` ends now, in rounds of at most `max_rows`.

    A first copy of a keyed table, and of a source whose positions count commits, is one round.
    May be killed at any point and called again; two calls at once move each row once.

    Args:
        table: As the flow writes it. Of one that no flow made yet nothing is copied, and no copy is made. The copy is
            `table.replica`, made when there never was one; one that lacks columns, matched by name, gets them.
        source: The tier the flow writes.
        lake: The tier to fill.
        max_rows: Bounds memory and the work that a kill repeats.
        on_progress: Called after each round with what was moved since the call began.
        age_of_copy: For how long the lake has been a tier of the table; asked when rows are gone of which it has none.
        epochs: Gives those of the writers as they are now; asked after each read, so that no row is of a newer one.

    Raises:
        RowsLostError: the source dropped rows before they were tiered, and not all of them before it was asked for.
        StateConflictError: the copy belongs to another table or tier than `source` holds.
        TableLostError: the table or its copy is gone, is another one, or is older than what was recorded.
    """
    replica = table.replica
    verify(source, table)
    if source.identity(table.name) is None:  # its flow makes it; a copy made before it says that the table was lost
        return MoveProgress(table.name, source.tier, lake.tier, 0, {}, {}, {})
    mark = read_mark(lake, replica, source.tier)
    if lake.identity(replica.name) is None:
        lake.create(replica)
    else:
        lake.add_columns(replica)
    if mark is not None:
        note_filled(lake, replica, mark)  # the process that wrote it may have been killed there
    if mark is None and any(lake.end(replica).values()):
        mark = again(lake, replica, source.tier)  # another process may have written the first round since then
        if mark is None:
            raise _foreign(replica, lake, "holds rows that tiering did not write")
    goal = source.end(table)
    begun = mark.offsets if mark else {}
    by_state = bool(table.primary_key) and mark is None  # a key's state outlives its log
    oldest = source.start(table) if isinstance(source, LogStore) and not by_state else {}
    dropped_rows = 0
    if mark is None and isinstance(source, LogStore) and any(oldest.values()):
        since = age_of_copy()
        if since is not None and since < source.retention(table):  # what is gone is older than the wish for the lake
            begun, dropped_rows = oldest, sum(oldest.values())
    cut(begun, oldest, goal)
    rows, start = 0, begun
    moved = MoveProgress(table.name, source.tier, lake.tier, rows, begun, begun, goal, dropped_rows)
    while behind(start, goal):
        changes, end = _round(table, source, start, goal, max_rows, first=mark is None)
        if count := _rows(changes):
            now = epochs()
            times = {writer: known for writer, known in now.times.items() if known}  # as it is read back
            planned = Mark(mark.round + 1 if mark else 0, source.tier, end, dict(now.newest), times)
            mark = _write(replica, lake, changes, planned)
            rows += count if mark == planned else 0
            end = mark.offsets
        start = end
        moved = MoveProgress(table.name, source.tier, lake.tier, rows, begun, end, goal, dropped_rows)
        if on_progress:
            on_progress(moved)
    return moved


def tier_all(
    plan: FlowPlan,
    stores: Mapping[Tier, Store],
    *,
    max_rows: int = ROUND_ROWS,
    on_progress: OnProgress | None = None,
    epochs: Callable[[str], WriterEpochs] = lambda _: WriterEpochs(),
) -> list[MoveProgress]:
    """Fill every further tier of every table of a flow, upstream first; each as `tier` does.

    Args:
        plan: Over the names that stores hold.
        stores: Every tier that its tables are in.
        max_rows: See `tier`.
        on_progress: See `tier`.
        epochs: Table → as `epochs` of `tier` gives them.
    """
    moved = []
    for table in plan.tables.values():
        source, of_table = stores[table.tiers.target], partial(epochs, table.name)
        for target in table.tiers.present[1:]:
            lake = cast("LakeStore", stores[target])  # only the hot tier is none, and it is always the first
            moved.append(tier(table, source, lake, max_rows=max_rows, on_progress=on_progress, epochs=of_table))
    return moved


def _round(
    table: Table, source: Store, start: Position, goal: Position, max_rows: int, *, first: bool
) -> tuple[Changes, Position]:
    if not first or (counts_rows(goal) and not table.primary_key):
        end = within(start, goal, max_rows)
        return source.read_changes(table, start, end), end
    # The oldest changes may be gone, and a key's state is smaller than its history. A store that cannot
    # read the state as of `goal` gives a later one; the next round then repeats changes, which keys absorb.
    at = goal if source.capabilities.state_as_of else None
    return Changes(upserts=source.read_state(table, at=at)), goal


def _write(replica: Table, lake: LakeStore, changes: Changes, planned: Mark) -> Mark:
    context = WriteContext(writer=f"tiering/{replica.name}", epoch=planned.round, properties=planned.properties())
    lake.write(replica, changes, context)
    # Another process may have written this round first, perhaps with another end: the lake alone knows.
    recorded = again(lake, replica, planned.source)
    if recorded is None or recorded.round < planned.round:
        raise _foreign(replica, lake, f"took round {planned.round} and does not show it")
    note_filled(lake, replica, recorded)
    return recorded


def _foreign(replica: Table, lake: LakeStore, finding: str) -> StateConflictError:
    return StateConflictError(
        f"{replica.name}: its {lake.tier} copy {finding}",
        hint="another program writes it; drop the copy to tier the table again",
    )


def _rows(changes: Changes) -> int:
    return int(changes.upserts.num_rows) + (int(changes.deletes.num_rows) if changes.deletes is not None else 0)
