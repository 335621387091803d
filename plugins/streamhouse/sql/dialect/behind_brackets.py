"""Clauses behind a query in brackets, `(SELECT …) LIMIT 1`, put where every analysis looks for them."""

from collections.abc import Sequence

from sqlglot import exp

_ORDERS = ("order", "sort", "cluster", "distribute")
_CUTS = ("limit", "offset")
_CLAUSES = ("with_", "windows", *_ORDERS, *_CUTS)
_ARGUMENTS: dict[type[exp.Expr], str] = {
    exp.Limit: "limit", exp.Offset: "offset", exp.Order: "order", exp.Sort: "sort", exp.Cluster: "cluster",
    exp.Distribute: "distribute",
}  # fmt: skip
_NAME = "_in_brackets"


def with_clauses_inside(nodes: Sequence[exp.Expr]) -> bool:
    """Move what hangs on brackets into the query in them, or into a SELECT around it; changes the tree.

    Spark plans `(SELECT a FROM x) LIMIT 1` as `SELECT a FROM x LIMIT 1`. A second LIMIT, ORDER BY or WITH takes the
    rows of the first, as those of a sub-query.

    Args:
        nodes: All of the tree, each after its parent; the first is no query.

    Returns:
        Whether there was one, so that `nodes` are others now.
    """
    asked = [node for node in nodes if type(node) is exp.Exists and not node.args.get("expression")]
    asked = [exists for exists in asked if type(exists.this) in (*_ARGUMENTS, exp.Subquery)]
    for exists in asked:
        exists.set("this", _query_of(exists.this))
    found = [node for node in nodes if type(node) is exp.Subquery and any(node.args.get(key) for key in _CLAUSES)]
    listed = [node for node in nodes if type(node) is exp.In and _is_value(node.args.get("query"))]
    for one in listed:
        one.set("expressions", [one.args["query"].this])
        one.set("query", None)
    for brackets in found[::-1]:
        clauses = {key: value for key in _CLAUSES if (value := brackets.args.get(key))}
        for key in clauses:
            brackets.set(key, None)
        query = _with_clauses(brackets.this, clauses)
        # Two pairs of brackets would be a value behind IN.
        (brackets.parent if type(brackets.parent) is exp.Subquery else brackets).set("this", query)
    return bool(found or asked or listed)


def _is_value(query: exp.Expr | None) -> bool:
    """Whether Spark takes what stands behind IN for a list of one value: `a IN ((SELECT …))`."""
    inner = query.this if isinstance(query, exp.Subquery) else None
    return isinstance(inner, exp.Subquery) and not any(inner.args.get(key) for key in _CLAUSES)


def _query_of(argument: exp.Expr) -> exp.Expr:
    """What sqlglot takes for an argument of EXISTS, as in `EXISTS ((SELECT …) LIMIT 0)`, as a query."""
    if isinstance(argument, exp.Subquery) and not any(argument.args.get(key) for key in _CLAUSES):
        return argument.unnest()
    clauses: dict[str, object] = {}
    inner = argument
    while (key := _ARGUMENTS.get(type(inner))) is not None and isinstance(inner.this, exp.Expr):
        clauses[key] = clause = inner
        inner = inner.this
        clause.set("this", None)
    return _with_clauses(inner, clauses) if clauses and isinstance(inner, exp.Query) else argument


def _with_clauses(inner: exp.Expr, clauses: dict[str, object]) -> exp.Expr:
    query = inner.unnest() if isinstance(inner, exp.Subquery) and not inner.alias else inner
    if not isinstance(query, exp.Query) or not _takes(query, clauses):
        held = {key: clauses.pop(key) for key in ("windows",) if key in clauses}
        if held:
            query.set("windows", [*(query.args.get("windows") or []), *_listed(held["windows"])])
        if not clauses:
            return query
        _call_by_outputs(query, clauses)
        alias = exp.TableAlias(this=exp.to_identifier(_NAME))
        query = exp.Select(expressions=[exp.Star()], from_=exp.From(this=exp.Subquery(this=query, alias=alias)))
    for key, value in clauses.items():
        query.set(key, value)
    return query


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else [value]


def _takes(query: exp.Query, clauses: dict[str, object]) -> bool:
    """Whether the clauses mean the same as clauses of the query itself."""
    own = {key for key in _CLAUSES if query.args.get(key)}
    if not own & {*_ORDERS, *_CUTS}:
        return not own & set(clauses)
    return not own & set(_CUTS) and set(clauses) <= set(_CUTS)


def _call_by_outputs(query: exp.Expr, clauses: dict[str, object]) -> None:
    """Call `x.a` by its name alone where the query shows it: around the query there is no x."""
    shown = {
        (item.table.lower(), item.name.lower())
        for item in (query.selects if isinstance(query, exp.Select) else [])
        if isinstance(item, exp.Column)
    }
    for key in (*_ORDERS, *_CUTS):
        clause = clauses.get(key)
        for column in clause.find_all(exp.Column) if isinstance(clause, exp.Expr) else ():
            if (column.table.lower(), column.name.lower()) in shown:
                column.set("table", None)


def without_brackets_of_places(nodes: Sequence[exp.Expr]) -> None:
    """Make `ORDER BY (1)` what it is for Spark, whose tree has no brackets: `ORDER BY 1`; changes the tree.

    Args:
        nodes: All of the tree.
    """
    for node in nodes:
        keys = node.expressions if type(node) is exp.Group else [node.this] if type(node) is exp.Ordered else []
        for key in keys:
            inner = key.unnest()
            if inner is not key and isinstance(inner, exp.Literal) and inner.is_int:
                key.replace(inner)


def with_order_by_all(nodes: Sequence[exp.Expr]) -> None:
    """Make ALL that is alone in the ORDER BY of a query a word; changes the tree. Elsewhere it names a column.

    Args:
        nodes: All of the tree.
    """
    for node in nodes:
        if type(node) is not exp.Order or len(node.expressions) != 1 or not isinstance(node.parent, exp.Query):
            continue
        [key] = node.expressions
        column = key.this.unnest()
        if isinstance(column, exp.Column) and not column.table and column.name.upper() == "ALL":
            word = exp.var("ALL")
            word.update_positions(column.this)
            key.set("this", word)
