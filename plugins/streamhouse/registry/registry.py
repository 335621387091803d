"""All actions and flows of a project, by name."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from streamhouse.errors import (
    DefinitionErrors,
    DuplicateNameError,
    Location,
    StreamhouseError,
    UnknownActionError,
    UnknownFlowError,
)
from streamhouse.model.action import Action
from streamhouse.model.bad_rows import DEAD_LETTER_ACTION, with_dead_letters
from streamhouse.model.definition import Definition
from streamhouse.model.flow import Flow, Step
from streamhouse.model.notice import Notice
from streamhouse.registry import read_action as actions_file
from streamhouse.registry import read_flow as flows_file
from streamhouse.registry.files import DefinitionFile, DefinitionFiles, read_files
from streamhouse.registry.fingerprint import fingerprint
from streamhouse.registry.problems import flat
from streamhouse.registry.read_action import ReadAction, read_action
from streamhouse.registry.read_flow import read_flow
from streamhouse.registry.search import SearchHit, search
from streamhouse.sql.last_resort import guard_analysis

D = TypeVar("D", Action, Flow)


@dataclass(frozen=True)
class Broken:
    """A file that cannot be used, under the name it seems to define."""

    kind: type[Action] | type[Flow]
    name: str
    version: str | None
    error: StreamhouseError


@dataclass(frozen=True)
class KnownAction:
    """An action that was understood before: what it is found by, and the way to the rest of it.

    Attributes:
        file: That defines it.
        load: Gives it; called when it is first asked for.
    """

    file: str
    name: str
    version: str
    load: Callable[[], Action]
    notices: tuple[Notice, ...] = ()

    @classmethod
    def of(cls, action: Action, notices: tuple[Notice, ...] = ()) -> "KnownAction":
        """One that is at hand."""
        return cls(action.at.file, action.action, action.version, lambda: action, notices)

    @cached_property
    def action(self) -> Action:
        """All of it."""
        return self.load()


_OWN = KnownAction.of(DEAD_LETTER_ACTION)
"""What writes dead-letter tables: an action without a file."""


@dataclass(frozen=True)
class ActionUse:
    """One step that uses an action."""

    flow: str
    step: Step


class Registry:
    """Looks actions and flows up; never changes after it is made.

    A broken file hides no other: what it defines raises its error when asked for, the rest works.
    """

    flows: dict[str, Flow]
    """Each flow by name."""
    warnings: tuple[Notice, ...]
    """What is odd about files without being wrong, by place."""
    read: Mapping[str, ReadAction | Flow]
    """File → what it defines, of the actions that had to be understood again, and of all flows."""
    files: Mapping[str, DefinitionFile]
    """Every file that was read, by its name."""
    parts: "Mapping[str, Registry]"
    """Flow → where its actions come from, of one that was joined."""

    def __init__(
        self,
        actions: Iterable[Action | KnownAction] = (),
        flows: Iterable[Flow] = (),
        *,
        broken: Iterable[Broken] = (),
        warnings: Iterable[Notice] = (),
    ) -> None:
        """Index definitions that were read.

        Args:
            actions: Several versions of one action may be given.
            flows: One for each name.
            broken: Files that could not be read; two definitions of one name are added to these.
            warnings: What was odd about files without being wrong.
        """
        self._versions: dict[str, dict[tuple[int, ...], KnownAction]] = {}
        self._broken = list(broken)
        for action in actions:
            self._add_action(action if isinstance(action, KnownAction) else KnownAction.of(action))
        self.flows = {}
        for flow in sorted(flows, key=lambda f: (f.flow, f.at)):
            self._add_flow(flow)
        self.warnings = tuple(sorted(warnings, key=lambda n: n.at))
        self.read, self.files, self.parts = {}, {}, {}

    def _add_action(self, known: KnownAction) -> None:
        first = self._versions.setdefault(known.name, {}).setdefault(_numbers(known.version), known)
        if first is not known:
            what = f"action '{known.name}' {known.version}"
            error = _twice(what, first.action, known.action, "rename one of them, or give it another version")
            self._broken.append(Broken(Action, known.name, known.version, error))

    def _add_flow(self, flow: Flow) -> None:
        other = self.flows.setdefault(flow.flow, flow)
        if other is not flow:
            error = _twice(f"flow '{flow.flow}'", other, flow, "rename one of them")
            self._broken.append(Broken(Flow, flow.flow, None, error))

    @classmethod
    def load(cls, root: Path) -> "Registry":
        """Read `actions/**/*.sql` and `flows/**/*.yaml` below `root`; never raises for a broken file.

        Args:
            root: The project's folder; either folder may be absent.
        """
        return cls.of_files(read_files(root))

    @classmethod
    def of_files(cls, files: DefinitionFiles, known: Mapping[str, KnownAction | Flow] | None = None) -> "Registry":
        """As `load`, of files that are read already.

        Args:
            files: In the order of paths.
            known: File → what it defines, of those that were understood before.
        """
        known = known or {}
        read: dict[str, ReadAction | Flow] = {}
        actions: list[KnownAction] = []
        flows: list[Flow] = []
        broken: list[Broken] = []
        warnings: list[Notice] = []
        for file in (*files.actions, *files.flows):
            try:
                with guard_analysis(Location(file.name), "the file"):
                    found = known.get(file.name) or understood(file)
            except StreamhouseError as error:
                broken.append(_broken(file, error))
                continue
            if not isinstance(found, KnownAction):
                read[file.name] = found
            if isinstance(found, Flow):
                flows.append(found)
                continue
            action = found if isinstance(found, KnownAction) else KnownAction.of(found.action, found.notices)
            actions.append(action)
            warnings.extend(action.notices)
        registry = cls(actions, flows, broken=broken, warnings=warnings)
        registry.read = read
        registry.files = {file.name: file for file in (*files.actions, *files.flows)}
        return registry

    def edited(self, files: DefinitionFiles) -> "Registry":
        """As `of_files`, of other files of the same project; those that are as they were are not read again."""
        known: dict[str, KnownAction | Flow] = {one.file: one for one in self.found}
        known |= {flow.at.file: flow for flow in self.flows.values()}
        same = {
            file.name: known[file.name]
            for file in (*files.actions, *files.flows)
            if file.name in known and file.content is not None and file == self.files.get(file.name)
        }
        return self.of_files(files, same)

    @classmethod
    def joined(cls, parts: Mapping[str, "Registry"], broken: Iterable[Broken] = ()) -> "Registry":
        """Flows that do not all follow from the same files.

        Args:
            parts: Flow → the registry that it, and each action that it uses, is taken from.
            broken: Flows that are in none.
        """
        found = cls((), [part.flows[name] for name, part in parts.items() if name in part.flows], broken=broken)
        found._broken += [one for name, part in parts.items() for one in part._broken if one.name == name]
        found.parts = parts
        return found

    def of_flow(self, flow: str) -> "Registry":
        """Where the actions come from that a flow uses."""
        return self.parts.get(flow, self)

    def definition(self, flow: str) -> Definition:
        """The texts that a flow follows from: its own file, and those of the actions that it uses.

        Raises:
            UnknownFlowError: no file defines it.
            StreamhouseError: its file, or that of an action, is broken.
        """
        part = self.of_flow(flow)
        found = part.flow(flow)
        names = dict.fromkeys([found.at.file, *(part.find(step.use).file for step in found.steps)])
        return Definition(flow=flow, files={name: part.files[name].text() for name in names})

    @classmethod
    def of_definition(cls, definition: Definition) -> "Registry":
        """As `of_files`, of texts that were read some time ago."""
        files = [DefinitionFile(name, text.encode()) for name, text in definition.files.items()]
        actions = tuple(file for file in files if file.name.endswith(".sql"))
        return cls.of_files(DefinitionFiles(actions, tuple(file for file in files if file not in actions)))

    @cached_property
    def actions(self) -> dict[str, Action]:
        """Each action in its newest version, by name."""
        return {name: by_version[max(by_version)].action for name, by_version in sorted(self._versions.items())}

    @property
    def found(self) -> tuple[KnownAction, ...]:
        """Every version of each action, by name, then by file; none of them is read for it."""
        return tuple(known for _, by_version in sorted(self._versions.items()) for known in by_version.values())

    @property
    def action_names(self) -> tuple[str, ...]:
        """The name of each action, in order; reads none of them."""
        return tuple(sorted(self._versions))

    @property
    def errors(self) -> tuple[StreamhouseError, ...]:
        """Every error of every broken file, by place."""
        return tuple(sorted(flat(b.error for b in self._broken), key=lambda e: e.at or Location("")))

    @property
    def broken_flows(self) -> tuple[str, ...]:
        """Names of flows whose files are broken, in order."""
        return tuple(sorted({b.name for b in self._broken if b.kind is Flow}))

    def check(self) -> None:
        """Do nothing when every file is sound.

        Raises:
            DefinitionErrors: `errors`, when there are any.
        """
        if errors := self.errors:
            raise DefinitionErrors(errors)

    def action(self, use: str, *, at: Location | None = None) -> Action:
        """The action that a step's `use` means.

        Args:
            use: `name` for the newest version, `name@1` or `name@1.2` for the newest of those, `name@1.2.3`.
            at: Where `use` is written.

        Raises:
            UnknownActionError: no file defines it, or none in that version.
            StreamhouseError: the file that defines it is broken; this is its error.
        """
        return self.find(use, at=at).action

    def find(self, use: str, *, at: Location | None = None) -> KnownAction:
        """As `action`, without reading it.

        Raises:
            UnknownActionError: there is none of this name, or none of this version.
        """
        name, _, wanted = use.partition("@")
        self._raise_broken(Action, name, wanted)
        by_version = self._versions.get(name, {})
        if name == _OWN.name and not by_version:
            return _OWN
        prefix = _numbers(wanted) if wanted else ()
        fitting = [version for version in by_version if version[: len(prefix)] == prefix]
        if fitting:
            return by_version[max(fitting)]
        if not by_version:
            raise UnknownActionError(use, self.action_names, at=at)
        raise UnknownActionError(use, [f"{name}@{known.version}" for known in by_version.values()], at=at)

    def versions(self, name: str) -> tuple[Action, ...]:
        """Every version of an action, oldest first; empty when there is none."""
        by_version = self._versions.get(name, {})
        return tuple(by_version[version].action for version in sorted(by_version))

    def flow(self, name: str, *, at: Location | None = None) -> Flow:
        """The flow called `name`.

        Raises:
            UnknownFlowError: no file defines it.
            StreamhouseError: the file that defines it is broken; this is its error.
        """
        self._raise_broken(Flow, name, "")
        if name not in self.flows:
            raise UnknownFlowError(name, self.flows, at=at)
        return self.flows[name]

    def fingerprint(self, definition: Action | Flow) -> str:
        """Sixteen hex digits that change when the definition does; layout and comments do not count."""
        return fingerprint(definition)

    def used_by(self, action: str) -> tuple[ActionUse, ...]:
        """Each step that uses any version of `action`, by flow, then as written."""
        return tuple(
            ActionUse(flow.flow, step)
            for flow in self.flows.values()
            for step in flow.steps
            if step.use.partition("@")[0] == action
        )

    def writers(self) -> dict[str, tuple[ActionUse, ...]]:
        """Table → the steps that write it, in any flow; more than one is an error that the compiler reports."""
        found: dict[str, tuple[ActionUse, ...]] = {}
        for flow in map(with_dead_letters, self.flows.values()):
            for step in flow.steps:
                found[step.writes] = (*found.get(step.writes, ()), ActionUse(flow.flow, step))
        return found

    def search(self, text: str) -> tuple[SearchHit, ...]:
        """Actions and flows that hold every word of `text`, best first; see `registry/search.py`."""
        return search(text, self.actions.values(), self.flows.values())

    def _raise_broken(self, kind: type[Action] | type[Flow], name: str, version: str) -> None:
        for broken in self._broken:
            fits = not version or broken.version is None or f"{broken.version}.".startswith(f"{version}.")
            if broken.kind is kind and broken.name == name and fits:
                raise broken.error


def _twice(what: str, first: Action | Flow, second: Action | Flow, hint: str) -> DuplicateNameError:
    return DuplicateNameError(f"{what} is defined a second time; first at {first.at}", at=second.at, hint=hint)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else -1 for part in version.split("."))


def understood(file: DefinitionFile) -> ReadAction | Flow:
    """What one file defines, by itself.

    Raises:
        DefinitionError, DefinitionErrors: it is broken.
    """
    if file.name.endswith(".sql"):
        return read_action(file.text(), file.name)
    return read_flow(file.text(), file.name)


def _broken(file: DefinitionFile, error: StreamhouseError) -> Broken:
    try:
        text = file.text()
    except StreamhouseError:
        text = ""
    if file.name.endswith(".sql"):
        name, version = actions_file.name_in(text, file.name)
        return Broken(Action, name or file.stem, version, error)
    return Broken(Flow, flows_file.name_in(text, file.name) or file.stem, None, error)
