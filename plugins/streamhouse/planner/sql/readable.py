"""A query as people write it: names without a qualifier where one table stands, no alias that repeats a name."""

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope


def readable(query: exp.Query) -> exp.Query:
    """The same query with less in it.

    Args:
        query: Each column has a qualifier.
    """
    tree = query.copy()
    for scope in list(traverse_scope(tree)):
        if isinstance(scope.expression, exp.Select):
            _unqualify(scope)
    for select in tree.find_all(exp.Select):
        _drop_aliases(select)
    return tree


def _unqualify(scope: Scope) -> None:
    select = scope.expression
    assert isinstance(select, exp.Select)
    inner = list(select.find_all(exp.Exists))
    sources = [select.args["from_"].this] if select.args.get("from_") else []
    if select.args.get("joins") or inner or select.find_ancestor(exp.Exists) or len(sources) != 1:
        return
    own = [column for column in scope.columns if column.table]
    used = {column.name for column in own}
    for item in select.selects:
        plain = isinstance(item, exp.Alias) and isinstance(item.this, exp.Column) and item.this.name == item.alias
        if isinstance(item, exp.Alias) and item.alias in used and not plain:
            return  # without its qualifier, a name would mean the alias in HAVING
    for column in own:
        column.set("table", None)


def _drop_aliases(select: exp.Select) -> None:
    for item in select.selects:
        if isinstance(item, exp.Alias) and isinstance(item.this, exp.Column) and item.this.name == item.alias:
            item.replace(item.this)
    for table in select.find_all(exp.Table):
        if table.alias == table.name and not table.db:
            table.set("alias", None)
