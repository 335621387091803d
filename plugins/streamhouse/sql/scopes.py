"""Small questions about scopes and expressions that several analyses ask."""

from collections.abc import Iterable, Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql import functions
from streamhouse.sql.classes import Kinds

_NAMES: dict[type[exp.Expr], str] = {
    exp.ArrayAgg: "collect_list",
    exp.ArrayUniqueAgg: "collect_set",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
    exp.ApproxDistinct: "approx_count_distinct",
    exp.Variance: "variance",
    exp.VariancePop: "var_pop",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.StrPosition: "position",
    exp.Posexplode: "posexplode",
    exp.PosexplodeOuter: "posexplode_outer",
    exp.ExplodeOuter: "explode_outer",
}


_QUERY = Kinds(exp.Query)
_CALL = Kinds(exp.Func, exp.Anonymous)
_ANONYMOUS = Kinds(exp.Anonymous)
_AGGREGATE = Kinds(exp.AggFunc)
_WINDOW = Kinds(exp.Window)
_GENERATOR = Kinds(exp.Explode, exp.Inline)
_MAY_FOLD, _MAY_MAKE_ROWS = Kinds(exp.AggFunc, exp.Anonymous), Kinds(exp.Explode, exp.Inline, exp.Anonymous)


def merges(nodes: Iterable[exp.Expr]) -> bool:
    """Whether a join among these nodes merges columns, by USING or NATURAL."""
    return any(type(node) is exp.Join and (node.args.get("using") or node.args.get("method")) for node in nodes)


def function_name(node: exp.Expr) -> str:
    """The lower-case Spark name of a call."""
    kind = type(node)
    if not _CALL[kind]:
        return ""
    if _ANONYMOUS[kind]:
        return str(node.name).lower()
    known = _NAMES.get(kind)
    if known is None:
        known = _NAMES[kind] = str(node.sql_name()).lower()  # type: ignore[attr-defined]  # a Func
    return known


def arguments_of(call: exp.Expr) -> list[exp.Expr]:
    """The arguments of a call, in their order; a unit, such as DAY, is none."""
    if _ANONYMOUS[type(call)]:
        return list(call.expressions)
    return [part for part in call.iter_expressions() if not isinstance(part, exp.Var)]


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is a call of an aggregate function (also where it stands under OVER)."""
    kind = type(node)
    if _ANONYMOUS[kind]:
        return function_name(node) in functions.AGGREGATES
    return _AGGREGATE[kind] and function_name(node) not in functions.RANKS


def own_nodes(node: exp.Expr) -> list[exp.Expr]:
    """The node and what is below it, without what is below sub-queries; in the order of `walk`, in half its time."""
    found = [node]
    for at in found:
        if at is not node and _QUERY[type(at)]:
            continue
        for value in at.args.values():
            if type(value) is list:
                found += [part for part in value if isinstance(part, exp.Expr)]
            elif isinstance(value, exp.Expr):
                found.append(value)
    return found


def _calls_among(node: exp.Expr) -> Iterable[exp.Expr]:
    """As `own_nodes`; none of an output column that is a plain column, as most are."""
    inner = node.args.get("this") if type(node) is exp.Alias else node
    return () if type(inner) is exp.Column else own_nodes(node)


def aggregates_in(node: exp.Expr) -> list[exp.Expr]:
    """Calls that fold many rows into one: aggregates that do not stand under OVER."""
    return [n for n in _calls_among(node) if _MAY_FOLD[type(n)] and is_aggregate(n) and not _windowed(n)]


def windows_in(node: exp.Expr) -> list[exp.Window]:
    """Window expressions, without those of sub-queries."""
    return [n for n in _calls_among(node) if _WINDOW[type(n)]]  # type: ignore[misc]


def generators_in(node: exp.Expr) -> list[exp.Expr]:
    """Calls that make several rows of one, without those of sub-queries."""
    return [n for n in _calls_among(node) if _MAY_MAKE_ROWS[type(n)] and is_generator(n)]


def has_grouping_sets(query: exp.Expr) -> bool:
    """Whether a SELECT has ROLLUP, CUBE or GROUPING SETS."""
    group = query.args.get("group")
    return group is not None and bool(group.args.get("totals") or group.find(*GROUPING_SETS))


GROUPING_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def is_grouping(node: exp.Expr) -> bool:
    """Whether a node is GROUPING or GROUPING_ID, which say of which set of keys a row is."""
    return function_name(node) in _OF_SETS


_OF_SETS = frozenset({"grouping", "grouping_id"})


def sets_behind_keys(group: exp.Expr) -> list[exp.Expr]:
    """The sets of a GROUP BY that stand behind its keys, as in `GROUP BY a, b WITH ROLLUP`."""
    forms = (group.args.get(form) or [] for form in ("rollup", "cube", "grouping_sets"))
    return [one for form in forms for one in form if isinstance(one, exp.Expr)]


def grouping_keys(node: exp.Expr) -> Iterator[exp.Expr]:
    """The keys of a GROUP BY, or of one of its sets, in its order; a key of several sets comes several times."""
    inner = node.unnest()
    if not isinstance(inner, (exp.Group, exp.Tuple, *GROUPING_SETS)):
        yield inner
        return
    for part in (*inner.expressions, *sets_behind_keys(inner)):
        yield from grouping_keys(part)


def is_generator(node: exp.Expr) -> bool:
    """Whether a node is a call that makes several rows of one."""
    kind = type(node)
    if _GENERATOR[kind]:
        return True
    return _ANONYMOUS[kind] and function_name(node) in functions.GENERATORS


def _windowed(node: exp.Expr) -> bool:
    parent = node.parent
    while isinstance(parent, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)):
        node, parent = parent, parent.parent
    return isinstance(parent, exp.Window) and parent.this is node


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """The parts of `a AND b AND c`."""
    inner = condition.unnest()
    return list(inner.flatten()) if isinstance(inner, exp.And) else [inner]


def inner_query(scope: Scope) -> Scope | None:
    """Of a scope that only wraps another query: that query's scope."""
    for child in (*scope.derived_table_scopes, *scope.subquery_scopes):
        return child
    return None


class TangledError(Exception):
    """A FROM has a shape no analysis follows; the text says which."""


def read_sources(scope: Scope) -> dict[str, exp.Table | Scope]:
    """What FROM, JOIN and LATERAL VIEW of a SELECT read, by alias and in order.

    Unlike `Scope.selected_sources` this has the right sides of semi-joins and anti-joins.

    Raises:
        TangledError: joins stand in parentheses.
    """
    query = scope.expression
    if not isinstance(query, exp.Select):
        return {}
    from_ = query.args.get("from_")
    parts = [from_.this] if from_ is not None else []
    parts += [join.this for join in query.args.get("joins") or []]
    parts += query.args.get("laterals") or []
    found: dict[str, exp.Table | Scope] = {}
    for part in parts:
        source = scope.sources.get(part.alias_or_name)
        if source is None or part.args.get("joins") or part.args.get("laterals") or part.alias_or_name in found:
            raise TangledError("joins in parentheses are not followed")
        found[part.alias_or_name] = source
    return found


def selects_of(scope: Scope) -> list[exp.Expr]:
    """The output columns of a query's scope; none of any other scope."""
    query = scope.expression
    return list(query.selects) if isinstance(query, exp.Query) else []


def peel(root: Scope) -> tuple[Scope, dict[str, list[str]]]:
    """The scope below outer SELECTs that only rename and reorder columns.

    Returns:
        That scope, and its columns → the names they have in the output of `root`.
    """
    scope = root
    outer = {item.alias_or_name: [item.alias_or_name] for item in selects_of(scope)}
    while (inner := _only_source(scope)) is not None:
        below: dict[str, list[str]] = {}
        for item in selects_of(scope):
            below.setdefault(item.unalias().name, []).extend(outer.get(item.alias_or_name, []))
        scope, outer = inner, below
    return scope, outer


def _only_source(scope: Scope) -> Scope | None:
    query = scope.expression
    if not isinstance(query, exp.Select) or not all(isinstance(i.unalias(), exp.Column) for i in query.selects):
        return None
    plain = {"expressions", "from_", "with_", "order"}
    if any(value for clause, value in query.args.items() if clause not in plain):
        return None
    sources = [source for _, source in scope.selected_sources.values()]
    only = sources[0] if len(sources) == 1 else None
    return only if isinstance(only, Scope) and isinstance(only.expression, exp.Query) else None


def names_in_from(select: exp.Select) -> list[str]:
    """The names by which the FROM of a SELECT calls its tables, with those of joins and lateral views; as written."""
    clauses = [select.args.get("from_"), *(select.args.get("joins") or []), *(select.args.get("laterals") or [])]
    nodes = [
        node
        for clause in clauses
        if clause is not None
        for node in clause.walk(prune=lambda inner: isinstance(inner, (exp.Select, exp.SetOperation)))
    ]
    return [node.alias_or_name for node in nodes if isinstance(node, _IN_FROM) and node.alias_or_name]


_IN_FROM = (exp.Table, exp.Subquery, exp.Lateral, exp.Values, exp.Unnest)
