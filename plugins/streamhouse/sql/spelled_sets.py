"""Columns that ROLLUP, CUBE and GROUPING SETS name by their places, spelled out: `GROUP BY ROLLUP (1, 2)`."""

from collections.abc import Iterable, Iterator

from sqlglot import exp

from streamhouse.sql.scopes import GROUPING_SETS, grouping_keys, sets_behind_keys


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
    for part in (*group.expressions, *sets_behind_keys(group)):
        if isinstance(part, (exp.Tuple, *GROUPING_SETS)):
            yield from (key for key in grouping_keys(part) if isinstance(key, exp.Literal) and key.is_int)
