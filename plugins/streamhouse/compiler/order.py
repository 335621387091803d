"""Which step, and which flow, comes before which."""

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from streamhouse.errors import CyclicFlowError, DuplicateWriterError, Location, StreamhouseError
from streamhouse.model.flow import Flow, Step
from streamhouse.model.types import Layer, MergeEngine

Writers = Mapping[str, tuple[Step, ...]]
"""Table → the steps that write it; more than one only where its merge engine is `partial_update`."""


def writers(flow: Flow) -> tuple[Writers, list[StreamhouseError]]:
    """Who writes which table, and an error for each further writer of a table that has room for one."""
    found: dict[str, tuple[Step, ...]] = {}
    errors: list[StreamhouseError] = []
    for step in flow.steps:
        before = found.get(step.writes, ())
        if before and not is_shared(flow, step.writes):
            errors.append(_second_writer(step.writes, step, writes_place(before[0])))
        else:
            found[step.writes] = (*before, step)
    return found, errors


def is_shared(flow: Flow, table: str) -> bool:
    """Whether a flow says that other steps, also of other flows, write columns of a table too."""
    return table in flow.tables and flow.tables[table].merge_engine is MergeEngine.PARTIAL_UPDATE


def foreign_writers(flows: Mapping[str, Flow]) -> tuple[dict[str, tuple[str, ...]], list[StreamhouseError]]:
    """Table → the flows that write it, and an error for each table that two write without sharing it."""
    found: dict[str, tuple[str, ...]] = {}
    errors: list[StreamhouseError] = []
    for name, flow in flows.items():
        for table, (step, *_) in writers(flow)[0].items():
            before = found.get(table, ())
            if before and not all(is_shared(flows[owner], table) for owner in (*before, name)):
                errors.append(_second_writer(table, step, writes_place(writers(flows[before[0]])[0][table][0])))
            else:
                found[table] = (*before, name)
    return found, errors


def _second_writer(table: str, step: Step, first: Location) -> DuplicateWriterError:
    return DuplicateWriterError(
        f"two steps write {table}",
        at=writes_place(step),
        hint=f"the first is at {first}; join them with UNION ALL in one action, or, when each writes columns "
        f"of its own: tables: {{{table}: {{merge_engine: partial_update}}}}",
    )


def writes_place(step: Step) -> Location:
    """Where a step says what it writes."""
    return step.places.get("writes", step.at)


def ordered_steps(flow: Flow) -> list[Step]:
    """Each step after those that write what it reads; the same order however the file has them.

    Raises:
        CyclicFlowError: there is no such order.
    """
    found = writers(flow)[0]
    named = {name: step for table, steps in found.items() for name, step in _names(table, steps).items()}
    layers = list(Layer)
    order = _ordered(
        {
            name: {up for read in step.reads.values() for up in _names(read.table, found.get(read.table, ()))}
            for name, step in named.items()
        },
        rank={name: (layers.index(Layer(step.writes.split(".")[0])), name) for name, step in named.items()},
        places={name: step.at for name, step in named.items()},
        what="steps read each other's output",
    )
    return [named[name] for name in order]


def _names(table: str, steps: tuple[Step, ...]) -> dict[str, Step]:
    """A step is known by its table; one of several writers by its action too."""
    if len(steps) == 1:
        return {table: steps[0]}
    return {f"{table}:{step.use}": step for step in steps}


def ordered_flows(flows: Mapping[str, Flow], owners: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Each flow after those whose tables it reads.

    Raises:
        CyclicFlowError: there is no such order.
    """
    needs = {
        name: {
            owner
            for step in flow.steps
            for read in step.reads.values()
            for owner in owners.get(read.table, ())
            if owner != name
        }
        for name, flow in flows.items()
    }
    return _ordered(
        needs,
        rank={name: (0, name) for name in needs},
        places={name: flow.at for name, flow in flows.items()},
        what="flows read each other's tables",
    )


def _ordered(
    needs: Mapping[str, set[str]], *, rank: Mapping[str, tuple[int, str]], places: Mapping[str, Location], what: str
) -> list[str]:
    sorter = TopologicalSorter({name: sorted(needs[name]) for name in sorted(needs)})
    try:
        sorter.prepare()
    except CycleError as error:
        # graphlib names the cycle from reader to writer; a person reads it the way rows go.
        cycle = list(reversed(error.args[1][:-1]))
        first = cycle.index(min(cycle))
        shown = [*cycle[first:], *cycle[:first], cycle[first]]
        raise CyclicFlowError(
            f"{what}: {' → '.join(shown)}", at=places[shown[0]], hint="let one of them read a table upstream of both"
        ) from error
    order: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=lambda name: rank[name])
        order += ready
        sorter.done(*ready)
    return order
