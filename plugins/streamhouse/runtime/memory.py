"""Definitions and plans from the cache where they are there, and into it where they are not; loads sqlglot."""

from collections.abc import Mapping

from streamhouse.compiler.check import Readable
from streamhouse.compiler.compile import Actions, SourceColumns, compile_flow
from streamhouse.compiler.step import plan_step
from streamhouse.errors import StreamhouseError
from streamhouse.model.action import Action
from streamhouse.model.flow import Flow, Step
from streamhouse.model.notice import Notice
from streamhouse.model.plan import FlowPlan, PlannedStep
from streamhouse.model.table import Table
from streamhouse.model.types import Frozen
from streamhouse.registry.files import DefinitionFiles
from streamhouse.registry.read_action import ReadAction
from streamhouse.registry.registry import Registry
from streamhouse.runtime.cache import Cache
from streamhouse.runtime.kept import facts, packed, unpacked


class KeptAction(Frozen):
    """What `read_action` gives."""

    action: Action
    notices: tuple[Notice, ...]


class Memory:
    """Reads files as `Registry` does and compiles flows as `compile_flow` does; only errors are found out again.

    What is kept is work without an error: what a file defines, under its name and bytes; a step's plan, under all
    that `plan_step` is given; a flow's plan, under all that `compile_flow` looks at when nothing is wrong.
    One for one state of the files: it is to be used at once.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._facts: dict[int, tuple[Action | Flow, bytes]] = {}  # by id; each is held, so that no other gets its id
        self._settings: dict[str, bytes] = {}
        self.keys: dict[str, str] = {}
        """Flow → the key of its plan, of those that were compiled without an error."""

    def registry(self, files: DefinitionFiles) -> Registry:
        """The registry of these files; only those that changed, and broken ones, are parsed."""
        keys = {
            file.name: self._cache.key("file", file.name.encode(), file.content)
            for file in (*files.actions, *files.flows)
            if file.content is not None
        }
        held = self._cache.get(keys.values())
        found = {name: _unpacked(name, held[key]) for name, key in keys.items() if key in held}
        known = {name: one for name, one in found.items() if one is not None}
        registry = Registry.of_files(files, known)
        for name, one in registry.read.items():
            if name not in known:
                self._cache.put(keys[name], _packed(one))
            definition = one if isinstance(one, Flow) else one.action
            self._facts[id(definition)] = (definition, keys[name].encode())  # it follows from its file, and so do they
        return registry

    def compile_flow(
        self, flow: Flow, registry: Actions, source_columns: SourceColumns, external: Mapping[str, Table]
    ) -> FlowPlan:
        """As `compiler.compile_flow`.

        Raises:
            DefinitionError, DefinitionErrors: as it does.
        """
        key = self._flow_key(flow, registry, source_columns, external)
        if key is None:
            return compile_flow(flow, registry, source_columns, external, self._plan_step)
        held = self._cache.get([key]).get(key)
        plan = unpacked(FlowPlan, held) if held is not None else None
        if plan is None:
            plan = compile_flow(flow, registry, source_columns, external, self._plan_step)
            self._cache.put(key, packed(plan))
        self.keys[flow.flow] = key
        return plan

    def _flow_key(
        self, flow: Flow, registry: Actions, source_columns: SourceColumns, external: Mapping[str, Table]
    ) -> str | None:
        """None: an action that it uses is unknown or broken."""
        uses = dict.fromkeys(step.use for step in flow.steps)
        try:
            actions = [self._action(registry.action(use)) for use in uses]
        except StreamhouseError:
            return None
        touched = {table for s in flow.steps for table in (s.writes, *(read.table for read in s.reads.values()))}
        around = [external[name] for name in sorted(touched) if name in external]
        columns = sorted(source_columns.items())
        return self._cache.key("flow", self._flow(flow), facts(columns), facts(around), *actions)

    def _plan_step(self, step: Step, action: Action, flow: Flow, readable: Mapping[str, Readable]) -> PlannedStep:
        alone = flow.model_copy(update={"steps": (step,)})
        reads = {read.table: readable[read.table] for read in step.reads.values()}
        settings = self._settings.get(flow.flow)
        if settings is None:  # all of a flow but its steps
            settings = self._settings[flow.flow] = facts(flow.model_copy(update={"steps": ()}))
        key = self._cache.key("step", settings, facts(step), facts(reads), self._action(action))
        held = self._cache.get([key]).get(key)
        plan = unpacked(PlannedStep, held) if held is not None else None
        if plan is None:
            plan = plan_step(step, action, alone, reads)
            self._cache.put(key, packed(plan))
        return plan

    def _action(self, action: Action) -> bytes:
        """All of an action, also the places in its file, which notices tell."""
        held = self._facts.get(id(action))
        return held[1] if held is not None else facts(action, places=True)

    def _flow(self, flow: Flow) -> bytes:
        held = self._facts.get(id(flow))
        return held[1] if held is not None else facts(flow)


def _packed(read: ReadAction | Flow) -> bytes | None:
    return packed(read if isinstance(read, Flow) else KeptAction(action=read.action, notices=read.notices))


def _unpacked(file: str, data: bytes) -> ReadAction | Flow | None:
    if not file.endswith(".sql"):
        return unpacked(Flow, data)
    kept = unpacked(KeptAction, data)
    return ReadAction(kept.action, kept.notices) if kept is not None else None
