"""Which output columns of a query are copies of a column that it reads, and whose values others have."""

from collections.abc import Iterable, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.scopes import selects_of


def copies(scope: Scope) -> Mapping[str, tuple[str, str]]:
    """Output column → the `(table, column)` it is copied from, by the names of the FROM.

    A column of an outer join counts: it has the value of the column or NULL. Of a UNION all parts must agree.
    """
    found = {item.alias_or_name: _origin(scope, item.alias_or_name) for item in selects_of(scope)}
    return {name: origin for name, origin in found.items() if origin is not None}


def _origin(scope: Scope, name: str) -> tuple[str, str] | None:
    query = scope.expression
    if isinstance(query, exp.SetOperation):
        position = [item.alias_or_name for item in selects_of(scope)].index(name)
        parts = {_origin(m, selects_of(m)[position].alias_or_name) for m in scope.set_operation_scopes}
        return parts.pop() if len(parts) == 1 else None
    item = next((item for item in selects_of(scope) if item.alias_or_name == name), None)
    column = item.unalias() if item is not None else None
    if not isinstance(column, exp.Column):
        return None
    source = scope.sources.get(column.table)
    if isinstance(source, exp.Table):
        return source.name, column.name
    return _origin(source, column.name) if isinstance(source, Scope) else None


def values_from(scope: Scope) -> Mapping[str, tuple[frozenset[tuple[str, str]], frozenset[str]]]:
    """Output column → the `(table, column)`s that its values are from, and the texts that it may have beside these.

    Of a column that is computed in another way, it is absent. COALESCE, CASE and IF choose among values, and MIN, MAX
    and similar functions among those of rows: none makes a value of its own.
    """
    found = {item.alias_or_name: _among(scope, item.alias_or_name) for item in selects_of(scope)}
    return {name: among for name, among in found.items() if among is not None}


_Among = tuple[frozenset[tuple[str, str]], frozenset[str]]
_CHOOSING = (exp.Coalesce, exp.Min, exp.Max, exp.First, exp.Last, exp.AnyValue, exp.FirstValue, exp.LastValue)


def _among(scope: Scope, name: str) -> _Among | None:
    query = scope.expression
    if isinstance(query, exp.SetOperation):
        position = [item.alias_or_name for item in selects_of(scope)].index(name)
        return _all(_among(m, selects_of(m)[position].alias_or_name) for m in scope.set_operation_scopes)
    item = next((item for item in selects_of(scope) if item.alias_or_name == name), None)
    return chosen_from(item.unalias(), scope) if item is not None else None


def chosen_from(node: exp.Expr, scope: Scope) -> _Among | None:
    """What `values_from` says of one expression in a scope."""
    if isinstance(node, exp.Literal) and node.is_string:
        return frozenset(), frozenset({node.name})
    if isinstance(node, exp.Null):
        return frozenset(), frozenset()
    if isinstance(node, exp.Column):
        source = scope.sources.get(node.table)
        if isinstance(source, exp.Table):
            return frozenset({(source.name, node.name)}), frozenset()
        return _among(source, node.name) if isinstance(source, Scope) else None
    if isinstance(node, _CHOOSING):
        return _all(chosen_from(part, scope) for part in (node.this, *node.expressions))
    if isinstance(node, exp.If):
        return _all(
            chosen_from(part, scope) for part in (node.args["true"], node.args.get("false")) if part is not None
        )
    if isinstance(node, exp.Case):
        parts = [branch.args["true"] for branch in node.args["ifs"]] + [node.args.get("default")]
        return _all(chosen_from(part, scope) for part in parts if part is not None)
    return chosen_from(node.this, scope) if isinstance(node, exp.Paren) else None


def _all(parts: Iterable[_Among | None]) -> _Among | None:
    """What all parts have; None: of one of them nobody knows."""
    columns: frozenset[tuple[str, str]] = frozenset()
    texts: frozenset[str] = frozenset()
    for part in parts:
        if part is None:
            return None
        columns, texts = columns | part[0], texts | part[1]
    return columns, texts
