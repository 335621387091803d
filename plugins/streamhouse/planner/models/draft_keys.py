"""Which columns tell the rows of a query apart, and which joins of SQL that a model wrote find several rows."""

from collections.abc import Container, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.planner.catalog import CatalogTable
from streamhouse.sql.scopes import (
    TangledError,
    aggregates_in,
    conjuncts,
    generators_in,
    has_grouping_sets,
    read_sources,
)

Ports = Mapping[str, CatalogTable]


def key_of(source: exp.Expr | Scope | None, ports: Ports) -> set[str] | None:
    """Columns that tell the rows of a source apart; empty: it has one row; None: that is unknown."""
    if isinstance(source, exp.Table):
        table = ports.get(source.name)
        return set(table.primary_key) if table is not None and table.primary_key else None
    if not isinstance(source, Scope) or not isinstance(source.expression, exp.Select):
        return None
    if source.expression.args.get("distinct"):
        return {item.alias_or_name for item in source.expression.expressions}
    return key_of_rows(source, ports)


def key_of_rows(source: Scope, ports: Ports) -> set[str] | None:
    """As `key_of`, of the rows of a query before DISTINCT leaves out equal ones."""
    select = source.expression
    if not isinstance(select, exp.Select):
        return None
    outputs = {item.unalias().sql(): item.alias_or_name for item in select.expressions}
    if any(generators_in(item) for item in select.expressions):
        return None
    group = select.args.get("group")
    if group is not None:
        if has_grouping_sets(select) or group.args.get("all"):
            return None
        found = {_output(part, select, outputs) for part in group.expressions}
        return {name for name in found if name is not None} if None not in found else None
    if any(aggregates_in(item) for item in select.expressions):
        return set()
    below = None if doubling(source, ports) else base_key(source, ports)
    base = base_of(select)
    copies = {item.unalias().name: item.alias_or_name for item in select.expressions
              if isinstance(item.unalias(), exp.Column) and item.unalias().table == base}  # fmt: skip
    return {copies[name] for name in below} if below is not None and below <= copies.keys() else None


def base_key(scope: Scope, ports: Ports) -> set[str] | None:
    """The key of what the FROM of a SELECT begins with; None: it is unknown, or an outer join adds rows without it."""
    select = scope.expression
    if any(side(join) in {"RIGHT", "FULL"} for join in select.args.get("joins") or ()):
        return None
    return key_of(scope.sources.get(base_of(select)), ports)


def base_of(select: exp.Expr) -> str:
    """The name of what the FROM of a SELECT begins with."""
    from_ = select.args.get("from_")
    return str(from_.this.alias_or_name) if from_ is not None else ""


def doubling(scope: Scope, ports: Ports, names: Container[str] | None = None) -> str:
    """What in the FROM of a SELECT may find several rows for one, in words; empty: nothing does.

    Args:
        scope: Of the SELECT.
        ports: Port → the table it reads.
        names: Of what is joined, look at these alone; None: at all.
    """
    select = scope.expression
    if any(names is None or lateral.alias_or_name in names for lateral in _laterals(select)):
        return "there is a row for each element of its array"
    try:
        read_sources(scope)
    except TangledError as error:
        return str(error)
    for join in finding_rows(select):
        name = join.this.alias_or_name
        key = key_of(scope.sources.get(name), ports)
        if (names is None or name in names) and (key is None or not key <= equated(join, name).keys()):
            shown = f"its key is {', '.join(sorted(key))}" if key else "its rows have no key"
            return f"the join to {_shown(join, ports)} may find several rows, for {shown}"
    return ""


def unused(scope: Scope) -> set[str]:
    """Names in the FROM of a SELECT of which no column is in its output."""
    select = scope.expression
    shown = {column.table for item in select.expressions for column in item.find_all(exp.Column)}
    joined = [*(join.this for join in finding_rows(select)), *_laterals(select)]
    return {one.alias_or_name for one in joined} - shown


def found_again(scope: Scope, ports: Ports) -> set[str]:
    """Names in the FROM of a SELECT whose rows may be found by several rows of the others."""
    select = scope.expression
    base = base_of(select)
    key, found = key_of(scope.sources.get(base), ports), {lateral.alias_or_name for lateral in _laterals(select)}
    for join in finding_rows(select):
        name = join.this.alias_or_name
        others = {other.name for others in equated(join, name).values() for other in others if other.table == base}
        if key is None or not key <= others:  # else one row of the base finds it at most
            found.add(name)
    return found


def _laterals(select: exp.Expr) -> list[exp.Expr]:
    return select.args.get("laterals") or []


def finding_rows(select: exp.Expr) -> list[exp.Join]:
    """The joins that may find several rows for one."""
    return [join for join in select.args.get("joins") or () if side(join) not in {"SEMI", "ANTI"}]


def side(join: exp.Join) -> str:
    """`SEMI` or `ANTI`; else `LEFT`, `RIGHT`, `FULL`, or empty."""
    kind = str(join.args.get("kind") or "").upper()
    return kind if kind in {"SEMI", "ANTI"} else str(join.args.get("side") or "").upper()


def equated(join: exp.Join, name: str) -> dict[str, list[exp.Column]]:
    """Columns of the joined side that are equal to something of the other side → the columns that they are equal to."""
    found: dict[str, list[exp.Column]] = {}
    condition = join.args.get("on")
    for one in conjuncts(condition) if condition is not None else ():
        if isinstance(one, exp.EQ | exp.NullSafeEQ):
            for this, other in ((one.left, one.right), (one.right, one.left)):
                own = isinstance(this, exp.Column) and this.table == name
                if own and not any(c.table == name for c in other.find_all(exp.Column)):
                    found.setdefault(this.name, []).extend([other] if isinstance(other, exp.Column) else [])
    return found


def _output(part: exp.Expr, select: exp.Select, outputs: Mapping[str, str]) -> str | None:
    if isinstance(part, exp.Literal) and part.is_int and 0 < int(part.this) <= len(select.expressions):
        return str(select.expressions[int(part.this) - 1].alias_or_name)
    return outputs.get(part.sql())


def _shown(join: exp.Join, ports: Ports) -> str:
    name = join.this.name
    return ports[name].name if name in ports else f"'{join.this.alias_or_name}'"
