"""The parts of a syntax tree whose meaning `unfold` takes over in full: classes, and the arguments each may have.

A class that is not here, or an argument that its line does not name, makes a query opaque: it is compared by
its words. So what a new sqlglot brings counts as a change until someone has thought about it.
"""

from collections.abc import Mapping

from sqlglot import exp

from streamhouse.sql.relations import UnfollowedError
from streamhouse.sql.words import words


def _each(arguments: str, *classes: type[exp.Expr]) -> dict[type[exp.Expr], frozenset[str]]:
    return dict.fromkeys(classes, words(arguments))


CLAUSES: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.Select: words("expressions from_ joins laterals where group having distinct order limit offset with_ hint"),
    **_each("this expression distinct with_", exp.Union, exp.Except, exp.Intersect),
    exp.Subquery: words("this alias"),
    exp.With: words("expressions"),
    exp.CTE: words("this alias"),
    exp.Table: words("this alias"),
    exp.TableAlias: words("this columns"),
    exp.Join: words("this on side kind"),
    exp.Lateral: words("this view outer alias"),
    exp.Order: words("expressions"),
    exp.Ordered: words("this desc nulls_first"),
    exp.Group: words("expressions"),
    **_each("this", exp.From, exp.Where, exp.Having),
    **_each("expression", exp.Limit, exp.Offset),
    exp.Alias: words("this alias"),
}
"""Of queries."""

EXPRESSIONS: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.Column: words("this table"),
    exp.Identifier: words("this quoted"),
    exp.Var: words("this"),
    exp.Literal: words("this is_string"),
    exp.Boolean: words("this"),
    exp.HexString: words("this"),
    **_each("", exp.Null, exp.Star),
    exp.DataType: words("this expressions nested"),
    exp.DataTypeParam: words("this"),
    exp.ColumnDef: words("this kind"),
    exp.Interval: words("this unit"),
    exp.IntervalSpan: words("this expression"),
    # --- operators ---
    **_each("this", exp.Paren, exp.Not, exp.Neg, exp.BitwiseNot),
    **_each("this expression", exp.And, exp.Or, exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is),
    **_each("this expression", exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.ILike, exp.RegexpLike, exp.Escape),
    **_each("this expression", exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv, exp.DPipe),
    **_each("this expression", exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.Dot, exp.PropertyEQ),
    **_each("this expression", exp.BitwiseLeftShift, exp.BitwiseRightShift),
    exp.Between: words("this low high"),
    exp.In: words("this expressions query"),
    **_each("this", exp.Any, exp.All),
    exp.Case: words("this ifs default"),
    exp.If: words("this true false"),
    **_each("this to safe", exp.Cast, exp.TryCast),
    exp.Bracket: words("this expressions"),
    exp.Tuple: words("expressions"),
    exp.Lambda: words("this expressions"),
    # --- functions ---
    exp.Anonymous: words("this expressions"),
    exp.Exists: words("this expression"),
    exp.ArrayFilter: words("this expression"),
    exp.Struct: words("expressions"),
    exp.Concat: words("expressions"),
    exp.Coalesce: words("this expressions"),
    **_each("this expression", exp.Nullif, exp.Extract),
    exp.Substring: words("this start length"),
    exp.StrPosition: words("this substr"),
    exp.Overlay: words("this expression from_ for_"),
    exp.Trim: words("this expression position"),
    **_each("", exp.CurrentDate, exp.CurrentTimestamp, exp.Localtimestamp),
    **_each("this", exp.Explode, exp.Posexplode, exp.PosexplodeOuter, exp.Inline),
    type(exp.func("explode_outer", exp.null())): words("this"),  # ExplodeOuter is a trait of it
    # --- aggregates and windows ---
    exp.Count: words("this expressions"),
    **_each("this", exp.Sum, exp.Avg, exp.CountIf, exp.Median, exp.ApproxDistinct, exp.ArrayAgg, exp.ArrayUniqueAgg),
    **_each("this", exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr, exp.FirstValue, exp.LastValue),
    **_each("this", exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop),
    exp.Distinct: words("expressions"),
    **_each("this expression", exp.Filter, exp.WithinGroup),
    **_each("this", exp.IgnoreNulls, exp.RespectNulls),
    exp.Window: words("this partition_by order spec"),
    exp.WindowSpec: words("kind start start_side end end_side"),
    **_each("", exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist),
    exp.Ntile: words("this"),
    exp.NthValue: words("this offset"),
    **_each("this offset default", exp.Lag, exp.Lead),
}
"""Of expressions; `unfold` puts every one of these arguments into its node."""

SAYS_NOTHING: Mapping[tuple[type[exp.Expr], str], object] = {
    (exp.Count, "big_int"): True,
    (exp.Div, "safe"): True,
    (exp.DPipe, "safe"): True,
    (exp.ArrayAgg, "nulls_excluded"): True,
    (exp.Window, "over"): "OVER",
}
"""The one value that Spark's parser gives an argument by which sqlglot prints the tree for other systems."""

_KNOWN = {**CLAUSES, **EXPRESSIONS}


def arguments_of(node: exp.Expr) -> dict[str, object]:
    """The arguments of a node that say something."""
    return {
        name: value
        for name, value in node.args.items()
        if value is not None
        and value is not False
        and value != []
        and value != SAYS_NOTHING.get((type(node), name), [])
    }


def refuse_unknown(tree: exp.Expr) -> None:
    """Refuse a tree with a part that is not understood in full.

    Hints are no part: they say how rows are computed, never which.

    Raises:
        UnfollowedError: it names the part.
    """
    for node in tree.walk(prune=_hints):
        if _hints(node):
            continue
        known = _KNOWN.get(type(node))
        if known is None:
            raise UnfollowedError(f"{node.key.upper()}, which is not analysed")
        if strange := arguments_of(node).keys() - known:
            raise UnfollowedError(f"{node.key.upper()} with {', '.join(sorted(strange)).strip('_').upper()}")


def _hints(node: exp.Expr) -> bool:
    return isinstance(node, exp.Hint) and isinstance(node.parent, exp.Select)
