"""Long chains of AND and OR as shallow trees, as Spark's parser builds them, so that no analysis runs out of stack."""

from collections.abc import Iterable, Sequence

from sqlglot import exp

_CHAINS = (exp.And, exp.Or)
_MOST = 64  # terms that the parser's tree, in which each is a part of the next, may have


def balance_chains(nodes: Iterable[exp.Expr]) -> None:
    """Give each long chain of one operator a tree whose depth is the logarithm of its terms; changes the tree.

    `a OR b OR c OR d` becomes `(a OR b) OR (c OR d)`, without brackets of its own: its text stays as it is.

    Args:
        nodes: All of the tree; after it some of them are in the tree no more.
    """
    for node in [one for one in nodes if isinstance(one, _CHAINS) and type(one.parent) is not type(one)]:
        terms = list(node.flatten(unnest=False))
        if len(terms) > _MOST:
            middle = len(terms) // 2
            node.set("this", _tree(type(node), terms[:middle]))
            node.set("expression", _tree(type(node), terms[middle:]))


def _tree(kind: type[exp.Expr], terms: Sequence[exp.Expr]) -> exp.Expr:
    level = list(terms)
    while len(level) > 1:
        pairs = [kind(this=one, expression=other) for one, other in zip(level[::2], level[1::2], strict=False)]
        level = [*pairs, *level[len(pairs) * 2 :]]
    return level[0]
