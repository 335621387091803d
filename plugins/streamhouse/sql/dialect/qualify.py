"""QUALIFY, which Spark lacks, as a sub-query: the windows are computed inside, and the rows chosen around it."""

from collections.abc import Sequence

from sqlglot import exp

from streamhouse.errors import Location, StrategyError

_MET = "_qualified"
_ORDER = "_ordered_by"
_OUTSIDE = ("distinct", "order", "sort", "cluster", "distribute", "limit", "offset", "with_", "hint")


def without_qualify(nodes: Sequence[exp.Expr]) -> bool:
    """Put a sub-query into the place of each QUALIFY of a tree; rows and columns stay. Changes the tree.

    Args:
        nodes: All of the tree, each after its parent; the first is no SELECT.

    Returns:
        Whether there was one, so that `nodes` are others now.

    Raises:
        StrategyError: ORDER BY needs columns that the rows do not have any more.
    """
    found = [node for node in nodes if type(node) is exp.Select and node.args.get("qualify")]
    for select in found[::-1]:
        select.replace(_rewritten(select))
    return bool(found)


def _rewritten(select: exp.Select) -> exp.Select:
    inner = select.copy()
    condition = inner.args["qualify"].this
    inner.set("qualify", None)
    outer = exp.Select()
    for clause in _OUTSIDE:
        if (value := inner.args.get(clause)) is not None:
            inner.set(clause, None)
            outer.set(clause, value)
    aliases = {item.alias.lower(): item.this for item in inner.selects if isinstance(item, exp.Alias)}
    hidden = [_MET]
    inner.append("expressions", exp.alias_(exp.Paren(this=_spelled(condition, aliases)), _MET))
    for clause in ("order", "sort", "cluster", "distribute"):
        for item in outer.args[clause].expressions if outer.args.get(clause) else []:
            _carry(item, inner, aliases, hidden, distinct=outer.args.get("distinct") is not None)
    star = exp.Star(except_=[exp.to_identifier(name) for name in hidden])
    names = [item.alias_or_name for item in inner.selects[: -len(hidden)]]
    plain = all(isinstance(item, (exp.Alias, exp.Column)) and not item.is_star for item in inner.selects)
    named = plain and len({name.lower() for name in names}) == len(names)
    quoted = [exp.column(exp.to_identifier(name, quoted=True)) for name in names]
    outer.set("expressions", quoted if named else [star])
    outer.set("from_", exp.From(this=exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("_all")))))
    outer.set("where", exp.Where(this=exp.column(_MET)))
    return outer


def _spelled(condition: exp.Expr, aliases: dict[str, exp.Expr]) -> exp.Expr:
    """A condition in which a name of an output is what it stands for."""

    def one(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.table and (said := aliases.get(node.name.lower())) is not None:
            own = isinstance(said, exp.Column) and said.name.lower() == node.name.lower()
            return node if own else exp.Paren(this=said.copy())
        return node

    return condition.transform(one)


def _carry(
    item: exp.Expr, inner: exp.Select, aliases: dict[str, exp.Expr], hidden: list[str], *, distinct: bool
) -> None:
    """Let the rows carry what they are ordered by, where the outputs do not tell it."""
    by = item.this if isinstance(item, exp.Ordered) else item
    if isinstance(by, (exp.Literal, exp.Var)):
        return
    outputs = {one.alias_or_name.lower() for one in inner.selects if isinstance(one, (exp.Alias, exp.Column))} - {_MET}
    columns = list(by.find_all(exp.Column))
    if all(not column.table and column.name.lower() in outputs for column in columns) and not by.find(exp.Window):
        return
    if distinct or any(not column.table and column.name.lower() in aliases for column in columns):
        raise StrategyError(
            "ORDER BY beside QUALIFY has names that are no output columns",
            at=Location(""),
            hint="order by output columns, or put QUALIFY into a sub-query",
        )
    name = f"{_ORDER}_{len(hidden)}"
    hidden.append(name)
    inner.append("expressions", exp.alias_(by.copy(), name))
    by.replace(exp.column(name))
