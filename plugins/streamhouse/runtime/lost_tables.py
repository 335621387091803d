"""What a project lost, as far as that is seen without starting anything.

The same rules decide as where a flow runs (`engine/observed.py`), over those tiers that can be read as they lie there.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from streamhouse.engine.loss import LossVerdict, StateRecord, hint
from streamhouse.engine.observed import EpochKnowledge, losses, seen
from streamhouse.engine.traces import unknown_rows_text
from streamhouse.errors import StateConflictError, StoreError, StreamhouseError, TableLostError
from streamhouse.model.place import is_local
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Tier
from streamhouse.model.version import table_name
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.runtime.cold import cold_reader
from streamhouse.runtime.stores import warm_reader
from streamhouse.runtime.unreadable_tables import check_lists, remedy_for, unreadable_tables
from streamhouse.services.layout import ServicesFolder
from streamhouse.services.services import Services
from streamhouse.state.damage import DamagedStateError, OtherVersionError
from streamhouse.stores.base import LakeStore, NeedsSparkError, NotedStore, Store
from streamhouse.stores.ledger import Ledger, NoLedger
from streamhouse.stores.mark import lost_copy_as
from streamhouse.stores.unreadable import UnreadableTable, says_nothing, why_nothing

if TYPE_CHECKING:
    from streamhouse.state.known_tables import KnownTogether
    from streamhouse.state.plans import Unreadable
    from streamhouse.state.records import EpochRecord, UnreadableChange
    from streamhouse.state.store import StateStore
    from streamhouse.state.waits import WaitsOfFlows

_ANSWER_S = 3.0
_TRIES = 2
_FILL_AGAIN = "fill it again from the first tier: streamhouse restore {0}"


class LossKind(StrEnum):
    """What is lost."""

    TABLES = "tables"
    """They are gone, are other ones, or end before their record."""

    STATE = "state store"
    """It is gone, is older than the tables, is damaged, or is of another version."""

    UNREADABLE = "unreadable"
    """Tables are there, and a store cannot say what they have: a file is damaged. What is unknown counts as missing."""


@dataclass(frozen=True)
class LostTables:
    """Something that a flow lost.

    Attributes:
        kind: What it is.
        tier: Of the tables; None: the state store is lost, or it is not known which table cannot be read.
        tables: That are lost; empty: as of `tier`.
        what: Happened to them, in words; of every other kind than tables a whole sentence.
        code: Of the error that a command gives which needs them.
        hint: What to type.
    """

    flow: str
    kind: LossKind
    tier: Tier | None
    tables: tuple[str, ...]
    what: str
    code: str
    hint: str

    @classmethod
    def of_state(cls, flow: str, error: StreamhouseError) -> Self:
        """What the state store has of a flow cannot be read."""
        return cls(flow, LossKind.STATE, None, (), error.message, error.code, error.hint or "")

    @classmethod
    def of_unreadable(cls, project: Project, flow: str, one: UnreadableTable, *, is_first: bool) -> Self:
        """A table that a flow reads or writes cannot be read.

        Args:
            project: Whose table it is.
            flow: Reads or writes it.
            one: The table.
            is_first: Whether this is the first tier of the table, and no copy.
        """
        typed, names = remedy_for(one, project, flow, is_first=is_first), (table_name(one.table),)
        return cls(flow, LossKind.UNREADABLE, one.tier, names, one.text, one.code, typed)

    @property
    def text(self) -> str:
        """What is lost, as a sentence."""
        where = f" in the {self.tier} tier" if self.tier is not None else ""
        return f"{', '.join(self.tables)}{where} {self.what}" if self.kind is LossKind.TABLES else self.what

    def __str__(self) -> str:
        """For people, with what to type."""
        remedy = f"; {self.hint}" if self.hint else ""
        return f"{self.flow}: {self.code} {self.text}{remedy}"


@dataclass(frozen=True)
class SeenLosses:
    """What was looked at.

    Attributes:
        lost: What is lost.
        unseen: Tier of which a table may be lost without being seen here → why.
    """

    lost: list[LostTables] = field(default_factory=list)
    unseen: dict[Tier, str] = field(default_factory=dict)

    def of(self, flows: "list[str] | set[str]") -> "SeenLosses":
        """Those of some flows."""
        return SeenLosses([one for one in self.lost if one.flow in flows], self.unseen)


class _NoEpochs:
    """What is known of epochs where there is no state store."""

    def last_epoch(self, flow: str, segment: str) -> "EpochRecord | None":  # noqa: ARG002
        return None

    def unfinished(self, flow: str, segment: str) -> int | None:  # noqa: ARG002
        return None

    def newest_known(self, flow: str, segment: str) -> int | None:  # noqa: ARG002
        return None

    def recorded_times(self, flow: str, segment: str, numbers: Collection[int]) -> dict[int, int]:  # noqa: ARG002
        return {}


def lost_tables(
    project: Project,
    state: "StateStore | None",
    desired: Mapping[str, FlowPlan] | None = None,
    waits: "WaitsOfFlows | None" = None,
) -> SeenLosses:
    """What the records of a project say together of its tables; starts and changes nothing.

    Tables in an object store, or of a Fluss that others run, are not looked at.

    Args:
        project: Whose.
        state: Its state store; None: there is none.
        desired: Flow → its plan, as the files have it, of those that matter; None: the files are read.
        waits: What waits of all flows that the state store knows; None: it is read.
    """
    broken: dict[str, StateConflictError] = {}
    known = state.running_plans(broken) if state is not None else {}
    plans = known
    has_data = _has_data(project)
    if has_data:
        with suppress(StreamhouseError):  # a file is wrong
            plans = {**(desired_plans(project, {}) if desired is None else desired), **known}
            plans = {flow: plan for flow, plan in plans.items() if flow not in broken}
    unreadable = [*broken.items(), *_unreadable_waits(state, waits).items(), *_unreadable_environments(state)]
    found = SeenLosses([LostTables.of_state(flow, error) for flow, error in unreadable])
    if not plans:
        return found
    together = None if state is None else state.stored_tables.together()
    with ExitStack() as stack:
        tiers = {table for plan in plans.values() for table in _tiers(plan)}
        stores = _readable(project, tiers, found.unseen, stack, together or NoLedger())
        epochs: EpochKnowledge = _NoEpochs() if state is None else state
        for flow, plan in plans.items():
            # Of a flow that runs, tables may have gone on since the look at its record.
            is_at_rest = flow not in known or not isinstance(stores.get(Tier.HOT), NotedStore)
            try:
                look = _Look(project, plan, epochs, together, is_at_rest)
                found.lost.extend(look.losses(stores, found.unseen))
            except StreamhouseError as error:
                found.unseen.update(dict.fromkeys(stores, f"{error.code} {error.message}"))
    return found if has_data or project.settings.fluss is not None else replace(found, unseen={})


def _unreadable_waits(state: "StateStore | None", waits: "WaitsOfFlows | None") -> "Unreadable":
    """Flow → why what waits of it cannot be read: a change that is open, or one upstream."""
    if waits is None and state is not None:
        from streamhouse.state.waits import WaitsOfFlows  # it imports what takes long, and most projects have no state

        waits = WaitsOfFlows.read(state)
    return waits.unreadable if waits is not None else {}


def _unreadable_environments(state: "StateStore | None") -> "list[tuple[str, StateConflictError]]":
    """Flow, and why what is built of it in an environment cannot be read."""
    found: list[UnreadableChange] = []
    if state is not None:
        state.environments(found)
    return [(one.flow, one.error) for one in found]


def _tiers(plan: FlowPlan) -> set[Tier]:
    return {tier for table in plan.tables.values() for tier in table.tiers.present}


@dataclass(frozen=True)
class _Look:
    """A look at what one flow lost."""

    project: Project
    plan: FlowPlan
    epochs: EpochKnowledge
    together: "KnownTogether | None"
    is_at_rest: bool

    def losses(self, stores: Mapping[Tier, Store], unseen: dict[Tier, str]) -> list[LostTables]:
        """What is lost; a tier with a table that cannot be read is left out, and the table is named.

        Args:
            stores: The tiers that can be looked at.
            unseen: Gets each tier that says nothing, and why.
        """
        left, named = dict(stores), list[LostTables]()
        last: StoreError | StateConflictError | NeedsSparkError
        for _ in range(_TRIES + len(left)):  # a flow that runs may change a table during the look
            try:
                return [*named, *self._found(left)]
            except (DamagedStateError, OtherVersionError) as error:
                return [*named, LostTables.of_state(self.plan.flow, error)]
            except (StoreError, StateConflictError, NeedsSparkError) as error:
                last = error
            for one in unreadable_tables(self.plan, left):
                left.pop(one.tier, None)
                if one.is_unseen:
                    unseen[one.tier] = why_nothing(one.error)
                else:
                    named.append(self._unreadable(one))
        if isinstance(last, NeedsSparkError):
            unseen[Tier.COLD] = why_nothing(last)
            return named
        if says_nothing(last):
            unseen.update(dict.fromkeys(left, why_nothing(last)))
            return named
        flow, text = self.plan.flow, last.message
        return [*named, LostTables(flow, LossKind.UNREADABLE, None, (), text, last.code, last.hint or "")]

    def _unreadable(self, one: UnreadableTable) -> LostTables:
        is_first = any(table.name == one.table and table.tiers.target is one.tier for table in self.plan.readable)
        return LostTables.of_unreadable(self.project, self.plan.flow, one, is_first=is_first)

    def _found(self, stores: Mapping[Tier, Store]) -> list[LostTables]:
        found = list(self._sure(stores))
        check_lists(self.plan, stores)
        return found if found or not self.is_at_rest else list(self._more_rows(stores))

    def _sure(self, stores: Mapping[Tier, Store]) -> Iterator[LostTables]:
        """As `_of_tables`; where something is lost, by records that are read again: a table may have been dropped."""
        found = self._of_tables(stores)
        first = next(found, None)
        if first is not None and self.together is not None:
            self.together.renew()
            found = self._of_tables(stores)
        elif first is not None:
            yield first
        yield from found

    def _of_tables(self, stores: Mapping[Tier, Store]) -> Iterator[LostTables]:
        plan, flow = self.plan, self.plan.flow
        readable = {table.name: table for table in plan.readable}
        of_others: set[str] = set()
        for loss in losses(plan, stores, self.epochs, self.project.state_dir / "checkpoints"):
            if not loss.tables:
                of_others |= {name for one in plan.segments if one.name == loss.segment for name in one.tables}
                yield LostTables(flow, LossKind.STATE, None, (), loss.text, StateConflictError.code, loss.hint)
            for tier in dict.fromkeys(readable[name].tiers.target for name in loss.tables):
                names = tuple(table_name(n) for n in loss.tables if readable[n].tiers.target is tier)
                yield LostTables(flow, LossKind.TABLES, tier, names, loss.what, StateConflictError.code, loss.hint)
        for table in plan.tables.values():
            for tier in (one for one in table.tiers.present[1:] if one in stores):
                lake = cast("LakeStore", stores[tier])
                with_times = table.name not in of_others
                lost = lost_copy_as(lake, table.replica, table.tiers.target, with_times=with_times)
                if lost is not None:
                    names, typed = (table_name(table.name),), _FILL_AGAIN.format(flow)
                    yield LostTables(flow, LossKind.TABLES, tier, names, lost, TableLostError.code, typed)

    def _more_rows(self, stores: Mapping[Tier, Store]) -> Iterator[LostTables]:
        """Tables of a flow that does not run, with rows of which the state store knows nothing."""
        plan = self.plan
        for segment in plan.segments:
            found = seen(plan, segment, stores, self.epochs)
            if found.more and found.recorded is not StateRecord.IN_HAND:
                names = ", ".join(table_name(name) for name in found.more)
                if found.recorded is StateRecord.NOTHING:
                    what = f"{unknown_rows_text(names)}: it was lost"
                else:
                    what = (
                        f"{names} has more rows than the flow left: the state store is an older one, or others wrote "
                        "them"
                    )
                typed = hint(plan.flow, LossVerdict.LEAVE)
                yield LostTables(plan.flow, LossKind.STATE, None, (), what, StateConflictError.code, typed)


@contextmanager
def naming_damage(project: Project, state: "StateStore", plans: Mapping[str, FlowPlan]) -> Iterator[None]:
    """Let an error of a store name the tables that cannot be read, with what to type.

    Args:
        project: Whose.
        state: Its state store.
        plans: Flow → its plan, as the files have it, of those that matter.

    Raises:
        StoreError: tables cannot be read; or as it was raised in the block, where each table can be.
    """
    try:
        yield
    except StoreError as error:
        seen = lost_tables(project, state, plans).of(set(plans))
        found: dict[object, LostTables] = {}
        for one in (one for one in seen.lost if one.kind is LossKind.UNREADABLE and one.tables):
            found.setdefault((one.tier, one.tables), one)  # flows that read it name it, too
        if not found:
            raise
        texts, hints = ("; ".join(words) for words in zip(*((f.text, f.hint) for f in found.values()), strict=True))
        raise StoreError(texts, hint=hints) from error


def _has_data(project: Project) -> bool:
    """Whether something ever ran here: a project that is new has nothing to lose, and is not compiled for it."""
    places = [
        ServicesFolder.of(project.root).data,
        *(Path(one) for one in (project.warm, project.cold) if is_local(one)),
    ]
    return any(_has_files(place) for place in places)


def _readable(
    project: Project, tiers: set[Tier], unseen: dict[Tier, str], stack: ExitStack, ledger: Ledger
) -> "dict[Tier, Store]":
    """The tiers that can be read as they lie there, or answer; why the others cannot."""
    found: dict[Tier, Store] = {}
    if Tier.HOT in tiers:
        if project.settings.fluss is not None:
            unseen[Tier.HOT] = "others run it"
        else:
            try:
                found[Tier.HOT] = _hot(project, ledger)
                stack.callback(found[Tier.HOT].close)
            except StreamhouseError as error:
                unseen[Tier.HOT] = f"{error.code} {error.message}"
    for tier, place in ((Tier.WARM, project.warm), (Tier.COLD, project.cold)):
        if tier not in tiers:
            continue
        reader = None
        if not is_local(place):
            unseen[tier] = "it is in an object store; of its files only counts of rows are compared, and no checksums"
        elif tier is Tier.COLD and project.settings.cold.catalog is not None:
            unseen[tier] = "it is in a catalog"
        else:
            reader = warm_reader(project, ledger) if tier is Tier.WARM else cold_reader(project, ledger)
        if reader is not None:
            stack.callback(reader.close)
            found[tier] = cast("Store", reader)  # the half of one that reads
        else:
            unseen.setdefault(tier, "only Spark reads it")
    return found


def _hot(project: Project, ledger: Ledger) -> Store:
    """The hot tier of a project, or what its folders tell while it does not run."""
    endpoints = Services(project.root).status().endpoints
    if endpoints is None:
        from streamhouse.stores.fluss.at_rest import FlussAtRest

        folder = ServicesFolder.of(project.root)
        return cast("Store", FlussAtRest(folder.data, ledger, folder.zookeeper))  # the half of one that looks
    from streamhouse.stores.fluss.store import FlussStore
    from streamhouse.stores.fluss.wire.login import Login

    login = Login.of(project.settings.fluss_login.user)
    return FlussStore(endpoints.fluss, timeout_s=_ANSWER_S, ledger=ledger, login=login)


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())
