"""Definitions and plans from the cache where they are there, and into it where they are not; loads sqlglot."""

from collections.abc import Callable, Mapping
from hashlib import blake2b

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


def registry_of(files: DefinitionFiles, cache: Cache) -> Registry:
    """The registry of these files; only those that changed, and broken ones, are parsed."""
    keys = {
        file: cache.key("file", file.name.encode(), file.content)
        for file in (*files.actions, *files.flows)
        if file.content is not None
    }
    held = cache.get(keys.values())
    known: dict[str, ReadAction | Flow] = {}
    for file, key in keys.items():
        if key not in held:
            continue
        if file.name.endswith(".sql"):
            if (action := unpacked(KeptAction, held[key])) is not None:
                known[file.name] = ReadAction(action.action, action.notices)
        elif (flow := unpacked(Flow, held[key])) is not None:
            known[file.name] = flow
    registry = Registry.of_files(files, known)
    for file, key in keys.items():
        if file.name in registry.read and file.name not in known:
            found = registry.read[file.name]
            whole = found if isinstance(found, Flow) else KeptAction(action=found.action, notices=found.notices)
            cache.put(key, packed(whole))
    return registry


class Memory:
    """Compiles flows as `compile_flow` does; of what is known only errors are found out again.

    What is kept is the work without an error: a step's under all that `plan_step` is given, a flow's
    under all that `compile_flow` looks at. Both are given nothing else.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._facts: dict[int, tuple[Action | Flow, bytes]] = {}  # by id; each is held, so that no other gets its id
        self.keys: dict[str, str] = {}
        """Flow → the key of its plan, of those that were compiled without an error."""

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
        return self._cache.key("flow", facts(flow), facts(columns), facts(around), *actions)

    def _plan_step(self, step: Step, action: Action, flow: Flow, readable: Mapping[str, Readable]) -> PlannedStep:
        alone = flow.model_copy(update={"steps": (step,)})
        reads = {read.table: readable[read.table] for read in step.reads.values()}
        key = self._cache.key("step", self._settings(flow), facts(step), facts(reads), self._action(action))
        held = self._cache.get([key]).get(key)
        plan = unpacked(PlannedStep, held) if held is not None else None
        if plan is None:
            plan = plan_step(step, action, alone, reads)
            self._cache.put(key, packed(plan))
        return plan

    def _action(self, action: Action) -> bytes:
        """All of an action, also the places in its file, which notices tell."""
        return self._once(action, lambda: facts(action, places=True))

    def _settings(self, flow: Flow) -> bytes:
        """All of a flow but its steps."""
        return self._once(flow, lambda: facts(flow.model_copy(update={"steps": ()})))

    def _once(self, definition: Action | Flow, made: Callable[[], bytes]) -> bytes:
        known = self._facts.get(id(definition))
        if known is None:
            known = self._facts[id(definition)] = (definition, blake2b(made(), digest_size=20).digest())
        return known[1]
