"""Names in HAVING that an output column and a column of the input have.

Spark 4.1 reads each as the column of the input first, and refuses the query where the types of these do not fit; then
as the output column, with the casts of before.
"""

from collections.abc import Iterable, Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.admit import Refused
from streamhouse.sql.dialect import short
from streamhouse.sql.fits import misfits_in
from streamhouse.sql.having_casts import other_casts
from streamhouse.sql.infer import Inference
from streamhouse.sql.scopes import aggregates_in, own_nodes
from streamhouse.sql.unknown_columns import offered

_REMEDY = "give the output column a name that no input has"


class HavingNames:
    """Each HAVING of a query as it is written, from before names are resolved."""

    def __init__(self, nodes: Iterable[exp.Expr]) -> None:
        """Look at all nodes of a query."""
        self._written = [
            (node, node.args["having"].copy())
            for node in nodes
            if type(node) is exp.Select and node.args.get("having") is not None and _names_output(node)
        ]

    def refused(self, root: Scope, inference: Inference) -> Iterator[Refused]:
        """What does not fit the columns of the input that are called like output columns.

        Args:
            root: Of the query after its names are resolved.
            inference: Knows the columns of its tables.
        """
        scopes = {id(scope.expression): scope for scope in root.traverse()} if self._written else {}
        for select, having in self._written:
            scope = scopes.get(id(select))
            if scope is not None and (both := _read_as_inputs(select, having, scope, inference)):
                misfits = list(misfits_in(having, scope, inference))
                for found in misfits:
                    names = ", ".join(dict.fromkeys(column.name for column, _ in both))
                    text = f"in HAVING Spark reads {names} as a column of the input first: {found.message}"
                    yield Refused(found.node, text, _REMEDY)
                if not misfits:
                    yield from _cast_as_inputs(both, scope, inference)


def _names_output(select: exp.Select) -> bool:
    names = {item.alias.lower() for item in select.selects if item.alias}
    return any(name in names for name in map(_name, own_nodes(select.args["having"])))


def _name(node: exp.Expr) -> str:
    return node.name.lower() if isinstance(node, exp.Column) and not node.table else ""


def _cast_as_inputs(
    both: Iterable[tuple[exp.Column, exp.Expr]], scope: Scope, inference: Inference
) -> Iterator[Refused]:
    """Names that Spark casts by the type of a column of the input, and that are output columns of another type."""
    for column, value in both:
        if other_casts(column, value, scope, inference):
            own, made = inference.type_of(column, scope), inference.type_of(value, scope)
            first = f"in HAVING Spark gives {column.name} the casts of the column of the input, which is {own}"
            hint = f"write {short(value)} in its place, or {_REMEDY}"
            yield Refused(column, f"{first}, and the output column is {made}", hint)


def _read_as_inputs(
    select: exp.Select, having: exp.Expr, scope: Scope, inference: Inference
) -> list[tuple[exp.Column, exp.Expr]]:
    """Put columns with their tables, and values of output columns, in place of names.

    Returns:
        The names that both have, each with the value of the output column.
    """
    values = {item.alias.lower(): item.this for item in select.selects if item.alias}
    inside = {id(node) for call in aggregates_in(having) for node in call.walk()}
    both: list[tuple[exp.Column, exp.Expr]] = []
    for column in [node for node in own_nodes(having) if isinstance(node, exp.Column) and not node.table]:
        name, value = _name(column), values.get(_name(column))
        holders = [one for one in scope.sources if name in offered(scope, one, inference)]
        if len(holders) == 1:
            if value is not None and id(column) not in inside and not _is_column(value, name):
                both.append((column, value))
            column.set("table", exp.to_identifier(holders[0]))
            column.this.set("this", name)
        elif value is not None:
            column.replace(exp.Paren(this=value.copy()))
    return both


def _is_column(value: exp.Expr, name: str) -> bool:
    return isinstance(value, exp.Column) and value.name.lower() == name
