"""ORDER BY and LIMIT of a whole query."""

from sqlglot import exp
from sqlglot.optimizer.scope import build_scope

from streamhouse.model.delta_plan import Sorted, TopRows
from streamhouse.model.table import Column
from streamhouse.sql.delta.kinds import KEYS
from streamhouse.sql.infer import Inference
from streamhouse.sql.rows import NotProvenError
from streamhouse.sql.traces import text_of

_HIDDEN = "__o"


def take_top(root: exp.Query, inference: Inference, key: tuple[str, ...]) -> tuple[TopRows | None, tuple[Column, ...]]:
    """Take ORDER BY and LIMIT out of a query, and show what it is put in order by; changes it.

    Args:
        root: The query.
        inference: Of its ports.
        key: Primary key of the result.

    Returns:
        Which rows are left, None: all; and the columns that the query shows for this alone.

    Raises:
        NotProvenError: it is not known how the rows are put in order.
    """
    limit, offset = (_number(root, clause) for clause in ("limit", "offset"))
    if limit is None:
        return None, ()
    order = root.args.get("order")
    parts = order.expressions if order is not None else ()
    for clause in ("order", "limit", "offset"):
        root.set(clause, None)
    shown = [item.alias_or_name for item in root.selects]
    named = [(part, _name_of(part, root)) for part in parts]
    scope = build_scope(root)
    assert scope is not None
    columns = {c.name: str(c.type) for c in inference.of_another_query().outputs(scope)}
    found = tuple(_sorted(part, name, columns) for part, name in named)
    places = {one.column for one in found}
    found = (*found, *(Sorted(column=name) for name in key if name not in places))  # any of equal rows will do
    hidden = tuple(Column(name=name, type=kind) for name, kind in columns.items() if name not in shown)
    return TopRows(order=found, limit=limit, offset=offset or 0), hidden


def _number(root: exp.Query, clause: str) -> int | None:
    part = root.args.get(clause)
    if part is None:
        return None
    if not isinstance(part.expression, exp.Literal) or not part.expression.is_int:
        raise NotProvenError(f"{clause.upper()} is no number")
    return int(part.expression.name)


def _name_of(part: exp.Expr, root: exp.Query) -> str:
    """The column of the result by which rows are put in order; one that is added, if there is none."""
    node = part.this if isinstance(part, exp.Ordered) else part
    shown = {text_of(item.unalias()): item.alias_or_name for item in root.selects}
    items = {item.alias_or_name: item for item in root.selects}
    if isinstance(node, exp.Column) and not node.table and node.name in items:
        return node.name
    if text_of(node) in shown:
        return shown[text_of(node)]
    if not isinstance(root, exp.Select) or root.args.get("distinct"):
        raise NotProvenError("LIMIT depends on all rows, and ORDER BY is by more than columns of the result")
    name = f"{_HIDDEN}{len(items)}"
    root.append("expressions", exp.alias_(node.transform(lambda n: _spelled(n, items)), name))
    return name


def _spelled(node: exp.Expr, items: dict[str, exp.Expr]) -> exp.Expr:
    """In place of the name of an output column, what it is."""
    own = isinstance(node, exp.Column) and not node.table and node.name in items
    return exp.paren(items[node.name].unalias().copy()) if own else node


def _sorted(part: exp.Expr, name: str, columns: dict[str, str]) -> Sorted:
    kind = columns[name]
    if kind.split("(")[0] not in KEYS:
        raise NotProvenError(f"LIMIT depends on all rows, and the state has no order of {name}, which is {kind}")
    descending = bool(part.args.get("desc"))
    first = part.args.get("nulls_first")
    return Sorted(column=name, descending=descending, nulls_first=not descending if first is None else bool(first))
