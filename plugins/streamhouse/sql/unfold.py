"""A checked query as blocks: a syntax tree turned into the relations of `relations`."""

from collections.abc import Iterator, Mapping
from itertools import count

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.dialect import SPARK
from streamhouse.sql.dialect.literals import WRITTEN
from streamhouse.sql.infer import Inference
from streamhouse.sql.literals import whole_number
from streamhouse.sql.relations import (
    FALSE,
    TRUE,
    Combined,
    Generated,
    JoinedRelation,
    Leaf,
    Node,
    Part,
    Relation,
    SelectBlock,
    UnfollowedError,
    aggregates_in,
    both,
    conjuncts,
    either,
    negated,
)
from streamhouse.sql.same_value import Same
from streamhouse.sql.scopes import (
    TangledError,
    function_name,
    is_aggregate,
    is_generator,
    read_sources,
    selects_of,
)
from streamhouse.sql.spark_type import BOOLEAN
from streamhouse.sql.understood import arguments_of, refuse_unknown

_BUDGET = 20_000  # nodes; WITH queries that read each other twice would grow without end
_JOINS = {
    **dict.fromkeys([("", ""), ("", "INNER"), ("", "CROSS")], "inner"),
    **{(side, kind): side.lower() for side in ("LEFT", "RIGHT", "FULL") for kind in ("", "OUTER")},
    **{(side, kind): kind.lower() for side in ("", "LEFT") for kind in ("SEMI", "ANTI")},
}
_COMPARES = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_ADDS_UP = (exp.Sum, exp.Avg, exp.Count)
_CALLED: dict[type[exp.Expr], str] = {
    exp.Window: "over",
    exp.Filter: "only",
    exp.Any: "any of",
}  # `window`, `filter` and `any` are functions as well
_TAKES_NAMES = frozenset({"arrays_zip", "struct"})  # of columns, for the fields of the result


def unfold(scope: Scope, bound: Mapping[str, Leaf], inference: Inference) -> Relation:
    """The relation of a query's root scope.

    Args:
        scope: Of a query that `analyse` has checked.
        bound: Port → what it reads.
        inference: Types in the query.

    Raises:
        UnfollowedError: a part of the query is not understood in full.
    """
    refuse_unknown(scope.expression)
    return _Unfold(bound, inference).relation(scope, {})


class _Unfold:
    def __init__(self, bound: Mapping[str, Leaf], inference: Inference) -> None:
        self._bound = bound
        self._inference = inference
        self._same = Same(inference)
        self._ids = count()
        self._budget = _BUDGET
        self._shown: Mapping[str, Node] = {}  # what a name without a table means: in ORDER BY an output column

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
        op, distinct = query.key, bool(query.args.get("distinct"))
        arms: list[Relation] = []
        typed = [[column.type for column in self._inference.outputs(part)] for part in scope.set_operation_scopes]
        even = all(kinds == typed[0] and None not in kinds for kinds in typed)
        for part in scope.set_operation_scopes:
            arm = self.relation(part, outer)
            arms += arm.arms if isinstance(arm, Combined) and arm.joins(op, distinct=distinct, even=even) else [arm]
        return Combined(op, distinct, arms, tuple(item.alias_or_name for item in selects_of(scope)), even)

    def _block(self, query: exp.Select, scope: Scope, outer: Mapping[str, str]) -> SelectBlock:
        self._shown = {}
        try:
            reads = read_sources(scope)
        except TangledError as error:
            raise UnfollowedError(str(error)) from error
        names = {alias: f"s{next(self._ids)}" for alias in reads}
        env = {**outer, **names}
        joins = {join.alias_or_name: join for join in query.args.get("joins") or []}
        sources = [self._source(found, joins.get(alias), scope, env, names[alias]) for alias, found in reads.items()]
        block = SelectBlock(_turned(sources), {})
        for item in query.selects:
            if isinstance(item, exp.Aliases) or item.alias_or_name in block.outputs:
                raise UnfollowedError("output columns without names of their own")
            block.outputs[item.alias_or_name] = self.node(item.unalias(), scope, env)
        for clause in ("where", "having"):
            if (condition := query.args.get(clause)) is not None:
                setattr(block, clause, conjuncts(self.node(condition.this, scope, env)))
        block.group = self._group(query, scope, env, block)
        block.distinct = bool(query.args.get("distinct"))
        block.cut = tuple(self._cut(query, scope, env, block))
        return block

    def _group(self, query: exp.Select, scope: Scope, env: Mapping[str, str], block: SelectBlock) -> list[Node] | None:
        group = query.args.get("group")
        if group is None:
            folds = [*block.outputs.values(), *block.having]
            return [] if any(aggregates_in(node) for node in folds) or query.args.get("having") else None
        keys: list[Node] = []
        for key in group.expressions:
            position = whole_number(key)
            if position is not None and not 0 < position <= len(query.selects):
                raise UnfollowedError("GROUP BY a position that there is not")
            shown = query.selects[position - 1].unalias() if position is not None else key
            keys.append(self.node(shown, scope, env))
        return keys

    def _cut(self, query: exp.Select, scope: Scope, env: Mapping[str, str], block: SelectBlock) -> Iterator[Node]:
        order = query.args.get("order")
        if order is not None:
            for key in order.expressions:
                if whole_number(key.this) is not None:
                    raise UnfollowedError("ORDER BY a position")
                for call in key.find_all(exp.Func, exp.Window):
                    # Inside of these a name may be that of an output column, or of one that is read.
                    looks = isinstance(call, exp.Window) or is_aggregate(call)
                    if looks and any(c.name in block.outputs for c in call.find_all(exp.Column)):
                        raise UnfollowedError("ORDER BY an aggregate of an output column")
            self._shown = block.outputs
            yield self.node(order, scope, env)
            self._shown = {}
        for clause in ("limit", "offset"):
            if query.args.get(clause) is not None:
                yield self.node(query.args[clause], scope, env)

    def _source(
        self,
        found: exp.Table | Scope,
        join: exp.Join | None,
        scope: Scope,
        env: Mapping[str, str],
        own: str,
    ) -> JoinedRelation:
        kind, on = "from", []
        if join is not None:
            kind = _JOINS.get((join.side.upper(), join.kind.upper()), "")
            if not kind:
                raise UnfollowedError(f"{join.side} {join.kind} JOIN")
            condition = join.args.get("on")
            on = conjuncts(self.node(condition, scope, env)) if condition is not None else []
        if isinstance(found, exp.Table):
            alias = found.args.get("alias")
            if found.name not in self._bound or (alias is not None and alias.args.get("columns")):
                raise UnfollowedError("a table that is no plain port")
            return JoinedRelation(own, kind, self._bound[found.name], on)
        if isinstance(found.expression, exp.Lateral):
            return JoinedRelation(own, "lateral", self._generated(found.expression, scope, env), on)
        # A query in FROM sees nothing of the block around it.
        return JoinedRelation(
            own, kind, self.relation(found, {a: s for a, s in env.items() if a not in scope.sources}), on
        )

    def _generated(self, lateral: exp.Lateral, scope: Scope, env: Mapping[str, str]) -> Generated:
        if not isinstance(lateral.this, exp.Func) or not lateral.args.get("view"):
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
        tree = self._same.simpler(tree, scope)
        if (digits := self._same.digits(tree, scope)) is not None:
            return Node("number", (f"{digits}bd",))
        if isinstance(tree, exp.Column):
            return self._column(tree, env)
        if isinstance(tree, exp.Literal):
            text = str(tree.this) if tree.is_string else str(tree.this).lower()
            return Node("text" if tree.is_string else "number", (text,))
        if isinstance(tree, exp.Boolean):
            return TRUE if tree.this else FALSE
        if isinstance(tree, exp.DataType):
            named = tree.find(exp.ColumnDef) is not None  # fields keep their names as written
            return Node("type", (tree.sql(SPARK) if named else tree.sql(SPARK).lower(),))
        if isinstance(tree, exp.Query):
            return self._query(tree, scope, env)
        if isinstance(tree, exp.Not):
            return negated(self._truth(tree.this, scope, env))
        if isinstance(tree, exp.Between):
            value, low, high = (self.node(tree.args[k], scope, env) for k in ("this", "low", "high"))
            return both(Node("lte", (low, value)), Node("lte", (value, high)))
        if isinstance(tree, (exp.And, exp.Or)):
            left, right = (self._truth(e, scope, env) for e in (tree.this, tree.expression))
            return both(left, right) if isinstance(tree, exp.And) else either(left, right)
        if isinstance(tree, _COMPARES):
            return self._comparison(tree, scope, env)
        if isinstance(tree, exp.Cast):
            parts = self._parts([tree.this, tree.to], scope, env)
            return Node("try_cast" if tree.args.get("safe") else "cast", parts)
        if isinstance(tree, exp.In) and tree.expressions and all(isinstance(e, exp.Literal) for e in tree.expressions):
            listed = {self.node(e, scope, env) for e in tree.expressions}
            return Node("in", (self.node(tree.this, scope, env), *sorted(listed, key=repr)))
        if isinstance(tree, exp.Count) and isinstance(tree.this, (exp.Star, exp.Literal)) and not tree.expressions:
            return Node("count", (Node("star"),), "agg")
        if isinstance(tree, exp.Star):
            raise UnfollowedError("* as a value")
        return self._generic(tree, scope, env)

    def _truth(self, tree: exp.Expr, scope: Scope, env: Mapping[str, str]) -> Node:
        """A part of an AND, OR or NOT, which Spark makes a truth value."""
        node = self.node(tree, scope, env)
        if node.op == "null" or self._inference.type_of(tree, scope) == BOOLEAN:
            return node
        return Node("cast", (node, Node("type", ("boolean",))))

    def _comparison(self, tree: exp.Expr, scope: Scope, env: Mapping[str, str]) -> Node:
        left, right = (self.node(side, scope, env) for side in self._same.sides(tree, scope))
        if isinstance(tree, (exp.GT, exp.GTE)):
            return Node("lt" if isinstance(tree, exp.GT) else "lte", (right, left))
        kin = not isinstance(tree, exp.EQ) or self._same.kin(tree.this, tree.expression, scope)
        return Node(tree.key, (left, right), "" if kin else "mixed")

    def _generic(self, tree: exp.Expr, scope: Scope, env: Mapping[str, str]) -> Node:
        tag = "win" if isinstance(tree, exp.Window) else ""
        if isinstance(tree, exp.Func):
            tag = "gen" if is_generator(tree) else "agg" if is_aggregate(tree) else ""
        if isinstance(tree, exp.Anonymous):
            if function_name(tree) in _TAKES_NAMES:
                raise UnfollowedError(f"{function_name(tree)}()")
            return Node(f"{function_name(tree)}()", self._parts(tree.expressions, scope, env), tag)
        arguments = arguments_of(tree)
        if isinstance(tree, exp.Dot) and not self._is_struct(tree.this, scope):
            # Of a map it is a key, which has a case.
            arguments["expression"] = exp.Literal.string(_as_written(tree.expression))
        if isinstance(tree, _ADDS_UP) and not tree.expressions:
            arguments["this"] = self._same.summand(tree, scope)
        args: list[Part] = []
        for name in tree.arg_types:
            if name not in arguments:
                continue
            value = arguments[name]
            values: list[object] = list(value) if isinstance(value, list) else [value]
            if isinstance(tree, (exp.Struct, exp.Tuple)):
                values = [_named(item, at) for at, item in enumerate(values, 1)]
            parts = self._parts(values, scope, env)
            if isinstance(value, list) or name not in {"this", "expression"}:
                args.append(Node(f":{name}", parts))
            else:
                args += parts
        return Node(_CALLED.get(type(tree), tree.key), tuple(args), tag)

    def _is_struct(self, tree: exp.Expr, scope: Scope) -> bool:
        kind = self._inference.type_of(tree, scope)
        while kind is not None and kind.kind == "array" and kind.element is not None:
            kind = kind.element
        return kind is not None and kind.kind == "struct"

    def _parts(self, values: list[object], scope: Scope, env: Mapping[str, str]) -> tuple[Part, ...]:
        return tuple(
            self.node(value, scope, env) if isinstance(value, exp.Expr) else Node("word", (str(value),))
            for value in values
        )

    def _column(self, column: exp.Column, env: Mapping[str, str]) -> Node:
        if isinstance(column.this, exp.Star):
            raise UnfollowedError("* as a value")
        if not column.table:
            if column.name not in self._shown:
                raise UnfollowedError(f"the name {column.name}")
            return self._shown[column.name]
        if column.table not in env:
            raise UnfollowedError(f"the column {column.table}.{column.name}")
        return Node("col", (env[column.table], column.name))

    def _query(self, tree: exp.Query, scope: Scope, env: Mapping[str, str]) -> Node:
        query = tree.unnest() if isinstance(tree, exp.Subquery) else tree
        below = next((s for s in scope.subquery_scopes if s.expression is query or s.expression is tree), None)
        if below is None:
            raise UnfollowedError("a sub-query")
        return Node("query", (self.relation(below, env),))


def _turned(sources: list[JoinedRelation]) -> list[JoinedRelation]:
    """`a RIGHT JOIN b`, where nothing stands before it, as `b LEFT JOIN a`."""
    if len(sources) > 1 and sources[1].kind == "right":
        left, right, *others = sources
        return [
            JoinedRelation(right.id, "from", right.relation),
            JoinedRelation(left.id, "left", left.relation, right.on),
            *others,
        ]
    return sources


def _as_written(name: exp.Expr) -> str:
    """A name in the case it was written in."""
    own = name.this if isinstance(name, exp.Column) else name
    return str(own.meta_get(WRITTEN) or own.name)


def _named(item: object, at: int) -> exp.Expr:
    """A field with the name that Spark gives it: whatever a column is called further in, this one counts."""
    assert isinstance(item, exp.Expr)
    if isinstance(item, exp.PropertyEQ):
        inner = item.expression.unnest()
        if isinstance(item.expression, exp.Paren) and isinstance(inner, exp.Column) and item.this.name == f"col{at}":
            # Of `(a)` sqlglot says col1, and Spark a.
            named = exp.to_identifier(f"col{at} or {_as_written(inner)}")
            return exp.PropertyEQ(this=named, expression=item.expression)
        return item
    if isinstance(item, exp.Alias):
        return exp.PropertyEQ(this=exp.to_identifier(_as_written(item.args["alias"])), expression=item.this)
    value, name = item.unnest(), f"col{at}"
    if isinstance(value, (exp.Column, exp.Identifier)):
        name = _as_written(value)
    elif isinstance(value, exp.Dot):
        name = _as_written(value.expression)
    elif isinstance(value, exp.Bracket) and len(value.expressions) == 1 and value.expressions[0].is_string:
        name = value.expressions[0].name
    return exp.PropertyEQ(this=exp.to_identifier(name), expression=item)
