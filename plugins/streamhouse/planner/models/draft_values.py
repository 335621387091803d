"""What a value of SQL is made of: columns and queries that become part of it, without those that only choose it."""

from collections.abc import Iterator

from sqlglot import exp

from streamhouse.sql.scopes import function_name

_CONDITIONS = exp.Predicate | exp.Connector | exp.Not | exp.CountIf | exp.Order | exp.DataType
_CHOOSING = {"if": 1, "iff": 1, "nvl2": 1}  # function → how many of its first arguments only choose


def parts_of(node: exp.Expr) -> Iterator[exp.Column | exp.Query]:
    """Columns and queries whose values become part of the value of a node.

    Example:
        >>> from sqlglot import parse_one
        >>> [part.sql() for part in parts_of(parse_one("SUM(CASE WHEN a > 1 THEN b * 2 ELSE c END)"))]
        ['b', 'c']
    """
    if isinstance(node, exp.Column | exp.Query):
        yield node
        return
    if isinstance(node, _CONDITIONS):
        return
    if isinstance(node, exp.Case):
        inner = [*(one.args["true"] for one in node.args["ifs"]), node.args.get("default")]
    elif isinstance(node, exp.Anonymous):
        inner = _given(function_name(node), list(node.expressions))
    elif isinstance(node, exp.If):
        inner = [node.args.get("true"), node.args.get("false")]
    elif isinstance(node, exp.Filter | exp.Window | exp.Nullif):
        inner = [node.this]
    else:
        inner = list(node.iter_expressions())
    for one in inner:
        if one is not None:
            yield from parts_of(one)


def _given(name: str, given: list[exp.Expr]) -> list[exp.Expr]:
    if name == "decode":
        return [*given[2::2], *(given[-1:] if len(given) % 2 == 0 else [])]
    if name in {"nullif", "max_by", "min_by"}:
        return given[:1]
    return given[_CHOOSING.get(name, 0) :]
