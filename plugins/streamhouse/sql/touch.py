"""Proves that the result for some keys needs only the input rows with those keys.

A column of a relation has a *trace* when keeping the relation's rows with certain values in that
column is the same as keeping, in each input the trace names, the rows with those values in the named
column and computing the relation from what is left. Traces pass through filters, projections, joins
on equality, GROUP BY and PARTITION BY that contain the column, DISTINCT and set operations. They end
at LIMIT, at expressions, and on the optional side of an outer join.
"""

from dataclasses import dataclass, field
from itertools import count

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.model.types import ReadMode
from streamhouse.sql.dialect import render
from streamhouse.sql.fold import group_keys
from streamhouse.sql.infer import Inference
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

Trace = dict[int, str]  # use of a port → its column
_MOST_USES = 64


@dataclass
class Relation:
    """What a scope gives.

    Attributes:
        uses: Each use of a driving port → the port. A CTE read twice counts twice.
        traces: Output columns that have a trace.
    """

    uses: dict[int, str] = field(default_factory=dict)
    traces: dict[str, Trace] = field(default_factory=dict)


class _Sources:
    """Columns of a FROM clause while its joins are added; equal columns share a trace."""

    def __init__(self) -> None:
        self.uses: dict[int, str] = {}
        self._class_of: dict[str, int] = {}
        self._traces: dict[int, Trace] = {}

    def add(self, alias: str, relation: Relation) -> None:
        self.uses |= relation.uses
        for name, trace in relation.traces.items():
            self.name(f"{alias}.{name}", trace)

    def name(self, text: str, trace: Trace) -> None:
        self._class_of[text] = len(self._traces)
        self._traces[len(self._traces)] = dict(trace)

    def alias(self, text: str, same_as: str) -> None:
        if same_as in self._class_of:
            self._class_of[text] = self._class_of[same_as]

    def trace(self, text: str) -> Trace | None:
        return self._traces[self._class_of[text]] if text in self._class_of else None

    def equate(self, one: str, other: str) -> None:
        a, b = self._class_of.get(one), self._class_of.get(other)
        if a is None or b is None or a == b:
            return
        for text, of in self._class_of.items():
            if of == b:
                self._class_of[text] = a
        self._traces[a] |= {use: column for use, column in self._traces[b].items() if use not in self._traces[a]}

    def extend(self, text: str, trace: Trace | None, *, enforced: bool) -> None:
        """What keeps rows by `text` may also restrict the other side of a join by `trace`.

        Args:
            text: A column of the side whose rows are kept.
            trace: Of the column it must equal; None or empty: nothing there to restrict.
            enforced: A row without a match is dropped. Where it is kept instead, rows that nothing
                restricts (those of a lookup) would wrongly appear to have no match.
        """
        mine = self.trace(text)
        if mine is None or not trace:
            return
        if not mine and not enforced:
            of = self._class_of[text]
            self.forget({t for t, c in self._class_of.items() if c == of})
            return
        mine.update({use: column for use, column in trace.items() if use not in mine})

    def forget(self, texts: set[str]) -> None:
        for text in texts & set(self._class_of):
            del self._class_of[text]

    @property
    def names(self) -> set[str]:
        return set(self._class_of)

    def keep_only(self, texts: set[str]) -> None:
        kept = {self._class_of[t] for t in texts if t in self._class_of}
        self.forget({t for t, of in self._class_of.items() if of not in kept})


class Tracer:
    """Traces columns of one query to the ports whose changes drive it."""

    def __init__(self, inputs: Inputs, inference: Inference) -> None:
        self._inputs = inputs
        self._inference = inference
        self._next = count()

    def relation(self, scope: Scope) -> Relation:
        """What a scope gives, anew for each place that reads it."""
        query = scope.expression
        if isinstance(query, exp.SetOperation):
            return self._set_operation(scope)
        if isinstance(query, exp.Select):
            return self._select(scope, query)
        inner = inner_query(scope)
        # What stands in a LATERAL may use the row before it in any way.
        return Relation(self.relation(inner).uses) if inner is not None else Relation()

    def _table(self, table: exp.Table) -> Relation:
        info = self._inputs.get(table.name)
        columns = self._inference.port_columns(table.name)
        if info is None or info.mode is ReadMode.LOOKUP:
            return Relation(traces={name: {} for name in columns})
        use = next(self._next)
        if use >= _MOST_USES:
            raise NotProvenError(f"the query reads its inputs more than {_MOST_USES} times")
        return Relation({use: table.name}, {name: {use: name} for name in columns})

    def _set_operation(self, scope: Scope) -> Relation:
        query = scope.expression
        own = [item.alias_or_name for item in selects_of(scope)]
        left, right = (self.relation(member) for member in scope.set_operation_scopes)
        relation = Relation(left.uses | right.uses)
        if query.args.get("limit") or query.args.get("offset") or not (left.uses and right.uses):
            return relation if relation.uses else Relation(traces={n: {} for n in own})
        names = [[c.name for c in self._inference.outputs(m)] for m in scope.set_operation_scopes]
        for mine, theirs, name in zip(*names, own, strict=True):
            if mine in left.traces and theirs in right.traces:
                relation.traces[name] = left.traces[mine] | right.traces[theirs]
        return relation

    def _select(self, scope: Scope, query: exp.Select) -> Relation:
        sources = self._sources(scope)
        if not sources.uses:
            return Relation(traces={item.alias_or_name: {} for item in query.selects})
        if query.args.get("limit") or query.args.get("offset") or query.args.get("fetch"):
            return Relation(sources.uses)
        self._pass_windows(query, sources)
        self._pass_group(query, sources)
        relation = Relation(sources.uses)
        for item in query.selects:
            column = plain_column(item, scope, self._inference)
            trace = sources.trace(_text(column if column is not None else item.unalias()))
            if trace is not None:
                relation.traces[item.alias_or_name] = dict(trace)
        return relation

    # --- FROM, JOIN, WHERE ---

    def _sources(self, scope: Scope) -> _Sources:
        query = scope.expression
        sources = _Sources()
        try:
            read_sources(scope)
        except TangledError as error:
            raise NotProvenError(str(error)) from error
        from_ = query.args.get("from_")
        if from_ is not None:
            sources.add(from_.this.alias_or_name, self._source(scope, from_.this.alias_or_name))
        for join in query.args.get("joins") or []:
            self._join(join, scope, sources)
        for lateral in query.args.get("laterals") or []:
            sources.uses |= self._source(scope, lateral.alias_or_name).uses
        where = query.args.get("where")
        parts = conjuncts(where.this) if where is not None else []
        for left, right in self._equalities(parts, scope):
            sources.equate(left, right)
        self._sub_queries(scope, parts, sources)
        return sources

    def _source(self, scope: Scope, alias: str) -> Relation:
        source = scope.sources.get(alias)
        if isinstance(source, exp.Table):
            return self._table(source)
        return self.relation(source) if isinstance(source, Scope) else Relation()

    def _join(self, join: exp.Join, scope: Scope, sources: _Sources) -> None:
        alias = join.alias_or_name
        relation = self._source(scope, alias)
        before = sources.names
        on = join.args.get("on")
        pairs = []
        for one, other in self._equalities(conjuncts(on) if on is not None else [], scope):
            mine, theirs = (other, one) if other.startswith(f"{alias}.") else (one, other)
            if mine.startswith(f"{alias}.") and theirs in before:
                pairs.append((theirs, mine, relation.traces.get(mine.removeprefix(f"{alias}."))))
        sources.uses |= relation.uses
        if join.method or join.args.get("using"):
            sources.forget(before)
            return
        if join.kind in {"SEMI", "ANTI"} or join.side == "LEFT":
            for theirs, mine, trace in pairs:
                sources.extend(theirs, trace, enforced=join.kind == "SEMI")
                sources.alias(_coalesce(theirs, mine), theirs)
        elif join.side == "RIGHT":
            old = {theirs: sources.trace(theirs) for theirs, _, _ in pairs}
            sources.forget(before)
            sources.add(alias, relation)
            for theirs, mine, _ in pairs:
                sources.extend(mine, old[theirs], enforced=False)
                sources.alias(_coalesce(theirs, mine), mine)
                sources.alias(_coalesce(mine, theirs), mine)
        elif join.side == "FULL":
            # Both sides keep rows without a match, so both must be restricted.
            both = [
                (theirs, mine, {**left, **trace})
                for theirs, mine, trace in pairs
                if trace and (left := sources.trace(theirs))
            ]
            sources.forget(before)
            for theirs, mine, trace in both:
                sources.name(_coalesce(theirs, mine), trace)
                sources.alias(_coalesce(mine, theirs), _coalesce(theirs, mine))
        else:
            sources.add(alias, relation)
            for theirs, mine, _ in pairs:
                sources.equate(theirs, mine)
                sources.alias(_coalesce(theirs, mine), theirs)
                sources.alias(_coalesce(mine, theirs), theirs)

    def _equalities(self, parts: list[exp.Expr], scope: Scope) -> list[tuple[str, str]]:
        """Pairs of columns that a condition makes equal, where equal means the same value."""
        found = []
        for part in parts:
            inner = part.unnest()
            if isinstance(inner, exp.EQ) and self._same_value(inner.this, inner.expression, scope):
                found.append((_text(inner.this), _text(inner.expression)))
        return found

    def _same_value(self, one: exp.Expr, other: exp.Expr, scope: Scope) -> bool:
        a, b = self._inference.type_of(one, scope), self._inference.type_of(other, scope)
        if a is None or b is None or a.kind in {"float", "double"}:
            return False  # 0.0 and -0.0 are equal and not the same
        return a == b or (a.integral and b.integral)

    def _sub_queries(self, scope: Scope, parts: list[exp.Expr], sources: _Sources) -> None:
        """Semi-joins and anti-joins that are written as IN, EXISTS and NOT EXISTS."""
        for inner in scope.subquery_scopes:
            known = self._semi_join(inner, scope, parts, sources)
            if known is None:
                known = self.relation(inner)
            sources.uses |= known.uses

    def _semi_join(self, inner: Scope, scope: Scope, parts: list[exp.Expr], sources: _Sources) -> Relation | None:
        for part in parts:
            node = part.unnest()
            if isinstance(node, exp.In) and _query_of(node.args.get("query")) is inner.expression:
                relation = self.relation(inner)
                columns = self._inference.outputs(inner)
                kind = self._inference.type_of(node.this, scope)
                same = len(columns) == 1 and kind == columns[0].type and kind and kind.kind not in {"float", "double"}
                if same and not inner.external_columns:
                    sources.extend(_text(node.this), relation.traces.get(columns[0].name), enforced=True)
                return relation
            exists = node.this.unnest() if isinstance(node, exp.Not) else node
            if isinstance(exists, exp.Exists) and _query_of(exists.this) is inner.expression:
                return self._exists(inner, sources, enforced=exists is node)
        return None

    def _exists(self, inner: Scope, outer: _Sources, *, enforced: bool) -> Relation | None:
        query = inner.expression
        clauses = ("group", "having", "limit", "offset", "distinct", "qualify")
        if not isinstance(query, exp.Select) or any(query.args.get(c) for c in clauses):
            return None
        if any(aggregates_in(item) for item in query.selects):
            return None
        found = self._sources(inner)
        where = query.args.get("where")
        for one, other in self._equalities(conjuncts(where.this) if where is not None else [], inner):
            for mine, theirs in ((one, other), (other, one)):
                if outer.trace(theirs) is not None and theirs.split(".")[0] not in read_sources(inner):
                    outer.extend(theirs, found.trace(mine), enforced=enforced)
        return Relation(found.uses)

    # --- GROUP BY, OVER ---

    @staticmethod
    def _pass_windows(query: exp.Select, sources: _Sources) -> None:
        clauses = [*query.selects, *(query.args[c] for c in ("qualify", "order") if query.args.get(c))]
        named = {w.name: w for w in query.args.get("windows") or []}
        for window in (w for clause in clauses for w in windows_in(clause)):
            definition = named.get(window.alias, window) if window.alias else window
            sources.keep_only({_text(p) for p in definition.args.get("partition_by") or []})

    @staticmethod
    def _pass_group(query: exp.Select, sources: _Sources) -> None:
        having = query.args.get("having")
        folds = any(aggregates_in(e) for e in (*query.selects, *([having] if having else [])))
        if not query.args.get("group"):
            if folds:
                sources.keep_only(set())
            return
        try:
            keys = group_keys(query)
        except NotProvenError:
            keys = []
        sources.keep_only({_text(key) for key in keys})


def _text(node: exp.Expr) -> str:
    inner = node.unnest()
    return f"{inner.table}.{inner.name}" if isinstance(inner, exp.Column) else render(inner)


def _coalesce(one: str, other: str) -> str:
    columns = [exp.column(*reversed(text.split(".", 1))) if "(" not in text else text for text in (one, other)]
    shown = [c if isinstance(c, str) else render(c) for c in columns]
    return f"COALESCE({', '.join(shown)})"


def _query_of(node: exp.Expr | None) -> exp.Expr | None:
    return node.unnest() if isinstance(node, exp.Subquery) else node


def key_columns(scope: Scope, key: tuple[str, ...], inputs: Inputs, inference: Inference) -> dict[str, dict[str, str]]:
    """For each driving port, the largest common part of `key` → the column that holds it there.

    Restricting every driving port to rows with certain values in those columns and running the query
    gives exactly the result rows with those values in the key.

    Raises:
        NotProvenError: no part of the key traces to every driving port.
    """
    relation = Tracer(inputs, inference).relation(scope)
    found: dict[str, dict[str, str]] = {port: {} for port in relation.uses.values()}
    missing: dict[str, str] = {}
    for column in key:
        trace = relation.traces.get(column, {})
        lost = [port for use, port in relation.uses.items() if use not in trace]
        if lost:
            missing[column] = f"'{column}' does not trace to a column of {lost[0]}"
            continue
        columns: dict[str, set[str]] = {}
        for use, port in relation.uses.items():
            columns.setdefault(port, set()).add(trace[use])
        twice = [port for port, names in columns.items() if len(names) > 1]
        if twice:
            missing[column] = f"'{column}' is in several columns of {twice[0]}"
            continue
        taken = any(next(iter(names)) in found[port].values() for port, names in columns.items())
        if not taken:
            for port, names in columns.items():
                found[port][column] = next(iter(names))
    if not any(found.values()):
        raise NotProvenError("; ".join(missing.values()) or "there is no primary key")
    return found
