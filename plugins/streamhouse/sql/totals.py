"""Keys in which a total of ROLLUP, CUBE or GROUPING SETS looks like the group of NULL; pure."""

from collections.abc import Collection, Iterable

from sqlglot import exp

from streamhouse.sql.fold import key_text
from streamhouse.sql.schema import CheckedQuery
from streamhouse.sql.scopes import (
    GROUPING_SETS,
    function_name,
    grouping_keys,
    has_grouping_sets,
    peel,
    sets_behind_keys,
)


def totals_like_nulls(query: CheckedQuery, key: Collection[str]) -> list[str]:
    """The columns of the key that are NULL in a total and may be NULL in a row, so that both groups have one key.

    None where the key says of what a row is the total: by GROUPING of the column, or by GROUPING_ID.

    Args:
        query: Checked.
        key: Output columns, in lower case.
    """
    scope, outer = peel(query.scope)
    select = scope.expression
    if not isinstance(select, exp.Select) or not has_grouping_sets(select):
        return []
    shown = {name: item.unalias().unnest() for item in select.selects for name in outer.get(item.alias_or_name, [])}
    parts = {name: shown[name] for name in key if name in shown}
    if any(_is_grouping_id(part) for part in parts.values()):
        return []
    told = {key_text(one) for part in parts.values() if function_name(part) == "grouping" for one in part.expressions}
    absent = _absent(select.args["group"]) - told
    return [
        name
        for name, part in parts.items()
        if key_text(part) in absent and query.inference.nullable(part, scope, before_totals=True)
    ]


def _is_grouping_id(part: exp.Expr) -> bool:
    column = isinstance(part, exp.Column) and part.name.lower() == "grouping__id"
    return column or function_name(part) == "grouping_id"


def _absent(group: exp.Expr) -> set[str]:
    """The texts of the group keys that some set does not have."""
    plain = [one for one in group.expressions if not isinstance(one, GROUPING_SETS)]
    old = sets_behind_keys(group)
    found: set[str] = set()
    for one in (*group.expressions, *old):
        if isinstance(one, exp.GroupingSets):
            found |= _of_sets(one)
        elif isinstance(one, (exp.Rollup, exp.Cube)):
            found |= _texts(one.expressions or plain)  # WITH ROLLUP has them before it
    return found if old else found - _texts(plain)


def _of_sets(sets: exp.GroupingSets) -> set[str]:
    texts = [_texts([one]) for one in sets.expressions]
    found: set[str] = set()
    for number, one in enumerate(sets.expressions):
        found |= texts[number] if one.find(*GROUPING_SETS) else set()
        found |= {text for text in texts[number] if not all(text in other for other in texts)}
    return found


def _texts(keys: Iterable[exp.Expr]) -> set[str]:
    return {key_text(one) for key in keys for one in grouping_keys(key)}
