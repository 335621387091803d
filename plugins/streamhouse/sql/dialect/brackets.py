"""Brackets that a tree needs so that Spark reads the text as that tree."""

from collections.abc import Sequence

from sqlglot import exp

from streamhouse.sql.classes import Kinds

_OR, _AND, _NOT, _PREDICATE, _COMPARISON, _TERM, _UNARY, _POSTFIX, _PRIMARY = 1, 2, 3, 4, 5, 10, 12, 13, 14
_LEVELS: dict[type[exp.Expr], int] = {
    exp.Or: _OR, exp.And: _AND, exp.Not: _NOT,
    **dict.fromkeys((exp.Between, exp.In, exp.Is, exp.Like, exp.ILike, exp.RegexpLike, exp.Escape), _PREDICATE),
    # These are printed as IS [NOT] DISTINCT FROM.
    **dict.fromkeys((exp.NullSafeEQ, exp.NullSafeNEQ), _PREDICATE),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), _COMPARISON),
    exp.BitwiseOr: 6, exp.BitwiseXor: 7, exp.BitwiseAnd: 8,
    exp.Add: _TERM, exp.Sub: _TERM, exp.DPipe: _TERM,
    exp.Mul: 11, exp.Div: 11, exp.Mod: 11, exp.IntDiv: 11,
    exp.Neg: _UNARY, exp.BitwiseNot: _UNARY, exp.Collate: _POSTFIX,
}  # fmt: skip
_BINARY = frozenset(kind for kind, level in _LEVELS.items() if level >= _COMPARISON and issubclass(kind, exp.Binary))
_CONNECTORS = frozenset({exp.And, exp.Or})

_POSTFIXED = Kinds(exp.Dot, exp.Bracket)


def bracket(nodes: Sequence[exp.Expr]) -> bool:
    """Put the brackets into a tree that it needs; changes it.

    Args:
        nodes: All of the tree, each after its parent.

    Returns:
        Whether it needed any, so that `nodes` are others now.
    """
    found = _lacking(nodes)
    for part in found:
        part.replace(exp.Paren(this=part.copy()))
    return bool(found)


def _lacking(nodes: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The parts of a tree that must stand in brackets and do not, inner ones first."""
    found: list[exp.Expr] = []
    for node in nodes:
        level = _LEVELS.get(type(node))
        if level is None:
            if _POSTFIXED[type(node)] and type(node.this) in _LEVELS:
                found.append(node.this)
            continue
        wanted: list[tuple[exp.Expr | None, int]]
        if type(node) in _CONNECTORS:
            wanted = [(node.this, level), (node.args.get("expression"), level)]
        elif type(node) in _BINARY:
            wanted = [(node.this, level), (node.args.get("expression"), level + 1)]
        elif level == _PREDICATE:
            values = [node.args.get(key) for key in ("expression", "low", "high")]
            inner = _PREDICATE if isinstance(node, exp.Escape) else _COMPARISON
            wanted = [(node.this, inner), *((value, _COMPARISON) for value in values)]
        else:
            wanted = [(node.this, level)]
        found += [
            part for part, least in wanted if isinstance(part, exp.Expr) and _LEVELS.get(type(part), _PRIMARY) < least
        ]
    return found[::-1]
