"""Which rows an example takes: some that count, some that the filters leave out, and their partners."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from streamhouse.errors import Location
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.naming import innermost
from streamhouse.planner.request import AnyOf, Block, ColumnRef, Filter, Related, Request
from streamhouse.planner.sql.constants import Constants
from streamhouse.planner.sql.rows import rows_of, table_of
from streamhouse.planner.sql.scope import columns_in
from streamhouse.sql.dialect import quote_names, render
from streamhouse.sql.parameters import typed_literal

HITS, MISSES, PARTNERS = 3, 2, 4
"""Most rows of each sort."""


@dataclass(frozen=True)
class Partners:
    """Rows of another table that belong to rows that are chosen already.

    Attributes:
        of: Table whose rows are chosen before.
        on: Column of `of` → column of `table`.
    """

    table: str
    of: str
    on: Mapping[str, str]


def base_queries(request: Request, catalog: Catalog, columns: Sequence[str]) -> tuple[str, str]:
    """Queries for rows of the base that count, and for rows that do not; the second is empty without filters.

    Args:
        request: As the action computes it.
        catalog: Has the base.
        columns: Of the base that the action takes.
    """
    block = innermost(request.block)
    table = table_of(catalog, block.base or "")
    plain = tuple(one for one in block.filters if not _looks_elsewhere(one))
    bare = Block(base=table.name, filters=())
    source = rows_of(bare, None, catalog, Constants())
    where = source.conditions().all(plain)
    order = [ColumnRef(column=name) for name in table.primary_key or columns if name in {c.name for c in table.columns}]
    keys = [exp.Ordered(this=source.scope.of(one).copy(), nulls_first=True) for one in order]
    shown = [exp.alias_(source.scope.of(ColumnRef(column=name)).copy(), name) for name in columns]

    def text(condition: exp.Expr | None, count: int) -> str:
        tree = source.tree.select(*[one.copy() for one in shown], append=False)
        tree = tree.where(condition) if condition is not None else tree
        tree.set("order", exp.Order(expressions=[key.copy() for key in keys]))
        tree = tree.limit(count)
        quote_names(tree)
        return render(tree)

    if where is None:
        return text(None, HITS + MISSES), ""
    missed = exp.Not(this=exp.Coalesce(this=exp.Paren(this=where.copy()), expressions=[exp.false()]))
    return text(where, HITS), text(missed, MISSES)


def partners_of(request: Request) -> tuple[Partners, ...]:
    """Other tables that the innermost block reads, each after the one that leads to it."""
    block = innermost(request.block)
    base = block.base or ""
    tables = {"": base} | {join.role: join.table for join in block.joins}
    found = [Partners(join.table, tables[join.left], join.on) for join in block.joins]
    outer = _outer_joins(request.block)
    found += [Partners(join.table, base, join.on) for join in outer]
    found += [Partners(one.table, base, one.on) for one in _related(block.filters)]
    return tuple(found)


def partner_query(
    partners: Partners, rows: Sequence[Mapping[str, Any]], catalog: Catalog, columns: Sequence[str]
) -> str | None:
    """The query for rows of a table that belong to some rows; None: none can."""
    table = table_of(catalog, partners.table)
    conditions: list[exp.Expr] = []
    for here, there in partners.on.items():
        values = {repr(row.get(here)): row[here] for row in rows if row.get(here) is not None}
        if not values:
            return None
        kind = table.column(there).type
        literals = [typed_literal(there, kind, value, Location("")) for _, value in sorted(values.items())]
        conditions.append(exp.In(this=exp.column(there), expressions=literals))
    layer, _, name = table.name.partition(".")
    keys = [exp.Ordered(this=exp.column(one), nulls_first=True) for one in table.primary_key or columns]
    source = exp.Table(this=exp.to_identifier(name), db=exp.to_identifier(layer))
    tree = exp.select(*(exp.column(one) for one in columns)).from_(source).where(*conditions)
    tree.set("order", exp.Order(expressions=keys))
    tree = tree.limit(PARTNERS)
    quote_names(tree)
    return render(tree)


def _looks_elsewhere(condition: Filter) -> bool:
    if isinstance(condition, Related):
        return True
    if isinstance(condition, AnyOf):
        return any(_looks_elsewhere(part) for part in condition.of)
    return any(column.role for column in columns_in(condition))


def _related(filters: tuple[Filter, ...]) -> list[Related]:
    found: list[Related] = []
    for one in filters:
        if isinstance(one, Related):
            found.append(one)
        elif isinstance(one, AnyOf):
            found += _related(one.of)
    return found


def _outer_joins(block: Block) -> list[Any]:
    return [] if block.inner is None else [*(join for join in block.joins if not join.left), *_outer_joins(block.inner)]
