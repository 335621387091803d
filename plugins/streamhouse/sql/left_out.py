"""`* EXCEPT (…)`: each name is the name of one column behind the `*`, as Spark asks for, or the `*` is refused.

sqlglot leaves out every column of such a name, takes names that nothing has, and does not know fields of structs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import Location, OutputColumnError, StrategyError, UnknownColumnError, did_you_mean
from streamhouse.model.table import Column
from streamhouse.sql.classes import Kinds
from streamhouse.sql.dialect import place_of
from streamhouse.sql.infer import Inference
from streamhouse.sql.resolved import qualified, scope_of
from streamhouse.sql.scopes import merges, names_in_from
from streamhouse.sql.written import names_of

_STAR = Kinds(exp.Star)
_MARK = "leaves_out"
_LIST = "name the columns instead of *"


def left_out(star: exp.Expr) -> frozenset[str]:
    """The names behind EXCEPT of `*` or `t.*`, in lower case."""
    return frozenset(item.name.lower() for item in _excepts(star))


def _excepts(star: exp.Expr) -> list[exp.Expr]:
    inner = star.this if isinstance(star, exp.Column) else star
    return list(inner.args.get("except_") or [])


def spell_excepts(nodes: Iterable[exp.Expr], sql: str, at: Location) -> bool:
    """Write `t.* EXCEPT (k), u.*` for `* EXCEPT (t.k)`, so that no name behind EXCEPT has a table; changes the tree.

    Args:
        nodes: All of a query as parsed.
        sql: Its text.
        at: Where that begins.

    Returns:
        Whether there was one, so that the nodes of the query are others now.

    Raises:
        StrategyError: a name is that of a field, or is there twice, or cannot be followed at this place.
        UnknownColumnError: a name has the table of another `*`.
    """
    changed = False
    for star in [node for node in nodes if _STAR[type(node)] and node.args.get("except_")]:
        holder = star.parent if isinstance(star.parent, exp.Column) else star
        select = star.find_ancestor(exp.Select)
        joins = (select.args.get("joins") or []) if select is not None else []
        shown = _shown_tables(select, joins) if select is not None else []
        _refuse_fields(star, holder, shown, sql, at)
        if all(not item.args.get("table") for item in _excepts(star)):
            continue
        changed = True
        if isinstance(holder, exp.Column) or len(shown) == 1:
            star.set("except_", [exp.Column(this=item.this) for item in _excepts(star)])
            continue
        if merges(joins) or holder.arg_key == "this":
            message = "a table is named behind EXCEPT where columns of several tables are merged"
            raise StrategyError(message, at=place_of(_excepts(star)[0], sql, at), hint=_LIST)
        if not all(item.args.get("table") for item in _excepts(star)):
            message = "some names behind EXCEPT have a table, and some have none"
            raise StrategyError(message, at=place_of(_excepts(star)[0], sql, at), hint="write the table before each")
        _spread(star, shown)
    return changed


def _shown_tables(select: exp.Select, joins: Sequence[exp.Expr]) -> list[str]:
    """The tables whose columns a `*` of a SELECT shows."""
    hidden = {join.alias_or_name for join in joins if join.args.get("kind") in ("SEMI", "ANTI")}
    return [name for name in names_in_from(select) if name not in hidden]


def _refuse_fields(star: exp.Expr, holder: exp.Expr, shown: Sequence[str], sql: str, at: Location) -> None:
    """Check the tables of the names behind EXCEPT, and that no name is there twice."""
    tables = {name.lower() for name in shown}
    own = holder.table.lower() if isinstance(holder, exp.Column) else ""
    seen: set[tuple[str, str]] = set()
    for item in _excepts(star):
        table = item.args["table"].name.lower() if item.args.get("table") else ""
        place = place_of(item, sql, at)
        text = item.sql("spark")
        if item.args.get("db") or (table and table not in tables):
            hint = f"{_LIST}; named_struct('a', s.a) AS s is a struct with fewer fields"
            raise StrategyError(f"{text} behind EXCEPT is no column, but a field", at=place, hint=hint)
        if own and table and table != own:
            raise UnknownColumnError(f"{text} is no column of {own}.*", at=place, hint=f"write {own}.{item.name}")
        if (table or own, item.name.lower()) in seen:
            raise StrategyError(f"EXCEPT has {text} twice", at=place, hint="remove one")
        seen.add((table or own, item.name.lower()))


def _spread(star: exp.Expr, shown: Sequence[str]) -> None:
    """Put a `t.*` for each table into the place of `*`."""
    parent = star.parent
    assert parent is not None
    items = []
    for name in shown:
        own = [exp.Column(this=i.this) for i in _excepts(star) if i.args["table"].name.lower() == name.lower()]
        items.append(exp.Column(this=exp.Star(except_=own or None), table=exp.to_identifier(name)))
    parent.set("expressions", [one for item in parent.expressions for one in (items if item is star else [item])])


def check_excepts(
    query: exp.Query, nodes: Iterable[exp.Expr], visible: Mapping[str, Mapping[str, Column]], sql: str, at: Location
) -> None:
    """Each name behind EXCEPT is that of one column behind its `*`, where no join merges columns.

    Args:
        query: As `spell_excepts` left it, its calls that make rows spelled out.
        nodes: All of it.
        visible: Port → its columns as the query sees them.
        sql: Its text.
        at: Where that begins.

    Raises:
        UnknownColumnError: no column has the name, or several have.
        OutputColumnError: no column is left.
    """
    stars = [node for node in nodes if _STAR[type(node)] and node.args.get("except_")]
    by_select: dict[int, tuple[exp.Select, list[exp.Expr]]] = {}
    for star in stars:
        select = star.find_ancestor(exp.Select)
        if select is not None and not merges(select.args.get("joins") or []):
            by_select.setdefault(id(select), (select, []))[1].append(star)
    if not by_select:
        return
    for number, (select, _) in by_select.items():
        select.meta[_MARK] = number
    tree = qualified(query.copy(), visible, at)
    for scope in scope_of(tree, at).traverse():
        found = by_select.get(scope.expression.meta_get(_MARK))
        for star in found[1] if found is not None else ():
            _check(star, _columns(star, scope, Inference(visible)), sql, at)
    for select, _ in by_select.values():
        select.meta.pop(_MARK, None)


def _columns(star: exp.Expr, scope: Scope, inference: Inference) -> list[str]:
    own = star.parent.table.lower() if isinstance(star.parent, exp.Column) else ""
    return [
        name
        for alias in scope.selected_sources
        if own in ("", alias.lower())
        for name, _ in names_of(scope.sources[alias], inference)
    ]


def _check(star: exp.Expr, columns: Sequence[str], sql: str, at: Location) -> None:
    check_left_out(_excepts(star), columns, sql, at)
    holder = star.parent if isinstance(star.parent, exp.Column) else star
    if len(columns) == len(_excepts(star)) and len(getattr(holder.parent, "expressions", ())) == 1:
        place = place_of(_excepts(star)[0], sql, at)
        raise OutputColumnError("EXCEPT leaves out every column", at=place, hint=_LIST)


def check_left_out(excepts: Iterable[exp.Expr], columns: Sequence[str], sql: str, at: Location) -> None:
    """Each name behind EXCEPT is that of one column.

    Args:
        excepts: The names.
        columns: Those behind the `*`.
        sql: The text of the query.
        at: Where that begins.

    Raises:
        UnknownColumnError: no column has the name, or several have.
    """
    times = Counter(name.lower() for name in columns)
    for item in excepts:
        found = times[item.name.lower()]
        if found == 1:
            continue
        place = place_of(item, sql, at)
        if found:
            message = f"column '{item.name}' behind EXCEPT is there {found} times"
            raise UnknownColumnError(message, at=place, hint=f"write its table before it; or {_LIST}")
        hint = did_you_mean(item.name.lower(), list(times), f"columns: {', '.join(times)}")
        raise UnknownColumnError(f"unknown column '{item.name}' behind EXCEPT", at=place, hint=hint)
