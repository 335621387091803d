"""Ports: what an action declares, and the table a step binds to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from sqlglot import exp

from streamhouse.errors import Location, PortError
from streamhouse.model.table import Column
from streamhouse.sql.dialect import SPARK
from streamhouse.sql.scopes import aggregates_in, generators_in, windows_in
from streamhouse.sql.types import canonical_type


@lru_cache(maxsize=4096)
def column_of(name: str, kind: str, nullable: bool) -> Column:
    """A column; the same object for the same facts, for most are asked for again and again."""
    return Column(name=name, type=kind, nullable=nullable)


@dataclass(frozen=True)
class ActionPort:
    """One input of an action.

    Attributes:
        bound: Columns of the table it reads.
        declared: Column → type, as the action's header says; empty: any columns.
        lookup: It drives nothing.
        key: Primary key of the table, in lower case.
    """

    bound: tuple[Column, ...]
    declared: Mapping[str, str]
    lookup: bool = False
    key: tuple[str, ...] = ()

    def visible(self, *, extra: bool) -> dict[str, Column]:
        """Lower-case name → the column as the SQL sees it: of the declared type."""
        own = {c.name.lower(): c for c in self.bound}
        if not self.declared:
            return own
        declared_columns = self._declared
        return (
            {**declared_columns, **{n: c for n, c in own.items() if n not in declared_columns}}
            if extra
            else dict(declared_columns)
        )

    @cached_property
    def _declared(self) -> dict[str, Column]:
        own = {c.name.lower(): c for c in self.bound}
        return {
            name.lower(): column_of(name.lower(), canonical_type(kind), own[name.lower()].nullable)
            for name, kind in self.declared.items()
        }

    @cached_property
    def converts(self) -> bool:
        """Whether a declared type is wider than the table's, so that reading must convert."""
        own = {c.name.lower(): c for c in self.bound}
        return any(own[n].type != c.type for n, c in self.visible(extra=False).items())

    @property
    def extras(self) -> tuple[str, ...]:
        """Columns of the table that the action does not declare."""
        declared = {n.lower() for n in self.declared}
        return tuple(c.name.lower() for c in self.bound if c.name.lower() not in declared)


def convert_ports(query: exp.Query, ports: Mapping[str, ActionPort], *, extra: bool) -> None:
    """Where a port declares a wider type than its table has, read it through a CAST.

    So the SQL means with every table what it means with the declared types.
    """
    for name, port in ports.items():
        if not port.converts:
            continue
        own = {c.name.lower(): c.type for c in port.bound}
        items = [
            exp.column(column, name)
            if own[column] == visible_column.type
            else exp.alias_(
                exp.Cast(this=exp.column(column, name), to=exp.DataType.build(visible_column.type, dialect=SPARK)),
                column,
            )
            for column, visible_column in port.visible(extra=extra).items()
        ]
        for table in list(query.find_all(exp.Table)):
            if table.name.lower() == name and not table.db and not _is_cte(table):
                inner = exp.select(*items).from_(exp.to_table(name))
                table.replace(inner.subquery(table.alias or name))


def _is_cte(table: exp.Table) -> bool:
    node: exp.Expr | None = table
    while node is not None:
        with_ = node.args.get("with_") if isinstance(node, exp.Query) else None
        if with_ is not None and any(c.alias.lower() == table.name.lower() for c in with_.expressions):
            return True
        node = node.parent
    return False


def append_columns(tree: exp.Query, ports: Mapping[str, ActionPort], at: Location) -> None:
    """Append the columns a table has beyond the declared ones to the outermost SELECT.

    Raises:
        PortError: the SELECT does more than project and filter the rows of one port.
    """
    hint = "write 'extra_columns: drop', or select the columns"
    if not isinstance(tree, exp.Select) or _regroups(tree):
        raise PortError(
            "'extra_columns: pass' needs a SELECT that only projects, filters and looks up", at=at, hint=hint
        )
    driving = [name for name, port in ports.items() if not port.lookup]
    sources = [tree.args["from_"].this, *(join.this for join in tree.args.get("joins") or [])]
    found = [(s.alias_or_name, n) for s in sources for n in driving if _port_of(s) == n]
    if len(found) != 1:
        raise PortError("'extra_columns: pass' needs exactly one driving port in the outermost FROM", at=at, hint=hint)
    source, name = found[0]
    taken = {item.alias_or_name for item in tree.selects}
    for column in ports[name].extras:
        if column not in taken:
            tree.append("expressions", exp.alias_(exp.column(column, source), column))


def _port_of(source: exp.Expr) -> str:
    if isinstance(source, exp.Table):
        return source.name
    if isinstance(source, exp.Subquery) and isinstance(source.this, exp.Select) and "from_" in source.this.args:
        inner = source.this.args["from_"].this
        converted = all(isinstance(e.unalias(), (exp.Column, exp.Cast)) for e in source.this.selects)
        plain = not any(source.this.args.get(k) for k in ("where", "group", "joins", "limit", "distinct", "having"))
        return inner.name if converted and plain and isinstance(inner, exp.Table) else ""
    return ""


def _regroups(tree: exp.Select) -> bool:
    clauses = ("group", "distinct", "having", "limit", "offset", "qualify")
    return any(tree.args.get(c) for c in clauses) or any(
        aggregates_in(e) or windows_in(e) or generators_in(e) for e in tree.selects
    )
