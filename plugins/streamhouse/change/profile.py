"""Takes the figures of a version of a table that its audit judges, in Spark."""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from sqlglot import exp

from streamhouse.change.audit import Profile
from streamhouse.errors import Location
from streamhouse.model.action import Expectation
from streamhouse.model.plan import EXPECTATION
from streamhouse.model.table import Table
from streamhouse.spark.results import collected_rows
from streamhouse.sql.dialect import parse_condition, render

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ROWS, _NULL_KEYS, _RULE = "rows", "null_keys", "rule_"


def profile(
    table: Table,
    rows: "DataFrame",
    quarantine: "DataFrame | None",
    expect: Mapping[str, Expectation],
    *,
    most: int,
) -> Profile:
    """Figures of a version.

    Args:
        table: As the version is, or is read.
        rows: All its rows.
        quarantine: Those that its expectations kept out; None: it keeps none.
        expect: By which it is judged.
        most: Of so many keys about it is looked whether they are there once.
    """
    conditions = {
        name: condition for name, rule in expect.items() if (condition := _condition(name, rule, rows.columns))
    }
    found = collected_rows(rows.agg(*_figures(table, conditions)))[0].asDict()
    counted = collected_rows(quarantine.groupBy(EXPECTATION).count()) if quarantine is not None else []
    rows_by_expectation = {row[EXPECTATION]: int(row["count"]) for row in counted}
    return Profile(
        rows=int(found[_ROWS]),
        null_keys=int(found.get(_NULL_KEYS) or 0),
        double_keys=_double_keys(table, rows, int(found[_ROWS]), most),
        quarantine_rows=sum(rows_by_expectation.values()),
        violations={name: int(found[_RULE + name]) + rows_by_expectation.get(name, 0) for name in conditions},
    )


def _condition(name: str, rule: Expectation, columns: list[str]) -> str | None:
    """The condition as Spark SQL; None where a column it uses is not there."""
    tree = parse_condition(rule.check, Location(name))
    known = {column.lower() for column in columns}
    return render(tree) if all(c.parts[0].name.lower() in known for c in tree.find_all(exp.Column)) else None


def _double_keys(table: Table, rows: "DataFrame", count: int, most: int) -> int:
    from pyspark.sql import functions as F  # noqa: N812

    if not table.primary_key:
        return 0
    keys = rows.select(*table.primary_key)
    if count > most:
        keys = keys.where(F.pmod(F.xxhash64(*table.primary_key), F.lit(-(-count // most))) == 0)
    return keys.groupBy(*table.primary_key).count().where(F.col("count") > 1).count()


def _figures(table: Table, conditions: Mapping[str, str]) -> "list[Column]":
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    figures = [F.count(F.lit(1)).alias(_ROWS)]
    if needed := [name for name in table.primary_key if name not in table.null_keys]:
        null = reduce(or_, map(F.isnull, needed))
        figures.append(F.count_if(null).alias(_NULL_KEYS))
    checks = ((name, F.coalesce(F.expr(condition), F.lit(False))) for name, condition in conditions.items())
    return [*figures, *(F.count_if(~one).alias(_RULE + name) for name, one in checks)]
