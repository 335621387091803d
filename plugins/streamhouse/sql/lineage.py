"""Which input columns the value of an output column is made of."""

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.schema import CheckedQuery
from streamhouse.sql.scopes import inner_query, selects_of

Origins = frozenset[tuple[str, str]]


def lineage(query: CheckedQuery) -> dict[str, Origins]:
    """Output column → the `(port, column)`s its value is computed from.

    Columns that only decide which rows there are (WHERE, ON, GROUP BY) are not among them; `CheckedQuery.reads`
    has those too. One walk: each column of each scope is traced once, however often it is used.
    """
    walk = _OriginWalk()
    return {item.alias_or_name: walk.column(query.scope, item.alias_or_name) for item in selects_of(query.scope)}


class _OriginWalk:
    def __init__(self) -> None:
        self._known: dict[tuple[int, str], Origins] = {}

    def column(self, scope: Scope, name: str) -> Origins:
        key = (id(scope), name)
        if key not in self._known:
            self._known[key] = self._trace(scope, name)
        return self._known[key]

    def _trace(self, scope: Scope, name: str) -> Origins:
        query = scope.expression
        if isinstance(query, exp.SetOperation):
            position = [item.alias_or_name for item in selects_of(scope)].index(name)
            members = scope.set_operation_scopes
            parts = [self.column(m, selects_of(m)[position].alias_or_name) for m in members]
            return frozenset().union(*parts)
        if isinstance(query, exp.Select):
            return self._expression(next(i for i in selects_of(scope) if i.alias_or_name == name), scope)
        inner = inner_query(scope)
        if inner is not None:
            return self.column(inner, name)
        return self._expression(query.this, scope) if isinstance(query, exp.Lateral) else frozenset()

    def _expression(self, node: exp.Expr, scope: Scope) -> Origins:
        found: set[tuple[str, str]] = set()
        inner = {id(s.expression): s for s in scope.subquery_scopes}
        for part in node.walk(prune=lambda n: id(n) in inner):
            if id(part) in inner:
                below = inner[id(part)]
                found.update(*(self.column(below, item.alias_or_name) for item in selects_of(below)))
            elif isinstance(part, exp.Column):
                found |= self._source(part, scope)
        return frozenset(found)

    def _source(self, column: exp.Column, scope: Scope) -> Origins:
        at: Scope | None = scope
        while at is not None:
            source = at.sources.get(column.table)
            if isinstance(source, exp.Table):
                return frozenset({(source.name, column.name)})
            if isinstance(source, Scope):
                return self.column(source, column.name)
            at = at.parent
        return frozenset()
