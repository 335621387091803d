"""Whether SQL that a model wrote counts rows once: joins that find one row at most, and a key that has the groups."""

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import FanOutError, RequestShapeError
from streamhouse.planner.catalog import CatalogTable
from streamhouse.sql.dialect import short
from streamhouse.sql.scopes import aggregates_in, conjuncts, function_name

_ONCE_OR_OFTEN = frozenset({"min", "max", "any_value", "bool_and", "bool_or", "every", "some", "collect_set"})
"""Aggregates that a row may enter several times."""


def check_rows(root: Scope, ports: Mapping[str, CatalogTable], key: tuple[str, ...]) -> bool:
    """Refuse sums over rows that a join doubled, and a key that two groups may share.

    Args:
        root: Of a checked query: columns have qualifiers, its FROM names are ports.
        ports: Port → the table it reads.
        key: Output columns that are to tell rows apart.

    Returns:
        Whether the key is known to tell rows apart.

    Raises:
        FanOutError: a sum, an average or a count may see a row several times.
        RequestShapeError: the query groups by something that is not in the key.
    """
    for scope in root.traverse():
        if isinstance(scope.expression, exp.Select):
            _check_joins(scope, ports)
    own = _key(root, ports)
    groups = root.expression.args.get("group") if isinstance(root.expression, exp.Select) else None
    if key and groups is not None and (own is None or not own <= set(key)):
        missing = ", ".join(sorted(own - set(key))) if own else "what it groups by"
        raise RequestShapeError(
            f"several rows may have equal {', '.join(key)}: the key lacks {missing}",
            hint="the primary key is every column of the GROUP BY, and each of these is an output column",
        )
    return own is not None and own <= set(key)


def _check_joins(scope: Scope, ports: Mapping[str, CatalogTable]) -> None:
    select = scope.expression
    assert isinstance(select, exp.Select)
    counted = [call for item in _values(select) for call in aggregates_in(item) if _counts(call)]
    if not counted:
        return
    _check_below(scope, ports, counted, {id(scope)})
    joined = set()
    for join in _finding_rows(select):
        name = join.this.alias_or_name
        joined.add(name)
        key = _key(scope.sources.get(name), ports)
        if key is None or not key <= _equated(join, name):
            shown = f"its key is {', '.join(sorted(key))}" if key else "its rows have no key"
            raise FanOutError(
                f"{short(counted[0])} may count a row several times: the join to {_shown(join, ports)} may find "
                f"several rows, for {shown}",
                hint="join by the whole key with ON a.x = b.y, or aggregate before the join",
            )
    joined |= {lateral.alias_or_name for lateral in select.args.get("laterals") or ()}
    for call in counted:
        tables = {column.table for column in call.find_all(exp.Column)}
        if select.args.get("laterals") and tables - joined:
            raise FanOutError(f"{short(call)} counts a row for each element of its array", hint="aggregate before")
        if tables & joined and not (tables - joined) and not select.args.get("laterals"):
            raise FanOutError(
                f"{short(call)} counts rows of a joined table as often as they are found",
                hint="read that table first, and join the others to it, or aggregate before the join",
            )


def _check_below(scope: Scope, ports: Mapping[str, CatalogTable], counted: Sequence[exp.Expr], seen: set[int]) -> None:
    """Refuse a join that may double rows in a query that hands its rows on, as they are, to where they are counted."""
    for name, source in scope.sources.items():
        if not isinstance(source, Scope) or id(source) in seen:
            continue
        seen.add(id(source))
        select = source.expression
        if not isinstance(select, exp.Select):
            for part in source.set_operation_scopes or ():
                _check_handed_on(part, name, ports, counted, seen)
        else:
            _check_handed_on(source, name, ports, counted, seen)


def _check_handed_on(
    source: Scope, name: str, ports: Mapping[str, CatalogTable], counted: Sequence[exp.Expr], seen: set[int]
) -> None:
    select = source.expression
    if not isinstance(select, exp.Select) or _folds(select):
        return
    _check_below(source, ports, counted, seen)
    joined = set()
    for join in _finding_rows(select):
        own = join.this.alias_or_name
        joined.add(own)
        key = _key(source.sources.get(own), ports)
        if key is None or not key <= _equated(join, own):
            raise FanOutError(
                f"{short(counted[0])} may count a row several times: in '{name}' the join to {_shown(join, ports)} "
                "may find several rows",
                hint="join by the whole key with ON a.x = b.y, or aggregate before the join",
            )
    laterals = select.args.get("laterals") or ()
    if laterals:
        raise FanOutError(f"{short(counted[0])} counts a row of '{name}' for each element of its array",
                          hint="aggregate before")  # fmt: skip
    tables_of = {item.alias_or_name: {c.table for c in item.find_all(exp.Column)} for item in select.expressions}
    for call in counted:
        tables = {t for c in call.find_all(exp.Column) if c.table == name for t in tables_of.get(c.name, ())}
        if tables and tables <= joined:
            raise FanOutError(
                f"{short(call)} counts rows of a table that '{name}' joins as often as they are found",
                hint="read that table first, and join the others to it, or aggregate before the join",
            )


def _folds(select: exp.Select) -> bool:
    """Whether a query has each of its rows once, whatever its joins found."""
    folds = bool(select.args.get("group") or select.args.get("distinct"))
    return folds or any(aggregates_in(item) for item in select.expressions)


def _finding_rows(select: exp.Select) -> list[exp.Join]:
    """The joins that may find several rows for one."""
    joins = select.args.get("joins") or ()
    kinds = {id(join): (join.args.get("kind") or join.args.get("side") or "").upper() for join in joins}
    return [join for join in joins if kinds[id(join)] not in {"SEMI", "ANTI"}]


def _values(select: exp.Select) -> Iterator[exp.Expr]:
    yield from select.expressions
    for clause in ("having", "order", "qualify"):
        if select.args.get(clause) is not None:
            yield select.args[clause]


def _counts(call: exp.Expr) -> bool:
    distinct = isinstance(call.this, exp.Distinct) or bool(call.args.get("distinct"))
    return not distinct and function_name(call) not in _ONCE_OR_OFTEN


def _key(source: exp.Expr | Scope | None, ports: Mapping[str, CatalogTable]) -> set[str] | None:
    """Columns that tell the rows of a source apart; empty: it has one row; None: nobody knows."""
    if isinstance(source, exp.Table):
        table = ports.get(source.name)
        return set(table.primary_key) if table is not None and table.primary_key else None
    if not isinstance(source, Scope) or not isinstance(source.expression, exp.Select):
        return None
    select = source.expression
    outputs = {item.unalias().sql(): item.alias_or_name for item in select.expressions}
    if select.args.get("distinct"):
        return set(outputs.values())
    group = select.args.get("group")
    if group is not None:
        if any(group.args.get(part) for part in ("rollup", "cube", "grouping_sets", "all")):
            return None
        found = {_output(part, select, outputs) for part in group.expressions}
        return {name for name in found if name is not None} if None not in found else None
    if any(aggregates_in(item) for item in select.expressions):
        return set()
    if select.args.get("joins") or select.args.get("laterals"):
        return None
    below = _key(next(iter(source.sources.values()), None), ports) if len(source.sources) == 1 else None
    copies = {item.unalias().name: item.alias_or_name for item in select.expressions
              if isinstance(item.unalias(), exp.Column)}  # fmt: skip
    return {copies[name] for name in below} if below is not None and below <= copies.keys() else None


def _output(part: exp.Expr, select: exp.Select, outputs: Mapping[str, str]) -> str | None:
    if isinstance(part, exp.Literal) and part.is_int and 0 < int(part.this) <= len(select.expressions):
        return str(select.expressions[int(part.this) - 1].alias_or_name)
    return outputs.get(part.sql())


def _equated(join: exp.Join, name: str) -> set[str]:
    """Columns of the joined side that are equal to something of the other side."""
    found = set()
    condition = join.args.get("on")
    for one in conjuncts(condition) if condition is not None else ():
        if isinstance(one, exp.EQ | exp.NullSafeEQ):
            for side, other in ((one.left, one.right), (one.right, one.left)):
                own = isinstance(side, exp.Column) and side.table == name
                if own and not any(c.table == name for c in other.find_all(exp.Column)):
                    found.add(side.name)
    return found


def _shown(join: exp.Join, ports: Mapping[str, CatalogTable]) -> str:
    name = join.this.name
    return ports[name].name if name in ports else f"'{join.this.alias_or_name}'"
