"""Rows that steps read as a whole or by key, held on local disk and kept up to date by changes alone.

A cache: all of it can be read again from the stores, at the position that is noted with it. It stands
at the start of the epoch in hand; what the epoch changes is laid over it by whoever reads, and goes into
it in one transaction once the epoch is recorded. So an epoch that fails or is repeated finds it as it was.
"""

import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from streamhouse.engine.bits import as_bits, as_key, from_bits, has_floats
from streamhouse.engine.spill import Bound, Spilled, SpillFolder, read_bounded
from streamhouse.model.table import Column
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema, conform
from streamhouse.stores.base import Changes

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NOTES = "positions"
_FORM = "floats as bits"  # of the rows in the file
_MEMORY = "512MB"  # above it DuckDB works from disk


@dataclass(frozen=True)
class Held:
    """Rows of one source or table as the cache has them.

    Attributes:
        columns: Those that are held, the key among them.
        key: Empty: rows are only ever added.
        identity: Changes when the rows at one position could become others: another definition of a source.
        computed: Further columns, which rows come in with; they are for finding rows, and only `before` gives them.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    identity: str = ""
    computed: tuple[Column, ...] = ()

    @property
    def stored(self) -> tuple[Column, ...]:
        """All columns the cache has."""
        return (*self.columns, *self.computed)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of `columns`."""
        return tuple(column.name for column in self.columns)

    @property
    def signature(self) -> str:
        """Text that differs when what is held cannot be used for this."""
        return json.dumps([_FORM, self.identity, list(self.key), [(c.name, c.type) for c in self.stored]])


class StateCache:
    """The rows one segment holds, in one DuckDB file. Calls may come from several threads."""

    def __init__(self, file: Path, held: Iterable[Held], bound: Bound | None = None) -> None:
        """Open or create the file; one that cannot be used is made anew.

        Another process that has it open, as a runner that lost its lease may, keeps it: then this one
        works with a file of its own, which ends with it.

        Args:
            file: Beside it is a folder for rows that are read and are too many for this process.
            held: What is held.
            bound: How many rows one read may bring into this process.
        """
        import duckdb

        self.held = {h.name: h for h in held}
        self._bound = bound or Bound()
        self._private: Path | None = None
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._database = _open(file)
        except duckdb.IOException:
            self._private = Path(tempfile.mkdtemp(prefix="states-", dir=file.parent))
            self._database = _open(self._private / file.name)
        except duckdb.Error:
            file.unlink(missing_ok=True)
            file.with_name(f"{file.name}.wal").unlink(missing_ok=True)
            self._database = _open(file)
        # Nobody else has the file open, so nobody reads what is in the folder beside it.
        self._spilled = SpillFolder((self._private / file.name if self._private else file).with_suffix(".spilled"))

    def position(self, name: str) -> Position | None:
        """Where the rows of a source or table stand; None: they are not held, or with other columns."""
        with self._database.cursor() as cursor:
            query = exp.select("signature", "position").from_(_NOTES).where(exp.column("name").eq(exp.Placeholder()))
            found = cursor.execute(_text(query), [name]).fetchone()
        if found is None or found[0] != self.held[name].signature:
            return None
        position: Position = json.loads(found[1])
        return position

    def load(self, name: str, parts: Iterable[pa.Table], at: Position) -> None:
        """Replace what is held of a source or table; `parts` together are all its rows at `at`."""
        held = self.held[name]
        with self._database.cursor() as cursor:
            cursor.begin()
            cursor.register("part", as_bits(arrow_schema(held.stored).empty_table()))
            kind = exp.Create(
                this=_table(name), kind="TABLE", replace=True, expression=exp.select("*").from_("part").limit(0)
            )
            cursor.execute(_text(kind))
            for part in parts:
                _insert(cursor, held, part)
            self._note(cursor, held, at)
            cursor.commit()

    def rows(self, name: str, changes: Changes | None) -> pa.Table | Spilled:
        """All rows after `changes`, which the epoch in hand makes; in a file when they are many.

        Whoever asked removes the file; those that are left when the cache is closed or opened go then.
        """
        with self._database.cursor() as cursor:
            return self._read_bounded(cursor, name, self._after(cursor, name, changes))

    def rows_with_keys(
        self, name: str, changes: Changes | None, wanted: pa.Table, columns: Mapping[str, str]
    ) -> pa.Table | Spilled:
        """The rows after `changes` that have one of the keys in `wanted`; NULL equals NULL here.

        They are in a file when they are many, as with `rows`.

        Args:
            name: Of a source or table.
            changes: What the epoch in hand makes of it.
            wanted: Distinct keys.
            columns: Column of `wanted` → column of the rows.
        """
        with self._database.cursor() as cursor:
            cursor.register("wanted", as_bits(wanted))
            query = _those(self._after(cursor, name, changes), "wanted", columns, "semi", self.held[name])
            return self._read_bounded(cursor, name, query)

    def all_with_keys(self, name: str, wanted: pa.Table, columns: Mapping[str, str]) -> pa.Table:
        """As `rows_with_keys`, as of the start of the epoch in hand, and in this process however many they are."""
        with self._database.cursor() as cursor:
            cursor.register("wanted", as_bits(wanted))
            return self._read(cursor, name, _those(_all(name), "wanted", columns, "semi", self.held[name]))

    def before(self, name: str, changes: Changes) -> pa.Table:
        """The rows, as of the start of the epoch in hand, of the keys that `changes` names."""
        held = self.held[name]
        with self._database.cursor() as cursor:
            cursor.register("named", _keys(changes, held.key))
            rows = _those(_all(name), "named", {k: k for k in held.key}, "semi", held)
            return from_bits(cursor.sql(_text(rows)).to_arrow_table(), held.stored)

    def difference(self, name: str, rows: pa.Table) -> Changes:
        """What turns the rows held into `rows`, which have other columns in the same or any order.

        Values are compared by their bits, so -0.0 takes the place of 0.0.
        """
        held = self.held[name]
        with self._database.cursor() as cursor:
            cursor.register("given", as_bits(rows))
            given = exp.select(*(exp.column(name, quoted=True) for name in held.column_names)).from_("given")
            new = _those(given, _table(name), {name: name for name in held.column_names}, "anti")
            gone = _those(_all(name), "given", {k: k for k in held.key}, "anti", held)
            upserts, absent = self._read(cursor, name, new), self._read(cursor, name, gone)
        return Changes(upserts, absent.select(list(held.key)))

    def commit(self, changes: Mapping[str, Changes | None], positions: Mapping[str, Position]) -> None:
        """Take over what an epoch changed, in one transaction."""
        with self._database.cursor() as cursor:
            cursor.begin()
            for name, position in positions.items():
                held, change = self.held[name], changes.get(name)
                if change is not None:
                    if held.key:
                        cursor.register("named", _keys(change, held.key))
                        named = _met({k: k for k in held.key}, name, "named", held)
                        cursor.execute(_text(exp.Delete(this=_table(name), using=[exp.to_table("named")]).where(named)))
                    _insert(cursor, held, change.upserts)
                self._note(cursor, held, position)
            cursor.commit()

    def close(self) -> None:
        """Close the file."""
        self._database.close()
        self._spilled.remove()
        if self._private is not None:
            shutil.rmtree(self._private, ignore_errors=True)

    def _after(self, cursor: "DuckDBPyConnection", name: str, changes: Changes | None) -> exp.Query:
        held = self.held[name]
        if changes is None:
            return _all(name)
        cursor.register("changed", as_bits(conform(changes.upserts, held.stored)))
        kept: exp.Query = _all(name)
        if held.key:
            cursor.register("named", _keys(changes, held.key))
            kept = _those(kept, "named", {k: k for k in held.key}, "anti", held)
        return exp.union(kept, exp.select("*").from_("changed"), distinct=False)

    def _read(self, cursor: "DuckDBPyConnection", name: str, query: exp.Query) -> pa.Table:
        return from_bits(cursor.sql(_text(query)).to_arrow_table(), self.held[name].columns)

    def _read_bounded(self, cursor: "DuckDBPyConnection", name: str, query: exp.Query) -> pa.Table | Spilled:
        columns = self.held[name].columns
        decode = (lambda rows: from_bits(rows, columns)) if has_floats(columns) else None
        return read_bounded(cursor, query, columns, self._spilled, self._bound, decode)

    def _note(self, cursor: "DuckDBPyConnection", held: Held, at: Position) -> None:
        cursor.execute(_text(exp.delete(_NOTES).where(exp.column("name").eq(exp.Placeholder()))), [held.name])
        row = exp.values([(exp.Placeholder(), exp.Placeholder(), exp.Placeholder())])
        cursor.execute(_text(exp.insert(row, _NOTES)), [held.name, held.signature, json.dumps(at)])


def _open(file: Path) -> "DuckDBPyConnection":
    import duckdb

    database = duckdb.connect(str(file), config={"memory_limit": _MEMORY})
    database.execute("SET TimeZone = 'UTC'")
    columns = [exp.ColumnDef(this=exp.to_identifier(n), kind=exp.DataType.build("text")) for n in _NOTE_COLUMNS]
    notes = exp.Create(this=exp.Schema(this=exp.to_table(_NOTES), expressions=columns), kind="TABLE", exists=True)
    database.execute(_text(notes))
    return database


_NOTE_COLUMNS = ("name", "signature", "position")
_KEYS = "keys"


def _insert(cursor: "DuckDBPyConnection", held: Held, rows: pa.Table) -> None:
    cursor.register("part", as_bits(rows.select([column.name for column in held.stored])))
    cursor.execute(_text(exp.insert(exp.select("*").from_("part"), _table(held.name))))


def _keys(changes: Changes, key: Sequence[str]) -> pa.Table:
    keys = changes.upserts.select(list(key))
    if changes.deletes is not None:
        keys = pa.concat_tables([keys, changes.deletes.select(list(key)).cast(keys.schema)])
    return as_bits(keys)


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def _all(name: str) -> exp.Select:
    return exp.select("*").from_(_table(name))


def _those(
    rows: exp.Query, keys: str | exp.Table, columns: Mapping[str, str], kind: str, held: Held | None = None
) -> exp.Select:
    """The rows (`semi`) or all but those (`anti`) that have a key in the view or table `keys`; see `_met`."""
    others = exp.alias_(exp.to_table(keys), _KEYS, table=True)
    met = _met(columns, "rows", _KEYS, held)
    return exp.select("rows.*").from_(rows.subquery("rows")).join(others, on=met, join_type=kind)


def _met(columns: Mapping[str, str], rows: str, keys: str, held: Held | None) -> exp.Expr:
    """Whether a row has a key: null-safe, and as Spark compares keys of `held`; None: by their bits."""
    types = {column.name: column.type for column in held.stored} if held is not None else {}
    sides = (
        (exp.column(own, rows, quoted=True), exp.column(name, keys, quoted=True), types.get(own, ""))
        for name, own in columns.items()
    )
    return exp.and_(*(exp.NullSafeEQ(this=as_key(a, kind), expression=as_key(b, kind)) for a, b, kind in sides))


def _text(tree: Any) -> str:
    sql: str = tree.sql("duckdb")
    return sql
