"""The rows that a block starts from: base, joins, filters, picks and sessions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from sqlglot import exp

from streamhouse.errors import UnknownWordError
from streamhouse.planner.catalog import Catalog, CatalogTable
from streamhouse.planner.request import Block, ColumnRef, Join, Pick, Sessions
from streamhouse.planner.sql.constants import Constants, number
from streamhouse.planner.sql.filters import Conditions
from streamhouse.planner.sql.scalars import call, scalar
from streamhouse.planner.sql.scope import Scope, Value, columns_in
from streamhouse.sql import spark_type as t
from streamhouse.sql.spark_type import spark_type

SESSION = "session_start"
"""What the begin of a session is called."""

_MICRO = timedelta(microseconds=1)


@dataclass(frozen=True)
class FromClause:
    """What a block selects from.

    Attributes:
        tree: A FROM with its joins and its WHERE, and no columns yet.
        scope: What names mean over it.
        key: Columns without role that tell its rows apart; empty: none do.
        constants: That conditions over it use.
        labels: Names that stand in the FROM.
    """

    tree: exp.Select
    scope: Scope
    key: tuple[str, ...]
    constants: Constants
    catalog: Catalog
    labels: frozenset[str]

    def conditions(self, named: Mapping[str, Value] | None = None) -> Conditions:
        """Makes conditions over these rows."""
        return Conditions(self.scope, self.constants, self._other, named or {})

    def _other(self, name: str) -> tuple[exp.Expr, Scope, str]:
        table = table_of(self.catalog, name)
        label = _free(short(name), self.labels)
        return _named(name, label), _scope_of(table, label, ""), label


@dataclass(frozen=True)
class Inner:
    """A query that is used instead of a base.

    Attributes:
        values: Its columns, as they are known outside.
        key: Those that tell its rows apart.
    """

    query: exp.Query
    values: Mapping[str, Value] = field(default_factory=dict)
    key: tuple[str, ...] = ()


def short(name: str) -> str:
    """The name of a table without its layer."""
    return name.partition(".")[2]


def table_of(catalog: Catalog, name: str) -> CatalogTable:
    """A table by name.

    Raises:
        UnknownWordError: there is none.
    """
    found = catalog.tables.get(name)
    if found is None:
        raise UnknownWordError(f"there is no table '{name}'", name, list(catalog.tables))
    return found


def rows_of(block: Block, inner: Inner | None, catalog: Catalog, constants: Constants) -> FromClause:
    """What a block selects from, with filters, pick and sessions done.

    Raises:
        UnknownWordError: a table or column is not there.
    """
    source = _base(block, inner, catalog, constants)
    for join in block.joins:
        source = _joined(source, join, catalog)
    where = source.conditions().all(block.filters)
    if where is not None:
        source = replace(source, tree=source.tree.where(where))
    if block.pick is not None:
        source = _picked(source, block, block.pick)
    return _in_sessions(source, block, block.sessions) if block.sessions is not None else source


def _base(block: Block, inner: Inner | None, catalog: Catalog, constants: Constants) -> FromClause:
    roles = frozenset(join.role for join in block.joins)
    if inner is not None:
        label = _free("inner_groups" if "groups" in roles else "groups", roles)
        scope = Scope({("", name): replace(v, tree=exp.column(name, label)) for name, v in inner.values.items()})
        tree = exp.select().from_(inner.query.subquery(label))
        return FromClause(tree, scope, inner.key, constants, catalog, roles | {label})
    table = table_of(catalog, block.base or "")
    label = _free(short(table.name), roles)
    tree = exp.select().from_(_named(table.name, label))
    return FromClause(tree, _scope_of(table, label, ""), table.primary_key, constants, catalog, roles | {label})


def _joined(source: FromClause, join: Join, catalog: Catalog) -> FromClause:
    table = table_of(catalog, join.table)
    own = _scope_of(table, join.role, join.role)
    ties = [
        exp.EQ(
            this=own.of(ColumnRef(column=there, role=join.role)).copy(),
            expression=source.scope.of(ColumnRef(column=here, role=join.left)).copy(),
        )
        for here, there in join.on.items()
    ]
    kind = "left" if join.optional else "inner"
    tree = source.tree.join(_named(table.name, join.role), on=exp.and_(*ties), join_type=kind)
    return replace(source, tree=tree, scope=Scope({**source.scope.values, **own.values}))


def _picked(source: FromClause, block: Block, pick: Pick) -> FromClause:
    """Only the first or last row of each `per`; of rows with equal times the primary key decides."""
    per = [scalar(part, source.scope).tree for part in pick.per]
    by = scalar(pick.by, source.scope)
    names = _exposed(source, (block.dimensions, block.measures, block.columns, block.sessions), everything=_rows(block))
    order = [exp.Ordered(this=by.copy(), desc=pick.last, nulls_first=False)]
    order += [exp.Ordered(this=tree, nulls_first=True) for tree in _ties(source, names)]
    place = exp.Window(this=exp.RowNumber(), partition_by=per, order=exp.Order(expressions=order))
    inner = source.tree.select(*_columns(names), exp.alias_(place, "place"), append=False)
    outer = exp.select().from_(inner.subquery("placed"))
    outer = outer.where(exp.EQ(this=exp.column("place", "placed"), expression=number(1)))
    picked = tuple(part.column for part in pick.per if isinstance(part, ColumnRef) and not part.role)
    key = picked if len(picked) == len(pick.per) else source.key
    return replace(source, tree=outer, scope=_renamed(names, "placed"), key=key, labels=source.labels | {"placed"})


def _in_sessions(source: FromClause, block: Block, sessions: Sessions) -> FromClause:
    """Each row with the begin of its session; rows without a time belong to none and are left out."""
    wanted = (block.dimensions, block.measures, sessions)
    names = _exposed(source, wanted, everything=False)
    time = source.scope.of(sessions.time)
    per = [source.scope.of(part) for part in sessions.per]
    known = source.tree.where(exp.Not(this=exp.Is(this=time.copy(), expression=exp.null())))
    before = _window(exp.Lag(this=time.copy()), [part.copy() for part in per], time.copy())
    steps = known.select(*_columns(names), exp.alias_(before, "time_before"), append=False)
    inside = _renamed(names, "steps")
    now, last = inside.of(sessions.time), exp.column("time_before", "steps")
    apart = exp.GT(
        this=exp.Sub(this=_micros(now.copy(), now.type), expression=_micros(last.copy(), now.type)),
        expression=number(sessions.gap // _MICRO),
    )
    begins = exp.or_(exp.Is(this=last.copy(), expression=exp.null()), apart)
    begin = _window(
        exp.Max(this=exp.Case().when(begins, now.copy())),
        [inside.of(part).copy() for part in sessions.per],
        now.copy(),
    )
    shown = {key: Value(exp.column(name, "steps"), value.type, value.grain) for key, (name, value) in names.items()}
    middle = exp.select(
        *(exp.alias_(value.tree, names[key][0]) for key, value in shown.items()), exp.alias_(begin, SESSION)
    ).from_(steps.subquery("steps"))
    scope = _renamed(names, "visits")
    values = {**scope.values, ("", SESSION): Value(exp.column(SESSION, "visits"), time.type)}
    tree = exp.select().from_(middle.subquery("visits"))
    return replace(source, tree=tree, scope=Scope(values), labels=source.labels | {"visits"})


def _micros(time: exp.Expr, type_: t.SparkType | None) -> exp.Expr:
    exact = type_ is not None and type_.kind == "timestamp"
    whole = time if exact else exp.Cast(this=time, to=exp.DataType.build("timestamptz"))
    return call("UNIX_MICROS", whole)


def _window(function: exp.Expr, per: list[exp.Expr], by: exp.Expr) -> exp.Expr:
    order = exp.Order(expressions=[exp.Ordered(this=by, nulls_first=True)])
    return exp.Window(this=function, partition_by=per, order=order)


_Exposed = dict[tuple[str, str], tuple[str, Value]]
"""`(role, column)` → its name outside, and what it is inside."""


def _exposed(source: FromClause, parts: object, *, everything: bool) -> _Exposed:
    """Columns that later parts of a block use, under names of their own."""
    used = {(column.role, column.column) for column in columns_in(parts)} & source.scope.values.keys()
    own = set(source.key)
    wanted = [
        key
        for key in source.scope.values
        if key in used or (not key[0] and (everything or key[1] in own or _needs_all(source)))
    ]
    taken: set[str] = set()
    found: _Exposed = {}
    for role, column in wanted:
        name = _free(column if not role else f"{role}_{column}", taken)
        taken.add(name)
        found[role, column] = (name, source.scope.values[role, column])
    return found


def _needs_all(source: FromClause) -> bool:
    """Without a key, all columns together decide between rows."""
    return not source.key


def _rows(block: Block) -> bool:
    return not block.dimensions and not block.measures and not block.columns


def _ties(source: FromClause, names: _Exposed) -> list[exp.Expr]:
    if source.key:
        return [source.scope.values["", name].copy() for name in source.key if ("", name) in source.scope.values]
    return [value.copy() for _, value in names.values() if value.type is None or not value.type.fields]


def _columns(names: _Exposed) -> list[exp.Expr]:
    return [exp.alias_(value.copy(), name) for name, value in names.values()]


def _renamed(names: _Exposed, label: str) -> Scope:
    return Scope({key: replace(value, tree=exp.column(name, label)) for key, (name, value) in names.items()})


def _scope_of(table: CatalogTable, label: str, role: str) -> Scope:
    return Scope({(role, c.name): Value(exp.column(c.name, label), spark_type(c.type)) for c in table.columns})


def _named(table: str, label: str) -> exp.Expr:
    layer, _, name = table.partition(".")
    return exp.alias_(exp.Table(this=exp.to_identifier(name), db=exp.to_identifier(layer)), label, table=True)


def _free(name: str, taken: frozenset[str] | set[str]) -> str:
    found, number_ = name, 2
    while found in taken:
        found, number_ = f"{name}_{number_}", number_ + 1
    return found
