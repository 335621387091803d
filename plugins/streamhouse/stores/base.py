"""What the engine asks of a store.

Rows travel as `pyarrow.Table`s whose columns are those of the table, by name and in its order,
with the Arrow types of `stores/arrow.py`. All methods may be called from several threads.

One writer (`WriteContext.writer`) writes a table from one thread at a time. A plain keyed table
(with a key, without `merge`) may have several writers, of any processes, when each owns columns
of its own (`WriteContext.columns`); every other table has one.
"""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from streamhouse.model.shape import Shape
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.ledger import Ledger
from streamhouse.stores.where import RowCondition

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from streamhouse.stores.sums import SumBounds


Partition = tuple[date | str | int, ...]
"""The values of `Table.partition_by` that the rows of one partition share, in its order; none of them is NULL."""


@dataclass(frozen=True)
class Capabilities:
    """What a store can do; ask these, never a store's name. The contract suite keeps them true."""

    upsert: bool = True  # tables with a primary key
    merge: bool = True  # folds values with `Table.merge` functions
    selects: bool = True  # tables of which the first row of a key wins, or the one of the highest version
    replaces_selected: bool = True  # `replace` in such a table
    add_merged_columns: bool = True  # `add_columns` of a table that merges
    changes: bool = True  # `read_changes` works
    cuts_commits: bool = False  # `advance` stops within what one `write` wrote, to keep to its number of rows
    before_images: bool = False  # `read_changes` of a keyed table gives the row before each change
    state_as_of: bool = False  # `read_state(at=…)` works for past positions


@dataclass(frozen=True)
class Changes:
    """What happened to a table between two positions.

    Attributes:
        upserts: Log table: every appended row. Keyed table: the last row of each key that exists
            at the end of the range, once each.
        deletes: Keyed table: primary-key columns of the keys that are gone at the end of the
            range. None: nothing was deleted (always so for log tables).
        before: Keyed table of a store with `before_images`: the rows, as of the start of the
            range, of every key in `upserts` or `deletes` that existed then. None: not known.
    """

    upserts: "pa.Table"
    deletes: "pa.Table | None" = None
    before: "pa.Table | None" = None


@dataclass(frozen=True)
class WriteContext:
    """Who writes, and what an earlier attempt may have left.

    Attributes:
        writer: Stable name of the flow and segment, `flow/segment`.
        epoch: Number of the epoch, from 0, rising by one.
        replay_from: The table's end when the last finished epoch was recorded, given when an
            earlier attempt of this epoch may have written; None: there was no such attempt.
        properties: Kept with the commit where the store can (snapshot properties).
        columns: The columns outside the key that this writer owns, when it writes only a part of
            each row (`Store.write`); None: whole rows.
        sums: What the writer knows of the sums in its tables; None: nothing, so a table that sums is read.
    """

    writer: str
    epoch: int
    replay_from: Position | None = None
    properties: dict[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None
    sums: "SumBounds | None" = None


class Store(Protocol):
    """One tier. Library errors leave as `StoreError`s; `StoreUnavailableError` may be retried."""

    tier: Tier
    capabilities: Capabilities
    ledger: Ledger

    def identity(self, name: str) -> str | None:
        """By which the store distinguishes the table from another one of its name; None: there is no such table."""

    def create(self, table: Table) -> None:
        """Create the table and its database; do nothing when it stands with the same columns and key.

        Raises:
            SchemaConflictError: it stands with other columns, key, buckets or merge functions.
            TableLostError: the ledger knows of it, and it is gone or another one.
        """

    def add_columns(self, table: Table) -> None:
        """Add the columns of `table` that the stored one lacks, at its end and nullable; nothing when there are none.

        Columns are matched by name. One that only the stored table has stays: it is another writer's,
        or one that a plan gave up. Rows written before read as NULL in a new column. All writers
        and readers go on: those of this process see the columns at their next call, those that
        know fewer or another order of them never have to. In a table that merges, `table.merge`
        says how the new columns are combined; how those are combined that only the stored table has does not matter.

        Raises:
            TableMissingError: there is no such table.
            TableLostError: the ledger knows another one of its name.
            SchemaConflictError: a stored column has another type in `table`, the key, buckets or
                merge functions differ, or this store cannot add such a column; nothing was changed.
        """

    def drop(self, name: str) -> None:
        """Drop the table and its rows; do nothing when there is none."""

    def columns(self, name: str) -> tuple[Column, ...] | None:
        """The stored columns in their order; None when there is no such table."""

    def end(self, table: Table) -> Position:
        """The position after the last visible row."""

    def rows_between(self, table: Table, start: Position, end: Position) -> int:
        """About how many rows `read_changes` of the range has to read: 0 for an empty range only.

        Counts what was written, so a row that was changed twice counts twice. From the beginning
        (`start` empty) it is what the state at `end` takes where the store keeps no log of it.

        Raises:
            RowsLostError: what the range holds is no longer known.
        """

    def advance(self, table: Table, start: Position, max_rows: int) -> Position:
        """How far to read from `start` at once: about `max_rows` by `rows_between`, and further than `start`.

        It is `start` at the table's end only. A store may cut between its commits only; then one
        commit may have more rows. Where the beginning of the history is gone, the first step goes
        to the oldest state that can be read.

        Raises:
            RowsLostError: rows after `start` are no longer there.
        """

    def read_changes(
        self, table: Table, start: Position, end: Position, columns: tuple[str, ...] | None = None
    ) -> Changes:
        """What happened in `[start, end)`; columns None means all.

        Raises:
            RowsLostError: rows of the range are no longer there.
        """

    def read_state(
        self, table: Table, at: Position | None = None, columns: tuple[str, ...] | None = None
    ) -> "pa.Table":
        """All rows at `at` (None: now), in no order; a keyed table has one row for each key."""

    def write(self, table: Table, changes: Changes, context: WriteContext) -> Position:
        """Apply `changes` once, however often the same epoch calls, and return the table's new end.

        Log table: `upserts` are appended. Keyed table: upserts and deletes by key (no key is in
        both); a table with `merge` folds upserts. Of a table that selects (`Table.selects`) nothing is
        deleted, and an upsert is dropped without a trace where `Table.merge_engine` lets another one win,
        in `upserts` or stored. Durable and visible on return. Raises without
        effect, or with an effect that the next call with the same epoch (and `replay_from`)
        completes and does not repeat.

        **Partial write**: `context.columns` names columns outside the key of a plain keyed table.
        Only they are read from `upserts` (besides the key), and only they change. Where the key is
        stored, the other columns keep their values; where it is not, they are NULL. A NULL in
        `upserts` overwrites. A delete sets the owned columns to NULL, and removes the row when
        every column outside the key is NULL then, of every writer; where the key is not stored, it
        does nothing. So a row lives as long as any writer has a value in it: a row whose columns
        are all NULL counts as one that nobody wrote, and the next delete removes it. The
        result does not depend on how the epochs of writers with disjoint columns interleave,
        unless rows without any value are among them. `read_changes` gives whole rows.

        Raises:
            WriteRefusedError: a null in the key (but for `Table.null_keys`, where it is a value like any other) or
                in `Table.partition_by`, an absent column, a value that
                does not fit, a sum that would not fit in a table with `merge` (no row of this write is there then), a
                delete where the table cannot delete; a partial write of another kind of table, or of columns
                that are unknown, of the key, or none.
        """

    def replace(self, table: Table, changes: Changes, context: WriteContext) -> Position:
        """Set the rows of a keyed table, whatever its merge engine says, and return its new end.

        `write`, but in a table that merges or selects an upsert sets the whole row, the last one of each key
        given, and deletes remove rows: what later epochs add is folded into it. The same promises
        hold. Call it while no epoch of another writer is unfinished: a replay could take the keys
        set here for its own.

        A log table is refused, and one that selects where the store lacks `replaces_selected`. Of a
        table that does neither it is `write`.
        """

    def close(self) -> None:
        """Release connections; the store cannot be used afterwards."""


DROPPED = "streamhouse.dropped"
"""Property of a lake's snapshot that only dropped partitions: their number."""

CARRIED = "streamhouse.carried"
"""Property of a commit by upkeep that has no rows: it says again what the newest commit of a writer said."""

SNAPSHOT_ID = "streamhouse.snapshot"
WRITER = "streamhouse.writer"
EPOCH = "streamhouse.epoch"


class NeedsSparkError(Exception):
    """A reader that does without Spark cannot read a table, or not quickly; the text says why."""


class UnknownFormError(NeedsSparkError):
    """The reader does not understand a file of the table: it is damaged, or of a form that only Spark knows."""


class LakeStore(Store, Protocol):
    """A store whose commits are snapshots that carry properties: warm and cold."""

    def snapshot_properties(self, table: Table) -> dict[str, str]:
        """What the newest snapshot written by `write` carries; empty when there is none.

        `WriteContext.properties`, `WRITER` and `EPOCH` of that commit, its number, as in a position, as `SNAPSHOT_ID`,
        and what the lake adds of its own. Compaction on top of it, and its expiry, change nothing here.
        """

    def last_commit(self, table: Table, writer: str) -> dict[str, str] | None:
        """The same of the newest snapshot of one writer; None when there is none."""


@runtime_checkable
class ListedStore(Protocol):
    """A store that keeps what it needs to see whether the lists of a table's files are as they were written."""

    def check_lists(self, table: Table) -> None:
        """Compare the files that tell which files the newest snapshot has; reads no file with rows.

        Of manifests only the sizes are compared, and nothing of a table in an object store.

        Raises:
            StoreError: one is damaged, or is gone.
        """


@runtime_checkable
class NotedStore(Store, Protocol):
    """A store whose writes carry no properties: what a writer has to say stands beside its tables."""

    def note(self, writer: str, text: str, tables: Collection[str]) -> None:
        """Keep the text in place of the one before, until all of these tables are gone; durable on return."""

    def noted(self, writer: str) -> str | None:
        """The text; None: there is none, or all the tables it was about were dropped or made again."""


@runtime_checkable
class ShapedStore(Store, Protocol):
    """A store that distinguishes a table from another one of its name, and a column from another one of its name."""

    def shape(self, name: str) -> Shape | None:
        """The table as it is now; None: there is none. A few milliseconds when nothing changed."""


@runtime_checkable
class LogStore(Store, Protocol):
    """A store whose change logs grow old: rows past their time are dropped from the log, read or not."""

    def start(self, table: Table) -> Position:
        """The oldest position that the log retains."""

    def retention(self, table: Table) -> timedelta:
        """How long the log retains a row, at least."""

    def position_before(self, table: Table, at: datetime) -> Position:
        """The position before the first row written at `at`, which is past, or later; the end when there is none."""


@runtime_checkable
class FrameStore(LakeStore, Protocol):
    """A lake that Spark reads by itself, on the executors."""

    def dataframe(self, table: Table, at: Position | None = None) -> "DataFrame":
        """All rows at `at` (None: now, and later commits do not show), read where and when they are used."""

    def count_rows(self, table: Table, at: Position | None = None) -> int:
        """How many rows `dataframe` has, in files that are there and can be opened."""


@runtime_checkable
class OrderedStore(FrameStore, Protocol):
    """A lake whose DataFrames have no order, and which can tell the one that rows of a log came in."""

    def ordered(self, table: Table, at: Position | None, column: str) -> "DataFrame":
        """`dataframe` of a log, with a further `column` of type bigint that rises from row to row.

        Those of rows whose place was lost, as files were written together, are in `UNPLACED`; of rows that surely came
        before them they are smaller, of later ones larger.
        """


@runtime_checkable
class PlacedStore(LakeStore, Protocol):
    """As `OrderedStore`, of a lake that is read in this process."""

    def read_placed(self, table: Table, at: Position | None, columns: tuple[str, ...], column: str) -> "pa.Table":
        """`read_state` of a log, with a further `column` of type int64 as in `OrderedStore.ordered`."""


UNPLACED = range(1 << 60, 1 << 61)
ROWS_OF_A_FILE = 36
"""Bits of the number of a row in its file, in the numbers of `OrderedStore` and `PlacedStore`."""


KIND_COLUMNS = ("_kind", "_bucket", "_offset", "_at")
"""First columns of a change log: kind of change, where it stands in the log, and when it was committed."""


@runtime_checkable
class LoggedStore(LogStore, Protocol):
    """A store whose change logs tell every change by itself."""

    def read_log(self, table: Table, start: Position, end: Position, columns: tuple[str, ...]) -> "pa.Table":
        """Every change in `[start, end)`, bucket by bucket in their order.

        Returns:
            `KIND_COLUMNS` (`+I`, `-U`, `+U` or `-D`; int; bigint; timestamp), then `columns`.

        Raises:
            RowsLostError: changes of the range are no longer there.
        """


@runtime_checkable
class TimedStore(Protocol):
    """A store that knows when its rows were committed."""

    def position_at(self, table: Table, at_ms: int) -> Position:
        """The position after the last row committed at `at_ms` or before.

        Raises:
            RowsLostError: it is no longer known.
        """


@dataclass(frozen=True)
class Snapshot:
    """One commit to a table in a lake.

    Attributes:
        number: As in a position.
        kind: `append`, `compact`, `overwrite` or `drop` (of partitions), as far as the lake tells them apart.
        added_rows: Rows (and deletes) that it wrote.
        total_rows: Rows that the table's files hold since; those that later ones replace may count, too.
        properties: That were kept with it.
    """

    number: int
    committed_ms: int
    kind: str
    added_rows: int
    total_rows: int
    properties: dict[str, str]


@dataclass(frozen=True)
class DataFile:
    """One file of a snapshot; `deletes`: it says which rows of others are deleted."""

    path: str
    rows: int
    bytes: int
    bucket: int | None = None
    deletes: bool = False
    partition: Partition = ()


@runtime_checkable
class LakeMetadata(Protocol):
    """A lake that lists its snapshots and files."""

    def position_of(self, table: Table, snapshot: int) -> Position:
        """The position of a snapshot: by its number here, or by the id that other engines know; it may be gone."""

    def list_snapshots(self, table: Table) -> list[Snapshot]:
        """The snapshots that still exist, oldest first."""

    def list_files(
        self, table: Table, at: Position | None = None, where: Sequence[RowCondition] = ()
    ) -> list[DataFile]:
        """The files that a read at `at` (None: now) opens, but for those that surely hold no row with all of `where`.

        Raises:
            RowsLostError: the snapshot was expired.
        """


@runtime_checkable
class FilteredStore(Protocol):
    """A store that leaves out rows by itself."""

    def read_where(
        self, table: Table, at: Position | None, columns: tuple[str, ...], where: Sequence[RowCondition]
    ) -> "pa.Table":
        """`read_state` with every row that fulfils all of `where`; others may be there, too."""


@runtime_checkable
class PartitionedStore(Protocol):
    """A store that keeps the rows of each partition apart, and drops them together.

    Dropping takes rows away without changing the table for those who follow it: `read_changes` over a drop gives no
    delete, `rows_between` and `advance` count nothing for it, positions before it stay good, and what `write`
    recorded (epochs, snapshot properties) stands. Rows that were dropped before they were read are lost to
    readers that had not come so far, as in a log past its time. A row written to a dropped partition makes it again.
    """

    def partitions(self, table: Table, since: Position | None = None) -> list[Partition]:
        """The partitions that are stored, in order; with `since`, those that changed in `[since, now)` only.

        A partition without rows may be among them, and with `since` one that was compacted. Of a table that is
        not partitioned there are none.

        Raises:
            RowsLostError: what changed since then is no longer known.
        """

    def drop_partitions(
        self, table: Table, to_drop: Sequence[Partition], covered: Position | None = None
    ) -> list[Partition]:
        """Drop the rows of the partitions `to_drop`, and return those that were dropped, without those that are absent.

        With `covered`, a partition that changed after it stays: a colder tier holds what the table had at `covered`.
        A lake looks and drops under the table's lock.

        Raises:
            RowsLostError: what changed since `covered` is no longer known; nothing was dropped.
        """


@runtime_checkable
class PreparedStore(PartitionedStore, Protocol):
    """A store whose partitions have servers of their own, so that the first row of a day waits until they are found."""

    def make_partitions(self, table: Table, wanted: Sequence[Partition]) -> None:
        """Make the partitions that are absent. `write` does so, too.

        Raises:
            WriteRefusedError: the table has as many as it may have.
        """


@runtime_checkable
class GuardedStore(PartitionedStore, Protocol):
    """A store that looks and drops in two steps: `write` of rows that are past their time waits while it does.

    So no row is lost that is written when its partition is dropped. Others that write instead of `write`, as
    Spark's tasks, are guarded by the code that sends them.
    """

    def undropped(self, table: Table) -> AbstractContextManager[None]:
        """A block in which `drop_partitions` of the table waits; `write` of late rows in it, by this process, too.

        Raises:
            StoreUnavailableError: another holder kept it for too long.
        """
