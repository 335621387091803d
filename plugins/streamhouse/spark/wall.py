"""What Spark itself makes of a query before it looks anything up: views that are ours, rows made of values, no more.

Our own reading of SQL refuses the rest already. This is the second wall: should Spark read a text otherwise than we do,
nothing is opened for it.
"""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from streamhouse.errors import QueryRefusedError
from streamhouse.sql.admit import TABLE_FUNCTIONS

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark.sql import SparkSession

_PLANS = frozenset(
    {
        *("Project", "Filter", "Aggregate", "Join", "LateralJoin", "AsOfJoin", "Sort", "GlobalLimit", "LocalLimit"),
        *("Offset", "Tail", "Distinct", "Union", "Except", "Intersect", "Sample", "Pivot", "Unpivot", "Generate"),
        *("SubqueryAlias", "UnresolvedSubqueryColumnAliases", "UnresolvedTVFAliases", "UnresolvedHaving"),
        *("UnresolvedWith", "WithWindowDefinition", "UnresolvedHint", "RepartitionByExpression", "PipeOperator"),
        *("OneRowRelation", "LocalRelation", "UnresolvedInlineTable", "Window"),
    }
)


def refuse_all_but(views: Collection[str], text: str, spark: "SparkSession") -> None:
    """See that a query reads nothing but these views, as Spark's own parser understands it.

    Args:
        views: Names of temporary views.
        text: What Spark is going to run.
        spark: Only its parser is asked.

    Raises:
        QueryRefusedError: it reads something else, or does more than read.
        ParseException: it does not parse.
    """
    plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(text)
    found = [(_kind(node), node) for node in _below(plan)]
    known = {view.lower() for view in views}
    for kind, node in found:
        if kind == "UnresolvedWith":
            known |= {named._1().lower() for named in _each(node.cteRelations())}
    for kind, node in found:
        if kind == "UnresolvedRelation":
            name = list(_each(node.multipartIdentifier()))
            fine = len(name) == 1 and name[0].lower() in known and not node.isStreaming() and not node.options().size()
        elif kind == "UnresolvedTableValuedFunction":
            name = list(_each(node.name()))
            fine = len(name) == 1 and name[0].lower() in TABLE_FUNCTIONS
        else:
            name, fine = [], kind in _PLANS
        if not fine:
            what = f"'{'.'.join(name)}'" if name else kind
            raise QueryRefusedError(f"Spark reads {what} in this query", hint="a query reads tables, and nothing else")


def _kind(node: "JavaObject") -> str:
    return str(node.getClass().getSimpleName()).removesuffix("$")


def _below(plan: "JavaObject") -> "Iterator[JavaObject]":
    yield plan
    for part in (plan.children(), plan.innerChildren()):  # the latter are sub-queries, and those of WITH
        for child in _each(part):
            yield from _below(child)


def _each(sequence: "JavaObject") -> "Iterator[JavaObject]":
    for index in range(sequence.size()):
        yield sequence.apply(index)
