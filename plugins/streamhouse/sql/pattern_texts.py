"""The texts that an expression can have, as far as they are known before any row is read. Pure."""

from itertools import product
from math import prod

from sqlglot import exp

from streamhouse.sql.choices import choices_of, given_to
from streamhouse.sql.scopes import function_name

_MOST = 64


def pattern_texts(node: exp.Expr) -> frozenset[str]:
    """Texts that an expression can have; none where it depends on rows, on a function, or on a parameter.

    What is written out in an unknown expression is taken as a text, too: it may be a part of what comes out.

    Example:
        >>> from sqlglot import parse_one
        >>> [sorted(pattern_texts(parse_one(sql, dialect="spark"))) for sql in ("concat('a', 'b')", "s", "upper('a')")]
        [['ab'], [], ['a']]
    """
    if isinstance(node, (exp.Cast, exp.TryCast, exp.Paren, exp.Any, exp.All)):
        return pattern_texts(node.this)
    if isinstance(node, exp.DPipe):
        return _joined([node.this, node.expression])
    if function_name(node) == "concat":
        return _joined(given_to(node))
    choices = node.expressions if isinstance(node, exp.Tuple) else choices_of(node)
    if choices is not None:
        return frozenset().union(*map(pattern_texts, choices))
    return _written(node)


def _joined(nodes: list[exp.Expr]) -> frozenset[str]:
    """Each text of texts side by side; of very many ones, only the parts."""
    parts = [found for found in map(pattern_texts, nodes) if found]
    if prod(map(len, parts)) > _MOST:
        return frozenset().union(*parts)
    return frozenset(map("".join, product(*parts))) if parts else frozenset()


def _written(node: exp.Expr) -> frozenset[str]:
    texts = [str(one.this) for one in node.find_all(exp.Literal, exp.RawString) if _is_text(one)]
    return frozenset({*texts, "".join(texts)} - {""})


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.RawString) or bool(node.args.get("is_string"))
