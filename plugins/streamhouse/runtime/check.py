"""Checks definitions at once and compiles them, without Java and without opening a store."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from streamhouse.compiler import compile_project
from streamhouse.errors import DefinitionErrors, Location, StreamhouseError
from streamhouse.model.flow import Flow
from streamhouse.model.notice import Notice
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Column
from streamhouse.registry import Registry
from streamhouse.registry.problems import flat
from streamhouse.runtime.project import Project
from streamhouse.runtime.seen import Seen


@dataclass(frozen=True)
class Checked:
    """What a check found.

    Attributes:
        errors: Each once, by place.
        notices: What is allowed but rarely meant, by place.
        plans: Flow → its plan, each after the flows it reads from; empty when there are errors.
    """

    errors: tuple[StreamhouseError, ...] = ()
    notices: tuple[Notice, ...] = ()
    plans: Mapping[str, FlowPlan] = field(default_factory=dict)


def check_project(project: Project, registry: Registry, seen: Seen | None = None) -> Checked:
    """Everything that is wrong with the project's actions, sources and flows.

    With `seen`, flows that run are told of what they read as they run with it.

    A flow whose source is broken, and one that reads a table of a broken flow, is not compiled: it
    would be told errors that are none.
    """
    errors = list(registry.errors)
    columns, unreadable = _columns(project, registry.flows.values(), seen)
    errors += unreadable
    sound = _sound(registry, columns)
    plans: Mapping[str, FlowPlan] = {}
    try:
        plans = compile_project(sound, registry, columns, seen.views(sound) if seen is not None else None)
    except StreamhouseError as error:
        errors += flat([error])
    notices = {n: None for plan in plans.values() for step in plan.steps for n in step.notices}
    notices = dict.fromkeys([*registry.warnings, *notices])
    return Checked(_ordered(errors), tuple(sorted(notices, key=lambda n: n.at)), {} if errors else plans)


def compile_with_upstream(project: Project, registry: Registry, flow: str, seen: Seen | None = None) -> FlowPlan:
    """The plan of one flow; flows that it reads nothing from may be broken. `seen` is as for `check_project`.

    Raises:
        UnknownFlowError: no file defines it.
        DefinitionError: it, or a flow it reads from, is wrong.
        DefinitionErrors: several things are.
    """
    needed = _upstream(registry, registry.flow(flow))
    columns, errors = _columns(project, needed, seen)
    if not errors:
        try:
            return compile_project(needed, registry, columns, seen.views(needed) if seen is not None else None)[flow]
        except StreamhouseError as error:
            errors = flat([error])
    if registry.broken_flows:  # a table that seems to be missing may be one of theirs
        errors += registry.errors
    found = _ordered(errors)
    raise found[0] if len(found) == 1 else DefinitionErrors(found)


def _columns(
    project: Project, flows: Iterable[Flow], seen: Seen | None
) -> tuple[dict[str, dict[str, tuple[Column, ...]]], list[StreamhouseError]]:
    """Flow → source → its columns, and what is wrong with the sources of the flows that are left out."""
    columns = {}
    errors: list[StreamhouseError] = []
    for flow in flows:
        try:
            found = project.source_columns(flow)
            columns[flow.flow] = seen.source_columns(flow, found) if seen is not None else found
        except StreamhouseError as error:
            errors += flat([error])
    return columns, errors


def _upstream(registry: Registry, flow: Flow) -> list[Flow]:
    """The flow and all whose tables it reads or shares, directly or through others."""
    writers = registry.writers()
    needed = {flow.flow: flow}
    pending = [flow]
    while pending:
        met = pending.pop()
        for table in _tables_read(met) | {step.writes for step in met.steps}:
            for use in writers.get(table, ()):
                if use.flow not in needed:
                    needed[use.flow] = registry.flows[use.flow]
                    pending.append(needed[use.flow])
    return list(needed.values())


def _sound(registry: Registry, readable: Iterable[str]) -> list[Flow]:
    """The flows in `readable` that read no table of one that is not."""
    sound = {name: registry.flows[name] for name in readable}
    known = set(registry.writers())
    while True:
        written = {step.writes for flow in sound.values() for step in flow.steps}
        # A table that no flow writes is the compiler's to report, unless a broken file may define it.
        missing = {t for f in sound.values() for t in _tables_read(f) if t not in written}
        missing = missing if registry.broken_flows else missing & known
        dropped = [name for name, flow in sound.items() if missing & _tables_read(flow)]
        if not dropped:
            return list(sound.values())
        for name in dropped:
            del sound[name]


def _tables_read(flow: Flow) -> set[str]:
    return {read.table for step in flow.steps for read in step.reads.values()} - set(flow.sources)


def _ordered(errors: Iterable[StreamhouseError]) -> tuple[StreamhouseError, ...]:
    unique = {str(error): error for error in errors}  # a broken action is told again by each flow that uses it
    return tuple(sorted(unique.values(), key=lambda error: error.at or Location("")))
