"""The names of columns as a person wrote them: they are the names of fields where `*` becomes a struct."""

from collections.abc import Iterable, Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.classes import Kinds
from streamhouse.sql.dialect.literals import WRITTEN
from streamhouse.sql.infer import Inference
from streamhouse.sql.scopes import selects_of

_COLUMNS = "columns_as_written"
_SELECT, _NAMED = Kinds(exp.Select), Kinds(exp.Subquery, exp.CTE)


def note_names(nodes: Iterable[exp.Expr]) -> None:
    """Note in the tree what the resolver of names forgets; changes it.

    That is the names in `q(Aa, Bb)` behind a query, and the name of a column without AS, which gets an AS.

    Args:
        nodes: All of a query as parsed.
    """
    for node in nodes:
        if _SELECT[type(node)]:
            for item in node.expressions:
                name = _last(item)
                if name is not None and name.name != name.name.lower():
                    item.replace(exp.Alias(this=item.copy(), alias=name.copy()))
        elif _NAMED[type(node)]:
            alias = node.args.get("alias")
            inner = node.this.unnest() if isinstance(node.this, exp.Subquery) else node.this
            if alias is not None and alias.columns and isinstance(inner, exp.Expr):
                inner.meta[_COLUMNS] = [column.name for column in alias.columns]


def names_noted(query: exp.Expr) -> list[str] | None:
    """The names behind a query, as in `q(Aa, Bb)`; None: there are none."""
    noted = query.meta_get(_COLUMNS)
    return None if noted is None else list(noted)


def names_of(source: exp.Table | Scope, inference: Inference) -> Iterator[tuple[str, str]]:
    """Each column of a source: its name, and the name as it was written.

    Args:
        source: In a query whose names are resolved.
        inference: Of the query.
    """
    if isinstance(source, exp.Table):
        for name in inference.port_columns(source.name):
            yield name, name
        return
    names = [column.name for column in inference.outputs(source)]
    written = _written(source, inference)
    yield from zip(names, written if len(written) == len(names) else names, strict=True)


def _written(scope: Scope, inference: Inference) -> list[str]:
    query = scope.expression
    noted = names_noted(query)
    if noted is not None:
        return noted
    if isinstance(query, (exp.Lateral, exp.Values)):
        alias = query.args.get("alias")
        return [_text(column) for column in alias.columns] if alias is not None else []
    if isinstance(query, exp.SetOperation):
        return _written(scope.set_operation_scopes[0], inference)
    if isinstance(query, exp.Select):
        return [_of_item(item, scope, inference) for item in selects_of(scope)]
    return [written for child in scope.derived_table_scopes[:1] for written in _written(child, inference)]


def _of_item(item: exp.Expr, scope: Scope, inference: Inference) -> str:
    alias = item.args.get("alias") if isinstance(item, exp.Alias) else None
    if isinstance(alias, exp.Identifier) and _is_written(alias):
        return _text(alias)
    node = item.unalias()
    if isinstance(node, exp.Coalesce) and not any(_is_written(name) for name in node.find_all(exp.Identifier)):
        node = node.this  # the column that a USING puts together, from a `*`
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier):
        if _is_written(node.this):
            return _text(node.this)
        source = scope.sources.get(node.table)
        known = dict(names_of(source, inference)) if source is not None else {}
        return known.get(node.name, item.alias_or_name)
    return item.alias_or_name


def _last(item: exp.Expr) -> exp.Identifier | None:
    """The name that a column or field without AS has."""
    if isinstance(item, exp.Dot):
        item = item.expression
    name = item.this if isinstance(item, exp.Column) else item
    return name if isinstance(name, exp.Identifier) else None


def _is_written(name: exp.Identifier) -> bool:
    """Whether a name stands in the text, and comes from no `*`."""
    return name.meta_get("start") is not None or name.meta_get(WRITTEN) is not None


def _text(name: exp.Identifier) -> str:
    return str(name.meta_get(WRITTEN) or name.name)
