"""Conditions that a query surely puts on the rows of one table, so that a store may leave others out. Pure.

The query still checks them itself: what is found here may be less than it asks, never more. So only comparisons
of a column with a literal of its own kind count, in the WHERE right above the one place where the table stands.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

from sqlglot import exp

from streamhouse.model.table import Table
from streamhouse.stores.where import RowCondition, Value

_INTEGERS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_COMPARED: dict[type[exp.Expr], str] = {exp.EQ: "=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
_TURNED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_KEEPS_LEFT = ("", "LEFT")
_KEEPS_RIGHT = ("", "RIGHT")
_MOST_VALUES = 1_000
_LITERALS = {
    "date": (exp.DType.DATE,),
    "timestamp": (exp.DType.TIMESTAMPTZ,),
    "timestamp_ntz": (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ),
}


def conditions(nodes: Sequence[exp.Table], table: Table) -> tuple[RowCondition, ...]:
    """What every row of a table must fulfil to count.

    Args:
        nodes: Every place where the query names the table.
        table: With the columns that it has there.
    """
    if len(nodes) != 1:
        return ()
    (node,) = nodes
    select = _select_of(node)
    where = select.args.get("where") if select is not None else None
    if select is None or where is None:
        return ()
    alone = not select.args.get("joins") and not select.args.get("laterals")
    columns = {column.name.lower(): (column.name, column.type) for column in table.columns}
    found = []
    for part in _conjuncts(where.this):
        one = _condition(part, node.alias_or_name.lower(), columns, alone=alone)
        if one is not None and one not in found:
            found.append(one)
    return tuple(found)


def _select_of(node: exp.Table) -> exp.Select | None:
    """The SELECT that takes a table's rows as they are, none of them made up of nulls."""
    if node.args.get("joins") or node.args.get("pivots") or node.args.get("sample") or node.alias_column_names:
        return None
    holder = node.parent
    if isinstance(holder, exp.From):
        select = holder.parent
        if not isinstance(select, exp.Select):
            return None
        joins = select.args.get("joins") or []
        sides = all(_side(join) in _KEEPS_LEFT for join in joins)
        return select if sides else None
    if isinstance(holder, exp.Join) and isinstance(holder.parent, exp.Select):
        joins = holder.parent.args.get("joins") or []
        after = joins[joins.index(holder) + 1 :] if holder in joins else joins
        if _side(holder) in _KEEPS_RIGHT and all(_side(join) in _KEEPS_LEFT for join in after):
            return holder.parent
    return None


def _side(join: exp.Join) -> str:
    kind = str(join.args.get("kind") or "").upper()
    method = str(join.args.get("method") or "").upper()
    side = str(join.args.get("side") or "").upper()
    return side if kind in ("", "INNER", "OUTER", "CROSS") and not method else "OTHER"


def _conjuncts(tree: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(tree, exp.And):
        yield from _conjuncts(tree.left)
        yield from _conjuncts(tree.right)
    elif isinstance(tree, exp.Paren):
        yield from _conjuncts(tree.this)
    elif isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
        yield exp.GTE(this=tree.this.copy(), expression=tree.args["low"].copy())
        yield exp.LTE(this=tree.this.copy(), expression=tree.args["high"].copy())
    else:
        yield tree


def _condition(part: exp.Expr, alias: str, columns: dict[str, tuple[str, str]], *, alone: bool) -> RowCondition | None:
    def column_of(node: exp.Expr) -> tuple[str, str] | None:
        if not isinstance(node, exp.Column) or node.db:
            return None
        if (node.table.lower() != alias) if node.table else not alone:
            return None
        return columns.get(node.name.lower())

    if type(part) in _COMPARED:
        operator = _COMPARED[type(part)]
        left, right = part.this, part.expression
        if column_of(left) is None:
            left, right, operator = right, left, _TURNED[operator]
        column = column_of(left)
        value = literal(right, column[1]) if column else None
        return RowCondition(column[0], operator, (value,)) if column and value is not None else None
    if isinstance(part, exp.In) and (column := column_of(part.this)) and not part.args.get("query"):
        values = [literal(one, column[1]) for one in part.expressions]
        known = tuple(value for value in values if value is not None)
        return RowCondition(column[0], "in", known) if 0 < len(known) == len(values) <= _MOST_VALUES else None
    negated = isinstance(part, exp.Not)
    inner = part.this if negated else part
    if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null) and (column := column_of(inner.this)):
        return RowCondition(column[0], "is not null" if negated else "is null")
    return None


def literal(node: exp.Expr, kind: str) -> Value | None:
    """The value of a literal where Spark compares it with a column of type `kind` as it is; None: it may not."""
    if isinstance(node, exp.Paren):
        return literal(node.this, kind)
    if isinstance(node, exp.Boolean):
        return bool(node.this) if kind == "boolean" else None
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        value = literal(node.this, kind)
        return -value if isinstance(value, int | Decimal) else None
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.this.is_string:
        of = node.to.this
        return _time(node.this.name, kind) if of in _LITERALS.get(kind, ()) else None
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return node.name if kind == "string" else _time(node.name, kind)
    if kind in _INTEGERS and node.name.isdigit():
        return int(node.name) if int(node.name) < 1 << _INTEGERS[kind] - 1 else None
    if kind.startswith("decimal(") and node.name.replace(".", "", 1).isdigit():
        precision, scale = (int(part) for part in kind[8:-1].split(","))
        whole, _, fraction = node.name.partition(".")
        fits = len(fraction) <= scale and len(whole.lstrip("0")) <= precision - scale
        return Decimal(node.name).quantize(Decimal(1).scaleb(-scale)) if fits else None
    return None


def _time(text: str, kind: str) -> Value | None:
    """Only the plain forms, of which every reader makes the same."""
    forms = {10: "%Y-%m-%d", 19: "%Y-%m-%d %H:%M:%S"}
    if len(text) not in forms or kind not in ("date", "timestamp", "timestamp_ntz"):
        return None
    try:
        found = datetime.strptime(text, forms[len(text)])
    except ValueError:
        return None
    if kind == "date":
        return date(found.year, found.month, found.day) if len(text) == 10 else None
    return found.replace(tzinfo=UTC) if kind == "timestamp" else found
