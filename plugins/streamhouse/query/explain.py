"""What a query reads of each table: tiers, columns, conditions, files and bytes."""

from dataclasses import dataclass

from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.query.parse import Query, TableUse
from streamhouse.query.reading import ReadableRows
from streamhouse.stores.base import LakeMetadata, LogStore


@dataclass(frozen=True)
class TableRead:
    """What is read of one table in one tier.

    Attributes:
        table: As the query names it.
        moment: As of when; empty: now.
        tier: Where; None: what the state store says.
        columns: Those that are read, of `of_columns`.
        where: Conditions that reach the store, which leaves out files, or rows, that cannot fulfil them.
        rows: Rows in the files, or offsets in the log, that are read, of `of_rows`.
        files: That are opened, of `of_files`; None: the tier has none to tell of.
        bytes: Their size as a whole, of `of_bytes`; a reader of few columns takes less.
    """

    table: str
    moment: str
    tier: Tier | None
    columns: tuple[str, ...]
    of_columns: int
    where: tuple[str, ...]
    rows: int | None = None
    of_rows: int | None = None
    files: int | None = None
    of_files: int | None = None
    bytes: int | None = None
    of_bytes: int | None = None


def reads_of(query: Query, tables: ReadableRows) -> list[TableRead]:
    """What the query reads, table by table in the order of their names, the hottest tier first."""
    return [read for use in query.uses for read in _of(use, tables)]


def _of(use: TableUse, tables: ReadableRows) -> list[TableRead]:
    columns, every = use.columns, len(use.shown.columns)
    moment = str(use.moment) if use.moment else ""
    if use.part.view is not None or not use.tiers:
        return [TableRead(use.title, moment, tier, columns, every, ()) for tier in use.tiers or (None,)]
    reads = []
    for tier, table, start, end in tables.parts(use):
        store = tables.stores[tier]
        if isinstance(store, LakeMetadata) and start is None:
            reads.append(_of_lake(use, store, table, tier, end, moment))
            continue
        if table.primary_key and start is None:  # the state of all keys, whose number is unknown
            reads.append(TableRead(use.title, moment, tier, columns, every, ()))
            continue
        stop = store.end(table) if end is None else end
        log_start = store.start(table) if isinstance(store, LogStore) else {}
        rows, all_rows = (store.rows_between(table, first, stop) for first in (start or log_start, log_start))
        reads.append(TableRead(use.title, moment, tier, columns, every, (), rows, all_rows))
    return reads


def _of_lake(
    use: TableUse, store: LakeMetadata, table: Table, tier: Tier, at: Position | None, moment: str
) -> TableRead:
    read, every = store.list_files(table, at, use.where), store.list_files(table, at)
    return TableRead(
        use.title,
        moment,
        tier,
        use.columns,
        len(use.shown.columns),
        tuple(str(one) for one in use.where),
        rows=sum(file.rows for file in read if not file.deletes),
        of_rows=sum(file.rows for file in every if not file.deletes),
        files=len(read),
        of_files=len(every),
        bytes=sum(file.bytes for file in read),
        of_bytes=sum(file.bytes for file in every),
    )
