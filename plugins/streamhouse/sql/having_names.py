"""Names in HAVING that an output column and a column of the input have.

Spark 4.1 reads each as the column of the input first, and refuses the query where the types of these do not fit; then
as the output column.
"""

from collections.abc import Iterable, Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.admit import Refused
from streamhouse.sql.fits import misfits_in
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
            if scope is not None and (names := _read_as_inputs(select, having, scope, inference)):
                for found in misfits_in(having, scope, inference):
                    text = f"in HAVING Spark reads {', '.join(names)} as a column of the input first: {found.message}"
                    yield Refused(found.node, text, _REMEDY)


def _names_output(select: exp.Select) -> bool:
    names = {item.alias.lower() for item in select.selects if item.alias}
    return any(name in names for name in map(_name, own_nodes(select.args["having"])))


def _name(node: exp.Expr) -> str:
    return node.name.lower() if isinstance(node, exp.Column) and not node.table else ""


def _read_as_inputs(select: exp.Select, having: exp.Expr, scope: Scope, inference: Inference) -> list[str]:
    """Put columns with their tables, and values of output columns, in place of names; those that both have."""
    values = {item.alias.lower(): item.this for item in select.selects if item.alias}
    inside = {id(node) for call in aggregates_in(having) for node in call.walk()}
    both: dict[str, None] = {}
    for column in [node for node in own_nodes(having) if _name(node)]:
        name, value = _name(column), values.get(_name(column))
        holders = [one for one in scope.sources if name in offered(scope, one, inference)]
        if len(holders) == 1:
            if value is not None and id(column) not in inside and not _is_column(value, name):
                both[name] = None
            column.set("table", exp.to_identifier(holders[0]))
            column.this.set("this", name)
        elif value is not None:
            column.replace(exp.Paren(this=value.copy()))
    return list(both)


def _is_column(value: exp.Expr, name: str) -> bool:
    return isinstance(value, exp.Column) and value.name.lower() == name
