"""Notes of writers, in a table of their own beside the tables: Fluss keeps nothing with the rows of a write."""

import json
from collections.abc import Collection
from datetime import timedelta

import pyarrow as pa

from streamhouse.errors import TableMissingError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.fluss import ddl
from streamhouse.stores.fluss.catalog import FlussCatalog, Located
from streamhouse.stores.fluss.native import Native, Target

NAME = "streamhouse.notes"
_WRITER, _NOTE, _TABLES = "writer", "note", "tables"
_NOTES = Table(
    name="ods.notes",  # none of the layers is: see `NAME`
    columns=tuple(Column(name=name, type="string") for name in (_WRITER, _NOTE, _TABLES)),
    primary_key=(_WRITER,),
    tiers=Tiers(hot=timedelta(hours=1)),
)
"""`tables`: name → id of each table that the note is about, as JSON."""


class Notes:
    """A part of `FlussStore`; see `NotedStore`."""

    _catalog: FlussCatalog
    _native: Native

    def note(self, writer: str, text: str, tables: Collection[str]) -> None:
        """See `NotedStore.note`."""
        ids = {name: self._catalog.on_leaders(name, lambda found: found).stored.table_id for name in sorted(tables)}
        values = {_WRITER: [writer], _NOTE: [text], _TABLES: [json.dumps(ids)]}
        rows = pa.table(values, schema=arrow_schema(_NOTES.columns))

        def write(located: Located) -> None:
            self._native.confirm(NAME, self._native.upsert(Target.of(located), rows, None))

        try:
            self._catalog.on_leaders(NAME, write)
        except TableMissingError:
            self._catalog.create(NAME, ddl.describe(_NOTES, timedelta(hours=1)))
            self._catalog.on_leaders(NAME, write)

    def noted(self, writer: str) -> str | None:
        """See `NotedStore.noted`."""
        try:
            rows = self._catalog.on_leaders(NAME, self._all)
        except TableMissingError:
            return None
        for row in rows.to_pylist():
            if row[_WRITER] == writer and self._stand(json.loads(row[_TABLES])):
                return str(row[_NOTE])
        return None

    def _all(self, known: Located) -> pa.Table:
        located = self._catalog.refreshed(known)
        names = _NOTES.column_names
        return pa.concat_tables([self._native.scan(Target.of(located), bucket, names) for bucket in located.leaders])

    def _stand(self, ids: dict[str, int]) -> bool:
        """Whether any of the tables is still there: of others of their names the note says nothing."""
        return any(self._id(name) == known for name, known in ids.items())

    def _id(self, name: str) -> int | None:
        try:
            return self._catalog.stored(name).table_id
        except TableMissingError:
            return None
