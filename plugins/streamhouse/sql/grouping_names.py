"""Names in `grouping(k)`, which Spark looks for among the keys as GROUP BY has them; pure."""

from sqlglot import exp

from streamhouse.sql.scopes import is_grouping, own_nodes


def named_in_grouping(select: exp.Select) -> list[exp.Column]:
    """Columns without a table in GROUPING, and keys without a table whose expression GROUPING is of.

    Spark refuses them where they are output columns.

    Args:
        select: As parsed.
    """
    group = select.args.get("group")
    calls = [node for item in select.selects for node in own_nodes(item) if is_grouping(node)]
    if group is None or not calls:
        return []
    of = [argument for call in calls for argument in call.iter_expressions()]
    values = {item.alias_or_name.lower(): item.unalias() for item in select.selects}
    keys = [column for column in own_nodes(group) if isinstance(column, exp.Column) and not column.table]
    return [
        *(argument for argument in of if isinstance(argument, exp.Column) and not argument.table),
        *(column for column in keys if values.get(column.name.lower()) in of),
    ]
