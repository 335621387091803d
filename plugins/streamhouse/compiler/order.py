"""Which step, and which flow, comes before which."""

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from streamhouse.errors import CyclicFlowError, DuplicateWriterError, Location, StreamhouseError
from streamhouse.model.flow import Flow, Step
from streamhouse.model.types import Layer


def writers(flow: Flow) -> tuple[dict[str, Step], list[StreamhouseError]]:
    """Table → the step that writes it, and an error for each further step that does."""
    found: dict[str, Step] = {}
    errors: list[StreamhouseError] = []
    for step in flow.steps:
        first = found.setdefault(step.writes, step)
        if first is not step:
            errors.append(_second_writer(step.writes, step, writes_place(first)))
    return found, errors


def foreign_writers(flows: Mapping[str, Flow]) -> tuple[dict[str, str], list[StreamhouseError]]:
    """Table → the flow that writes it, and an error for each table that two flows write."""
    found: dict[str, tuple[str, Step]] = {}
    errors: list[StreamhouseError] = []
    for name, flow in flows.items():
        for table, step in writers(flow)[0].items():
            owner, first = found.setdefault(table, (name, step))
            if owner != name:
                errors.append(_second_writer(table, step, writes_place(first)))
    return {table: owner for table, (owner, _) in found.items()}, errors


def _second_writer(table: str, step: Step, first: Location) -> DuplicateWriterError:
    return DuplicateWriterError(
        f"two steps write {table}",
        at=writes_place(step),
        hint=f"the first is at {first}; join them with UNION ALL in one action",
    )


def writes_place(step: Step) -> Location:
    """Where a step says what it writes."""
    return step.places.get("writes", step.at)


def ordered_steps(flow: Flow) -> list[Step]:
    """Each step after those that write what it reads; the same order however the file has them.

    Raises:
        CyclicFlowError: there is no such order.
    """
    writer = writers(flow)[0]
    needs = {
        table: {read.table for read in step.reads.values() if read.table in writer} for table, step in writer.items()
    }
    layers = list(Layer)
    order = _ordered(
        needs,
        rank={table: (layers.index(Layer(table.split(".")[0])), table) for table in needs},
        places={table: step.at for table, step in writer.items()},
        what="steps read each other's output",
    )
    return [writer[table] for table in order]


def ordered_flows(flows: Mapping[str, Flow], owner: Mapping[str, str]) -> list[str]:
    """Each flow after those whose tables it reads.

    Raises:
        CyclicFlowError: there is no such order.
    """
    needs = {
        name: {
            owner[read.table]
            for step in flow.steps
            for read in step.reads.values()
            if owner.get(read.table, name) != name
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
