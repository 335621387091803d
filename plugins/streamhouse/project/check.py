"""Checks definitions at once and compiles them, without Java and without opening a store.

What was found out once is kept in the project's cache (`project/cache/`): what each file says, each step's and
each flow's plan, and what a whole project came to. When nothing changed, files are read and hashed, and no SQL is
parsed. Errors are not kept, so they are always those of the files as they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from streamhouse.errors import DefinitionErrors, Location, SourceError, StreamhouseError, did_you_mean
from streamhouse.model.bad_rows import with_dead_letters
from streamhouse.model.connection import DATABASES
from streamhouse.model.flow import Flow, Source
from streamhouse.model.lake_connection import TABLES
from streamhouse.model.notice import Notice
from streamhouse.model.object_connection import OBJECTS
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Column
from streamhouse.model.types import Frozen
from streamhouse.project.cache.models import facts, packed, unpacked
from streamhouse.project.cache.parallel import rarely_collected
from streamhouse.project.cache.results import Cache
from streamhouse.project.project import Project
from streamhouse.project.settings import FILE_NAME
from streamhouse.registry.files import DefinitionFiles, read_files
from streamhouse.registry.problems import flat

if TYPE_CHECKING:
    from streamhouse.compiler.alone import Found
    from streamhouse.project.cache.compiled import CachedCompiler
    from streamhouse.project.known_inputs import KnownInputs
    from streamhouse.registry import Registry
    from streamhouse.registry.registry import KnownAction

Columns = dict[str, dict[str, tuple[Column, ...]]]
"""Flow → source → its columns."""


@dataclass(frozen=True)
class Checked:
    """What a check found.

    Attributes:
        errors: Each once, by place.
        meaning: What is wrong with the meanings of tables, each once, by place; no plan follows from them.
        notices: What is allowed but rarely meant, by place.
        plans: Flow → its plan, each after the flows it reads from; empty when there are errors.
        actions: How many there are.
        flows: How many there are.
    """

    errors: tuple[StreamhouseError, ...] = ()
    meaning: tuple[StreamhouseError, ...] = ()
    notices: tuple[Notice, ...] = ()
    plans: Mapping[str, FlowPlan] = field(default_factory=dict)
    actions: int = 0
    flows: int = 0


class CachedSources(Frozen):
    """Flow → its sources, of a project whose files are all sound."""

    flows: dict[str, dict[str, Source]]


class CachedCheck(Frozen):
    """What a project without errors came to; `plans` are keys of what the flows came to, each by itself."""

    notices: tuple[Notice, ...]
    plans: dict[str, str]
    actions: int
    flows: int


def load_registry(project: Project, files: DefinitionFiles | None = None) -> "Registry":
    """The actions and flows of a project; what a broken file defines raises when it is asked for.

    Args:
        project: Its cache is used and filled.
        files: Those of the project, where they are read already.
    """
    from streamhouse.project.cache.compiled import CachedCompiler
    from streamhouse.registry import Registry

    files = files or read_files(project.root)
    if not project.state_dir.exists():  # a look at a project leaves nothing behind in it
        return Registry.of_files(files)
    with _cache(project) as cache:
        return CachedCompiler(cache).registry(files)


def check_project(
    project: Project,
    registry: "Registry | None" = None,
    known_inputs: "KnownInputs | None" = None,
    *,
    files: DefinitionFiles | None = None,
    processes: int = 1,
) -> Checked:
    """Everything that is wrong with the project's actions, sources and flows.

    A flow whose source is broken, and one that reads a table of a broken flow, is not compiled: it
    would be shown errors that are none.

    Args:
        project: Its cache is used and filled.
        registry: Its actions and flows, where they are loaded already.
        known_inputs: What running flows know of their inputs; None: everything there is.
        files: Those of the project, where they are read already and not loaded.
        processes: May work at the same time; more than one only where this process has a single thread.
    """
    with _cache(project) as cache:
        if registry is not None or known_inputs is not None:
            from streamhouse.project.cache.compiled import CachedCompiler

            compiler = CachedCompiler(cache)
            registry = registry or compiler.registry(files or read_files(project.root))
            return _checked(project, registry, compiler, known_inputs)[0]
        files = files or read_files(project.root)
        tree = files.digest.encode()
        return _known(project, tree, cache) or _found_out(project, files, tree, cache, processes)


def compile_one(project: Project, flow: str, files: DefinitionFiles | None = None) -> FlowPlan:
    """As `compile_with_upstream`, of the files as they are now; none is parsed when none has changed.

    Raises:
        UnknownFlowError, DefinitionError, DefinitionErrors: as it does.
    """
    with _cache(project) as cache:
        files = files or read_files(project.root)
        known = _known(project, files.digest.encode(), cache)
        if known is not None and flow in known.plans:
            return known.plans[flow]
        from streamhouse.project.cache.compiled import CachedCompiler

        compiler = CachedCompiler(cache)
        return _with_upstream(project, compiler.registry(files), flow, compiler)


def compile_with_upstream(
    project: Project, registry: "Registry", flow: str, known_inputs: "KnownInputs | None" = None
) -> FlowPlan:
    """The plan of one flow; flows that it reads nothing from may be broken. `known_inputs` is as for `check_project`.

    Raises:
        UnknownFlowError: no file defines it.
        DefinitionError: it, or a flow it reads from, is wrong.
        DefinitionErrors: several things are.
    """
    from streamhouse.project.cache.compiled import CachedCompiler

    with _cache(project) as cache:
        return _with_upstream(project, registry, flow, CachedCompiler(cache), known_inputs)


def _with_upstream(
    project: Project,
    registry: "Registry",
    flow: str,
    compiler: "CachedCompiler",
    known_inputs: "KnownInputs | None" = None,
) -> FlowPlan:
    from streamhouse.compiler import compile_project

    needed = _upstream(registry, registry.flow(flow))
    columns, errors = _columns(project, {flow.flow: flow.sources for flow in needed}, known_inputs)
    if not errors:
        try:
            if known_inputs is not None:
                return _over(known_inputs, compiler, needed, registry, columns)[flow]
            return compile_project(needed, registry, columns, compiler.compile_flow, apart=registry.parts)[flow]
        except StreamhouseError as error:
            errors = flat([error])
    if registry.broken_flows:  # a table that seems to be missing may be one of theirs
        errors += registry.errors
    found = _ordered(errors)
    raise found[0] if len(found) == 1 else DefinitionErrors(found)


def _cache(project: Project) -> AbstractContextManager[Cache]:
    return Cache.at(project.state_dir / "cache" / "plan")


def _known(project: Project, tree: bytes, cache: Cache) -> Checked | None:
    """What `_found_out` found of the same files and the same columns of sources; None: it did not, or found errors."""
    key = cache.key("sources", tree)
    data = cache.get([key]).get(key)
    sources = unpacked(CachedSources, data) if data is not None else None
    if sources is None:
        return None
    columns, errors = _columns(project, sources.flows)
    key = _check_key(cache, tree, columns)
    data = cache.get([key]).get(key)
    check = unpacked(CachedCheck, data) if data is not None and not errors else None
    if check is None:
        return None
    cached_plans = cache.get(check.plans.values())
    plans = {flow: unpacked(FlowPlan, cached_plans[key]) for flow, key in check.plans.items() if key in cached_plans}
    sound = {flow: plan for flow, plan in plans.items() if plan is not None}
    if len(sound) != len(check.plans):
        return None
    from streamhouse.compiler.shared import with_whole_tables

    return Checked((), (), check.notices, with_whole_tables(sound), check.actions, check.flows)


def _found_out(project: Project, files: DefinitionFiles, tree: bytes, cache: Cache, processes: int) -> Checked:
    from streamhouse.project.cache.compiled import CachedCompiler

    compiler = CachedCompiler(cache, processes)
    with rarely_collected() if processes > 1 else nullcontext(_nothing) as keep_all:
        registry = compiler.registry(files)
        keep_all()
        checked, columns = _checked(project, registry, compiler)
    if not checked.errors and not checked.meaning and compiler.keys.keys() == checked.plans.keys():
        sources = CachedSources(flows={name: flow.sources for name, flow in registry.flows.items()})
        cache.put(cache.key("sources", tree), packed(sources))
        plans = {flow: compiler.keys[flow] for flow in checked.plans}
        check = CachedCheck(notices=checked.notices, plans=plans, actions=checked.actions, flows=checked.flows)
        cache.put(_check_key(cache, tree, columns), packed(check))
    return checked


def _nothing() -> None:
    pass


def _check_key(cache: Cache, tree: bytes, columns: Columns) -> str:
    return cache.key("check", tree, to_json(columns))


def _checked(
    project: Project, registry: "Registry", compiler: "CachedCompiler", known_inputs: "KnownInputs | None" = None
) -> tuple[Checked, Columns]:
    """What a check finds, and the columns of sources."""
    from streamhouse.compiler import compile_project
    from streamhouse.compiler.meaning import check_meanings

    errors = list(registry.errors)
    columns, unreadable = _columns(project, {name: flow.sources for name, flow in registry.flows.items()}, known_inputs)
    errors += unreadable
    sound = _sound(registry, columns)
    plans: Mapping[str, FlowPlan] = {}
    if known_inputs is None:
        compiler.compile_ahead(sound, registry, columns)
    try:
        if known_inputs is None:
            plans = compile_project(sound, registry, columns, compiler.compile_flow, apart=registry.parts)
        else:
            plans = _over(known_inputs, compiler, sound, registry, columns)
    except StreamhouseError as error:
        errors += flat([error])
    unused, unused_meanings = _unused(registry, sound, plans)
    errors += unused
    notices = {n: None for plan in plans.values() for step in plan.steps for n in step.notices}
    # Flows that run, as `seen` has them, do not follow from meanings.
    wrong, odd = check_meanings(registry, plans, compiler) if known_inputs is None else ((), ())
    notices = dict.fromkeys([*registry.warnings, *notices, *odd])
    checked = Checked(
        _ordered(errors),
        _ordered([*wrong, *unused_meanings]),
        tuple(sorted(notices, key=lambda n: n.at)),
        {} if errors else plans,
        len(registry.action_names),
        len(registry.flows),
    )
    return checked, columns


def _over(
    known_inputs: "KnownInputs",
    compiler: "CachedCompiler",
    flows: Sequence[Flow],
    registry: "Registry",
    columns: Columns,
) -> Mapping[str, FlowPlan]:
    """Flow → its plan over what it knows of its inputs; steps are looked up in the cache one by one.

    Raises:
        DefinitionError, DefinitionErrors: as `compile_project`.
    """
    from streamhouse.compiler import compile_project

    views = known_inputs.views(flows)
    return compile_project(flows, registry, columns, views=views, apart=registry.parts, plan=compiler.plan_step)


def _unused(registry: "Registry", sound: Iterable[Flow], plans: Mapping[str, FlowPlan]) -> "Found":
    """What is wrong with actions that no flow uses which was compiled, and with the meanings that they say."""
    from streamhouse.compiler.alone import action_errors

    used = {
        (known.name, known.version)
        for flow in sound
        for step in flow.steps
        if (known := _found(registry, flow, step.use)) is not None
    }
    tables = {name: table for plan in plans.values() for name, table in plan.tables.items()}
    errors: list[StreamhouseError] = []
    meanings: list[StreamhouseError] = []
    for known in registry.found:
        if (known.name, known.version) not in used:
            wrong, wrong_meanings = action_errors(known.action, tables)
            errors += wrong
            meanings += wrong_meanings
    return errors, meanings


def _found(registry: "Registry", flow: Flow, use: str) -> "KnownAction | None":
    try:
        return registry.of_flow(flow.flow).find(use)
    except StreamhouseError:
        return None  # the flow has said it


def _columns(
    project: Project, flows: Mapping[str, Mapping[str, Source]], known_inputs: "KnownInputs | None" = None
) -> tuple[Columns, list[StreamhouseError]]:
    """Flow → source → its columns, and what is wrong with the sources of the flows that are left out."""
    columns: Columns = {}
    errors: list[StreamhouseError] = []
    remembered = project.column_cache()
    same: dict[bytes, dict[str, tuple[Column, ...]]] = {}  # many flows read the same files
    for flow, sources in flows.items():
        try:
            source_facts = facts(sources)
            found = same.get(source_facts) or same.setdefault(source_facts, remembered.of(sources))
            columns[flow] = known_inputs.source_columns(flow, sources, found) if known_inputs is not None else found
            _check_connections(project, sources)
        except StreamhouseError as error:
            errors += flat([error])
    return columns, errors


def _check_connections(project: Project, sources: Mapping[str, Source]) -> None:
    """Check that the settings have each connection that a flow names.

    Raises:
        SourceError: they lack one, or it is of another kind.
    """
    for source in sources.values():
        for kind in DATABASES if source.kind == "cdc" else ():
            place = source.options.get(kind)
            name = place.get("connection") if isinstance(place, dict) else None
            _check_connection(project, source, f"{kind}.connection", name, kind)
        topic = source.options.get("kafka") if source.kind == "cdc" else source.options
        if source.kind in ("cdc", "kafka") and isinstance(topic, Mapping):
            option = "registry" if topic is source.options else "kafka.registry"
            _check_connection(project, source, option, topic.get("registry"), "schema_registry")
        if source.kind == "files":
            _check_connection(project, source, "connection", source.options.get("connection"), OBJECTS)
        if source.kind == "table":
            _check_connection(project, source, "connection", source.options.get("connection"), *TABLES, *DATABASES)


def _check_connection(project: Project, source: Source, option: str, name: Any, *kinds: str) -> None:
    connections = project.settings.connections
    at = source.place_of(option) if source.at.file else None
    if name is None:
        return
    if name not in connections:
        known = tuple(one for one, connection in connections.items() if connection.kind in kinds)
        hint = did_you_mean(name, known, f"name it under 'connections' in {FILE_NAME} (docs/sources.md)")
        raise SourceError(f"there is no connection '{name}'", at=at, hint=hint)
    of = connections[name].kind
    if of not in kinds:
        hint = f"write '{of}: {{connection: {name}, …}}'" if {of, *kinds} <= set(DATABASES) else "name another"
        raise SourceError(f"the connection '{name}' is of kind {of}, and not {' or '.join(kinds)}", at=at, hint=hint)


def _upstream(registry: "Registry", flow: Flow) -> list[Flow]:
    """The flow and all whose tables it reads or shares, directly or through others."""
    writers = registry.writers()
    needed = {flow.flow: flow}
    pending = [flow]
    while pending:
        met = pending.pop()
        for table in _tables_read(met) | {step.writes for step in with_dead_letters(met).steps}:
            for use in writers.get(table, ()):
                if use.flow not in needed:
                    needed[use.flow] = registry.flows[use.flow]
                    pending.append(needed[use.flow])
    return list(needed.values())


def _sound(registry: "Registry", readable: Iterable[str]) -> list[Flow]:
    """The flows in `readable` that read no table of one that is not."""
    sound = {name: registry.flows[name] for name in readable}
    known = set(registry.writers())
    while True:
        written = {step.writes for flow in map(with_dead_letters, sound.values()) for step in flow.steps}
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
    unique = {str(error): error for error in errors}  # each flow that uses a broken action reports it again
    return tuple(sorted(unique.values(), key=lambda error: error.at or Location("")))
