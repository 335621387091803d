"""Named windows that no function uses: Spark leaves them out before it looks at what they say."""

from collections.abc import Iterable

from sqlglot import exp


def leave_out_unused(nodes: Iterable[exp.Expr]) -> bool:
    """Leave out the windows of each WINDOW clause that nothing names; changes the tree.

    Args:
        nodes: All of a query as parsed.

    Returns:
        Whether there was one, so that `nodes` may be others now.

    Example:
        >>> from sqlglot import parse_one
        >>> query = parse_one("SELECT sum(b) OVER v AS n FROM t WINDOW v AS (ORDER BY a), w AS (ORDER BY c)", "spark")
        >>> leave_out_unused(query.walk()), query.sql("spark")
        (True, 'SELECT SUM(b) OVER v AS n FROM t WINDOW v AS (ORDER BY a)')
    """
    selects = [node for node in nodes if type(node) is exp.Select and node.args.get("windows")]
    left_out = [_leave_out(select) for select in selects]
    return any(left_out)


def _leave_out(select: exp.Select) -> bool:
    given = select.args["windows"]
    named = {str(base.name).lower() for one in select.find_all(exp.Window) if (base := one.args.get("alias"))}
    kept = [window for window in given if window.name.lower() in named]
    select.set("windows", kept or None)
    return len(kept) < len(given)
