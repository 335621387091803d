"""LIMIT, OFFSET, and columns that are named by their place; pure."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from streamhouse.sql.admit import Refused
from streamhouse.sql.classes import Kinds
from streamhouse.sql.dialect import short

_SORTS, _CUTS = Kinds(exp.Group, exp.Order), Kinds(exp.Limit, exp.Offset)


def wrong_cuts(nodes: Sequence[exp.Expr]) -> Iterator[Refused]:
    """What LIMIT, OFFSET, GROUP BY and ORDER BY do not take.

    Args:
        nodes: All of a query.
    """
    for select in (node for node in nodes if isinstance(node, exp.Select) and node.args.get("group")):
        group = select.args["group"]
        if any(item.is_star for item in select.expressions) and any(key.is_int for key in group.expressions):
            message = "GROUP BY names a column by its place, and the output has *"
            yield Refused(group, message, "name the columns")
    for clause in (node for node in nodes if _SORTS[type(node)]):
        for item in clause.expressions:
            key = item.this if isinstance(item, exp.Ordered) else item
            if (most := _columns_of(clause.parent)) is not None and key.is_int and not 0 < int(key.name or 0) <= most:
                message = f"{clause.key.upper()} BY names the column {short(key)}, and there are {most}"
                yield Refused(key, message, "name the column")
            elif isinstance(key, exp.Neg) and isinstance(key.this, exp.Literal) and key.this.is_int:
                message = f"{clause.key.upper()} BY names the column {short(key)}, and there is none"
                hint = "the first column is 1"
                yield Refused(key, message, hint)
    for node in (node for node in nodes if _CUTS[type(node)]):
        most = node.expression
        if most is None or (isinstance(most, (exp.Column, exp.Var)) and most.name.upper() == "ALL"):
            continue
        if not all(_is_count(part) for part in most.walk()):
            word = node.key.upper()
            message = f"{word} takes a whole number of rows, and not {short(most)}"
            yield Refused(most, message, f"write {word} 10")


def _columns_of(query: exp.Expr | None) -> int | None:
    """How many columns a query has; None: its text alone does not tell."""
    items = query.selects if isinstance(query, exp.Query) else []
    if not items or any(item.is_star or isinstance(item, (exp.Aliases, exp.Func)) for item in items):
        return None
    return len(items)


def _is_count(node: exp.Expr) -> bool:
    if isinstance(node, exp.Literal):
        return not node.is_string and node.name.isdigit() and int(node.name) < 1 << 31
    if isinstance(node, exp.Cast):
        return bool(node.to.is_type(exp.DType.INT, exp.DType.SMALLINT, exp.DType.TINYINT, exp.DType.BIGINT))
    return isinstance(node, (exp.Add, exp.Mul, exp.Paren, exp.DataType, exp.Placeholder))
