"""What a query gives: names and types of its columns, and which columns it really reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp
from sqlglot.optimizer.eliminate_ctes import eliminate_ctes
from sqlglot.optimizer.pushdown_projections import pushdown_projections
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import Location
from streamhouse.model.notice import Notice
from streamhouse.model.table import Column
from streamhouse.sql.check import (
    check_columns,
    check_functions,
    check_having,
    check_limits,
    check_names,
    check_output_names,
    check_outputs,
    check_places,
    check_ports_are_read,
    check_tables,
    check_types,
    check_unions,
    check_windows,
)
from streamhouse.sql.classes import Kinds
from streamhouse.sql.copies import copies, values_from
from streamhouse.sql.ctes import name_apart
from streamhouse.sql.determinism import decides_by_clock
from streamhouse.sql.dialect import forget_place, quote_found, quote_names, render_written
from streamhouse.sql.having_names import HavingNames
from streamhouse.sql.infer import Inference
from streamhouse.sql.left_out import check_excepts, spell_excepts
from streamhouse.sql.merged import write_out_merged
from streamhouse.sql.named_columns import check_names_behind, spell_columns
from streamhouse.sql.output_names import OutputNames
from streamhouse.sql.ports import ActionPort, append_columns, column_of, convert_ports
from streamhouse.sql.resolved import qualified, scope_of
from streamhouse.sql.scopes import generators_in, is_aggregate, merges, own_nodes
from streamhouse.sql.spelled_formats import spell_formats
from streamhouse.sql.spelled_groupings import spell_groupings
from streamhouse.sql.spelled_having import spell_bounds, spell_fields
from streamhouse.sql.spelled_pivots import spell_pivots
from streamhouse.sql.spelled_rows import spell_rows
from streamhouse.sql.spelled_sets import spell_places_in_sets
from streamhouse.sql.stars import check_stars, expand_stars
from streamhouse.sql.ties import ties
from streamhouse.sql.unused_windows import leave_out_unused
from streamhouse.sql.windows import spell_windows
from streamhouse.sql.written import note_names

_PLACED = Kinds(exp.Identifier, exp.Func)


@dataclass(frozen=True)
class CheckedQuery:
    """A checked query over ports: stars expanded, names qualified, unused inner columns left out.

    Attributes:
        tree: Its FROM names are ports.
        columns: Its output.
        reads: Port → the columns it uses, in the order of the bound table.
        scope: Scopes of `tree`.
        inference: Types in `tree`.
        notices: What depends on the order of rows.
    """

    tree: exp.Query
    columns: tuple[Column, ...]
    reads: Mapping[str, tuple[str, ...]]
    scope: Scope
    inference: Inference
    notices: tuple[Notice, ...] = ()

    @cached_property
    def sql(self) -> str:
        """The text that Spark runs: canonical, but names that are part of values have the case they were written in."""
        return render_written(self.tree)

    @cached_property
    def copies(self) -> Mapping[str, tuple[str, str]]:
        """As `copies.copies`."""
        return copies(self.scope)

    @cached_property
    def values_from(self) -> Mapping[str, tuple[frozenset[tuple[str, str]], frozenset[str]]]:
        """As `copies.values_from`."""
        return values_from(self.scope)

    @cached_property
    def decides_by_clock(self) -> bool:
        """As `determinism.decides_by_clock`."""
        return decides_by_clock(self.tree)


def analyse(
    query: exp.Query, ports: Mapping[str, ActionPort], sql: str, at: Location, *, extra_columns: bool = False
) -> CheckedQuery:
    """Check a query against the columns of its ports and tell what it gives.

    Args:
        query: As parsed, parameters filled in; it is changed.
        ports: Port → what it offers; a name no port has is an error.
        sql: The text `query` was parsed from, for places.
        at: Where that text stands.
        extra_columns: Whether columns of the bound table beyond the declared ones are appended.

    Raises:
        UnknownTableError: the FROM names something that is neither port nor CTE.
        PortError: a port is never read, or `extra_columns` cannot be appended.
        UnknownColumnError: a column no input has, or that several have.
        UntypedColumnError: an unknown function, or a type that cannot be derived.
        OutputColumnError: an output column has no name, or the name of another.
        StrategyError: a function that gives another answer at each call, or two time windows in one SELECT.
        DefinitionErrors: several of these.
    """
    nodes = list(query.walk())  # once for all who look through them: that takes longer than what each looks for
    check_tables(nodes, ports, sql, at)
    seen = {name: port.visible(extra=False) for name, port in ports.items()}
    having_names = HavingNames(nodes)
    nodes = _spelled(query, nodes, ports, sql, at)
    check_functions(nodes, sql, at)
    check_limits(nodes, sql, at)
    check_places(nodes, sql, at)
    if leave_out_unused(nodes):
        nodes = list(query.walk())
    query, nodes = _names_noted(query, nodes, seen, sql, at)
    output_names = OutputNames(nodes)
    convert_ports(query, ports, extra=extra_columns)
    tree = qualified(query, seen, at)
    nodes = list(tree.walk())
    quote_found(nodes)
    check_windows(nodes, sql, at)
    scope = scope_of(tree, at)
    if any(type(node) is exp.Star for node in nodes) and expand_stars(scope, Inference(seen)):
        scope = scope_of(tree, at)
    # A column that the port does not declare is not there, though the table has it.
    columns_by_port = {name: port.visible(extra=extra_columns and port.converts) for name, port in ports.items()}
    inference = Inference(columns_by_port)
    check_columns(scope, inference, sql, at)
    check_names_behind(scope, inference, sql, at)
    check_output_names(output_names, scope, inference, sql, at)
    everything = {name: {c.name.lower(): c for c in port.bound} for name, port in ports.items()}
    alike = all(columns.items() <= everything[name].items() for name, columns in columns_by_port.items())
    inference = Inference(everything) if alike else inference  # only columns that are in both are left
    check_types(scope, inference, sql, at)
    check_having(having_names, scope, inference, sql, at)
    changed = _forget_order(tree)
    if extra_columns:
        append_columns(tree, ports, at)
        quote_names(tree)
    if changed or extra_columns or not alike:
        inference, scope = Inference(everything), scope_of(tree, at)
    check_unions(scope, inference, sql, at)
    check_outputs(scope, inference, sql, at)
    notices = ties(scope, {name: port.key for name, port in ports.items()}, inference, sql, at)
    # Places are not needed any more, and copying them is half the time of copying a tree.
    for node in nodes:
        if _PLACED[type(node)]:
            forget_place(node)
    tree, scope, inference = _pruned(tree, scope, inference, everything, nodes, at)
    columns = tuple(column_of(c.name, str(c.type), c.nullable) for c in inference.outputs(scope))
    reads = _reads(scope, everything)
    check_ports_are_read(ports, reads, at)
    return CheckedQuery(tree, columns, reads, scope, inference, notices)


def resolved_again(query: exp.Query, ports: Mapping[str, ActionPort], at: Location) -> tuple[Scope, Inference]:
    """The scopes and types that `analyse` gives, of the text of a plan: nothing is checked again.

    Args:
        query: As parsed; it is changed.
        ports: Port → what it offers. They declare no columns of their own.
        at: For the place of an error.

    Raises:
        UnknownColumnError: the query is none that `analyse` took.
        OutputColumnError: as above.
    """
    columns = {name: port.visible(extra=False) for name, port in ports.items()}
    nodes = _spelled(query, list(query.walk()), ports, "", at)
    query, _ = _names_noted(query, nodes, columns, "", at, is_new=False)
    tree = qualified(query, columns, at)
    nodes = list(tree.walk())
    scope, inference = scope_of(tree, at), Inference(columns)
    if any(type(node) is exp.Star for node in nodes) and expand_stars(scope, Inference(columns)):
        scope = scope_of(tree, at)
    if _forget_order(tree):
        scope, inference = scope_of(tree, at), Inference(columns)
    _, scope, inference = _pruned(tree, scope, inference, columns, nodes, at)
    return scope, inference


def _pruned(
    tree: exp.Query,
    scope: Scope,
    inference: Inference,
    columns: Mapping[str, Mapping[str, Column]],
    nodes: list[exp.Expr],
    at: Location,
) -> tuple[exp.Query, Scope, Inference]:
    """A query without inner columns that nothing reads, its scopes and its types.

    Args:
        tree: It may be changed.
        scope: Its scopes.
        inference: Its types.
        columns: Port → its columns.
        nodes: All of the query.
        at: For the place of an error.
    """
    if any(type(node) is exp.CTE for node in nodes) and name_apart(scope):
        inference, scope = Inference(columns), scope_of(tree, at)
    if len(list(scope.traverse())) > 1 and _prunable(scope):
        tree = eliminate_ctes(pushdown_projections(tree))
        inference, scope = Inference(columns), scope_of(tree, at)
    return tree, scope, inference


def _spelled(
    query: exp.Query, nodes: list[exp.Expr], ports: Mapping[str, ActionPort], sql: str, at: Location
) -> list[exp.Expr]:
    """All of a query after names behind tables, time windows and PIVOT are written out."""
    renamed = spell_columns(nodes)
    nodes = list(query.walk()) if renamed else nodes
    if spell_excepts(nodes, sql, at):
        nodes = list(query.walk())
    columns = {name for port in ports.values() for name in port.visible(extra=True)}
    changed = spell_places_in_sets(nodes)
    changed = spell_groupings(nodes) or changed
    changed = spell_windows(nodes, columns) or changed
    changed = spell_fields(nodes, columns) or changed
    changed = spell_bounds(nodes) or changed
    changed = spell_formats(nodes) or changed
    if any(node.args.get("pivots") for node in nodes):
        seen = {name: port.visible(extra=False) for name, port in ports.items()}
        changed = spell_pivots(query, seen, sql, at) or changed
    return list(query.walk()) if changed else nodes


def _names_noted(
    query: exp.Query,
    nodes: list[exp.Expr],
    seen: Mapping[str, Mapping[str, Column]],
    sql: str,
    at: Location,
    *,
    is_new: bool = True,
) -> tuple[exp.Query, list[exp.Expr]]:
    """The query with rows and merged columns written out and the case of its names noted, and its nodes."""
    if spell_rows(query, seen, sql, at):
        nodes = list(query.walk())
    if is_new:
        check_stars(nodes, sql, at)
        check_names(query, sql, at)
        check_excepts(query, nodes, seen, sql, at)
    note_names(nodes)
    if merges(nodes):
        query = write_out_merged(query, seen, sql, at)
        nodes = list(query.walk())
    return query, nodes


def _forget_order(tree: exp.Query) -> bool:
    """Leave out what sorts the rows of a table, which is a set of them; whether there was something."""
    if any(tree.args.get(clause) for clause in ("limit", "offset", "fetch")):
        return False  # the order chooses the rows
    found = [clause for clause in ("order", "sort", "cluster", "distribute") if tree.args.get(clause) is not None]
    for clause in found:
        tree.set(clause, None)
    return bool(found)


def _prunable(root: Scope) -> bool:
    # A generator or an aggregate makes the number of rows, so its column may not go though nothing reads it.
    for scope in root.traverse():
        if scope is root or not isinstance(scope.expression, exp.Select):
            continue
        for item in scope.expression.selects:
            opaque = any(is_aggregate(n) for n in own_nodes(item) if isinstance(n, exp.Anonymous))
            if opaque or generators_in(item):
                return False
    return True


def _reads(root: Scope, ports: Mapping[str, Mapping[str, Column]]) -> dict[str, tuple[str, ...]]:
    used: dict[str, set[str]] = {}
    for scope in root.traverse():
        for source in scope.sources.values():
            if isinstance(source, exp.Table) and source.name in ports:
                used.setdefault(source.name, set())
    for scope in root.traverse():
        for column in scope.columns:
            table = base_table(column, scope)
            if table is not None:
                used[table.name].add(column.name)
    return {
        # A table read for its number of rows only still needs one column to have rows at all.
        port: tuple(c.name for name, c in columns.items() if name in used[port])
        or tuple(c.name for c in list(columns.values())[:1])
        for port, columns in ports.items()
        if port in used
    }


def base_table(column: exp.Column, scope: Scope) -> exp.Table | None:
    """The port a qualified column belongs to, seen from `scope`; None: it is no port's."""
    at: Scope | None = scope
    while at is not None:
        source = at.sources.get(column.table)
        if source is not None:
            return source if isinstance(source, exp.Table) else None
        at = at.parent
    return None
