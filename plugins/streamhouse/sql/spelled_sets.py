"""Columns that ROLLUP, CUBE and GROUPING SETS name by their places, spelled out: `GROUP BY ROLLUP (1, 2)`."""

from collections.abc import Iterable, Iterator

from sqlglot import exp

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple)
_OLD_FORMS = ("rollup", "cube", "grouping_sets")


def spell_places_in_sets(nodes: Iterable[exp.Expr]) -> bool:
    """Put the expressions of output columns where their places stand; changes the tree.

    A place that no column has is left as it is, and so is the place of a number, which would be another place.

    Args:
        nodes: All of a query as parsed.

    Returns:
        Whether there was one, so that `nodes` may be others now.
    """
    found = False
    for select in (node for node in nodes if type(node) is exp.Select and node.args.get("group") is not None):
        items = select.selects
        if any(item.is_star or isinstance(item, exp.Aliases) for item in items):
            continue
        for place in list(_places(select.args["group"])):
            value = items[int(place.name) - 1].unalias() if 0 < int(place.name) <= len(items) else place
            if not isinstance(value.unnest(), exp.Literal):
                place.replace(value.copy())
                found = True
    return found


def _places(group: exp.Expr) -> Iterator[exp.Expr]:
    """The places inside the sets of a GROUP BY."""
    parts = [one for form in _OLD_FORMS for one in group.args.get(form) or [] if isinstance(one, exp.Expr)]
    for part in (*group.expressions, *parts):
        if isinstance(part, _SETS):
            yield from _inside(part)


def _inside(part: exp.Expr) -> Iterator[exp.Expr]:
    for one in part.expressions:
        inner = one.unnest()
        if isinstance(inner, _SETS):
            yield from _inside(inner)
        elif isinstance(inner, exp.Literal) and inner.is_int:
            yield inner
