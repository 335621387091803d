"""What sqlglot reads and Spark's parser refuses, found in the tree."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp
from sqlglot.errors import ParseError

from streamhouse.model.types import DECIMAL_DIGITS
from streamhouse.sql.classes import Kinds

_JOINS = frozenset(
    {("", ""), ("", "INNER"), ("", "CROSS"), ("LEFT", ""), ("LEFT", "OUTER"), ("LEFT", "SEMI"), ("", "SEMI")}
    | {("RIGHT", ""), ("RIGHT", "OUTER"), ("FULL", ""), ("FULL", "OUTER"), ("LEFT", "ANTI"), ("", "ANTI")}
)
_CHAINS = (exp.And, exp.Or)
_DEEPEST = 250
_UNITS_FIRST = frozenset({"date_add", "dateadd", "date_diff", "datediff", "timestampadd", "timestampdiff", "timediff"})
_NOT_SPARK: dict[type[exp.Expr], str] = {
    exp.AtTimeZone: "AT TIME ZONE; write from_utc_timestamp(time, zone)",
    exp.Fetch: "FETCH; write LIMIT",
    exp.Into: "INTO",
    exp.Lock: "FOR UPDATE",
    exp.MatchRecognize: "MATCH_RECOGNIZE",
    exp.Unnest: "UNNEST; write LATERAL VIEW explode(…)",
    exp.SimilarTo: "SIMILAR TO; write RLIKE",
    exp.Glob: "GLOB; write LIKE",
    exp.Connect: "CONNECT BY",
    exp.Prior: "PRIOR",
}
_LOOKED_AT = Kinds(
    exp.Join, exp.With, exp.Select, exp.Values, exp.Alias, exp.DataType, exp.Cast, exp.Any, exp.All, exp.In,
    exp.Escape, exp.Distinct, exp.CTE, exp.Subquery, exp.Rollup, exp.Cube, exp.WindowSpec,
    exp.Anonymous, exp.Lambda, *_NOT_SPARK,
)  # fmt: skip
_NUMBERS = (exp.DType.DECIMAL, exp.DType.TIME, exp.DType.VARCHAR, exp.DType.CHAR)
_NESTED = {exp.DType.ARRAY: 1, exp.DType.MAP: 2}


def check_depth(nodes: Sequence[exp.Expr]) -> None:
    """Refuse a tree so deep that an analysis would run out of stack; chains of AND and OR are no depth.

    Args:
        nodes: All of the tree, its root first.

    Raises:
        ParseError: it is.
    """
    if len(nodes) <= _DEEPEST:
        return
    level, depth = [nodes[0]], 0
    while level:
        depth += 1
        if depth > _DEEPEST:
            raise _refused(f"more than {_DEEPEST} operators or queries stand in each other here", level[0])
        below: list[exp.Expr] = []
        for node in level:
            below += node.flatten() if isinstance(node, _CHAINS) else node.iter_expressions()
        level = below


def check_grammar(nodes: Iterable[exp.Expr]) -> None:
    """Refuse a tree that no text of Spark has.

    Args:
        nodes: All of the tree.

    Raises:
        ParseError: it is one.
    """
    for node in nodes:
        if _LOOKED_AT[type(node)]:
            for fault in _faults(node):
                raise _refused(fault, node)


def _faults(node: exp.Expr) -> Iterator[str]:
    if isinstance(node, exp.Join):
        yield from _of_join(node)
    elif isinstance(node, exp.With):
        yield from _twice("CTEs", (cte.alias for cte in node.expressions))
    elif isinstance(node, exp.Select):
        yield from _of_select(node)
    elif isinstance(node, exp.Values):
        yield from _of_values(node)
    elif isinstance(node, exp.Alias):
        if not isinstance(node.args["alias"], exp.Identifier):
            yield "this is no name"
    elif isinstance(node, exp.DataType):
        yield from _of_type(node)
    elif isinstance(node, exp.Cast):
        if not isinstance(node.args.get("to"), exp.DataType):
            yield "a type stands behind AS and behind ::"
    elif isinstance(node, (exp.Any, exp.All)):
        if not isinstance(node.parent, (exp.Like, exp.ILike)):
            yield f"Spark takes {node.key.upper()} only behind LIKE"
        elif isinstance(node.this, exp.Tuple) and not node.this.expressions:
            yield f"LIKE {node.key.upper()} has no patterns"
    elif isinstance(node, exp.In):
        if not any(node.args.get(key) for key in ("expressions", "query")):
            yield "IN has no values"
    elif isinstance(node, exp.Escape):
        yield from _of_escape(node)
    elif isinstance(node, exp.Distinct):
        if isinstance(node.parent, exp.Func) and not node.expressions:
            yield "DISTINCT has no columns"
    elif isinstance(node, (exp.CTE, exp.Subquery)):
        yield from _of_names_behind(node)
    elif isinstance(node, (exp.Rollup, exp.Cube)):
        if any(isinstance(part, exp.Tuple) and not part.expressions for part in node.expressions):
            yield f"{node.key.upper()} takes no empty set"
    elif isinstance(node, exp.WindowSpec):
        yield from _of_frame(node)
    elif isinstance(node, exp.Anonymous):
        first = node.expressions[0] if node.expressions else None
        if node.name.lower() in _UNITS_FIRST and len(node.expressions) == 3 and isinstance(first, exp.Literal):
            yield f"the unit of {node.name} stands without quotes"
    elif isinstance(node, exp.Lambda):
        yield from _twice("parameters", (name.name for name in node.expressions))
        if node.this.find(exp.Query):
            yield "Spark takes no sub-query in a lambda; join the rows, or compute it before"
    elif (word := _NOT_SPARK.get(type(node))) is not None:
        yield f"Spark has no {word}"


def _of_escape(node: exp.Escape) -> Iterator[str]:
    sign = node.expression
    if not (isinstance(sign, exp.Literal) and sign.is_string and len(sign.name) == 1):
        yield "ESCAPE takes one character"
    if isinstance(node.this, (exp.Like, exp.ILike)) and isinstance(node.this.expression, (exp.Any, exp.All)):
        yield f"LIKE {node.this.expression.key.upper()} takes no ESCAPE"


def _of_names_behind(node: exp.Expr) -> Iterator[str]:
    alias, inner = node.args.get("alias"), node.this
    columns = alias.columns if isinstance(alias, exp.TableAlias) else []
    selects = inner.selects if isinstance(inner, exp.Query) else []
    if (
        columns
        and selects
        and not any(item.is_star for item in selects)
        and _width(selects) not in (None, len(columns))
    ):
        yield f"{node.alias} has {len(selects)} columns, and {len(columns)} names"


def _of_frame(node: exp.WindowSpec) -> Iterator[str]:
    bounds = [bound for key in ("start", "end") if isinstance(bound := node.args.get(key), exp.Expr)]
    if any(bound.find(exp.Column) for bound in bounds):
        yield "the bound of a frame is a literal"
    if len({_has_months(interval) for bound in bounds for interval in bound.find_all(exp.Interval)}) > 1:
        yield "one bound of a frame counts months, and the other one days or less"


def _has_months(interval: exp.Interval) -> bool:
    return str(interval.args.get("unit")).upper().startswith(("MONTH", "YEAR"))


def _twice(what: str, names: Iterable[str]) -> Iterator[str]:
    times = Counter(name.lower() for name in names)
    yield from (f"two {what} are named '{name}'" for name, number in times.items() if number > 1)


def _width(selects: list[exp.Expr]) -> int | None:
    """How many columns a SELECT has; None: its functions may give several."""
    if any(isinstance(item, (exp.Aliases, exp.Func)) for item in selects):
        return None
    return len(selects)


def _of_join(node: exp.Join) -> Iterator[str]:
    side, kind, method = (str(node.args.get(key) or "").upper() for key in ("side", "kind", "method"))
    if (side, kind) not in _JOINS or method not in ("", "NATURAL"):
        yield f"Spark has no {' '.join(filter(None, (method, side, kind)))} JOIN"
    if isinstance(node.this, exp.Lateral) and (method or node.args.get("using")):
        yield "a LATERAL query is joined by ON"
    if method and (node.args.get("using") or node.args.get("on") not in (None, exp.true())):
        yield "a NATURAL JOIN has no condition"


def _of_values(node: exp.Values) -> Iterator[str]:
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
    if len({len(row) for row in rows}) > 1:
        yield "the rows of VALUES have different numbers of columns"
    if any(cell.find(exp.Column, exp.Query) for row in rows for cell in row):
        yield "VALUES takes values; write SELECT … UNION ALL SELECT … for columns"
    alias = node.args.get("alias")
    named = alias.columns if alias is not None else []
    if named and rows and len(named) != len(rows[0]):
        yield f"VALUES has {len(rows[0])} columns, and {len(named)} names"
    if any(isinstance(cell, exp.Alias) for row in rows for cell in row):
        yield "a name stands in VALUES; put each row in brackets"


def _of_select(node: exp.Select) -> Iterator[str]:
    if not node.expressions:
        yield "this SELECT has no columns"
    if node.args.get("kind") or node.args.get("operation_modifiers") or node.args.get("exclude"):
        yield "this SELECT is not Spark's"
    if (distinct := node.args.get("distinct")) is not None and distinct.args.get("on"):
        yield "Spark has no DISTINCT ON"
    yield from _twice("windows", (window.name for window in node.args.get("windows") or []))
    group = node.args.get("group")
    if group is not None:
        yield from _of_group(group)
    if node.args.get("having") is not None and isinstance(node.args["having"].this, exp.Query):
        yield "HAVING takes a condition"


def _of_group(group: exp.Group) -> Iterator[str]:
    folded = [*(group.args.get("rollup") or []), *(group.args.get("cube") or [])]
    if not any(group.args.values()) or (not group.expressions and any(not one.expressions for one in folded)):
        yield "GROUP BY has no columns"
    if group.expressions and group.args.get("all"):
        yield "GROUP BY ALL names no columns"
    if any(isinstance(key, exp.Alias) for key in group.expressions):
        yield "GROUP BY gives no names"


def _of_type(node: exp.DataType) -> Iterator[str]:
    kind = node.this
    if kind in _NESTED and len(node.expressions) not in (0, _NESTED[kind]):
        yield f"{kind.value} takes {_NESTED[kind]} types in <>"
    elif kind in _NUMBERS:
        if not all(part.name.isdigit() for part in node.expressions):
            yield f"the size of {kind.value} is a whole number"
        elif kind == exp.DType.DECIMAL and node.expressions:
            precision, scale = [*(int(part.name[:9]) for part in node.expressions), 0][:2]
            if not 0 <= scale <= precision <= DECIMAL_DIGITS:
                most = f"at most {DECIMAL_DIGITS} digits, and no more of them behind the point"
                yield f"DECIMAL({precision},{scale}) is none: {most}"
    elif kind in (exp.DType.USERDEFINED, exp.DType.UNKNOWN):
        yield f"'{node.name or node.args.get('kind')}' is no Spark SQL type"


def _refused(message: str, node: exp.Expr) -> ParseError:
    around: exp.Expr | None = node
    place = None
    while place is None and around is not None:  # a word such as ALL has no place of its own
        place = next((part for part in around.walk() if part.meta_get("line") is not None), None)
        around = around.parent
    line, col = (place.meta["line"], place.meta["col"]) if place is not None else (1, 1)
    return ParseError(message, [{"description": message, "line": line, "col": col, "highlight": ""}])
