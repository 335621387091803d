"""Rows that steps read as a whole or by key: a cache on local disk, which changes update.

All of it can be read again from the stores, at the position that is noted with it. It has the rows as of the
start of the current epoch. Each reader lays the changes of the epoch over it; once the epoch is recorded, they go
into the cache in one transaction. So an epoch that fails or is repeated finds the cache as it was.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from streamhouse.engine.bits import as_bits, as_key, from_bits, has_floats
from streamhouse.engine.cache_damage import DamagedCacheError, is_damage, naming_damage, remove_cache
from streamhouse.engine.spill import Bound, Spilled, SpillFolder, read_bounded
from streamhouse.model.delta_plan import WEIGHT, TopRows
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
class CachedRows:
    """Rows of one source or table as the cache has them.

    Attributes:
        columns: Those in the cache, the key among them.
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
        """Text that differs when the rows in the cache cannot be used for this."""
        return json.dumps([_FORM, self.identity, list(self.key), [(c.name, c.type) for c in self.stored]])


@dataclass(frozen=True)
class _CacheQuery:
    """A query and its text for DuckDB."""

    tree: Any
    text: str


class StateCache:
    """The rows one segment holds, in one DuckDB file. Calls may come from several threads.

    Attributes:
        is_damaged: A call raised `DamagedCacheError`: close it, and open it again.
    """

    def __init__(self, file: Path, cached: Iterable[CachedRows], bound: Bound | None = None) -> None:
        """Open or create the file; one that cannot be used is created again.

        Another process that has it open, as a runner that lost its lease may, keeps it: then this one
        works with a file of its own, which ends with it.

        Args:
            file: Beside it is a folder for rows that are read and are too many for this process.
            cached: The rows to cache.
            bound: How many rows one read may bring into this process.
        """
        import duckdb

        self.cached = {h.name: h for h in cached}
        self._bound = bound or Bound()
        self._private: Path | None = None
        self._queries: dict[tuple[object, ...], _CacheQuery] = {}
        file.parent.mkdir(parents=True, exist_ok=True)
        self.is_damaged = False
        try:
            self._database = _open(file)
        except duckdb.Error as error:
            if isinstance(error, duckdb.IOException) and not is_damage(error):
                self._private = Path(tempfile.mkdtemp(prefix="states-", dir=file.parent))
                file = self._private / file.name
            else:
                remove_cache(file)
            self._database = _open(file)
        self._file = file
        # Nobody else has the file open, so nobody reads what is in the folder beside it.
        self._spilled = SpillFolder(file.with_suffix(".spilled"))

    @contextmanager
    def _cursor(self) -> Iterator["DuckDBPyConnection"]:
        """A cursor, for one thread.

        Raises:
            DamagedCacheError: the file is damaged; the cache is of no use any more.
        """
        try:
            with naming_damage(self._file), self._database.cursor() as cursor:
                yield cursor
        except DamagedCacheError:
            self.is_damaged = True
            raise

    def position(self, name: str) -> Position | None:
        """Position of the cached rows of a source or table; None: they are not cached, or with other columns."""
        with self._cursor() as cursor:
            query = exp.select("signature", "position").from_(_NOTES).where(exp.column("name").eq(exp.Placeholder()))
            found = cursor.execute(_text(query), [name]).fetchone()
        if found is None or found[0] != self.cached[name].signature:
            return None
        position: Position = json.loads(found[1])
        return position

    def load(self, name: str, parts: Iterable[pa.Table], at: Position) -> None:
        """Replace the cached rows of a source or table; `parts` together are all its rows at `at`."""
        cached = self.cached[name]
        with self._cursor() as cursor:
            cursor.begin()
            cursor.register("part", as_bits(arrow_schema(cached.stored).empty_table()))
            kind = exp.Create(
                this=_table(name), kind="TABLE", replace=True, expression=exp.select("*").from_("part").limit(0)
            )
            cursor.execute(_text(kind))
            for part in parts:
                _insert(cursor, cached, part)
            self._note(cursor, cached, at)
            cursor.commit()

    def size(self, name: str) -> int:
        """How many rows there are, as of the start of the epoch in hand."""
        with self._cursor() as cursor:
            found = cursor.execute(_text(exp.select(exp.Count(this=exp.Star())).from_(_table(name)))).fetchone()
        return int(found[0]) if found is not None else 0

    def rows(self, name: str, changes: Changes | None) -> pa.Table | Spilled:
        """All rows after `changes`, which the epoch in hand makes; in a file when they are many.

        The caller removes the file; files that are left are removed when the cache is closed or opened.
        """
        with self._cursor() as cursor:
            changed = self._register(cursor, name, changes)
            return self._read_bounded(
                cursor, name, self._once(("rows", name, changed), lambda: self._after(name, changed))
            )

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
        with self._cursor() as cursor:
            cursor.register("wanted", as_bits(wanted))

            def met(rows: exp.Query) -> exp.Query:
                return _those(rows, "wanted", columns, "semi", self.cached[name])

            changed = self._register(cursor, name, changes)
            query_key = ("with keys", name, changed, *columns.items())
            return self._read_bounded(cursor, name, self._once(query_key, lambda: self._after(name, changed, met)))

    def all_with_keys(self, name: str, wanted: pa.Table, columns: Mapping[str, str]) -> pa.Table:
        """As `rows_with_keys`, as of the start of the epoch in hand, and in this process however many they are."""
        with self._cursor() as cursor:
            cursor.register("wanted", as_bits(wanted))
            return self._read(cursor, name, _those(_all(name), "wanted", columns, "semi", self.cached[name]))

    def before(self, name: str, changes: Changes) -> pa.Table:
        """The rows, as of the start of the epoch in hand, of the keys that `changes` names."""
        cached = self.cached[name]
        with self._cursor() as cursor:
            cursor.register("named", _keys(changes, cached.key))
            keys = {k: k for k in cached.key}
            rows = self._once(("before", name), lambda: _those(_all(name), "named", keys, "semi", cached))
            return from_bits(cursor.sql(rows.text).to_arrow_table(), cached.stored)

    def difference(self, name: str, rows: pa.Table, among: pa.Table | None = None) -> Changes:
        """The changes that turn the cached rows, as of the start of the current epoch, into `rows`, by their key.

        Values are compared by their bits, so -0.0 takes the place of 0.0.

        Args:
            name: Of a keyed table.
            rows: Each key once. Columns that they lack stay as they are.
            among: Distinct values of some columns of the table, null-safe. Cached rows with other values there stay,
                unless `rows` has their key. None: all cached rows are compared.

        Returns:
            Upserts of rows that differ, deletes of keys that are cached, and the earlier rows of both.
        """
        cached = self.cached[name]
        present_columns = tuple(column for column in cached.columns if column.name in rows.column_names)
        same, keys = {column.name: column.name for column in present_columns}, {name: name for name in cached.key}
        with self._cursor() as cursor:
            cursor.register("new_rows", as_bits(rows.select([column.name for column in present_columns])))
            own = _table(name)
            query_key: tuple[object, ...] = (name, *same, None, *(among.column_names if among is not None else ()))
            if among is not None:
                cursor.register("among", as_bits(among))
                own = exp.to_table(_OWN)
                # Removed with its cursor. DuckDB holds it on disk where it is large.
                cursor.execute(self._once(("own", *query_key), lambda: self._own(name, among.column_names)).text)
            new = self._once(("new", *query_key), lambda: _those(exp.select("*").from_("new_rows"), own, same, "anti"))
            old = self._once(("old", *query_key), lambda: _those(exp.select("*").from_(own), "new_rows", same, "anti"))
            before = self._read(cursor, name, old)
            cursor.register("before", as_bits(before))
            deletes_query = self._once(
                ("gone", name), lambda: _those(exp.select("*").from_("before"), "new_rows", keys, "anti", cached)
            )
            upserts = from_bits(cursor.sql(new.text).to_arrow_table(), present_columns)
            absent = self._read(cursor, name, deletes_query)
        return Changes(upserts, absent.select(list(cached.key)), before)

    def _own(self, name: str, among: Sequence[str]) -> exp.Create:
        """A table of the rows that have values of the view `among`, or the key of a row of the view `new_rows`."""
        cached = self.cached[name]
        touched: exp.Query = _those(_all(name), "among", {n: n for n in among}, "semi", cached)
        if not set(among) <= set(cached.key):  # a row may come from elsewhere
            matching_rows = _those(_all(name), "new_rows", {n: n for n in cached.key}, "semi", cached)
            touched = exp.union(touched, matching_rows, distinct=True)
        return exp.Create(this=exp.to_table(_OWN), kind="TABLE", expression=touched, properties=_TEMPORARY)

    def regrouped(self, name: str, added: pa.Table, summed: Sequence[str]) -> tuple[pa.Table, pa.Table] | None:
        """The rows of the groups that are in `added`, with these, and the groups; None: a sum has too many digits.

        Args:
            name: Of the groups of a `delta` step.
            added: With the cached columns; a row that is taken away has a weight below zero.
            summed: Columns that are added up over rows that agree in all others.
        """
        import duckdb

        cached = self.cached[name]
        with self._cursor() as cursor:
            cursor.register("added", as_bits(conform(added, cached.columns)))
            named = self._once(
                ("touched", name), lambda: exp.select(*map(_quoted, cached.key)).distinct().from_("added")
            )
            touched = cursor.sql(named.text).to_arrow_table()
            cursor.register("touched", touched)

            def both() -> exp.Query:
                old = _those(_all(name), "touched", {k: k for k in cached.key}, "semi", cached)
                added = exp.select(*map(_quoted, cached.column_names)).from_("added")
                return _summed(exp.union(old, added, distinct=False), cached, summed)

            try:
                rows = self._read(cursor, name, self._once(("regrouped", name, *summed), both))
            except duckdb.OutOfRangeException:
                return None
        return rows, from_bits(touched, [column for column in cached.columns if column.name in cached.key])

    def consolidated(self, name: str, rows: pa.Table) -> pa.Table:
        """Rows of which each is there once, with the sum of its weights."""
        cached = self.cached[name]
        with self._cursor() as cursor:
            cursor.register("added", as_bits(conform(rows, cached.columns)))
            return self._read(cursor, name, _summed(exp.select("*").from_("added"), cached, [WEIGHT]))

    def top(self, name: str, changes: Changes | pa.Table, top: TopRows) -> pa.Table:
        """The first rows after `changes`, or of the rows given in place of all."""
        with self._cursor() as cursor:
            if isinstance(changes, Changes):
                rows = self._after(name, self._register(cursor, name, changes))
            else:
                cursor.register("new_rows", as_bits(conform(changes, self.cached[name].stored)))
                rows = exp.select("*").from_("new_rows")
            order = [
                exp.Ordered(this=_quoted(one.column), desc=one.descending, nulls_first=one.nulls_first)
                for one in top.order
            ]
            first = exp.select("*").from_(rows.subquery("rows")).order_by(*order).limit(top.limit).offset(top.offset)
            return self._read(cursor, name, first)

    def commit(self, changes: Mapping[str, Changes | None], positions: Mapping[str, Position]) -> None:
        """Take over what an epoch changed, in one transaction."""
        with self._cursor() as cursor:
            cursor.begin()
            for name, position in positions.items():
                cached, change = self.cached[name], changes.get(name)
                if change is not None:
                    if cached.key:
                        cursor.register("named", _keys(change, cached.key))
                        named = _met({k: k for k in cached.key}, name, "named", cached)
                        cursor.execute(_text(exp.Delete(this=_table(name), using=[exp.to_table("named")]).where(named)))
                    _insert(cursor, cached, change.upserts)
                self._note(cursor, cached, position)
            cursor.commit()

    def close(self) -> None:
        """Close the file; one that is damaged is removed."""
        import duckdb

        try:
            self._database.close()
        except duckdb.Error:
            if not self.is_damaged:
                raise
        self._spilled.remove()
        if self.is_damaged:
            remove_cache(self._file)
        if self._private is not None:
            shutil.rmtree(self._private, ignore_errors=True)

    def _register(self, cursor: "DuckDBPyConnection", name: str, changes: Changes | None) -> bool:
        """Give a cursor the changes that `_after` names; whether there are any."""
        cached = self.cached[name]
        if changes is None:
            return False
        cursor.register("changed", as_bits(conform(changes.upserts, cached.stored)))
        if cached.key:
            cursor.register("named", _keys(changes, cached.key))
        return True

    def _after(self, name: str, changed: bool, only: Callable[[exp.Query], exp.Query] = lambda rows: rows) -> exp.Query:
        """The rows, after the changes that are registered; `only` some, which each row decides by itself."""
        cached = self.cached[name]
        remaining_rows = only(_all(name))  # first, for it leaves few
        if not changed:
            return remaining_rows
        if cached.key:
            remaining_rows = _those(remaining_rows, "named", {k: k for k in cached.key}, "anti", cached)
        return exp.union(remaining_rows, only(exp.select("*").from_("changed")), distinct=False)

    def _once(self, key: tuple[object, ...], make: Callable[[], exp.Expr]) -> "_CacheQuery":
        """A query that is asked in each epoch: to make its text takes as long as to answer it."""
        if key not in self._queries:
            tree = make()
            self._queries[key] = _CacheQuery(tree, _text(tree))
        return self._queries[key]

    def _read(self, cursor: "DuckDBPyConnection", name: str, query: "exp.Query | _CacheQuery") -> pa.Table:
        text = query.text if isinstance(query, _CacheQuery) else _text(query)
        return from_bits(cursor.sql(text).to_arrow_table(), self.cached[name].columns)

    def _read_bounded(self, cursor: "DuckDBPyConnection", name: str, query: "_CacheQuery") -> pa.Table | Spilled:
        columns = self.cached[name].columns
        decode = (lambda rows: from_bits(rows, columns)) if has_floats(columns) else None
        return read_bounded(cursor, query.tree, columns, self._spilled, self._bound, decode, query.text)

    def _note(self, cursor: "DuckDBPyConnection", cached: CachedRows, at: Position) -> None:
        cursor.execute(_text(exp.delete(_NOTES).where(exp.column("name").eq(exp.Placeholder()))), [cached.name])
        row = exp.values([(exp.Placeholder(), exp.Placeholder(), exp.Placeholder())])
        cursor.execute(_text(exp.insert(row, _NOTES)), [cached.name, cached.signature, json.dumps(at)])


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
_OWN = "own"
_TEMPORARY = exp.Properties(expressions=[exp.TemporaryProperty()])


def _insert(cursor: "DuckDBPyConnection", cached: CachedRows, rows: pa.Table) -> None:
    cursor.register("part", as_bits(rows.select([column.name for column in cached.stored])))
    cursor.execute(_text(exp.insert(exp.select("*").from_("part"), _table(cached.name))))


def _keys(changes: Changes, key: Sequence[str]) -> pa.Table:
    keys = changes.upserts.select(list(key))
    if changes.deletes is not None:
        keys = pa.concat_tables([keys, changes.deletes.select(list(key)).cast(keys.schema)])
    return as_bits(keys)


def _summed(rows: exp.Query, cached: CachedRows, summed: Sequence[str]) -> exp.Select:
    """Rows that are equal in all columns but `summed`, put together; without those that nothing is left of."""
    group_columns = [name for name in cached.column_names if name not in summed]
    types = {column.name: exp.DataType.build(column.type, dialect="spark") for column in cached.columns}
    sums = [exp.alias_(_sum(_quoted(name), types[name]), name, quoted=True) for name in summed]
    found = (
        exp.select(*map(_quoted, group_columns), *sums)
        .from_(rows.subquery("rows"))
        .group_by(*map(_quoted, group_columns))
    )
    return found.having(exp.Sum(this=_quoted(WEIGHT)).neq(0))


def _sum(value: exp.Expr, kind: exp.DataType) -> exp.Expr:
    """DuckDB's SUM lets DECIMAL(38) have 39 digits; its `+` does not."""
    total: exp.Expr = exp.Sum(this=value)
    if kind.is_type(exp.DType.DECIMAL):
        total = exp.Add(this=total, expression=exp.cast(exp.Literal.number(0), kind.copy()))
    return exp.cast(total, kind)


def _quoted(name: str) -> exp.Column:
    return exp.column(name, quoted=True)


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def _all(name: str) -> exp.Select:
    return exp.select("*").from_(_table(name))


def _those(
    rows: exp.Query, keys: str | exp.Table, columns: Mapping[str, str], kind: str, cached: CachedRows | None = None
) -> exp.Select:
    """The rows (`semi`) or all but those (`anti`) that have a key in the view or table `keys`; see `_met`."""
    others = exp.alias_(exp.to_table(keys), _KEYS, table=True)
    met = _met(columns, "rows", _KEYS, cached)
    return exp.select("rows.*").from_(rows.subquery("rows")).join(others, on=met, join_type=kind)


def _met(columns: Mapping[str, str], rows: str, keys: str, cached: CachedRows | None) -> exp.Expr:
    """Whether a row has a key: null-safe, and as Spark compares keys of `cached`; None: by their bits."""
    types = {column.name: column.type for column in cached.stored} if cached is not None else {}
    sides = (
        (exp.column(own, rows, quoted=True), exp.column(name, keys, quoted=True), types.get(own, ""))
        for name, own in columns.items()
    )
    return exp.and_(*(exp.NullSafeEQ(this=as_key(a, kind), expression=as_key(b, kind)) for a, b, kind in sides))


def _text(tree: Any) -> str:
    sql: str = tree.sql("duckdb")
    return sql
