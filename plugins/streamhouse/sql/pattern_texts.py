"""The texts that an expression can have, where that is known before any row is read. Pure."""

from itertools import product
from math import prod

from sqlglot import exp

_MOST = 64


def pattern_texts(node: exp.Expr) -> frozenset[str] | None:
    """Every text that an expression can have; None: it depends on rows, or on a function.

    A parameter without its value has none yet.

    Example:
        >>> from sqlglot import parse_one
        >>> [pattern_texts(parse_one(sql, dialect="spark")) for sql in ("concat('a', 'b')", "s", "reverse('a')")]
        [frozenset({'ab'}), None, None]
    """
    if isinstance(node, (exp.Literal, exp.RawString)):
        return frozenset({str(node.this)})
    if isinstance(node, (exp.Null, exp.Placeholder)):
        return frozenset()
    if isinstance(node, (exp.Cast, exp.TryCast)):
        return pattern_texts(node.this) if node.to.this in exp.DataType.TEXT_TYPES else None
    if isinstance(node, (exp.Paren, exp.Any, exp.All)):
        return pattern_texts(node.this)
    if isinstance(node, exp.DPipe):
        return _joined([node.this, node.expression])
    if isinstance(node, exp.Concat):
        return _joined(node.expressions)
    choices = _choices(node)
    return _either(choices) if choices is not None else None


def _choices(node: exp.Expr) -> list[exp.Expr | None] | None:
    """Of what an expression takes one; None: it does something else."""
    if isinstance(node, (exp.Array, exp.Tuple)):
        return [*node.expressions]
    if isinstance(node, exp.Coalesce):
        return [node.this, *node.expressions]
    if isinstance(node, exp.If):
        return [node.args["true"], node.args.get("false")]
    if isinstance(node, exp.Case):
        return [*(one.args["true"] for one in node.args["ifs"]), node.args.get("default")]
    return None


def _either(nodes: list[exp.Expr | None]) -> frozenset[str] | None:
    found = [pattern_texts(node) for node in nodes if node is not None]
    known = [texts for texts in found if texts is not None]
    return frozenset().union(*known) if len(known) == len(found) else None


def _joined(nodes: list[exp.Expr]) -> frozenset[str] | None:
    found = [pattern_texts(node) for node in nodes]
    known = [texts for texts in found if texts is not None]
    if len(known) < len(found):
        return None
    return frozenset(map("".join, product(*known))) if prod(map(len, known)) <= _MOST else None
