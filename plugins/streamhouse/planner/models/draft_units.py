"""Whether SQL that a model wrote adds or compares numbers of one unit only; an unknown unit fits all."""

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import UnitError
from streamhouse.planner.catalog import CatalogTable
from streamhouse.sql.dialect import short
from streamhouse.sql.scopes import function_name

_SAME_UNIT = frozenset(
    [
        "sum",
        "min",
        "max",
        "avg",
        "abs",
        "round",
        "first",
        "last",
        "any_value",
        "coalesce",
        "greatest",
        "least",
        "median",
        "lag",
        "lead",
        "first_value",
        "last_value",
        "nullif",
        "ifnull",
        "nvl",
    ]
)
_ALIKE = exp.Add | exp.Sub | exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE
_PASSED = (
    exp.Paren | exp.Alias | exp.Cast | exp.TryCast | exp.Neg | exp.Filter | exp.Window | exp.Ordered | exp.Distinct
)


def check_units_of_sql(root: Scope, ports: Mapping[str, CatalogTable]) -> None:
    """Do nothing when all units fit.

    Args:
        root: Of a checked query: columns have qualifiers, its FROM names are ports.
        ports: Port → the table it reads.

    Raises:
        UnitError: numbers of two units are added or compared.
    """
    for scope in root.traverse():
        for node in scope.walk():
            if isinstance(node, _ALIKE):
                _refuse(node.left, node.right, scope, ports)
            elif isinstance(node, exp.Between):
                _refuse(node.this, node.args["low"], scope, ports)
                _refuse(node.this, node.args["high"], scope, ports)


def _refuse(left: exp.Expr, right: exp.Expr, scope: Scope, ports: Mapping[str, CatalogTable]) -> None:
    one, other = _unit(left, scope, ports), _unit(right, scope, ports)
    if one is not None and other is not None and one.strip().lower() != other.strip().lower():
        raise UnitError(
            f"{short(left)} is in {one} and {short(right)} in {other}: they cannot be added or compared",
            hint="convert one of them: multiply or divide it by a number",
        )


def _unit(node: exp.Expr, scope: Scope, ports: Mapping[str, CatalogTable]) -> str | None:
    """The unit of a value; None: it has none, it was converted, or it is unknown."""
    if isinstance(node, exp.Column):
        return _unit_of_column(node, scope, ports)
    if isinstance(node, exp.Add | exp.Sub):
        return _unit(node.left, scope, ports) or _unit(node.right, scope, ports)
    if isinstance(node, _PASSED) or (isinstance(node, exp.Func) and function_name(node) in _SAME_UNIT):
        inner = node.this
        return _unit(inner, scope, ports) if isinstance(inner, exp.Expr) else None
    return None


def _unit_of_column(column: exp.Column, scope: Scope, ports: Mapping[str, CatalogTable]) -> str | None:
    source = scope.sources.get(column.table)
    if isinstance(source, exp.Table):
        table = ports.get(source.name)
        return next((c.unit for c in table.columns if c.name == column.name), None) if table is not None else None
    if isinstance(source, Scope) and isinstance(source.expression, exp.Select):
        item = next((one for one in source.expression.expressions if one.alias_or_name == column.name), None)
        return _unit(item, source, ports) if item is not None else None
    return None
