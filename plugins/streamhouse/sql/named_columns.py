"""Names of columns in a FROM that no SELECT gives, spelled out: those behind a table, and `col1` of VALUES.

Then no other analysis needs to know that `FROM t AS q(a, b)` calls the columns of t in another way.
"""

from collections.abc import Iterable, Sequence
from itertools import count

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import Location, OutputColumnError
from streamhouse.sql.classes import Kinds
from streamhouse.sql.dialect import place_of
from streamhouse.sql.infer import Inference
from streamhouse.sql.written import names_noted

_NAMED = Kinds(exp.Table, exp.Lateral, exp.Values)
_ROWS = "_values"


def spell_columns(nodes: Iterable[exp.Expr]) -> bool:
    """Give each FROM the form that its names have in a sub-query; changes the tree.

    Args:
        nodes: All of a query as parsed.

    Returns:
        Whether there was one to change, so that the nodes of the query are others now.
    """
    names = count()
    changed = False
    for node in [one for one in nodes if _NAMED[type(one)]]:
        found = node.args.get("alias")
        alias = found if isinstance(found, exp.TableAlias) else None
        if isinstance(node, exp.Values):
            if node.expressions and not (alias is not None and alias.columns):
                _name_values(node, alias, next(names))
                changed = True
        elif alias is None or not alias.columns:
            continue
        elif isinstance(node, exp.Table) and not isinstance(node.this, exp.Func):
            _wrap_table(node, alias)
            changed = True
        elif isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
            node.set("this", exp.Subquery(this=_all_of(node.this, alias)))
            node.set("alias", exp.TableAlias(this=alias.this.copy()))
            changed = True
    return changed


def _name_values(values: exp.Values, alias: exp.TableAlias | None, number: int) -> None:
    """`VALUES (1, 2)` as `VALUES (1, 2) AS q(col1, col2)`."""
    first = values.expressions[0]
    width = len(first.expressions) if isinstance(first, exp.Tuple) else 1
    name = alias.this if alias is not None and alias.this else exp.to_identifier(f"{_ROWS}{number}")
    columns = [exp.to_identifier(f"col{place}") for place in range(1, width + 1)]
    values.set("alias", exp.TableAlias(this=name, columns=columns))


def _wrap_table(table: exp.Table, alias: exp.TableAlias) -> None:
    """`t AS q(a, b)` as `(SELECT * FROM t) AS q(a, b)`."""
    more = {key: table.args[key] for key in ("joins", "laterals", "pivots") if table.args.get(key)}
    inner = table.copy()
    for key in ("alias", *more):
        inner.set(key, None)
    select = exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner))
    table.replace(exp.Subquery(this=select, alias=alias.copy(), **more))


def _all_of(query: exp.Subquery, alias: exp.TableAlias) -> exp.Select:
    inner = query.copy()
    inner.set("alias", alias.copy())
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner))


def check_names_behind(root: Scope, inference: Inference, sql: str, at: Location) -> None:
    """As many names are behind a query as it has columns.

    Args:
        root: The scope of a query whose names are resolved.
        inference: Its types.
        sql: Its text.
        at: Where that begins.

    Raises:
        OutputColumnError: there are more, or fewer.
    """
    for scope in root.traverse():
        noted: Sequence[str] | None = names_noted(scope.expression)
        columns = inference.outputs(scope) if noted is not None else ()
        if noted is not None and len(columns) != len(noted):
            message = f"the query has {len(columns)} columns, and {len(noted)} names behind it"
            hint = f"write a name for each: {', '.join(column.name for column in columns)}"
            raise OutputColumnError(message, at=place_of(scope.expression, sql, at), hint=hint)
