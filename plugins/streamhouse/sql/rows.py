"""Proves that each output row comes from one changed input row, and says which columns it keeps."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.model.types import ReadMode
from streamhouse.sql.infer import Inference
from streamhouse.sql.scopes import (
    TangledError,
    aggregates_in,
    conjuncts,
    generators_in,
    inner_query,
    read_sources,
    selects_of,
    windows_in,
)
from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.windows import hops


@dataclass(frozen=True)
class InputInfo:
    """What an analysis must know of the table behind a port.

    Attributes:
        append_only: Its rows are never updated or deleted.
        mode: Whether its changes drive the step.
        primary_key: Empty for a log table or a source.
    """

    append_only: bool
    mode: ReadMode = ReadMode.CHANGES
    primary_key: tuple[str, ...] = ()


Inputs = Mapping[str, InputInfo]


class NotProvenError(Exception):
    """A proof failed; the text completes 'because …'."""


@dataclass(frozen=True)
class Arm:
    """Rows that come one by one from the rows of one driving port.

    Attributes:
        port: The port.
        columns: Column of the relation → column of the port it repeats unchanged.
        single: An input row gives at most one output row.
    """

    port: str
    columns: Mapping[str, str]
    single: bool


def changes(scope: Scope, inputs: Inputs) -> bool:
    """Whether a scope, a sub-query in it or a CTE it reads has a port whose changes drive the step.

    Raises:
        NotProvenError: its joins cannot be followed.
    """
    pending: list[Scope] = [scope]
    seen: set[int] = set()
    while pending:
        at = pending.pop()
        if id(at) in seen:  # a CTE that others read twice: without this, each doubles the time
            continue
        seen.add(id(at))
        for source in _sources(at).values():
            if isinstance(source, Scope):
                pending.append(source)
            elif source.name in inputs and inputs[source.name].mode is ReadMode.CHANGES:
                return True
        pending += [*at.subquery_scopes, *at.set_operation_scopes, *at.derived_table_scopes, *at.udtf_scopes]
    return False


def _sources(scope: Scope) -> dict[str, exp.Table | Scope]:
    try:
        return read_sources(scope)
    except TangledError as error:
        raise NotProvenError(str(error)) from error


def arms_of(scope: Scope, inputs: Inputs, inference: Inference) -> tuple[Arm, ...]:
    """One arm for each member of a UNION ALL; empty when the query is static.

    Raises:
        NotProvenError: an output row depends on several changed rows.
    """
    query = scope.expression
    if not changes(scope, inputs):
        return ()
    if isinstance(query, exp.SetOperation):
        return _union(scope, inputs, inference)
    if not isinstance(query, exp.Select):
        inner = inner_query(scope)
        if inner is None:
            raise NotProvenError(f"{query.key.upper()} is not understood")
        return arms_of(inner, inputs, inference)
    refuse_regrouping(query)
    arms, multiplies = source_arms(scope, inputs, inference)
    multiplies = multiplies or hops(query) or any(generators_in(item) for item in query.selects)
    return tuple(Arm(arm.port, _column_origins(scope, arm, inference), arm.single and not multiplies) for arm in arms)


def _union(scope: Scope, inputs: Inputs, inference: Inference) -> tuple[Arm, ...]:
    query = scope.expression
    name = type(query).__name__.upper()
    if not isinstance(query, exp.Union) or query.args.get("distinct"):
        raise NotProvenError(f"{name} compares rows with each other")
    if query.args.get("limit") or query.args.get("offset"):
        raise NotProvenError("LIMIT depends on all rows")
    arms: list[Arm] = []
    names = [item.alias_or_name for item in query.selects]
    for member in scope.set_operation_scopes:
        found = arms_of(member, inputs, inference)
        if not found:
            raise NotProvenError("a member of the UNION ALL reads no changing input")
        own = [column.name for column in inference.outputs(member)]
        renamed = dict(zip(own, names, strict=True))
        arms += [Arm(a.port, {renamed[c]: source for c, source in a.columns.items()}, a.single) for a in found]
    return tuple(arms)


def refuse_regrouping(query: exp.Select) -> None:
    """Raise when a SELECT folds, compares or cuts rows.

    Raises:
        NotProvenError: it does.
    """
    for clause, word in (("group", "GROUP BY"), ("distinct", "DISTINCT"), ("having", "HAVING")):
        if query.args.get(clause):
            raise NotProvenError(f"{word} depends on several rows")
    refuse_cuts(query)
    if any(aggregates_in(item) for item in query.selects):
        raise NotProvenError("an aggregate without GROUP BY depends on all rows")


def refuse_cuts(query: exp.Select) -> None:
    """Raise when a SELECT has LIMIT or window functions.

    Raises:
        NotProvenError: it does.
    """
    if query.args.get("limit") or query.args.get("offset") or query.args.get("fetch"):
        raise NotProvenError("LIMIT depends on all rows")
    order = query.args.get("order")
    if any(windows_in(item) for item in (*query.selects, *([order] if order else []))) or query.args.get("qualify"):
        raise NotProvenError("a window function depends on several rows")


def source_arms(scope: Scope, inputs: Inputs, inference: Inference) -> tuple[tuple[Arm, ...], bool]:
    """The rows that FROM, JOIN, LATERAL VIEW and WHERE of a SELECT make; columns are `source.column`.

    Returns:
        The arms, and whether an input row may give several rows.

    Raises:
        NotProvenError: two driving inputs are joined, or one is on the optional side of a join.
    """
    query = scope.expression
    assert isinstance(query, exp.Select)
    for inner in scope.subquery_scopes:
        if changes(inner, inputs):
            raise NotProvenError("a sub-query reads a changing input")
    driving: dict[str, tuple[Arm, ...]] = {}
    for alias, source in _sources(scope).items():
        if isinstance(source, exp.Table):
            info = inputs.get(source.name)
            if info is not None and info.mode is ReadMode.CHANGES:
                columns = {f"{alias}.{c}": c for c in inference.port_columns(source.name)}
                driving[alias] = (Arm(source.name, columns, single=True),)
        elif changes(source, inputs):
            if source.is_udtf:
                raise NotProvenError("a LATERAL sub-query reads a changing input")
            found = arms_of(source, inputs, inference)
            driving[alias] = tuple(
                Arm(a.port, {f"{alias}.{c}": s for c, s in a.columns.items()}, a.single) for a in found
            )
    if len(driving) != 1:
        raise NotProvenError(f"{' and '.join(driving) or 'nothing'} are joined, and both change")
    driver, arms = next(iter(driving.items()))
    _refuse_joins(query, driver)
    lateral = bool(query.args.get("laterals"))
    return arms, lateral or any(_multiplies(join, scope, inputs, inference) for join in query.args.get("joins") or [])


def _refuse_joins(query: exp.Select, driver: str) -> None:
    from_ = query.args.get("from_")
    first = from_.this.alias_or_name if from_ is not None else ""
    earlier_sources = [first]
    for join in query.args.get("joins") or []:
        side, kind, name = join.side, join.kind, join.alias_or_name
        if join.method:
            raise NotProvenError(f"a {join.method} JOIN is not understood")
        if side == "FULL":
            raise NotProvenError("a FULL JOIN also keeps rows of the lookup that match nothing")
        if driver == name and (side == "LEFT" or kind in {"SEMI", "ANTI"}):
            raise NotProvenError(f"{driver} is on the optional side of a join")
        if driver in earlier_sources and side == "RIGHT":
            raise NotProvenError(f"{driver} is on the optional side of a join")
        earlier_sources.append(name)


def _multiplies(join: exp.Join, scope: Scope, inputs: Inputs, inference: Inference) -> bool:
    if join.kind in {"SEMI", "ANTI"}:
        return False
    source = scope.sources.get(join.alias_or_name)
    key = inputs[source.name].primary_key if isinstance(source, exp.Table) and source.name in inputs else ()
    on = join.args.get("on")
    equal = set()
    for part in conjuncts(on) if on is not None else []:
        if isinstance(part, exp.EQ):
            for one, other in ((part.this, part.expression), (part.expression, part.this)):
                mine = isinstance(one, exp.Column) and one.table == join.alias_or_name
                theirs = not any(c.table == join.alias_or_name for c in other.find_all(exp.Column))
                if mine and theirs and _tells(inference.type_of(one, scope), inference.type_of(other, scope)):
                    equal.add(one.name)
    return not key or not set(key) <= equal


def _tells(key: SparkType | None, other: SparkType | None) -> bool:
    """Whether one value at most of a key column equals a value of another type; the texts '1' and '01' both equal 1."""
    if key is None or other is None or {key.kind, other.kind} & {"float", "double"}:
        return False
    return key == other or key.kind not in ("string", "decimal")


def _column_origins(scope: Scope, arm: Arm, inference: Inference) -> dict[str, str]:
    origins = {}
    for item in selects_of(scope):
        column = plain_column(item, scope, inference)
        if column is not None and f"{column.table}.{column.name}" in arm.columns:
            origins[item.alias_or_name] = arm.columns[f"{column.table}.{column.name}"]
    return origins


def plain_column(item: exp.Expr, scope: Scope, inference: Inference) -> exp.Column | None:
    """The column an expression repeats, as it is or in a wider whole number type."""
    node = item.unalias().unnest()
    if isinstance(node, exp.Column):
        return node
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Column):
        source_type, wanted = inference.type_of(node.this, scope), inference.type_of(node, scope)
        if source_type and wanted and source_type.integral and wanted.integral:
            order = ("tinyint", "smallint", "int", "bigint")
            if order.index(source_type.kind) <= order.index(wanted.kind):
                return node.this
    return None
