"""Data about a table itself, as rows: its changes, its snapshots and its files."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from streamhouse.errors import QueryRefusedError, RowsLostError
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.model.version import version_of
from streamhouse.query.epoch_positions import Epochs
from streamhouse.query.parse import TableUse
from streamhouse.query.parts import Part, TableView, shown
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import EPOCH, WRITER, Changes, LakeMetadata, LoggedStore, Store
from streamhouse.stores.keyed import with_keys, without_keys
from streamhouse.stores.ledger import verify
from streamhouse.stores.mark import OFFSETS, SNAPSHOT

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def view_rows(
    use: TableUse,
    stores: Mapping[Tier, Store],
    epochs: Epochs,
    start: Position | None = None,
    end: Position | None = None,
) -> pa.Table:
    """The rows of a part that is a view, with all of its columns.

    Args:
        use: Its part has a view.
        stores: Has `use.tiers`.
        epochs: For the history.
        start: Where the changes begin; None: at the first that still exists.
        end: Where they end; None: now.

    Raises:
        RowsLostError: changes of the range are no longer there.
    """
    rows: list[dict[str, Any]]
    if use.part.view is TableView.HISTORY:
        found = epochs.history(use.table.name)
    elif use.part.view is TableView.STORED:
        name = use.table.name
        rows = [{"tier": t.value, "stored_as": name, "version": version_of(name)} for t in use.table.tiers.present]
        found = pa.Table.from_pylist(rows, schema=arrow_schema(use.shown.columns))
    elif use.part.view is TableView.CHANGES:
        store, table = verified(stores[use.tiers[0]], use.table)
        found = changes(table, store, start, end)
    else:
        found = pa.Table.from_pylist(_of_lakes(use, stores), schema=arrow_schema(use.shown.columns))
    return found


def _of_lakes(use: TableUse, stores: Mapping[Tier, Store]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for tier in use.tiers:
        store, table = verified(stores[tier], use.table)
        if not isinstance(store, LakeMetadata) or store.columns(table.name) is None:
            continue  # nothing was tiered yet
        rows += _snapshots(store, table, tier) if use.part.view is TableView.SNAPSHOTS else _files(store, table, tier)
    return rows


def verified(store: Store, table: Table) -> tuple[Store, Table]:
    """A tier, and a table as it holds it.

    Raises:
        TableLostError: the table is gone, is another one, or is older than what was recorded.
    """
    stored = table if store.tier is table.tiers.target else table.replica
    verify(store, stored)
    return store, stored


def changes(table: Table, store: Store, start: Position | None = None, end: Position | None = None) -> pa.Table:
    """Every change that a tier has between two positions: `KIND_COLUMNS`, then those of the table.

    A tier that keeps no log gives the changes of each snapshot, in `_offset`. One that does not know the rows before a
    change gives `+U` for an insert, too, and for a delete only the key.

    Raises:
        QueryRefusedError: the tier merges rows of the table, so it has no changes of it.
        RowsLostError: the tier no longer has all snapshots between the positions.
    """
    if isinstance(store, LoggedStore):
        begin = store.start(table) if start is None else start
        return store.read_log(table, begin, store.end(table) if end is None else end, table.column_names)
    schema = arrow_schema(shown(table, Part(view=TableView.CHANGES)).columns)
    if not isinstance(store, LakeMetadata):
        return schema.empty_table()
    if table.merge:
        raise QueryRefusedError(
            f"{store.tier} keeps of {table.name} what was added, not the changes", hint="its hot tier would"
        )
    first = 0 if start is None else start.get(SNAPSHOT, 0)
    last = (store.end(table) if end is None else end).get(SNAPSHOT, 0)
    snapshots = store.list_snapshots(table)
    if start is not None and snapshots and first + 1 < snapshots[0].number:
        raise RowsLostError(f"{store.tier} no longer holds the snapshots of {table.name} after {first}")
    parts = [schema.empty_table()]
    before = first if start is not None or not snapshots else snapshots[0].number - 1
    for snapshot in snapshots:
        if not first < snapshot.number <= last:
            continue
        if snapshot.kind != "compact":
            found = store.read_changes(table, {SNAPSHOT: before} if before else {}, {SNAPSHOT: snapshot.number})
            at = _EPOCH + timedelta(milliseconds=snapshot.committed_ms)
            parts += [
                _change_rows(kind, rows, snapshot.number, at, schema) for kind, rows in kinds(found, table.primary_key)
            ]
        before = snapshot.number
    return pa.concat_tables(parts)


def kinds(found: Changes, keys: tuple[str, ...]) -> list[tuple[str, pa.Table]]:
    """The rows of changes by their kind, those before a change first."""
    if not keys:
        return [("+I", found.upserts)]
    deletes = found.deletes
    if found.before is None:
        return [("+U", found.upserts), *([("-D", deletes)] if deletes is not None else [])]
    named = found.upserts.select(keys)
    old = found.before.select(keys)
    return [
        ("-D", without_keys(found.before, named)),
        ("-U", with_keys(found.before, named)),
        ("+U", with_keys(found.upserts, old)),
        ("+I", without_keys(found.upserts, old)),
    ]


def _change_rows(kind: str, rows: pa.Table, number: int, at: datetime, schema: pa.Schema) -> pa.Table:
    own = {"_kind": kind, "_bucket": None, "_offset": number, "_at": at}
    arrays = [
        pa.repeat(pa.scalar(own[field.name], field.type), rows.num_rows)
        if field.name in own
        else (rows.column(field.name) if field.name in rows.column_names else pa.nulls(rows.num_rows, field.type))
        for field in schema
    ]
    return pa.table(arrays, schema=schema)


def _snapshots(store: LakeMetadata, table: Table, tier: Tier) -> list[dict[str, Any]]:
    return [
        {
            "tier": tier.value,
            "snapshot": one.number,
            "committed_at": _EPOCH + timedelta(milliseconds=one.committed_ms),
            "kind": one.kind,
            "added_rows": one.added_rows,
            "total_rows": one.total_rows,
            "writer": one.properties.get(WRITER),
            "epoch": int(one.properties[EPOCH]) if EPOCH in one.properties else None,
            "tiered_to": one.properties.get(OFFSETS),
        }
        for one in store.list_snapshots(table)
    ]


def _files(store: LakeMetadata, table: Table, tier: Tier) -> list[dict[str, Any]]:
    return [
        {
            "tier": tier.value,
            "path": one.path,
            "kind": "deletes" if one.deletes else "data",
            "partition": ", ".join(f"{k}={v}" for k, v in zip(table.partition_by, one.partition, strict=True)) or None,
            "bucket": one.bucket,
            "rows": one.rows,
            "bytes": one.bytes,
        }
        for one in store.list_files(table)
    ]
