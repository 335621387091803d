"""Composes the query that an epoch asks about changed rows. Pure."""

from functools import lru_cache, reduce

from sqlglot import exp

from streamhouse.errors import Location
from streamhouse.model.delta_plan import ROWS, WEIGHT, DeltaBlock
from streamhouse.sql.carry import carried
from streamhouse.sql.dialect import parse_query, render_written


def weight_columns(plan: DeltaBlock) -> dict[str, str]:
    """Linear port → the column that its rows need for `weighted`: 1 of a row that is there, -1 of one that goes."""
    return {port: f"{WEIGHT}_{at}" for at, port in enumerate(plan.linear)}


def weighted(plan: DeltaBlock) -> str:
    """SQL over the ports: the rows of a plan with `WEIGHT`, or the totals of these rows.

    Each row has exactly one row of every linear port, so its weight is the product of their weights.

    Args:
        plan: Of the step.
    """
    return _weighted(plan.rows, tuple(weight_columns(plan).items()), plan.totals)


@lru_cache(maxsize=1024)
def _weighted(rows: str, columns: tuple[tuple[str, str], ...], totals: str | None) -> str:
    query: exp.Query = _parsed(rows)
    shown = [exp.column(item.alias_or_name) for item in query.selects]
    for port, column in columns:
        query = carried(query, [port], column)
    weights: list[exp.Expr] = [exp.column(column) for _, column in columns]
    one = exp.cast(exp.Literal.number(1), "bigint")
    weight = reduce(lambda left, right: exp.Mul(this=left, expression=right), weights or [one])
    found = exp.select(*shown, exp.alias_(weight, WEIGHT)).from_(query.subquery("made"))
    if totals is None:
        return render_written(found)
    total = _parsed(totals)
    name = exp.TableAlias(this=exp.to_identifier(ROWS))
    total.set("with_", exp.With(expressions=[exp.CTE(this=found, alias=name)]))
    return render_written(total)


def _parsed(sql: str) -> exp.Query:
    return parse_query(sql, Location(""))
