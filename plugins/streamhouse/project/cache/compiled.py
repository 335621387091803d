"""Definitions and plans from the cache where they are there, and into it where they are not; loads sqlglot."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from streamhouse.compiler.analyses import Analyses
from streamhouse.compiler.check import Readable
from streamhouse.compiler.compile import Actions, CompileFlow, SourceColumns, compile_flow, compile_project
from streamhouse.compiler.meaning import SoundMeanings
from streamhouse.compiler.step import made_of_step, plan_step
from streamhouse.errors import StreamhouseError
from streamhouse.model.action import Action
from streamhouse.model.flow import Flow, Step
from streamhouse.model.notice import Notice
from streamhouse.model.plan import FlowPlan, PlannedStep
from streamhouse.model.table import Table
from streamhouse.model.types import Frozen, ReadMode
from streamhouse.project.cache.made_of import CachedMadeOf
from streamhouse.project.cache.models import facts, packed, unpacked
from streamhouse.project.cache.parallel import Found, at_once, shared_out
from streamhouse.project.cache.results import Cache
from streamhouse.registry.files import DefinitionFile, DefinitionFiles
from streamhouse.registry.read_action import ReadAction
from streamhouse.registry.registry import KnownAction, Registry, understood

_MANY = (
    500  # files that are new; a second process takes a third of the time off, and costs a quarter more processor time
)

_SINGLE = 20  # actions that are read one by one


class CachedAction(Frozen):
    """What `read_action` gives."""

    action: Action
    notices: tuple[Notice, ...]


class CachedHead(Frozen):
    """What an action is found by."""

    name: str
    version: str
    notices: tuple[Notice, ...]


class CachedHeads(Frozen):
    """Key of a file → what its action is found by."""

    heads: dict[str, CachedHead]


class CachedCompiler:
    """Reads files as `Registry` does and compiles flows as `compile_flow` does; only errors are found out again.

    What is kept is work without an error: what a file defines, under its name and bytes; a step's plan, under all
    that `plan_step` is given; a flow's plan, under all that `compile_flow` looks at when nothing is wrong.
    One for one state of the files: it is to be used at once.
    """

    def __init__(self, cache: Cache, processes: int = 1) -> None:
        """Look at nothing yet.

        Args:
            cache: Where results are found, and put.
            processes: May work at the same time where there is much to do. More than one only where this process
                has one thread: they are copies of it.
        """
        self._cache = cache
        self._processes = processes
        self._is_much = False
        self._analyses = Analyses()
        self._made_of = CachedMadeOf(cache)
        self._facts: dict[
            int, tuple[Action | Flow, bytes]
        ] = {}  # by id; a reference to each is kept, so that no other gets its id
        self._registry: Registry | None = None
        self._file_keys: Mapping[str, str] = {}  # of the files of that registry
        # Whether all that they define is read back as it is. Then what is planned of it is, too: that holds values
        # of theirs, and texts, types and numbers that were found out.
        self._exact = False
        self._settings: dict[str, bytes] = {}
        self._readable_facts: dict[int, tuple[Readable, bytes]] = {}  # by id, as `_facts`
        self._compiled_here: dict[str, FlowPlan] = {}  # by key, of those that were compiled ahead by this process
        self.keys: dict[str, str] = {}
        """Flow → the key of its plan, of those that were compiled without an error."""

    def registry(self, files: DefinitionFiles) -> Registry:
        """The registry of these files; only those that changed, and broken ones, are parsed."""
        keys = {
            file.name: self._cache.key("file", file.name.encode(), file.content)
            for file in (*files.actions, *files.flows)
            if file.content is not None
        }
        heads = self._heads(keys)
        cached_files = self._cache.get(key for name, key in keys.items() if name not in heads)
        every = {file.name: file for file in (*files.actions, *files.flows)}
        new = [file for name, file in every.items() if name not in heads and keys.get(name, "") not in cached_files]
        self._is_much = self._processes > 1 and len(new) >= _MANY
        late = LateFiles(self._cache, [keys[name] for name in heads])
        known: dict[str, KnownAction | Flow] = {
            name: self._late(every[name], keys[name], head, late) for name, head in heads.items()
        }
        for name, key in keys.items():
            found = _unpacked(name, cached_files[key]) if key in cached_files else None
            if found is not None:
                known[name] = found if isinstance(found, Flow) else self._at_hand(found, key)
        registry = Registry.of_files(files, known)
        self._exact = True
        for name, one in registry.read.items():
            if name not in known:
                data = _packed(one)
                self._exact = self._exact and data is not None
                self._cache.put(keys[name], data)
            self._follows(one if isinstance(one, Flow) else one.action, keys[name])
        self._registry, self._file_keys = registry, keys
        if len(heads) < len(registry.found):
            cached_heads = {
                keys[one.file]: CachedHead(name=one.name, version=one.version, notices=one.notices)
                for one in registry.found
            }
            self._cache.put(self._cache.key("heads"), packed(CachedHeads(heads=cached_heads)))
        return registry

    def _heads(self, keys: Mapping[str, str]) -> dict[str, CachedHead]:
        """File → what its action is found by, of those that are as they were when a registry was last made."""
        key = self._cache.key("heads")
        data = self._cache.get([key]).get(key)
        cached_heads = unpacked(CachedHeads, data) if data is not None else None
        return (
            {name: cached_heads.heads[key] for name, key in keys.items() if key in cached_heads.heads}
            if cached_heads is not None
            else {}
        )

    def _late(self, file: DefinitionFile, key: str, head: CachedHead, late: "LateFiles") -> KnownAction:
        """An action that is read from the cache when it is asked for: after one edit most never are."""

        def load() -> Action:
            data = late.get(key)
            read = _unpacked(file.name, data) if data is not None else None
            if read is None:  # the cache was lost meanwhile
                read = understood(file)
                self._cache.put(key, _packed(read))
            if not isinstance(read, ReadAction):
                raise TypeError(f"{file.name} defines no action")
            self._follows(read.action, key)
            return read.action

        return KnownAction(file.name, head.name, head.version, load, head.notices)

    def _at_hand(self, read: ReadAction, key: str) -> KnownAction:
        self._follows(read.action, key)
        return KnownAction.of(read.action, read.notices)

    def _follows(self, definition: Action | Flow, key: str) -> None:
        """Note that a definition follows from its file, and so does what follows from it."""
        self._facts[id(definition)] = (definition, key.encode())

    def sound_meanings(self, flow: str) -> SoundMeanings | None:
        """As `compiler.meaning.Remembered` has it."""
        if flow not in self.keys:
            return None
        key = self._cache.key("meanings", self.keys[flow].encode())
        data = self._cache.get([key]).get(key)
        return unpacked(SoundMeanings, data) if data is not None else None

    def keep_sound_meanings(self, flow: str, found: SoundMeanings) -> None:
        """As `compiler.meaning.Remembered` has it."""
        if flow in self.keys:
            self._cache.put(self._cache.key("meanings", self.keys[flow].encode()), packed(found))

    def compile_flow(
        self, flow: Flow, registry: Actions, source_columns: SourceColumns, external: Mapping[str, Table]
    ) -> FlowPlan:
        """As `compiler.compile_flow`.

        Raises:
            DefinitionError, DefinitionErrors: as it does.
        """
        self._exact = self._exact and registry is self._registry  # what others read may come of any flow before them
        key = self._flow_key(flow, registry, source_columns, external)
        if key is None:
            return compile_flow(flow, registry, source_columns, external, self.plan_step)
        plan = self._compiled_here.pop(key, None)
        data = self._cache.get([key]).get(key) if plan is None else None
        if data is not None:
            plan = unpacked(FlowPlan, data)
        if plan is None:
            plan = compile_flow(flow, registry, source_columns, external, self.plan_step)
            self._cache.put(key, packed(plan, exact=self._exact))
        self.keys[flow.flow] = key
        return plan

    def compile_ahead(self, flows: Sequence[Flow], registry: Registry, columns: Mapping[str, SourceColumns]) -> None:
        """Compile flows in several processes, if there is much to do; `compile_flow` then finds their plans."""
        if not self._is_much:
            return
        for known in registry.found:
            known.action  # noqa: B018  copies of this process cannot read on in its database

        def compiled(part: Sequence[Flow]) -> Found:
            alone = CachedCompiler(self._cache.apart())
            alone._facts = self._facts
            alone._registry, alone._file_keys, alone._exact = self._registry, self._file_keys, self._exact
            with suppress(StreamhouseError):
                compile_project(part, registry, columns, keeping(alone))
            return alone._cache.take()

        def keeping(alone: CachedCompiler) -> CompileFlow:
            def compile_one(flow: Flow, actions: Actions, of: SourceColumns, external: Mapping[str, Table]) -> FlowPlan:
                plan = alone.compile_flow(flow, actions, of, external)
                if flow.flow in alone.keys:
                    self._compiled_here[alone.keys[flow.flow]] = plan
                return plan

            return compile_one

        for key, data in at_once(shared_out(related(flows), self._processes), compiled).items():
            self._cache.put(key, data)

    def _flow_key(
        self, flow: Flow, registry: Actions, source_columns: SourceColumns, external: Mapping[str, Table]
    ) -> str | None:
        """None: an action that it uses is unknown or broken."""
        uses = dict.fromkeys(step.use for step in flow.steps)
        try:
            actions = [self._used(registry, use) for use in uses]
        except StreamhouseError:
            return None
        touched = {table for s in flow.steps for table in (s.writes, *(read.table for read in s.reads.values()))}
        around = [external[name] for name in sorted(touched) if name in external]
        columns = sorted(source_columns.items())
        return self._cache.key("flow", self._flow(flow), facts(columns), facts(around), *actions)

    def plan_step(self, step: Step, action: Action, flow: Flow, readable: Mapping[str, Readable]) -> PlannedStep:
        """As `compiler.step.plan_step`.

        Raises:
            DefinitionError, DefinitionErrors: as it does.
        """
        alone = flow.model_copy(update={"steps": (step,)})
        reads = {read.table: readable[read.table] for read in step.reads.values()}
        settings = self._settings.get(flow.flow)
        if settings is None:  # all of a flow but its steps
            settings = self._settings[flow.flow] = facts(flow.model_copy(update={"steps": ()}))
        read = (part for name, one in reads.items() for part in (name.encode(), self._readable(one)))
        key = self._cache.key("step", settings, facts(step), self._action(action), *read)
        data = self._cache.get([key]).get(key)
        plan = unpacked(PlannedStep, data) if data is not None else None
        if plan is None:
            plan = plan_step(step, action, alone, reads, self._analyses)
            self._cache.put(key, packed(plan, exact=self._exact))
            self._keep_made_of(plan, step, action, reads)
        return plan

    def _keep_made_of(self, plan: PlannedStep, step: Step, action: Action, readable: Mapping[str, Readable]) -> None:
        """What its columns are made of, while its query is at hand: a change of a table before it asks for that."""
        found = made_of_step(step, action, readable, self._analyses)
        if found is not None:
            ports = (
                (port, readable[read.table].columns, "lookup" if read.mode is ReadMode.LOOKUP else "changes")
                for port, read in sorted(step.reads.items())
            )
            self._made_of.keep_made_of(plan.sql, tuple(ports), found)

    def _readable(self, one: Readable) -> bytes:
        """All of a source or table that steps read, most of which several do."""
        entry = self._readable_facts.get(id(one))
        if entry is None:
            entry = self._readable_facts[id(one)] = (one, facts(one))
        return entry[1]

    def _used(self, registry: Actions, use: str) -> bytes:
        """As `_action`, of an action that need not be read for it."""
        if registry is not self._registry or self._registry is None:
            return self._action(registry.action(use))
        return self._file_keys[self._registry.find(use).file].encode()

    def _action(self, action: Action) -> bytes:
        """All of an action, also the places in its file, which notices tell."""
        entry = self._facts.get(id(action))
        return entry[1] if entry is not None else facts(action, places=True)

    def _flow(self, flow: Flow) -> bytes:
        entry = self._facts.get(id(flow))
        return entry[1] if entry is not None else facts(flow)


class LateFiles:
    """What files came to, from the cache: the first few one by one, then all others at once.

    A question of the database takes longer than the action that it gives. Who asks for many, asks for all.
    """

    def __init__(self, cache: Cache, keys: Iterable[str]) -> None:
        """Look at nothing yet.

        Args:
            cache: Where they are found.
            keys: Of all that may be asked for.
        """
        self._cache = cache
        self._left = dict.fromkeys(keys)
        self._single = _SINGLE
        self._ahead: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        """What is kept under a key; None: nothing is."""
        self._left.pop(key, None)
        if (data := self._ahead.pop(key, None)) is not None:
            return data
        if self._single > 0:
            self._single -= 1
            return self._cache.get([key]).get(key)
        wanted, self._left = [key, *self._left], {}
        self._ahead |= self._cache.get(wanted)
        return self._ahead.pop(key, None)


def related(flows: Iterable[Flow]) -> list[list[Flow]]:
    """Flows in groups: one that reads or writes a table that another one does is in one group with it."""
    above: dict[str, str] = {}  # table → another of its group, up to the one that stands for all

    def top(table: str) -> str:
        while (up := above.setdefault(table, table)) != table:
            above[table] = above[up]  # halves the way for the next
            table = up
        return table

    found = list(flows)
    for flow in found:
        for step in flow.steps:
            for read in step.reads.values():
                if read.table not in flow.sources:
                    above[top(read.table)] = top(step.writes)
            above[top(step.writes)] = top(flow.steps[0].writes)
    groups: dict[str, list[Flow]] = {}
    for flow in found:
        groups.setdefault(top(flow.steps[0].writes), []).append(flow)
    return list(groups.values())


def _packed(read: ReadAction | Flow) -> bytes | None:
    return packed(read if isinstance(read, Flow) else CachedAction(action=read.action, notices=read.notices))


def _unpacked(file: str, data: bytes) -> ReadAction | Flow | None:
    if not file.endswith(".sql"):
        return unpacked(Flow, data)
    cached_action = unpacked(CachedAction, data)
    return ReadAction(cached_action.action, cached_action.notices) if cached_action is not None else None
