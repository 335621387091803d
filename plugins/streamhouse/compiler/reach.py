"""Where the rows of a person are, by the lineage of a key: in which tables and sources, and what is made of them. Pure.

A column *carries* the key if its values are values of the key's column: it is copied from it, chosen among such
columns, or compared for equality with one in a join. A table or source that carries every column of the key has rows
of the person. All that is computed from such rows is made of them, whether it carries the key or not.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from streamhouse.errors import Location, UnknownColumnError, UnknownTableError, did_you_mean
from streamhouse.model.plan import QUARANTINE, FlowPlan, PlannedSource, PlannedStep
from streamhouse.model.table import Table
from streamhouse.model.types import Strategy

Origin = tuple[str, str]
"""A source with its flow, or a table of any flow with an empty text."""

Node = tuple[Origin, str]
"""A column of an origin."""


@dataclass(frozen=True)
class SameValues:
    """Two columns with the same values, and why."""

    one: Node
    other: Node
    why: str


@dataclass(frozen=True)
class Holder:
    """A table or source that has rows of the person.

    Attributes:
        origin: Which.
        columns: For each column of the key, the columns here that carry it.
        why: For each of them, how it is connected.
    """

    origin: Origin
    columns: tuple[tuple[str, ...], ...]
    why: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the table or source."""
        return self.origin[1]


@dataclass(frozen=True)
class Obstacle:
    """A table that cannot be made without a person's rows, and why."""

    table: str
    reason: str
    hint: str


@dataclass(frozen=True)
class KeyReach:
    """Where a key is.

    Attributes:
        tables: Table → what carries the key there.
        sources: Flow and source → the same.
        plans: Of all flows, over the names that people know.
    """

    tables: Mapping[str, Holder]
    sources: Mapping[Origin, Holder]
    plans: Mapping[str, FlowPlan] = field(default_factory=dict)

    @property
    def steps(self) -> Iterator[tuple[str, PlannedStep]]:
        """Every step of every flow."""
        for flow, plan in self.plans.items():
            yield from ((flow, step) for step in plan.steps)

    @property
    def unnamed(self) -> frozenset[str]:
        """Tables that are made of a source with rows of the person and carry no key, so that no search shows it."""
        return frozenset(
            step.writes.name
            for flow, step in self.steps
            if step.writes.name not in self.tables and any((flow, read.table) in self.sources for read in step.reads)
        )

    def affected(self, seeds: Collection[Origin], spared: Collection[str] = ()) -> frozenset[str]:
        """The tables that are made again if rows leave `seeds`: these, and all that is made of them.

        Args:
            seeds: Tables and sources that have rows of the person.
            spared: Tables that stay as they are, so that nothing is made again for their sake.
        """
        found = {name for flow, name in seeds if not flow and name not in spared}
        sources = {origin for origin in seeds if origin[0]}
        while True:
            more = {
                step.writes.name
                for flow, step in self.steps
                if step.writes.name not in found and step.writes.name not in spared
                for read in step.reads
                if read.table.removesuffix(QUARANTINE) in found or (flow, read.table) in sources
            }
            if not more:
                return frozenset(found)
            found |= more

    def copies(self, affected: Collection[str]) -> frozenset[str]:
        """Of these the tables whose other rows are right as they are: each is made of one row, by one step."""
        steps: dict[str, list[PlannedStep]] = defaultdict(list)
        for _, step in self.steps:
            steps[step.writes.name].append(step)
        return frozenset(
            name
            for name in affected
            if name in self.tables and all(s.strategy is Strategy.MAP and not s.part for s in steps[name])
        )

    def obstacles(self, affected: Collection[str]) -> list[Obstacle]:
        """Why tables among `affected` cannot be made again."""
        copies, found = self.copies(affected), []
        writers: dict[str, set[str]] = defaultdict(set)
        for flow, step in self.steps:
            writers[step.writes.name].add(flow)
        for flow, step in self.steps:
            name = step.writes.name
            if name not in affected:
                continue
            if len(writers[name]) > 1:
                several = f"{', '.join(sorted(writers[name]))} write columns of it, and another version would lack some"
                found.append(Obstacle(name, several, "delete the rows in the sources of these flows"))
            elif name not in copies:
                found += self._unreadable(flow, step)
        return list(dict.fromkeys(found))

    def _unreadable(self, flow: str, step: PlannedStep) -> Iterator[Obstacle]:
        """Inputs from which a step cannot be computed again."""
        name, tables = step.writes.name, {table.name: table for table in self.plans[flow].readable}
        hint = f"leave it as it is: --spare {name}; it keeps what was computed from the person's rows"
        for read in step.reads:
            table = tables.get(read.table)
            if table is not None and table.deletes_after is not None:
                yield Obstacle(name, f"it is computed from {read.table}, which has dropped its old rows", hint)
            source = (flow, read.table) in self.sources
            if table is None and source and step.strategy not in (Strategy.MAP, Strategy.MERGE):
                why = (
                    f"its step ({step.strategy}) reads {read.table} again in each epoch, and with it the person's rows"
                )
                yield Obstacle(name, why, f"delete the rows in {read.table} first")


def reach(
    plans: Mapping[str, FlowPlan], table: str, columns: Collection[str], also: Iterable[tuple[str, str]] = ()
) -> KeyReach:
    """Follow the columns of a key through all flows, in both directions.

    Args:
        plans: As applied, over the names that people know.
        table: Where the key is named.
        columns: Its columns there.
        also: Further columns that name the same persons, `(table, column)`; for a key of one column.

    Raises:
        UnknownTableError: no flow writes a table that is named.
        UnknownColumnError: it lacks a column.
    """
    tables = {name: one for plan in plans.values() for name, one in plan.tables.items()}
    seeds = [[(("", table), _column(tables, table, name))] for name in columns]
    if seeds:
        seeds[0] += [(("", name), _column(tables, name, column)) for name, column in also]
    near: dict[Node, list[tuple[Node, str]]] = defaultdict(list)
    for link in links(plans.values()):
        near[link.one].append((link.other, link.why))
        near[link.other].append((link.one, link.why))
    parts = [_connected(starts, near) for starts in seeds]
    origins = set.intersection(*({origin for origin, _ in part} for part in parts)) if parts else set()
    holders = {origin: _holder(origin, parts) for origin in sorted(origins)}
    return KeyReach(
        {
            name: one
            for (flow, name), one in holders.items()
            if not flow and name in tables and not name.endswith(QUARANTINE)
        },
        {origin: one for origin, one in holders.items() if origin[0]},
        plans,
    )


def links(plans: Iterable[FlowPlan]) -> Iterator[SameValues]:
    """The columns with the same values, of all steps."""
    for plan in plans:
        sources = {source.name for source in plan.sources}
        inputs: list[PlannedSource | Table] = [*plan.sources, *plan.readable]
        names = {one.name: {c.name.lower(): c.name for c in one.columns} for one in inputs}
        for step in plan.steps:
            ports = {
                read.port: ((plan.flow if read.table in sources else "", read.table), names[read.table])
                for read in step.reads
            }
            yield from _links_of(step, ports)


_Ports = Mapping[str, tuple[Origin, Mapping[str, str]]]


def _links_of(step: PlannedStep, ports: _Ports) -> Iterator[SameValues]:
    from sqlglot.optimizer.scope import build_scope

    from streamhouse.sql.copies import values_from
    from streamhouse.sql.dialect import parse_query
    from streamhouse.sql.equated import equated

    def node(port: str, column: str) -> Node | None:
        origin, columns = ports.get(port, (("", ""), {}))
        name = columns.get(column.lower())
        return (origin, name) if name is not None else None

    tree, table = parse_query(step.sql, Location("")), step.writes
    scope, own = build_scope(tree), {column.lower(): column for column in table.column_names}
    for output, (values, _) in (values_from(scope) if scope is not None else {}).items():
        for found in (node(*value) for value in values):
            if found is not None and output.lower() in own:
                mine = (("", table.name), own[output.lower()])
                yield SameValues(mine, found, f"{_text(mine)} has values of {_text(found)}")
    for pair in equated(tree):
        one, other = node(*pair[0]), node(*pair[1])
        if one is not None and other is not None:
            yield SameValues(one, other, f"{table.name} joins {_text(one)} with {_text(other)}")
    if step.quarantine is not None:
        for column in step.columns:
            kept, refused = (("", table.name), column.name), (("", step.quarantine.name), column.name)
            yield SameValues(kept, refused, f"{step.quarantine.name} has rows that {table.name} must not have")


def _text(node: Node) -> str:
    return f"{node[0][1]}.{node[1]}"


def alike(found: KeyReach, columns: Collection[str]) -> list[str]:
    """Columns, `table.column`, that have the name of one of the key and that no lineage connects with it."""
    wanted, known = {name.lower() for name in columns}, found.tables
    names = [
        f"{table.name}.{column}"
        for plan in found.plans.values()
        for table in plan.tables.values()
        if table.name not in known and not table.name.endswith(QUARANTINE)
        for column in table.column_names
        if column.lower() in wanted
    ]
    return sorted(set(names))


def _connected(starts: Iterable[Node], near: Mapping[Node, Iterable[tuple[Node, str]]]) -> dict[Node, str]:
    """Every column that carries what `starts` carry, and why."""
    found: dict[Node, str] = dict.fromkeys(starts, "as named")
    pending = deque(found)
    while pending:
        for other, why in near.get(pending.popleft(), ()):
            if other not in found:
                found[other] = why
                pending.append(other)
    return found


def _holder(origin: Origin, parts: Iterable[Mapping[Node, str]]) -> Holder:
    own = [{column: why for (where, column), why in part.items() if where == origin} for part in parts]
    reasons = dict.fromkeys(why for part in own for why in part.values())
    return Holder(origin, tuple(tuple(sorted(part)) for part in own), tuple(reasons))


def _column(tables: Mapping[str, Table], table: str, name: str) -> str:
    if table not in tables:
        raise UnknownTableError(f"unknown table '{table}'", hint=did_you_mean(table, tables, "see: streamhouse status"))
    own = {column.lower(): column for column in tables[table].column_names}
    if name.lower() not in own:
        hint = did_you_mean(name, own.values(), f"its columns are: {', '.join(own.values())}")
        raise UnknownColumnError(f"{table} has no column '{name}'", hint=hint)
    return own[name.lower()]
