"""Primary keys that several groups of a result may share; pure."""

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.dialect import short
from streamhouse.sql.fold import key_text
from streamhouse.sql.row_keys import group_keys
from streamhouse.sql.schema import CheckedQuery
from streamhouse.sql.scopes import aggregates_in, has_grouping_sets, peel, windows_in
from streamhouse.sql.spark_type import STRING


def coarse_key(query: CheckedQuery, key: tuple[str, ...]) -> str | None:
    """Why two groups of the query may have one key; None: it is not known that they may.

    `SELECT upper(country) AS country … GROUP BY country` groups by the column of the input: `de` and `DE` are two rows
    with one key. A key that only leaves group keys out is taken for a person's knowledge that they follow from it.

    Args:
        query: Checked.
        key: Output columns, in lower case.
    """
    scope, outer = peel(query.scope)
    select = scope.expression
    if not isinstance(select, exp.Select) or has_grouping_sets(select) or not key:
        return None
    groups = group_keys(select)
    texts = {key_text(group) for group in groups}
    shown = {name: item.unalias() for item in select.selects for name in outer.get(item.alias_or_name, [])}
    parts = [shown[name] for name in key if name in shown]
    grouped_columns = {key_text(part) for part in parts}
    for name, part in ((name, shown[name]) for name in key if name in shown):
        if key_text(part) in texts or aggregates_in(part) or windows_in(part) or _tells_apart(part, scope, query):
            continue
        lost = [
            group for group in groups if key_text(group) in _columns(part) and key_text(group) not in grouped_columns
        ]
        if lost:
            return _why(name, part, lost[0])
    return None


def _tells_apart(part: exp.Expr, scope: Scope, query: CheckedQuery) -> bool:
    """Whether an expression has another value for each value of its one column."""
    inner = part.unnest()
    if isinstance(inner, exp.Column):
        return True
    if isinstance(inner, exp.Dot):  # windows of one length begin, and end, at other times
        return inner.expression.name.lower() in {"start", "end"} and isinstance(inner.this, exp.Column)
    if isinstance(inner, exp.Cast) and not inner.args.get("safe"):
        before, after = query.inference.type_of(inner.this, scope), query.inference.type_of(inner, scope)
        wider = before is not None and after is not None and before.integral and (after.integral or after == STRING)
        return (wider or (before is not None and before == after)) and _tells_apart(inner.this, scope, query)
    return False


def _columns(node: exp.Expr) -> set[str]:
    return {key_text(column) for column in node.find_all(exp.Column)}


def _why(name: str, part: exp.Expr, group: exp.Expr) -> str:
    shown = short(group)
    if isinstance(group, exp.Column) and group.name == name:
        shown = f"{shown}, the column of the input, and not the output column of that name"
    key = f"the primary key has {name}, which is {short(part)}"
    return f"{key}, but the SQL groups by {shown}: two groups may have one key"
