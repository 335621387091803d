"""A Request, from a person or a model, checked against what there is, before anything is made of it."""

from sqlglot import exp

from streamhouse.errors import FanOutError, RequestShapeError
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.check_repeats import repeated_sum
from streamhouse.planner.check_types import BlockTypes
from streamhouse.planner.check_units import check_units
from streamhouse.planner.compose import composed
from streamhouse.planner.request import Block, Request
from streamhouse.planner.sql.rows import SESSION, table_of
from streamhouse.planner.sql.scope import Scope, Value
from streamhouse.sql import spark_type as t
from streamhouse.sql.spark_type import spark_type


def check_request(request: Request, catalog: Catalog) -> None:
    """Do nothing when a Request can be carried out and counts no row twice.

    Raises:
        UnknownWordError: it names what is not there.
        RequestShapeError: its parts do not fit together.
        RequestTypeError: it compares, adds or cuts what its types do not allow.
        FanOutError: a join may find several rows for one.
        UnitError: it adds or compares different units.
    """
    _check_block(request.block, catalog)
    composed(request, catalog)  # names of the result: what conditions, derived numbers and rankings refer to


def _check_block(block: Block, catalog: Catalog) -> None:
    if (block.base is None) == (block.inner is None):
        raise RequestShapeError("a block has either a base or an inner block", hint="set one of 'base' and 'inner'")
    if block.inner is not None:
        _check_block(block.inner, catalog)
    scope = _scope(block, catalog)
    for place, join in enumerate(block.joins):
        if join.role in {other.role for other in block.joins[:place]}:
            raise RequestShapeError(f"two joins are called '{join.role}'", hint="give each a role of its own")
        if join.left and join.left not in {other.role for other in block.joins[:place]}:
            raise RequestShapeError(f"the join '{join.role}' starts from '{join.left}', which no join before it is")
        _check_fan_out(join.table, tuple(join.on.values()), catalog)
    if why := repeated_sum(block):
        raise FanOutError(
            why, hint="sum a column of the base, or make the joined table the base and ask for rows that have others"
        )
    BlockTypes(block, scope, catalog).check()
    check_units(block, catalog)


def _check_fan_out(name: str, on: tuple[str, ...], catalog: Catalog) -> None:
    """A row may find one row at most: the columns have the whole primary key of the joined table."""
    table = table_of(catalog, name)
    if not table.primary_key:
        raise FanOutError(
            f"{name} has no primary key, so a join may find several of its rows, and sums would count rows twice",
            hint=f"give {name} a primary key, or ask for rows that have or lack rows of {name}",
        )
    if missing := [column for column in table.primary_key if column not in on]:
        raise FanOutError(
            f"a join to {name} by {', '.join(on)} may find several rows: its key is {', '.join(table.primary_key)}",
            hint=f"join by {', '.join(missing)} as well, or ask for rows that have or lack rows of {name}",
        )


def _scope(block: Block, catalog: Catalog) -> Scope:
    """What names mean in a block, by their types."""
    values: dict[tuple[str, str], Value] = {}
    if block.inner is not None:
        inner = composed(Request(wish="", block=block.inner), catalog)
        values |= {("", name): _value(name, type_) for name, type_ in inner.columns.items()}
    else:
        values |= _of_table(block.base or "", "", catalog)
    for join in block.joins:
        values |= _of_table(join.table, join.role, catalog)
    if block.sessions is not None:
        values["", SESSION] = _value(SESSION, t.TIMESTAMP)
    return Scope(values)


def _of_table(name: str, role: str, catalog: Catalog) -> dict[tuple[str, str], Value]:
    return {(role, c.name): _value(c.name, spark_type(c.type)) for c in table_of(catalog, name).columns}


def _value(name: str, type_: t.SparkType | None) -> Value:
    return Value(exp.column(name), type_)
