"""Which flows read a journal, and how far each of them is, by what the state store has recorded."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from streamhouse.capture.wanted import wanted_of
from streamhouse.ingest.truncations import Truncations
from streamhouse.model.plan import FlowPlan, PlannedSource
from streamhouse.model.types import Position
from streamhouse.state.flow_state import see
from streamhouse.state.plans import Unreadable, noting
from streamhouse.state.records import Change, EpochRecord, Owner, UnreadableChange
from streamhouse.state.store import StateStore


@dataclass(frozen=True)
class JournalReader:
    """One who reads a table of a connection, or a topic.

    Attributes:
        name: What messages call it.
        table: `schema.table`, or `database.table`; of a topic the folder of its journal.
        position: Of its last epoch; None: it has none yet, or each change is a row of it, so it may have to read all.
        truncations: What it does when all rows are removed there.
        source: As the plan has it.
    """

    name: str
    table: str
    position: Position | None
    truncations: Truncations
    source: PlannedSource | None = None


Sources = Callable[[FlowPlan], Mapping[str, tuple[PlannedSource, str]]]
"""Source → what it is, and the table that it reads; of the sources of a plan that read a journal."""


def readers_of(
    state: StateStore,
    connection: str,
    flows: Collection[str] | None,
    alive: Callable[[Owner], bool],
    unreadable: Unreadable | None = None,
) -> list[JournalReader]:
    """All that read tables of a connection.

    A flow that has no file any more and does not run reads nothing. If it comes back, what it has not read may be gone.

    Args:
        state: Of the project.
        connection: Its name.
        flows: Those that have a file; None: it is not known which, so each one counts.
        alive: See `state.flow_state.see`.
        unreadable: Gets flow, in words also with its environment → error of each that may read more, as its plan, or
            what was asked of it, cannot be read; None: the first such error is raised.

    Raises:
        StateConflictError: a plan, or what was asked of a flow, cannot be read.
    """
    return all_readers(state, lambda plan: _sources(plan, connection), flows, alive, unreadable)


def all_readers(
    state: StateStore,
    sources: Sources,
    flows: Collection[str] | None,
    alive: Callable[[Owner], bool],
    unreadable: Unreadable | None = None,
) -> list[JournalReader]:
    """All that read some journals; the other arguments and errors as of `readers_of`."""
    plans = {flow: plan for flow, (_, plan) in state.plans(unreadable).items()}
    reading = {flow: plan for flow, plan in plans.items() if sources(plan)}
    records: dict[str, list[EpochRecord]] = {}
    for record in state.newest_epochs():
        records.setdefault(record.flow, []).append(record)
    found: list[JournalReader] = []
    for flow, plan in reading.items():
        if flows is None or flow in flows or not see(state, flow, alive=alive).state.is_over:
            found += _of_flow(plan, sources, {one.segment: one for one in records.get(flow, [])})
    for change in _changes(state, plans, unreadable):
        found += _of_change(change, sources, records.get(change.candidate, []))
    return found


def _changes(state: StateStore, flows: Collection[str], unreadable: Unreadable | None) -> list[Change]:
    """Changes that fill tables beside those that serve, from what their flows read."""
    found: list[Change | None] = []
    for flow in flows:
        with noting(unreadable, flow):
            found.append(state.open_change(flow))
    built: list[UnreadableChange] | None = [] if unreadable is not None else None
    found += state.environments(built)
    if unreadable is not None:
        unreadable |= {f"{one.flow} in environment '{one.environment}'": one.error for one in built or ()}
    return list({one.id: one for one in found if one is not None and one.versions}.values())


def _sources(plan: FlowPlan, connection: str) -> dict[str, tuple[PlannedSource, str]]:
    """Source → what it is, and the table that it reads; of those that read one of the connection."""
    wanted = {source.name: (source, wanted_of(source.kind, source.options)) for source in plan.sources}
    return {
        name: (source, one.table)
        for name, (source, one) in wanted.items()
        if one is not None and one.connection == connection
    }


def _of_flow(plan: FlowPlan, sources: Sources, records: Mapping[str, EpochRecord]) -> Iterator[JournalReader]:
    for name, (source, table) in sources(plan).items():
        for segment in plan.segments:
            if name in segment.reads:
                record = records.get(segment.name)
                position = record.end.get(name, {}) if record is not None and not _needs_all(source) else None
                yield JournalReader(f"flow {plan.flow}", table, position, _truncations(source), source)


def _of_change(change: Change, sources: Sources, records: Collection[EpochRecord]) -> Iterator[JournalReader]:
    what = f"change {change.id} of flow {change.flow}"
    for name, (source, table) in sources(change.plan).items():
        if not records or _needs_all(source):  # its tables are being filled as of an epoch of its flow
            yield JournalReader(what, table, None, _truncations(source), source)
        for record in records:
            if name in record.end:
                yield JournalReader(what, table, record.end[name], _truncations(source), source)


def _needs_all(source: PlannedSource) -> bool:
    """Whether each change is a row of it, which a base would not have when tables are made again."""
    return source.options.get("mode") == "append"


def _truncations(source: PlannedSource) -> Truncations:
    return Truncations(source.truncations, source.truncated)
