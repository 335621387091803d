"""Names that stand for output columns, where Spark knows no such name, or takes it for a column of several tables."""

from collections.abc import Iterable, Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.admit import Refused
from streamhouse.sql.classes import Kinds
from streamhouse.sql.grouping_names import named_in_grouping
from streamhouse.sql.infer import Inference
from streamhouse.sql.scopes import function_name, is_generator, own_nodes
from streamhouse.sql.unknown_columns import in_several, offered

_SELECT, _WHERE, _WINDOW = Kinds(exp.Select), Kinds(exp.Where), Kinds(exp.Window)
_UNSEEN = "write its expression, or use its name in an outer query"


class OutputNames:
    """The columns that no table qualifies, from before names are resolved.

    The resolver puts the expression of an output column in place of a name that it does not find in just one table.
    Spark sees no output columns in WHERE, in windows and in calls that make rows. Elsewhere it looks at the tables
    first, and refuses a name that several of them have.
    """

    def __init__(self, nodes: Iterable[exp.Expr]) -> None:
        """Look at all nodes of a query."""
        self._hidden: list[tuple[exp.Column, str]] = []
        self._shown: list[tuple[exp.Column, exp.Select]] = []
        for node in nodes:
            if _WHERE[type(node)] or _WINDOW[type(node)]:
                place = "WHERE" if _WHERE[type(node)] else "a window function"
                self._hidden += [(column, place) for column in _unqualified(node)]
            elif is_generator(node):
                self._hidden += [(column, f"{function_name(node)}()") for column in _unqualified(node)]
            elif isinstance(node, exp.Select):
                self._hidden += [(column, "GROUPING") for column in named_in_grouping(node)]
                parts = [*node.selects, *filter(None, [node.args.get("group")])]
                self._shown += [(column, node) for part in parts for column in _unqualified(part)]

    def refused(self, root: Scope, inference: Inference) -> Iterator[Refused]:
        """The names that stood for an output column where Spark refuses them.

        Args:
            root: Of the query after its names are resolved.
            inference: Knows the columns of its tables.
        """
        tree = root.expression
        for column, place in self._hidden:
            if _is_replaced(column, tree):
                yield Refused(column, f"'{column.name}' is an output column, which {place} does not see", _UNSEEN)
        replaced = [(column, select) for column, select in self._shown if _is_replaced(column, tree)]
        scopes = {id(scope.expression): scope for scope in root.traverse()} if replaced else {}
        for column, select in replaced:
            scope = scopes.get(id(select))
            holders = _holders(column.name, scope, inference) if scope is not None else []
            if len(holders) > 1:
                said, hint = in_several(column.name, holders)
                message = f"{said}, and an output column has the name"
                yield Refused(column, message, f"{hint}, or give the output column another name")


def _unqualified(node: exp.Expr) -> list[exp.Column]:
    return [column for column in own_nodes(node) if isinstance(column, exp.Column) and not column.table]


def _is_replaced(column: exp.Column, tree: exp.Expr) -> bool:
    return not column.table and column.root() is not tree


def _holders(name: str, scope: Scope, inference: Inference) -> list[str]:
    """The tables of a FROM that show a column of this name."""
    joins = scope.expression.args.get("joins") or []
    hidden = {join.alias_or_name for join in joins if join.kind in ("SEMI", "ANTI")}
    return [one for one in scope.sources if one not in hidden and name.lower() in offered(scope, one, inference)]
