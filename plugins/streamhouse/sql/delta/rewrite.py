"""Writes parts of a query in terms of others, which give the same rows and are followed.

Every function gets a qualified query and may change it.
"""

from collections.abc import Callable, Collection, Iterator
from itertools import product

from sqlglot import exp
from sqlglot.optimizer.scope import build_scope

from streamhouse.sql.rows import NotProvenError
from streamhouse.sql.scopes import (
    GROUPING_SETS,
    aggregates_in,
    function_name,
    has_grouping_sets,
    sets_behind_keys,
    windows_in,
)
from streamhouse.sql.traces import text_of
from streamhouse.sql.windows import bounds_of

_LEFT, _RIGHT, _BOTH = "__l", "__r", "__b"
_SETS, _SET = "__sets", "__set"
_MOST_SETS = 64
_INNER = "__f"
_BITS = {"grouping": "tinyint", "grouping_id": "bigint"}
_SHAPING = ("having", "qualify", "order")


def rewritten(root: exp.Query) -> exp.Query:
    """UNION, INTERSECT and EXCEPT as groups of their members' rows; ROLLUP, CUBE and GROUPING SETS as one grouping.

    Raises:
        NotProvenError: a grouping is not understood.
    """
    for node in reversed(list(root.find_all(exp.SetOperation))):
        members = _members(node)
        if members is not None:
            root = _replaced(root, node, members)
    for select in list(root.find_all(exp.Select)):
        if has_grouping_sets(select):
            _one_grouping(select)
    return root


def inline_with(root: exp.Query) -> exp.Query:
    """Each WITH query where it is read.

    Raises:
        NotProvenError: one reads itself.
    """
    for with_ in reversed(list(root.find_all(exp.With))):
        if with_.args.get("recursive"):
            raise NotProvenError("a recursive WITH query is not followed")
        holder = with_.parent
        assert holder is not None
        known: dict[str, exp.CTE] = {}
        for cte in with_.expressions:
            _inline(cte.this, known)
            known[cte.alias] = cte
        holder.set("with_", None)
        _inline(holder, known)
    return root


def split(root: exp.Query) -> exp.Query:
    """Groups that a sub-query or a window function looks at, as an inner query: it folds, and the outer one looks."""
    for select in reversed(list(root.find_all(exp.Select))):
        parts = [*select.selects, *(select.args[c] for c in ("having", "qualify") if select.args.get(c))]
        if not any(map(aggregates_in, parts)) and not select.args.get("group"):
            continue
        sub_queries = [query for part in parts for query in part.find_all(exp.Query)]
        if any(map(_looks_out, sub_queries)):
            continue  # it asks for each group, whose keys it names
        if sub_queries or any(map(windows_in, parts)):
            root = _replaced(root, select, _split(select))
    return root


def _looks_out(query: exp.Query) -> bool:
    """Whether a query has columns of those around it."""
    scope = build_scope(query.copy())
    return scope is None or bool(scope.external_columns)


def _swap(
    holder: exp.Expr, other: Callable[[exp.Expr], exp.Expr | None], fixed_ids: Collection[int] = frozenset()
) -> exp.Expr:
    """What a bracket has, with other expressions in place of some, the outer ones first; sub-queries stay as they are.

    Args:
        holder: Is changed.
        other: What stands in place of an expression; None: it stays, and what is below it is looked at.
        fixed_ids: The ids of what stays as it is with all below it, if nothing takes its place.
    """
    found: list[tuple[exp.Expr, exp.Expr]] = []

    def ends(one: exp.Expr) -> bool:
        new = other(one) if not isinstance(one, exp.Query) else None
        if new is not None:
            found.append((one, new))
        return new is not None or isinstance(one, exp.Query) or id(one) in fixed_ids

    for _ in holder.this.walk(prune=ends):
        pass
    for old, new in found:
        old.replace(new)
    changed: exp.Expr = holder.this
    return changed


def _replaced(root: exp.Query, node: exp.Query, new: exp.Query) -> exp.Query:
    if node is root:
        return new
    node.replace(new)
    return root


def _inline(query: exp.Expr, known: dict[str, exp.CTE]) -> None:
    for table in list(query.find_all(exp.Table)):
        cte = known.get(table.name) if not table.db else None
        if cte is None:
            continue
        if any(table.args.get(clause) for clause in ("joins", "laterals", "pivots", "sample")):
            raise NotProvenError("joins in parentheses are not followed")
        body = cte.this.copy()
        assert isinstance(body, exp.Query)
        _refuse_names(body, cte)
        table.replace(body.subquery(table.alias_or_name, copy=False))


def _refuse_names(body: exp.Query, cte: exp.CTE) -> None:
    names = [column.name for column in cte.args["alias"].columns]
    if names and names != [item.alias_or_name for item in body.selects]:
        raise NotProvenError("a WITH query that names its columns outside is not followed")


# --- UNION, INTERSECT, EXCEPT ---


def _members(node: exp.SetOperation) -> exp.Select | None:
    """A grouping of the rows of the members that gives what a set operation gives; None: it stays as it is."""
    names = [item.alias_or_name for item in node.selects]
    if not node.args.get("distinct") or len(set(names)) < len(names):
        return None
    both = isinstance(node, exp.Union)
    sides = [_tagged(node.this, names, _LEFT, tag=not both), _tagged(node.expression, names, _RIGHT, tag=not both)]
    rows = exp.union(*sides, distinct=False, copy=False)
    columns = [exp.column(name, _BOTH) for name in names]
    found = exp.select(*columns).from_(rows.subquery(_BOTH, copy=False), copy=False)
    for clause in ("order", "limit", "offset"):
        found.set(clause, node.args.get(clause))
    if both:
        return found.distinct(copy=False)
    left, right = (exp.Sum(this=exp.column(one, _BOTH)) for one in _TAGS)
    of_right = exp.EQ if isinstance(node, exp.Except) else exp.GT
    there = (
        exp.GT(this=left, expression=exp.Literal.number(0)),
        of_right(this=right, expression=exp.Literal.number(0)),
    )
    return found.group_by(*(column.copy() for column in columns), copy=False).having(exp.and_(*there), copy=False)


_TAGS = ("__left", "__right")


def _tagged(member: exp.Expr, names: list[str], alias: str, *, tag: bool) -> exp.Select:
    """The rows of a member, each with the side that it is of."""
    query = member.unnest() if isinstance(member, exp.Subquery) else member
    assert isinstance(query, exp.Query)
    own = [item.alias_or_name for item in query.selects]
    items: list[exp.Expr] = [exp.alias_(exp.column(one, alias), name) for one, name in zip(own, names, strict=True)]
    if tag:
        sides = (alias == _LEFT, alias == _RIGHT)
        items += [exp.alias_(exp.Literal.number(int(side)), name) for side, name in zip(sides, _TAGS, strict=True)]
    return exp.select(*items).from_(query.copy().subquery(alias, copy=False), copy=False)


# --- ROLLUP, CUBE, GROUPING SETS ---


def _one_grouping(select: exp.Select) -> None:
    """Each row once for each set, and the number of the set among the keys; changes the SELECT."""
    sets, keys = _sets(select)
    number = exp.column(_SET, _SETS)
    shown = {text: _in_sets(key, _with(text, sets), len(sets), number) for text, key in keys.items()}

    def other(node: exp.Expr) -> exp.Expr | None:
        if function_name(node) in _BITS:
            arguments = [*node.expressions] or [*keys.values()]
            return _bits(arguments, sets, keys, number, _BITS[function_name(node)])
        new = shown.get(text_of(node)) if not isinstance(node, exp.Alias) else None
        return new.copy() if new is not None else None

    def in_set(part: exp.Expr) -> exp.Expr:
        holder = exp.Paren(this=part.copy())
        return _swap(holder, other, {id(one) for one in aggregates_in(holder)})

    for item in list(select.selects):
        item.replace(exp.alias_(in_set(item.unalias()), item.alias_or_name))
    for clause in _SHAPING:
        if (part := select.args.get(clause)) is not None:
            select.set(clause, in_set(part))
    select.set("group", exp.Group(expressions=[*(new.copy() for new in shown.values()), number.copy()]))
    numbers = exp.Array(expressions=[exp.Literal.number(n) for n in range(len(sets))])
    alias = exp.TableAlias(this=exp.to_identifier(_SETS), columns=[exp.to_identifier(_SET)])
    select.append("laterals", exp.Lateral(this=exp.Explode(this=numbers), view=True, outer=False, alias=alias))


def _sets(select: exp.Select) -> tuple[list[list[str]], dict[str, exp.Expr]]:
    """The grouping sets, as texts of keys; and each key by its text."""
    group = select.args["group"]
    if group.args.get("totals") or group.args.get("all"):
        raise NotProvenError("ROLLUP, CUBE and GROUPING SETS make several groupings")
    keys: dict[str, exp.Expr] = {}

    def texts(nodes: list[exp.Expr]) -> list[str]:
        for node in nodes:
            if isinstance(node, (exp.Tuple, exp.Literal, *GROUPING_SETS)):
                raise NotProvenError("ROLLUP, CUBE and GROUPING SETS of several columns make several groupings")
            keys.setdefault(text_of(node), node.unnest())
        return [text_of(node) for node in nodes]

    def ways(part: exp.Expr) -> list[list[str]]:
        members = list(part.expressions) or plain
        if isinstance(part, exp.GroupingSets):
            return [texts(list(one.expressions) if isinstance(one, exp.Tuple) else [one]) for one in members]
        names = texts(members)
        if isinstance(part, exp.Rollup):
            return [names[:at] for at in range(len(names), -1, -1)]
        return [[n for at, n in enumerate(names) if not mask >> at & 1] for mask in range(2 ** len(names))]

    after = sets_behind_keys(group)
    plain = [node for node in group.expressions if not isinstance(node, GROUPING_SETS)]
    fixed = [] if after else [texts(plain)]
    texts(plain)
    parts = [*(node for node in group.expressions if isinstance(node, GROUPING_SETS)), *after]
    if len(plain) > len(texts(plain)) or len(keys) > 6:
        raise NotProvenError("ROLLUP, CUBE and GROUPING SETS of so many columns make too many groupings")
    found = [
        list(dict.fromkeys([*(fixed[0] if fixed else []), *(name for way in one for name in way)]))
        for one in product(*map(ways, parts))
    ]
    if len(found) > _MOST_SETS:
        raise NotProvenError("ROLLUP, CUBE and GROUPING SETS make too many groupings")
    return found, keys


def _with(text: str, sets: list[list[str]]) -> list[int]:
    return [number for number, names in enumerate(sets) if text in names]


def _in_sets(value: exp.Expr, there: list[int], number_of_sets: int, number: exp.Expr) -> exp.Expr:
    """The value in some sets, NULL in the others."""
    if len(there) == number_of_sets:
        return value.copy()
    return exp.case().when(_is_in(number, there), value.copy())


def _is_in(number: exp.Expr, there: list[int]) -> exp.Expr:
    return exp.In(this=number.copy(), expressions=[exp.Literal.number(n) for n in there or [-1]])


def _bits(
    arguments: list[exp.Expr], sets: list[list[str]], keys: dict[str, exp.Expr], number: exp.Expr, kind: str
) -> exp.Expr:
    """One bit for each key asked for, the first one the highest: whether it is left out of the row's set."""
    if any(text_of(one) not in keys for one in arguments):
        raise NotProvenError("GROUPING of an expression that is no key")
    value = exp.case()
    for at, names in enumerate(sets):
        bits = sum((text_of(one) not in names) << (len(arguments) - 1 - n) for n, one in enumerate(arguments))
        value = value.when(_is_in(number, [at]), exp.Literal.number(bits))
    return exp.cast(value, kind, dialect="spark")


# --- groups that are looked at ---


def _split(select: exp.Select) -> exp.Select:
    """A SELECT that groups, as one that groups and one around it that looks at the groups."""
    group = select.args["group"].expressions if select.args.get("group") else ()
    keys = {text_of(part) for key in group for part in bounds_of(key) or (key,)}  # a window is a struct, its bounds not
    names: dict[str, str] = {}
    items: list[exp.Expr] = []

    def other(node: exp.Expr) -> exp.Expr | None:
        text = text_of(node)
        if not (text in keys or id(node) in folded):
            return None
        if text not in names:
            names[text] = f"__c{len(names)}"
            items.append(exp.alias_(node.copy(), names[text]))
        return exp.column(names[text], _INNER)

    def outside(part: exp.Expr) -> exp.Expr:
        holder = exp.Paren(this=part.copy())
        folded.clear()
        folded.update(id(one) for one in _around(holder))
        return _swap(holder, other)

    folded: set[int] = set()
    outer = exp.select(*(exp.alias_(outside(item.unalias()), item.alias_or_name) for item in select.selects))
    if (having := select.args.get("having")) is not None:
        outer.set("where", exp.Where(this=outside(having.this)))
    for clause in ("qualify", "order"):
        if (part := select.args.get(clause)) is not None:
            outer.set(clause, outside(part))
    for clause in ("distinct", "limit", "offset"):
        outer.set(clause, select.args.get(clause))
    inner = select.copy()
    for clause in ("having", "qualify", "order", "distinct", "limit", "offset"):
        inner.set(clause, None)
    inner.set("expressions", items or [exp.alias_(exp.Literal.number(1), "__c0")])
    return outer.from_(inner.subquery(_INNER, copy=False), copy=False)


def _around(holder: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregates in an expression, each with the FILTER or WITHIN GROUP around it."""
    for found in aggregates_in(holder):
        at = found
        while isinstance(at.parent, (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
            at = at.parent
        yield at
