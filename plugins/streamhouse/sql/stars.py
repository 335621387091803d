"""`*` among the arguments of a function: all columns, as in `to_json(struct(*))`."""

from collections.abc import Iterable, Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import Location, StrategyError, UnknownTableError
from streamhouse.sql.classes import Kinds
from streamhouse.sql.dialect import place_of
from streamhouse.sql.dialect.literals import WRITTEN
from streamhouse.sql.infer import Inference
from streamhouse.sql.left_out import left_out
from streamhouse.sql.scopes import merges, names_in_from
from streamhouse.sql.written import names_of

_STAR = Kinds(exp.Star)
_TAKES_MANY = (exp.Anonymous, exp.Struct, exp.Count, exp.Distinct)


def check_stars(nodes: Iterable[exp.Expr], sql: str, at: Location) -> None:
    """A `*` among arguments is at a place where columns can replace it, and `a.*` names a table of its own FROM.

    Args:
        nodes: All of a query as written, not qualified yet.
        sql: Its text.
        at: Where that begins.

    Raises:
        StrategyError: a `*` is at another place.
        UnknownTableError: the FROM has no such table.
    """
    stars = [node for node in nodes if _STAR[type(node)]]
    _check_tables(stars, sql, at)
    for star in stars:
        if star.args.get("except_") and isinstance(star.parent, exp.Count):
            message = "* EXCEPT in count() is not followed here"
            raise StrategyError(message, at=place_of(star.parent, sql, at), hint="write count(*), or name the columns")
    for star in _in_calls(stars):
        select = star.find_ancestor(exp.Select)
        joins = select.args.get("joins") or [] if select is not None else []
        mixed = merges(joins)
        counting = star.parent.parent if isinstance(star.parent, exp.Distinct) else star.parent
        if isinstance(star, exp.Column) and isinstance(counting, exp.Count):
            message = f"count({star.sql('spark')}) counts nothing that Spark knows"
            raise StrategyError(message, at=place_of(star, sql, at), hint="write count(*), or name the columns")
        if not isinstance(star.parent, _TAKES_MANY) or mixed or star.find_ancestor(exp.Lambda):
            message = "* among the arguments of a function is not followed here"
            raise StrategyError(message, at=place_of(star.parent or star, sql, at), hint="name the columns")


def _check_tables(stars: Iterable[exp.Expr], sql: str, at: Location) -> None:
    for column in [star.parent for star in stars if isinstance(star.parent, exp.Column)]:
        select = column.find_ancestor(exp.Select)
        known = names_in_from(select) if select is not None else []
        if column.table.lower() not in {name.lower() for name in known}:
            message = f"unknown table '{column.table}' before .*"
            hint = f"the FROM has {', '.join(known) or 'no table'}"
            raise UnknownTableError(message, at=place_of(column, sql, at), hint=hint)


def expand_stars(root: Scope, inference: Inference) -> bool:
    """Put the columns into the place of each `*` among arguments; changes the tree.

    Returns:
        Whether there was one, so that scopes must be built again.
    """
    changed = False
    for scope in root.traverse():
        own = [
            star for star in _in_calls(scope.expression.walk()) if star.find_ancestor(exp.Select) is scope.expression
        ]
        for star in own:
            call = star.parent
            assert isinstance(call, exp.Expr)
            wanted = star.table if isinstance(star, exp.Column) else ""
            aliases = [wanted] if wanted else list(scope.selected_sources)
            columns = [
                exp.Column(this=name, table=exp.to_identifier(alias))
                for alias in aliases
                for name in _names(scope.sources[alias], inference)
                if name.name.lower() not in left_out(star)
            ]
            _put(call, star, columns)
            changed = True
    return changed


def _put(call: exp.Expr, star: exp.Expr, columns: list[exp.Column]) -> None:
    shown = [_field(column) for column in columns] if isinstance(call, exp.Struct) else columns
    first = [call.this] if isinstance(call, exp.Count) else []
    items = [one for item in [*first, *call.expressions] for one in (shown if item is star else [item])]
    if first:
        call.set("this", items[0])
    call.set("expressions", items[len(first) :])


def _in_calls(nodes: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    for star in [node for node in nodes if _STAR[type(node)]]:
        node = star.parent if isinstance(star.parent, exp.Column) else star
        counted = isinstance(node, exp.Star) and isinstance(node.parent, exp.Count)
        if isinstance(node.parent, (exp.Func, exp.Distinct)) and not counted:
            yield node


def _names(source: exp.Table | Scope, inference: Inference) -> Iterator[exp.Identifier]:
    """The columns of a source, each as it was written."""
    for name, written in names_of(source, inference):
        identifier = exp.to_identifier(name)
        if written != name:
            identifier.meta[WRITTEN] = written
        yield identifier


def _field(column: exp.Column) -> exp.Expr:
    named = exp.to_identifier(column.this.meta_get(WRITTEN) or column.name)
    return exp.PropertyEQ(this=named, expression=column)
