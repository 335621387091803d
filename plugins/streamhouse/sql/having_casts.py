"""Casts of HAVING that Spark 4.1 finds by a column of the input and keeps for the output column of its name; pure.

Spark gives the condition its casts while each name is a column of the input, and only then makes it the output column.
So `max(k) AS v … HAVING v = 'a'` is CAST('a' AS BIGINT) where the input has `v INT`.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.infer import Inference
from streamhouse.sql.missing_parts import of_one_type
from streamhouse.sql.scopes import arguments_of
from streamhouse.sql.spark_type import SparkType, widest
from streamhouse.sql.uncompared import COMPARISONS

_BESIDE = (*COMPARISONS, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv)
_ENDS = (exp.And, exp.Or, exp.Not, exp.Is, exp.Cast, exp.Query)


def other_casts(column: exp.Column, value: exp.Expr, scope: Scope, inference: Inference) -> bool:
    """Whether a name in HAVING has other casts as a column of the input than as the output column.

    Args:
        column: The name, given with the table of the input; part of a HAVING.
        value: Of the output column.
        scope: Of the query.
        inference: Knows the columns of its tables.

    Returns:
        True also where only one of both has a type; False where neither has one: Spark is the judge there.
    """
    below: exp.Expr = column
    own, made = inference.type_of(column, scope), inference.type_of(value, scope)
    while own is not None and made is not None and own != made:
        above = below.parent
        if above is None or isinstance(above, _ENDS):
            return False
        kinds = [inference.type_of(part, scope) for part in _beside(below, above)]
        if not _fits(own, made, [kind for kind in kinds if kind is not None]):
            return True
        own, made = inference.type_of(above, scope), inference.type_of(_with(above, column, value), scope)
        if (own is None) != (made is None):
            return True
        below = above
    return False


def _beside(part: exp.Expr, above: exp.Expr) -> Iterator[exp.Expr]:
    """What Spark gives one type with `part`, which is directly below `above`."""
    if isinstance(above, _BESIDE):
        found = [above.this, above.args["expression"]]
    elif isinstance(above, exp.In):
        found = [above.this, *above.expressions]
    elif isinstance(above, exp.Between):
        found = [above.this, above.args["low"], above.args["high"]]
    elif isinstance(above, exp.If) and isinstance(above.parent, exp.Case):
        case = above.parent
        found = [case.this] if part is above.this else of_one_type(case)
    elif isinstance(above, exp.Nullif):
        found = arguments_of(above)
    else:
        found = of_one_type(above)
    return (one for one in found if isinstance(one, exp.Expr) and one is not part)


def _fits(own: SparkType, made: SparkType, others: Sequence[SparkType]) -> bool:
    """Whether the casts of a column of type `own` beside others mean the same for the type `made`."""
    kinds = {own.kind, *(other.kind for other in others)} - {"void"}
    if made.kind == own.kind == "decimal":
        wide = _met(own, others)
        return not others or (wide is not None and (wide.kind != "decimal" or wide.scale >= made.scale))
    if made.kind == own.kind and not own.fields:
        return True
    if kinds == {own.kind}:
        return own.kind != "decimal" or not others
    if own.integral and made.integral and all(other.numeric for other in others):
        return True
    wide = _met(own, others)
    if wide is None or wide.kind == "decimal":
        return False
    if wide.kind == own.kind:
        return all(other.numeric or other.kind == own.kind for other in others)
    return wide.kind == made.kind or (wide.integral and made.integral)


def _met(own: SparkType, others: Sequence[SparkType]) -> SparkType | None:
    """The type that Spark casts values to that it compares; None: there is none. A text is read as the other type."""
    found = [kind for kind in (own, *others) if kind.kind != "string"]
    wide = widest(*found)
    if wide is None or len(found) == len(others) + 1 or not wide.numeric:
        return wide
    return SparkType("bigint" if wide.integral else "double")


def _with(above: exp.Expr, column: exp.Column, value: exp.Expr) -> exp.Expr:
    """A copy of what a column is part of, with the value of the output column in place of it."""
    place = next(place for place, one in enumerate(above.find_all(exp.Column)) if one is column)
    copy = above.copy()
    twin = next(one for at, one in enumerate(copy.find_all(exp.Column)) if at == place)
    twin.replace(exp.Paren(this=value.copy()))
    return copy
