"""How many columns a sub-query in an expression gives, and of which types; pure.

References: `InSubquery`, `ScalarSubquery` and `CheckAnalysis` of Spark 4.1.
"""

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.admit import Refused
from streamhouse.sql.dialect import short
from streamhouse.sql.infer import Inference
from streamhouse.sql.met_types import widens


def wrong_columns(scope: Scope, inference: Inference) -> Iterator[Refused]:
    """Sub-queries of a SELECT whose columns do not go with where they stand.

    Args:
        scope: Of a SELECT in a qualified query.
        inference: Knows the types of its ports.
    """
    for inner in scope.subquery_scopes:
        wrapped = _outermost(inner.expression)
        place = wrapped.parent
        if isinstance(place, exp.In) and place.args.get("query") is wrapped:
            yield from _in(place, scope, inner, inference)
        elif isinstance(wrapped, exp.Subquery) and not isinstance(place, (exp.Exists, exp.From, exp.Join, exp.Lateral)):
            width = len(inference.outputs(inner))
            if width > 1:
                hint = "select one column, or join the rows"
                yield Refused(wrapped, f"a sub-query that stands for a value gives {width} columns", hint)


def _outermost(query: exp.Expr) -> exp.Expr:
    """The query with the brackets around it."""
    while isinstance(query.parent, exp.Subquery):
        query = query.parent
    return query


def _in(place: exp.In, scope: Scope, inner: Scope, inference: Inference) -> Iterator[Refused]:
    values, outputs = _values(place.this), inference.outputs(inner)
    if any(column.name == "*" for column in outputs):
        return
    if len(values) != len(outputs):
        message = f"IN compares {_counted(len(values))} with a sub-query of {_counted(len(outputs))}"
        yield Refused(place, message, "write as many values before IN as the sub-query has columns")
        return
    for value, column in zip(values, outputs, strict=True):
        one, other = inference.type_of(value, scope), column.type
        if one is not None and other is not None and not widens(one, other):
            yield Refused(place, f"{one} and {other} cannot be compared", f"write CAST({short(value)} AS …)")


def _values(left: exp.Expr) -> list[exp.Expr]:
    """What stands before IN: the parts of `(a, b)` and of `struct(a, b)`, which Spark's parser reads alike."""
    inner = left.unnest()
    if not isinstance(inner, (exp.Tuple, exp.Struct)):
        return [inner]
    return [part.expression if isinstance(part, exp.PropertyEQ) else part.unalias() for part in inner.expressions]


def _counted(columns: int) -> str:
    return "1 column" if columns == 1 else f"{columns} columns"
