"""One name reads all tiers: what a lake holds, and what came after it in the tier the flow writes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

import pyarrow as pa

from streamhouse.errors import RowsLostError, StateConflictError, StoreError
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.spark.frame import arrow_frame
from streamhouse.stores.base import (
    UNPLACED,
    Changes,
    FilteredStore,
    FrameStore,
    LakeMetadata,
    LakeStore,
    LogStore,
    OrderedStore,
    PlacedStore,
    Store,
)
from streamhouse.stores.equality import met
from streamhouse.stores.keyed import without_keys
from streamhouse.stores.ledger import verify
from streamhouse.stores.mark import SNAPSHOT, Mark, again, read_mark
from streamhouse.stores.where import RowCondition
from streamhouse.tiering.cut import behind, cut

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

_TRIES = 20


@dataclass(frozen=True)
class Base:
    """A lake's snapshot `at`, which holds the table up to `mark.offsets` of the tier the flow writes.

    Of a tier that drops days, `before` is where it ended before anybody looked at the lake; as of a moment in the past,
    what of that moment the lake took in after the snapshot.
    """

    lake: LakeStore
    at: Position
    mark: Mark
    before: Position = field(default_factory=dict)


def tiers_read(table: Table, *, through_lake: bool = False) -> tuple[Tier, ...]:
    """The tiers that a union read opens; the first one is the tier that the flow writes.

    A table with one tier needs no other. Nor does a keyed table whose first tier never drops partitions: it has every
    key. Any other table is read from its coldest tier, too; with `through_lake` so is such a keyed one.
    """
    target = table.tiers.target
    if len(table.tiers.present) == 1 or (table.primary_key and table.keeps_all(target) and not through_lake):
        return (table.tiers.target,)
    return (table.tiers.target, table.tiers.present[-1])


def union_read(
    table: Table,
    stores: Mapping[Tier, Store],
    columns: tuple[str, ...] | None = None,
    *,
    through_lake: bool = False,
    at: Position | None = None,
    where: Sequence[RowCondition] = (),
) -> pa.Table:
    """All rows of `table`, whichever tier holds them, as of one moment during the call; in no order.

    Args:
        table: As the flow writes it.
        stores: Has the tiers that `tiers_read` names.
        columns: Names of the columns wanted, at least one; None: all.
        through_lake: See `tiers_read`.
        at: A position in the tier the flow writes: the rows of that moment; None: now.
        where: Rows that do not fulfil all of them may be left out.

    Raises:
        RowsLostError: rows were dropped from the log before they were tiered, or those of `at` are no longer there.
        StateConflictError: the lake's copy is that of another table.
    """
    wanted = columns or table.column_names
    source, base = sides(table, stores, through_lake=through_lake, at=at)
    if base is None:
        rows = state_rows(source, table, at, wanted, where)
        base = _tiered_since(table, stores, at, through_lake=through_lake)
        if base is None:
            return rows
    needed = _with_key(table, wanted)

    def read(base: Base) -> pa.Table:
        tail = read_tail(table, source, base, needed, at)
        lake_rows = state_rows(base.lake, table.replica, base.at, needed, where)
        return pa.concat_tables([without_changed(lake_rows, tail, table.primary_key), tail.upserts]).select(wanted)

    return _from_newest(table, source, base, at, read)


def union_frame(
    spark: "SparkSession",
    table: Table,
    stores: Mapping[Tier, Store],
    columns: tuple[str, ...] | None = None,
    *,
    through_lake: bool = False,
    at: Position | None = None,
    where: Sequence[RowCondition] = (),
    order: str | None = None,
) -> "DataFrame":
    """As `union_read`, for Spark: what a lake holds stays there until Spark reads it, which sees to `where` itself.

    With `order` the rows of a log may have a further column of that name (`OrderedStore`, `PlacedStore`); else they
    are in order.
    """
    wanted = columns or table.column_names
    source, base = sides(table, stores, through_lake=through_lake, at=at)
    if base is None:
        rows = state_frame(spark, source, table, at, wanted, where, order)
        base = _tiered_since(table, stores, at, through_lake=through_lake)
        if base is None:
            return rows
    needed = _with_key(table, wanted)
    base, tail = _from_newest(
        table, source, base, at, lambda found: (found, read_tail(table, source, found, needed, at))
    )
    lake_rows = state_frame(spark, base.lake, table.replica, base.at, needed, where, order)
    changed = changed_keys(tail, table.primary_key)
    if changed is not None and changed.num_rows:
        changed_rows = arrow_frame(spark, changed)
        lake_rows = lake_rows.join(changed_rows, met(lake_rows, changed_rows, table), "left_anti")
    later = tail.upserts.select(wanted)
    if order is None or order not in lake_rows.columns:
        return lake_rows.select(*wanted).unionByName(arrow_frame(spark, later))
    numbers = pa.array(range(UNPLACED.stop * 2, UNPLACED.stop * 2 + later.num_rows), pa.int64())
    return lake_rows.select(*wanted, order).unionByName(arrow_frame(spark, later.append_column(order, numbers)))


def union_count(table: Table, stores: Mapping[Tier, Store], column: str, *, through_lake: bool = False) -> int:
    """How many rows `union_read` has; reads no more than `column`, and of a lake that counts by itself nothing."""
    source, base = sides(table, stores, through_lake=through_lake)
    if base is None:
        rows = state_count(source, table, None, column)
        base = _tiered_since(table, stores, None, through_lake=through_lake)
        if base is None:
            return rows
    if table.primary_key:
        return int(union_read(table, stores, (column,), through_lake=through_lake).num_rows)
    base, tail = _from_newest(
        table, source, base, None, lambda found: (found, read_tail(table, source, found, (column,)))
    )
    return state_count(base.lake, table.replica, base.at, column) + int(tail.upserts.num_rows)


def state_count(store: Store, table: Table, at: Position | None, column: str) -> int:
    """How many rows one tier has at `at` (None: now)."""
    if isinstance(store, FrameStore):
        return store.count_rows(table, at)
    return int(store.read_state(table, at=at, columns=(column,)).num_rows)


def state_frame(
    spark: "SparkSession",
    store: Store,
    table: Table,
    at: Position | None,
    columns: tuple[str, ...],
    where: Sequence[RowCondition] = (),
    order: str | None = None,
) -> "DataFrame":
    """The rows of one tier at `at` (None: now); for `order` see `union_frame`."""
    if order is not None and not table.primary_key and isinstance(store, OrderedStore):
        return store.ordered(table, at, order).select(*columns, order)
    if order is not None and not table.primary_key and isinstance(store, PlacedStore):
        return arrow_frame(spark, store.read_placed(table, at, columns, order))
    if isinstance(store, FrameStore):
        return store.dataframe(table, at).select(*columns)
    return arrow_frame(spark, state_rows(store, table, at, columns, where))


def state_rows(
    store: Store, table: Table, at: Position | None, columns: tuple[str, ...], where: Sequence[RowCondition] = ()
) -> pa.Table:
    """As `state_frame`, in this process."""
    if where and isinstance(store, FilteredStore):
        return store.read_where(table, at, columns, where)
    return store.read_state(table, at=at, columns=columns)


def find_base(table: Table, source: Store, lake: LakeStore, at: Position | None = None) -> Base | None:
    """The lake's newest snapshot, not beyond `at`, with the offsets it holds; None: none holds any of that.

    Raises:
        RowsLostError: the snapshots not beyond `at` were expired, and `source` may have dropped their rows.
        StateConflictError: the copy changes faster than its snapshots can be read.
    """
    if at is not None:
        return _base_before(table, source, lake, at)
    replica = table.replica
    before = {} if table.keeps_all(source.tier) else source.end(table)
    mark = read_mark(lake, replica, source.tier)
    for _ in range(_TRIES):
        if mark is None:
            return None
        at = lake.end(replica)
        now = again(lake, replica, source.tier)
        # Between two equal answers no round was committed: the snapshot `at` is the mark's, or a compaction of it.
        if now == mark:
            return Base(lake, at, mark, before)
        mark = now
    raise StateConflictError(
        f"{table.name}: its {lake.tier} copy changed {_TRIES} times while it was being read",
        hint="tiering commits faster than snapshots can be read; tier in larger rounds",
    )


def read_tail(table: Table, source: Store, base: Base, columns: tuple[str, ...], at: Position | None = None) -> Changes:
    """What `source` holds, up to `at` (None: its end), that `base` does not.

    Raises:
        RowsLostError: rows were dropped that `base` does not hold. As of now a newer base does.
    """
    oldest = source.start(table) if isinstance(source, LogStore) else {}
    end = source.end(table) if at is None else at
    cut(base.mark.offsets, oldest, end)
    changes = source.read_changes(table, base.mark.offsets, end, columns)
    if not table.keeps_all(source.tier):
        wanted = base.before | end if at is None else base.before
        _refuse_dropped(table, source, base.lake, base.mark.offsets, wanted)
    return Changes(upserts=changes.upserts.select(columns), deletes=changes.deletes)


def _refuse_dropped(table: Table, source: Store, lake: LakeStore, lake_end: Position, wanted: Position) -> None:
    """Raise where buckets are gone of which rows are wanted that a lake's snapshot, up to `lake_end`, does not have."""
    now = source.end(table)
    if lost_buckets := [
        bucket for bucket, end in wanted.items() if bucket not in now and end > lake_end.get(bucket, 0)
    ]:
        raise RowsLostError(
            f"{table.name}: {source.tier} dropped {lost_buckets[0]}, and {lake.tier} had not all of its rows by then",
            hint="ask for a later moment: they were tiered before they were dropped",
        )


def _from_newest(table: Table, source: Store, base: Base, at: Position | None, read: Callable[[Base], T]) -> T:
    """`read(base)`, again with a newer base when what it needs is gone since its base was found.

    Upkeep removes snapshots of the lake, and drops days that the lake holds by now.
    """
    for left in reversed(range(_TRIES)):
        try:
            return read(base)
        except StoreError:
            newer = find_base(table, source, base.lake, at)
            if newer is None or newer == base or not left:
                raise
            base = newer
    raise AssertionError("the last try returns or raises")


def changed_keys(tail: Changes, keys: tuple[str, ...]) -> pa.Table | None:
    """The keys that the tail upserts or deletes, once each; None for a log table."""
    if not keys:
        return None
    changed = tail.upserts.select(keys)
    return changed if tail.deletes is None else pa.concat_tables([changed, tail.deletes.select(keys)])


def without_changed(rows: pa.Table, tail: Changes, keys: tuple[str, ...]) -> pa.Table:
    """The rows whose key the tail neither upserts nor deletes; all rows of a log table."""
    changed = changed_keys(tail, keys)
    if changed is None or not changed.num_rows or not rows.num_rows:
        return rows
    return without_keys(rows, changed)


def _forgotten(table: Table, source: Store, lake: LakeStore) -> RowsLostError:
    return RowsLostError(
        f"{lake.tier} no longer holds the rows of {table.name} as of that moment, and {source.tier} drops old ones",
        hint="keep_snapshots in streamhouse.yaml says how long the snapshots of lakes exist; without it few do",
    )


def _base_before(table: Table, source: Store, lake: LakeStore, at: Position) -> Base | None:
    if read_mark(lake, table.replica, source.tier) is None:
        return None
    if not isinstance(lake, LakeMetadata):
        return find_base(table, source, lake)
    oldest: Mark | None = None
    later: set[str] = set()  # buckets of which newer snapshots hold rows
    for snapshot in reversed(lake.list_snapshots(table.replica)):
        mark = Mark.from_properties(snapshot.properties)
        if mark is not None and not behind(at, mark.offsets):
            return Base(lake, {SNAPSHOT: snapshot.number}, mark, {one: end for one, end in at.items() if one in later})
        if mark is not None:
            oldest = mark
            later |= mark.offsets.keys()
    if not table.keeps_all(source.tier):
        # The tier the flow writes had all rows until the first round; since then it may have dropped some.
        if oldest is None or oldest.round:
            raise _forgotten(table, source, lake)
        _refuse_dropped(table, source, lake, {}, at)
    return None


def sides(
    table: Table, stores: Mapping[Tier, Store], *, through_lake: bool = False, at: Position | None = None
) -> tuple[Store, Base | None]:
    """The tier the flow writes, and what a lake holds of it; None: that tier is all that is read.

    Raises:
        TableLostError: one of them is gone, is another table, or is older than what was recorded.
    """
    tiers = tiers_read(table, through_lake=through_lake)
    source = stores[tiers[0]]
    verify(source, table)
    if len(tiers) == 1:
        return source, None
    return source, find_base(table, source, cast("LakeStore", stores[tiers[1]]), at)


def _tiered_since(
    table: Table, stores: Mapping[Tier, Store], at: Position | None, *, through_lake: bool
) -> Base | None:
    """What a lake holds now of a table that drops days, and did not when its first tier began to be read."""
    if at is not None or table.keeps_all(table.tiers.target):
        return None
    return sides(table, stores, through_lake=through_lake)[1]


def _with_key(table: Table, columns: tuple[str, ...]) -> tuple[str, ...]:
    return columns + tuple(key for key in table.primary_key if key not in columns)
