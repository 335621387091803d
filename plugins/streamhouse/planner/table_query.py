"""A Request as a table wants it: with a key, by which its rows are replaced when they change."""

from dataclasses import dataclass

from sqlglot import exp

from streamhouse.planner.catalog import Catalog
from streamhouse.planner.compose import Composed, composed
from streamhouse.planner.naming import innermost
from streamhouse.planner.request import Block, ColumnRef, Dimension, Request

ONE_ROW = "scope"
"""The key of a table that has one row."""


@dataclass(frozen=True)
class TableQuery:
    """What the action of a table computes.

    Attributes:
        composed: With parameters; it has a key where one can be had.
        assumptions: What the table has that nobody asked for.
    """

    composed: Composed
    assumptions: tuple[str, ...] = ()


def table_query(request: Request, catalog: Catalog, *, parametrise: bool = True) -> TableQuery:
    """The query of a table that holds the answer.

    Raises:
        UnknownWordError, RequestShapeError: as `compose`.
    """
    wider, added = _with_key(request, catalog)
    found = composed(wider, catalog, parametrise=parametrise, places=True)
    notes = []
    if added:
        notes.append(f"the table also has {', '.join(added)}: its key, by which rows are replaced")
    if found.single:
        name = next(n for n in (ONE_ROW, f"{ONE_ROW}_2") if n not in found.columns)
        query = found.query.copy()
        assert isinstance(query, exp.Select)
        query.set("expressions", [exp.alias_(exp.Literal.string("all"), name), *query.expressions])
        found = Composed(query, {name: None, **found.columns}, (name,), single=False, params=found.params)
        notes.append(f"the table has one row, whose key is {name} = 'all'")
    if "place" in found.columns and "place" not in composed(request, catalog).columns:
        notes.append("the table also has place: its rows have no other key")
    return TableQuery(found, tuple(notes))


def _with_key(request: Request, catalog: Catalog) -> tuple[Request, tuple[str, ...]]:
    """Rows with the columns that tell them apart."""
    block = request.block
    if block.measures or block.dimensions or block.sessions is not None or not block.columns:
        return request, ()
    wanted = _key(block, catalog)
    shown = {one.of for one in block.columns}
    missing = tuple(name for name in wanted if ColumnRef(column=name) not in shown)
    taken = {one.name for one in block.columns}
    if not missing or taken & set(missing):
        return request, ()
    columns = (*(Dimension(name=name, of=ColumnRef(column=name)) for name in missing), *block.columns)
    return request.model_copy(update={"block": block.model_copy(update={"columns": columns})}), missing


def _key(block: Block, catalog: Catalog) -> tuple[str, ...]:
    if block.pick is not None:
        parts = [part for part in block.pick.per if isinstance(part, ColumnRef) and not part.role]
        if len(parts) == len(block.pick.per):
            return tuple(part.column for part in parts)
    if block.inner is not None:
        return tuple(one.name for one in block.inner.dimensions)
    return catalog.tables[innermost(block).base or ""].primary_key
