"""Traces the columns of a query to the ports whose changes drive it.

Traces pass through filters, projections, joins on equality, GROUP BY and PARTITION BY that contain the
column, DISTINCT, set operations, and sub-queries that are tied to it by equality. An expression over columns
of one row has a trace where each of them has one. They end at LIMIT, and on the optional side of an outer join.
"""

from functools import lru_cache
from itertools import count

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.model.types import ReadMode
from streamhouse.sql.dialect import render
from streamhouse.sql.fold import group_keys
from streamhouse.sql.infer import Inference
from streamhouse.sql.row_function import row_function
from streamhouse.sql.rows import Inputs, NotProvenError, plain_column
from streamhouse.sql.scopes import (
    TangledError,
    aggregates_in,
    conjuncts,
    inner_query,
    read_sources,
    selects_of,
    windows_in,
)
from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.subqueries import empty_from_nothing, place_of
from streamhouse.sql.traces import Own, Relation, Trace, TracedColumns, coalesce_of, text_of
from streamhouse.sql.windows import bounds_of

_MOST_USES = 64
_LONGEST = 500  # characters of an expression: nested SELECTs may double it again and again


class Tracer:
    """Traces one query.

    Attributes:
        ends: Use of a port → why no column traces to it, where one clause is to blame.
        visited: The ids of the tables met in the tree.
    """

    def __init__(self, inputs: Inputs, inference: Inference) -> None:
        self.ends: dict[int, str] = {}
        self.visited: set[int] = set()
        self._inputs = inputs
        self._inference = inference
        self._next = count()
        self._texts: dict[
            int, tuple[exp.Expr, str]
        ] = {}  # by id; a reference to each node is kept, so that no other gets its id

    def relation(self, scope: Scope) -> Relation:
        """What a scope gives: a new copy for each place that reads it."""
        query = scope.expression
        if isinstance(query, exp.SetOperation):
            return self._set_operation(scope)
        if isinstance(query, exp.Select):
            return self._project(scope, query, self._columns(scope))
        # What stands in a LATERAL may use the row before it in any way.
        inner = [*scope.derived_table_scopes, *scope.subquery_scopes]
        return Relation({use: port for child in inner for use, port in self.relation(child).uses.items()})

    def _table(self, table: exp.Table) -> Relation:
        self.visited.add(id(table))
        info = self._inputs.get(table.name)
        columns = self._inference.port_columns(table.name)
        sure = set(self._inference.required_columns(table.name))
        if info is None or info.mode is ReadMode.LOOKUP:
            return Relation(traces={name: {} for name in columns}, sure=sure)
        use = next(self._next)
        if use >= _MOST_USES:
            raise NotProvenError(f"the query reads its inputs more than {_MOST_USES} times")
        own = {name: _own(name, self._inference.port_type(table.name, name)) for name in columns}
        return Relation({use: table.name}, {name: {use: own[name]} for name in columns}, sure)

    def _set_operation(self, scope: Scope) -> Relation:
        query = scope.expression
        own = [item.alias_or_name for item in selects_of(scope)]
        left, right = (self.relation(member) for member in scope.set_operation_scopes)
        relation = Relation(left.uses | right.uses)
        if not relation.uses:
            return Relation(traces={name: {} for name in own})
        if query.args.get("limit") or query.args.get("offset"):
            self._end(relation.uses, "LIMIT depends on all rows")
        elif left.uses and right.uses:
            members = [self._inference.outputs(member) for member in scope.set_operation_scopes]
            for mine, theirs, name in zip(*members, own, strict=True):
                if mine.name in left.traces and theirs.name in right.traces and identical(mine.type, theirs.type):
                    relation.traces[name] = left.traces[mine.name] | right.traces[theirs.name]
                if mine.name in left.sure and theirs.name in right.sure:
                    relation.sure.add(name)
        return relation

    def _project(self, scope: Scope, query: exp.Select, columns: TracedColumns) -> Relation:
        relation = Relation(columns.uses)
        if not columns.uses:
            return Relation(traces={item.alias_or_name: {} for item in query.selects})
        if query.args.get("limit") or query.args.get("offset") or query.args.get("fetch"):
            self._end(columns.uses, "LIMIT depends on all rows")
            return relation
        self._name_computed(query, scope, columns)
        self._pass_windows(query, columns)
        self._pass_group(query, columns)
        for item in query.selects:
            column = plain_column(item, scope, self._inference)
            shown = column if column is not None else item.unalias()
            known = columns.computes or isinstance(shown.unnest(), exp.Column)
            text = self._text(shown) if known else ""  # which no column has
            trace = columns.trace(text)
            if trace is not None:
                relation.traces[item.alias_or_name] = dict(trace)
            if text in columns.sure or not self._inference.nullable(item.unalias(), scope):
                relation.sure.add(item.alias_or_name)
        return relation

    def _end(self, uses: dict[int, str], why: str) -> None:
        for use in uses:
            self.ends.setdefault(use, why)

    # --- FROM, JOIN, WHERE ---

    def _columns(self, scope: Scope) -> TracedColumns:
        query = scope.expression
        columns = TracedColumns()
        try:
            read_sources(scope)
        except TangledError as error:
            raise NotProvenError(str(error)) from error
        from_ = query.args.get("from_")
        if from_ is not None:
            columns.add(from_.this.alias_or_name, self._source(scope, from_.this.alias_or_name))
        for join in query.args.get("joins") or []:
            self._join(join, scope, columns)
        for lateral in query.args.get("laterals") or []:
            columns.uses |= self._source(scope, lateral.alias_or_name).uses
        for left, right in self._equalities(_where(query), scope):
            columns.equate(left, right)
        for inner in scope.subquery_scopes:
            self._sub_query(inner, scope, columns)
        return columns

    def _source(self, scope: Scope, alias: str) -> Relation:
        source = scope.sources.get(alias)
        if isinstance(source, exp.Table):
            return self._table(source)
        return self.relation(source) if isinstance(source, Scope) else Relation()

    def _join(self, join: exp.Join, scope: Scope, columns: TracedColumns) -> None:
        alias = join.alias_or_name
        source = scope.sources.get(alias)
        if isinstance(source, Scope) and source.is_udtf and join.side in {"", "LEFT"}:
            inner = inner_query(source)
            if inner is not None:
                self._correlate(inner, columns, required=False)
                return
        relation = self._source(scope, alias)
        before = columns.names
        on = join.args.get("on")
        pairs = []
        for one, other in self._equalities(conjuncts(on) if on is not None else [], scope):
            mine, theirs = (other, one) if other.startswith(f"{alias}.") else (one, other)
            if mine.startswith(f"{alias}.") and theirs in before:
                pairs.append((theirs, mine, relation.traces.get(mine.removeprefix(f"{alias}."))))
        columns.uses |= relation.uses
        if join.method or join.args.get("using"):
            columns.forget(before)
            columns.sure.clear()
            return
        if join.kind in {"SEMI", "ANTI"} or join.side == "LEFT":
            for theirs, mine, trace in pairs:
                columns.extend(theirs, trace, enforced=join.kind == "SEMI")
                columns.alias(coalesce_of(theirs, mine), theirs)
        elif join.side == "RIGHT":
            old = {theirs: columns.trace(theirs) for theirs, _, _ in pairs}
            columns.forget(before)
            columns.sure.clear()
            columns.add(alias, relation)
            for theirs, mine, _ in pairs:
                columns.extend(mine, old[theirs], enforced=False)
                columns.alias(coalesce_of(theirs, mine), mine)
                columns.alias(coalesce_of(mine, theirs), mine)
        elif join.side == "FULL":
            # Both sides keep rows without a match, so both must be restricted.
            both = [
                (theirs, mine, {**left, **trace})
                for theirs, mine, trace in pairs
                if trace and (left := columns.trace(theirs))
            ]
            columns.forget(before)
            columns.sure.clear()
            for theirs, mine, trace in both:
                columns.name(coalesce_of(theirs, mine), trace)
                columns.alias(coalesce_of(mine, theirs), coalesce_of(theirs, mine))
        else:
            columns.add(alias, relation)
            for theirs, mine, _ in pairs:
                columns.equate(theirs, mine)
                columns.alias(coalesce_of(theirs, mine), theirs)
                columns.alias(coalesce_of(mine, theirs), theirs)

    def _equalities(self, parts: list[exp.Expr], scope: Scope) -> list[tuple[str, str]]:
        """Pairs of columns that a condition makes equal, where equal means the same value."""
        found = []
        for part in parts:
            inner = part.unnest()
            if isinstance(inner, exp.EQ):
                types = (self._inference.type_of(side, scope) for side in (inner.this, inner.expression))
                if identical(*types):
                    found.append((self._text(inner.this), self._text(inner.expression)))
        return found

    # --- sub-queries ---

    def _sub_query(self, inner: Scope, scope: Scope, columns: TracedColumns) -> None:
        """Let a sub-query restrict its inputs by the columns of the rows it is asked for."""
        place = place_of(inner, scope.expression)
        relation = self._correlate(inner, columns, required=place.required)
        if not isinstance(place.holder, exp.In):
            return
        operand, offered = place.holder.this, self._inference.outputs(inner)
        if len(offered) != 1 or not identical(self._inference.type_of(operand, scope), offered[0].type):
            return
        # `x IN (…)` is NULL, not false, where a NULL is among the values, whichever rows they come from.
        sure = self._text(operand) in columns.sure or not self._inference.nullable(operand, scope)
        if place.monotone or (sure and (offered[0].name in relation.sure or not offered[0].nullable)):
            columns.extend(self._text(operand), relation.traces.get(offered[0].name), enforced=place.required)

    def _correlate(self, inner: Scope, outer: TracedColumns, *, required: bool) -> Relation:
        """Count what a sub-query reads, and tie it to the columns of `outer` that its WHERE equals.

        For a row with the value v there, the sub-query sees only rows with v in its own column.
        """
        query = inner.expression
        if not isinstance(query, exp.Select):
            relation = self.relation(inner)
            outer.uses |= relation.uses
            return relation
        own = self._columns(inner)
        outer.uses |= own.uses
        enforced = required and empty_from_nothing(query)
        near = set(read_sources(inner))
        for one, other in self._equalities(_where(query), inner):
            for mine, theirs in ((one, other), (other, one)):
                if theirs.split(".")[0] not in near and outer.trace(theirs) is not None:
                    outer.extend(theirs, own.trace(mine), enforced=enforced)
        return self._project(inner, query, own)

    # --- expressions ---

    def _text(self, node: exp.Expr) -> str:
        """As `text_of`, which is asked again and again of what a query computes; the query is not changed meanwhile."""
        entry = self._texts.get(id(node))
        if entry is None:
            entry = self._texts[id(node)] = (node, text_of(node))
        return entry[1]

    def _name_computed(self, query: exp.Select, scope: Scope, columns: TracedColumns) -> None:
        """Give a trace to what a SELECT computes from columns that have one, before its rows are put together."""
        group = query.args.get("group")
        found = [item.unalias() for item in query.selects]
        found += [bound for key in (group.expressions if group else ()) for bound in (key, *bounds_of(key))]
        clauses = [*query.selects, *(query.args[c] for c in ("qualify", "order") if query.args.get(c))]
        windows = [*(w for clause in clauses for w in windows_in(clause)), *(query.args.get("windows") or [])]
        found += [part for window in windows for part in window.args.get("partition_by") or []]
        for node in found:
            inner = node.unnest()
            trace = {} if isinstance(inner, exp.Column) else self._computed(inner, scope, columns)
            if trace and columns.trace(self._text(node)) is None:
                columns.name(self._text(node), trace)

    def _computed(self, node: exp.Expr, scope: Scope, columns: TracedColumns) -> Trace:
        total = row_function(node, scope, self._inference)
        kind = self._inference.type_of(node, scope)
        if total is None or kind is None:
            return {}
        used_columns = {text_of(column): column for column in total.find_all(exp.Column)}
        traces = [columns.trace(text) or {} for text in used_columns]
        for column in used_columns.values():
            # 0.0 and -0.0 are put together by GROUP BY and DISTINCT: below them, a row has the one or the other.
            of = self._inference.type_of(column, scope)
            if of is None or (_has_float(of) and not isinstance(scope.sources.get(column.table), exp.Table)):
                return {}
        found: Trace = {}
        for use in set.intersection(*(set(trace) for trace in traces)):
            own = {text: trace[use] for text, trace in zip(used_columns, traces, strict=True)}
            if any(own[text].type != self._inference.type_of(column, scope) for text, column in used_columns.items()):
                continue  # it is equal as a number there, and may print or overflow in another way
            tree = total.transform(lambda n: own[text_of(n)].tree.copy() if isinstance(n, exp.Column) else n)  # noqa: B023
            if len(render(tree)) <= _LONGEST:
                found[use] = Own(tree, kind)
        return found

    # --- GROUP BY, OVER ---

    def _pass_windows(self, query: exp.Select, columns: TracedColumns) -> None:
        clauses = [*query.selects, *(query.args[c] for c in ("qualify", "order") if query.args.get(c))]
        named = {w.name: w for w in query.args.get("windows") or []}
        for window in (w for clause in clauses for w in windows_in(clause)):
            definition = named.get(window.alias, window) if window.alias else window
            partition = definition.args.get("partition_by") or []
            if not partition:
                self._end(columns.uses, "a window function without PARTITION BY depends on all rows")
            columns.keep_only({self._text(p) for p in partition})

    def _pass_group(self, query: exp.Select, columns: TracedColumns) -> None:
        having = query.args.get("having")
        folds = any(aggregates_in(e) for e in (*query.selects, *([having] if having else [])))
        if not query.args.get("group"):
            if folds:
                self._end(columns.uses, "an aggregate without GROUP BY depends on all rows")
                columns.keep_only(set())
            return
        try:
            keys = group_keys(query)
        except NotProvenError as error:
            self._end(columns.uses, str(error))
            keys = []
        columns.keep_only({self._text(part) for key in keys for part in (key, *bounds_of(key))})


@lru_cache(maxsize=4096)
def _own(name: str, kind: SparkType) -> Own:
    return Own(exp.column(name), kind)


def identical(a: SparkType | None, b: SparkType | None) -> bool:
    """Whether equal values of two types are the same value; 0.0 and -0.0 are equal and not the same."""
    if a is None or b is None or _has_float(a):
        return False
    return a == b or (a.integral and b.integral)


def _has_float(kind: SparkType) -> bool:
    return kind.kind in {"float", "double"} or any(_has_float(inner) for _, inner in kind.fields)


def _where(query: exp.Expr) -> list[exp.Expr]:
    where = query.args.get("where")
    return conjuncts(where.this) if where is not None else []
