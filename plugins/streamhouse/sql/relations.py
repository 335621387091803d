"""A checked query as blocks: what `flatten` merges and `canonical` writes down.

Unlike a syntax tree it has no names a person chose: a column belongs to a source object, a WITH query stands
wherever it is read, parentheses are gone, and NOT, BETWEEN and > are written in one way each. Every rewrite
holds for SQL's three truth values and for NaN, which Spark orders above all numbers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.dialect import SPARK
from streamhouse.sql.literals import whole_number
from streamhouse.sql.scopes import (
    TangledError,
    function_name,
    is_aggregate,
    is_generator,
    read_sources,
    selects_of,
)

_BUDGET = 20_000  # nodes; WITH queries that read each other twice would grow without end
_CLAUSES = frozenset(
    {"expressions", "from_", "joins", "laterals", "where", "group", "having", "distinct", "order", "limit", "offset"}
    | {"with_", "hint", "kind"}
)
_NEGATED = {"eq": "neq", "neq": "eq"}
_SAYS_NOTHING: dict[type[exp.Expr], frozenset[str]] = {  # how sqlglot would print it for other systems
    exp.Count: frozenset({"big_int"}),
    exp.Div: frozenset({"safe", "typed"}),
    exp.DPipe: frozenset({"safe"}),
    exp.Window: frozenset({"over"}),
    exp.ArrayAgg: frozenset({"nulls_excluded"}),
}


class UnfollowedError(Exception):
    """A query has a shape that is compared by its text only; the message says which."""


@dataclass(frozen=True, slots=True)
class Node:
    """One operation. `tag` is `agg`, `win` or `gen` where it folds rows, looks around, or makes rows."""

    op: str
    args: tuple["Part", ...] = ()
    tag: str = ""


Part: TypeAlias = "Node | Relation | str"


@dataclass(eq=False)
class Leaf:
    """A table or source that a port reads."""

    table: str
    mode: str  # changes, lookup


@dataclass(eq=False)
class Generated:
    """LATERAL VIEW: rows made of each row of the sources before it."""

    call: Node
    names: tuple[str, ...]


@dataclass(eq=False)
class Source:
    """One relation a block reads, and how it is joined to those before: `from`, `inner`, `left`, ..."""

    id: str
    kind: str
    relation: "Relation"
    on: list[Node] = field(default_factory=list)


@dataclass(eq=False)
class Block:
    """One SELECT. `group` None: rows are not folded; empty: into one."""

    sources: list[Source]
    outputs: dict[str, Node]
    where: list[Node] = field(default_factory=list)
    group: list[Node] | None = None
    having: list[Node] = field(default_factory=list)
    distinct: bool = False
    cut: tuple[Node, ...] = ()  # ORDER BY, LIMIT, OFFSET


@dataclass(eq=False)
class Combined:
    """UNION, EXCEPT or INTERSECT; columns by position, named as in the first arm."""

    op: str
    distinct: bool
    arms: list["Relation"]
    names: tuple[str, ...]


Relation: TypeAlias = Leaf | Generated | Block | Combined


def nodes(node: Node) -> Iterator[Node]:
    """The node and all below it, without those of sub-queries."""
    yield node
    for part in node.args:
        if isinstance(part, Node):
            yield from nodes(part)


def columns_in(node: Node) -> Iterator[tuple[str, str]]:
    """`(source id, column)` of every column below a node, also of those in sub-queries."""
    if node.op == "col":
        yield str(node.args[0]), str(node.args[1])
        return
    for part in node.args:
        if isinstance(part, Node):
            yield from columns_in(part)
        elif not isinstance(part, str):
            for inner in expressions_of(part):
                yield from columns_in(inner)


def expressions_of(relation: Relation) -> Iterator[Node]:
    """Every expression of a relation and of those below it."""
    if isinstance(relation, Generated):
        yield relation.call
    elif isinstance(relation, Combined):
        for arm in relation.arms:
            yield from expressions_of(arm)
    elif isinstance(relation, Block):
        for source in relation.sources:
            yield from source.on
            yield from expressions_of(source.relation)
        yield from (*relation.outputs.values(), *relation.where, *(relation.group or ()), *relation.having)
        yield from relation.cut


def leaves_of(relation: Relation) -> Iterator[tuple[str, Leaf]]:
    """`(source id, leaf)` of every table that a relation reads, also in sub-queries."""
    if isinstance(relation, Combined):
        for arm in relation.arms:
            yield from leaves_of(arm)
    elif isinstance(relation, Block):
        for source in relation.sources:
            if isinstance(source.relation, Leaf):
                yield source.id, source.relation
            yield from leaves_of(source.relation)
        for node in expressions_of(relation):
            yield from _leaves_in(node)


def _leaves_in(node: Node) -> Iterator[tuple[str, Leaf]]:
    for part in node.args:
        if isinstance(part, Node):
            yield from _leaves_in(part)
        elif not isinstance(part, str):
            yield from leaves_of(part)


def aggregates_in(node: Node) -> bool:
    """Whether an expression folds rows; a function that stands under OVER does not."""
    if node.tag == "agg":
        return True
    inner = node.args
    if node.tag == "win":
        call = _windowed(node)
        inner = tuple(part for part in (*call.args, *node.args[1:]))
    return any(aggregates_in(part) for part in inner if isinstance(part, Node))


def _windowed(window: Node) -> Node:
    call = window.args[0]
    while isinstance(call, Node) and not call.tag and call.args and isinstance(call.args[0], Node):
        call = call.args[0]  # FILTER, IGNORE NULLS
    return call if isinstance(call, Node) else window


def has(node: Node, tag: str) -> bool:
    """Whether an expression holds a node with a tag."""
    return any(part.tag == tag for part in nodes(node))


def conjuncts(node: Node) -> list[Node]:
    """The parts of `a AND b AND c`; none of TRUE."""
    if node.op == "and":
        return [inner for part in node.args if isinstance(part, Node) for inner in conjuncts(part)]
    return [] if node == TRUE else [node]


TRUE, FALSE = Node("boolean", ("True",)), Node("boolean", ("False",))


def unfold(scope: Scope, bound: Mapping[str, Leaf]) -> Relation:
    """The relation of a query's root scope.

    Args:
        scope: Of a query that `analyse` has checked.
        bound: Port → what it reads.

    Raises:
        UnfollowedError: a clause or a join that is not followed.
    """
    return _Unfold(bound).relation(scope, {})


class _Unfold:
    def __init__(self, bound: Mapping[str, Leaf]) -> None:
        self._bound = bound
        self._ids = count()
        self._budget = _BUDGET

    def relation(self, scope: Scope, outer: Mapping[str, str]) -> Relation:
        query = scope.expression
        if isinstance(query, exp.SetOperation):
            return self._combined(query, scope, outer)
        if isinstance(query, exp.Select):
            return self._block(query, scope, outer)
        if isinstance(query, exp.Subquery):
            inner = next(iter((*scope.derived_table_scopes, *scope.subquery_scopes)), None)
            if inner is not None:
                return self.relation(inner, outer)
        raise UnfollowedError(f"{query.key.upper()} in FROM")

    def _combined(self, query: exp.SetOperation, scope: Scope, outer: Mapping[str, str]) -> Combined:
        if any(query.args.get(clause) for clause in ("order", "limit", "offset", "on", "by_name", "side", "kind")):
            raise UnfollowedError("ORDER BY or LIMIT of a UNION")
        op, distinct = query.key, bool(query.args.get("distinct"))
        arms: list[Relation] = []
        for part in scope.set_operation_scopes:
            arm = self.relation(part, outer)
            same = isinstance(arm, Combined) and arm.op == op == "union" and arm.distinct == distinct
            arms += arm.arms if same and isinstance(arm, Combined) else [arm]
        return Combined(op, distinct, arms, tuple(item.alias_or_name for item in selects_of(scope)))

    def _block(self, query: exp.Select, scope: Scope, outer: Mapping[str, str]) -> Block:
        for clause, value in query.args.items():
            if value and clause not in _CLAUSES:
                raise UnfollowedError(clause.strip("_").upper())
        if query.args.get("kind"):
            raise UnfollowedError("SELECT AS STRUCT")
        try:
            reads = read_sources(scope)
        except TangledError as error:
            raise UnfollowedError(str(error)) from error
        names = {alias: f"s{next(self._ids)}" for alias in reads}
        env = {**outer, **names}
        joins = {join.alias_or_name: join for join in query.args.get("joins") or []}
        sources = [self._source(found, joins.get(alias), scope, env, names[alias]) for alias, found in reads.items()]
        block = Block(sources, {})
        for item in query.selects:
            if isinstance(item, exp.Aliases) or item.alias_or_name in block.outputs:
                raise UnfollowedError("output columns without names of their own")
            block.outputs[item.alias_or_name] = self.node(item.unalias(), scope, env)
        for clause in ("where", "having"):
            if (condition := query.args.get(clause)) is not None:
                setattr(block, clause, conjuncts(self.node(condition.this, scope, env)))
        block.group = self._group(query, scope, env, block)
        block.distinct = self._distinct(query)
        block.cut = tuple(
            self.node(query.args[clause], scope, env)
            for clause in ("order", "limit", "offset")
            if query.args.get(clause)
        )
        return block

    def _distinct(self, query: exp.Select) -> bool:
        distinct = query.args.get("distinct")
        if isinstance(distinct, exp.Distinct) and distinct.args.get("on"):
            raise UnfollowedError("DISTINCT ON")
        return bool(distinct)

    def _group(self, query: exp.Select, scope: Scope, env: Mapping[str, str], block: Block) -> list[Node] | None:
        group = query.args.get("group")
        if group is None:
            folds = [*block.outputs.values(), *block.having]
            return [] if any(aggregates_in(node) for node in folds) or query.args.get("having") else None
        if any(value for clause, value in group.args.items() if clause != "expressions"):
            raise UnfollowedError("ROLLUP, CUBE or GROUPING SETS")
        keys: list[Node] = []
        for key in group.expressions:
            if isinstance(key, exp.Rollup | exp.Cube | exp.GroupingSets):
                raise UnfollowedError("ROLLUP, CUBE or GROUPING SETS")
            position = whole_number(key)
            shown = query.selects[position - 1].unalias() if position is not None else key
            keys.append(self.node(shown, scope, env))
        return keys

    def _source(
        self,
        found: exp.Table | Scope,
        join: exp.Join | None,
        scope: Scope,
        env: Mapping[str, str],
        own: str,
    ) -> Source:
        kind, on = "from", []
        if join is not None:
            if join.args.get("using") or join.args.get("method") or join.args.get("match_condition"):
                raise UnfollowedError("USING or NATURAL")
            kind = (join.kind if join.kind in {"SEMI", "ANTI"} else join.side or "INNER").lower()
            condition = join.args.get("on")
            on = conjuncts(self.node(condition, scope, env)) if condition is not None else []
        if isinstance(found, exp.Table):
            if found.name not in self._bound or found.args.get("sample") or found.args.get("pivots"):
                raise UnfollowedError("a table that is no plain port")
            return Source(own, kind, self._bound[found.name], on)
        if isinstance(found.expression, exp.Lateral):
            return Source(own, "lateral", self._generated(found.expression, scope, env), on)
        # A query in FROM sees nothing of the block around it.
        return Source(own, kind, self.relation(found, {a: s for a, s in env.items() if a not in scope.sources}), on)

    def _generated(self, lateral: exp.Lateral, scope: Scope, env: Mapping[str, str]) -> Generated:
        if not isinstance(lateral.this, exp.Func):
            raise UnfollowedError("LATERAL with a query")
        alias = lateral.args.get("alias")
        names = tuple(column.name for column in alias.columns) if alias else ()
        call = self.node(lateral.this, scope, env)
        return Generated(Node("outer", (call,)) if lateral.args.get("outer") else call, names)

    # --- expressions ---

    def node(self, tree: exp.Expr, scope: Scope, env: Mapping[str, str]) -> Node:
        """An expression that stands in `scope`, whose aliases `env` maps to source ids."""
        self._budget -= 1
        if self._budget < 0:
            raise UnfollowedError("the query is too large")
        if isinstance(tree, exp.Paren):
            return self.node(tree.this, scope, env)
        if isinstance(tree, exp.Column):
            return self._column(tree, env)
        if isinstance(tree, exp.Literal):
            text = str(tree.this) if tree.is_string else str(tree.this).lower()
            return Node("text" if tree.is_string else "number", (text,))
        if isinstance(tree, exp.Boolean):
            return TRUE if tree.this else FALSE
        if isinstance(tree, exp.DataType):
            return Node("type", (tree.sql(SPARK).lower(),))
        if isinstance(tree, exp.Query):
            return self._query(tree, scope, env)
        if isinstance(tree, exp.Not):
            return negated(self.node(tree.this, scope, env))
        if isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
            value, low, high = (self.node(tree.args[k], scope, env) for k in ("this", "low", "high"))
            return both(Node("lte", (low, value)), Node("lte", (value, high)))
        if isinstance(tree, exp.And | exp.Or):
            left, right = (self.node(e, scope, env) for e in (tree.this, tree.expression))
            return both(left, right) if isinstance(tree, exp.And) else either(left, right)
        if isinstance(tree, exp.GT | exp.GTE):
            left, right = (self.node(e, scope, env) for e in (tree.this, tree.expression))
            return Node("lt" if isinstance(tree, exp.GT) else "lte", (right, left))
        if isinstance(tree, exp.Cast) and not any(tree.args.get(k) for k in ("format", "action", "default")):
            parts = self._parts([tree.this, tree.to], scope, env)
            return Node("try_cast" if tree.args.get("safe") else "cast", parts)
        if isinstance(tree, exp.In) and tree.expressions and all(isinstance(e, exp.Literal) for e in tree.expressions):
            listed = {self.node(e, scope, env) for e in tree.expressions}
            return Node("in", (self.node(tree.this, scope, env), *sorted(listed, key=repr)))
        if isinstance(tree, exp.Count) and isinstance(tree.this, exp.Star | exp.Literal):
            return Node("count", (Node("star"),), "agg")
        return self._generic(tree, scope, env)

    def _generic(self, tree: exp.Expr, scope: Scope, env: Mapping[str, str]) -> Node:
        tag = "win" if isinstance(tree, exp.Window) else ""
        if isinstance(tree, exp.Func):
            tag = "gen" if is_generator(tree) else "agg" if is_aggregate(tree) else ""
        if isinstance(tree, exp.Anonymous):
            return Node(f"{function_name(tree)}()", self._parts(tree.expressions, scope, env), tag)
        args: list[Part] = []
        for name in tree.arg_types:
            value = tree.args.get(name)
            if value is None or value is False or value == [] or name in _SAYS_NOTHING.get(type(tree), ()):
                continue
            given = value if isinstance(value, list) else [value]
            if isinstance(tree, exp.Struct):
                given = [_named(item) for item in given]
            parts = self._parts(given, scope, env)
            if isinstance(value, list) or name not in {"this", "expression"}:
                args.append(Node(f":{name}", parts))
            else:
                args += parts
        return Node(tree.key, tuple(args), tag)

    def _parts(self, values: list[object], scope: Scope, env: Mapping[str, str]) -> tuple[Part, ...]:
        return tuple(
            self.node(value, scope, env) if isinstance(value, exp.Expr) else Node("word", (str(value),))
            for value in values
        )

    def _column(self, column: exp.Column, env: Mapping[str, str]) -> Node:
        if not column.table:
            return Node("name", (column.name,))
        if column.table not in env or column.args.get("db"):
            raise UnfollowedError(f"the column {column.table}.{column.name}")
        return Node("col", (env[column.table], column.name))

    def _query(self, tree: exp.Query, scope: Scope, env: Mapping[str, str]) -> Node:
        query = tree.unnest() if isinstance(tree, exp.Subquery) else tree
        below = next((s for s in scope.subquery_scopes if s.expression is query or s.expression is tree), None)
        if below is None:
            raise UnfollowedError("a sub-query")
        return Node("query", (self.relation(below, env),))


def _named(item: exp.Expr) -> exp.Expr:
    # STRUCT(a) has a field a: the name counts, whatever the column is called further in.
    if not isinstance(item, exp.Column):
        return item
    return exp.PropertyEQ(this=exp.to_identifier(item.name), expression=item)


def both(*parts: Node) -> Node:
    """`a AND b`, flat."""
    return _flat("and", parts, TRUE, FALSE)


def either(*parts: Node) -> Node:
    """`a OR b`, flat."""
    return _flat("or", parts, FALSE, TRUE)


def _flat(op: str, parts: tuple[Node, ...], neutral: Node, deciding: Node) -> Node:
    found: list[Node] = []
    for part in parts:
        inner = [p for p in part.args if isinstance(p, Node)] if part.op == op else [part]
        found += [p for p in inner if p != neutral and p not in found]
    if deciding in found:
        return deciding
    return found[0] if len(found) == 1 else Node(op, tuple(found)) if found else neutral


def negated(node: Node) -> Node:
    """`NOT node`, with the NOT as far in as it goes."""
    parts = tuple(part for part in node.args if isinstance(part, Node))
    if node.op in {"and", "or"}:
        return (either if node.op == "and" else both)(*(negated(part) for part in parts))
    if node in (TRUE, FALSE):
        return FALSE if node == TRUE else TRUE
    if node.op == "not":
        return parts[0]
    if node.op in {"lt", "lte"}:  # NOT a < b is b <= a: Spark orders all values, NaN too
        return Node("lte" if node.op == "lt" else "lt", (parts[1], parts[0]))
    if node.op in {"eq", "neq"}:
        return Node(_NEGATED[node.op], parts)
    return Node("not", (node,))
