"""What a project lost, as far as that is seen without starting anything.

The same rules decide as where a flow runs (`engine/observed.py`), over those tiers that can be read as they lie there.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from streamhouse.engine.loss import LossVerdict, StateRecord, hint
from streamhouse.engine.observed import EpochKnowledge, losses, seen
from streamhouse.engine.traces import unknown_rows_text
from streamhouse.errors import StateConflictError, StreamhouseError, TableLostError
from streamhouse.model.place import is_local
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Tier
from streamhouse.model.version import table_name
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.runtime.cold import cold_reader
from streamhouse.runtime.stores import warm_reader
from streamhouse.services.layout import ServicesFolder
from streamhouse.services.services import Services
from streamhouse.state.damage import DamagedStateError, OtherVersionError
from streamhouse.stores.base import LakeStore, NeedsSparkError, NotedStore, Store
from streamhouse.stores.ledger import Ledger, NoLedger
from streamhouse.stores.mark import lost_copy_as

if TYPE_CHECKING:
    from streamhouse.state.known_tables import KnownTogether
    from streamhouse.state.records import EpochRecord
    from streamhouse.state.store import StateStore

_ANSWER_S = 3.0


@dataclass(frozen=True)
class LostTables:
    """Something that a flow lost.

    Attributes:
        tier: Of the tables; None: the state store is older than tables, or gone.
        tables: That are lost; empty: the state store is.
        what: Happened to them, in words; of the state store a whole sentence.
        code: Of the error that a command gives which needs them.
        hint: What to type.
    """

    flow: str
    tier: Tier | None
    tables: tuple[str, ...]
    what: str
    code: str
    hint: str

    def __str__(self) -> str:
        """For people, with what to type."""
        where = f" in the {self.tier} tier" if self.tier is not None else ""
        return f"{self.flow}: {self.code} {', '.join(self.tables)}{where} {self.what}; {self.hint}".replace("  ", " ")


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


def lost_tables(
    project: Project, state: "StateStore | None", desired: Mapping[str, FlowPlan] | None = None
) -> SeenLosses:
    """What the records of a project say together of its tables; starts and changes nothing.

    Tables in an object store, or of a Fluss that others run, are not looked at.

    Args:
        project: Whose.
        state: Its state store; None: there is none.
        desired: Flow → its plan, as the files have it, of those that matter; None: the files are read.
    """
    known: dict[str, FlowPlan] = {}
    with suppress(OtherVersionError):
        known |= state.running_plans() if state is not None else {}
    plans = known
    has_data = _has_data(project)
    if has_data:
        with suppress(StreamhouseError):  # a file is wrong
            plans = {**(desired_plans(project) if desired is None else desired), **known}
    if not plans:
        return SeenLosses()
    found = SeenLosses()
    together = None if state is None else state.stored_tables.together()
    with ExitStack() as stack:
        tiers = {table for plan in plans.values() for table in _tiers(plan)}
        stores = _readable(project, tiers, found.unseen, stack, together or NoLedger())
        epochs: EpochKnowledge = _NoEpochs() if state is None else state
        for flow, plan in plans.items():
            try:
                found.lost.extend(_sure(project, plan, stores, epochs, together))
                # Of a flow that runs, tables may have gone on since the look at its record.
                is_at_rest = flow not in known or not isinstance(stores.get(Tier.HOT), NotedStore)
                if is_at_rest and not found.of([flow]).lost:
                    found.lost.extend(_more_rows(plan, stores, epochs))
            except DamagedStateError as error:
                found.lost.append(LostTables(flow, None, (), error.message, error.code, error.hint or ""))
            except NeedsSparkError as error:
                found.unseen[Tier.COLD] = str(error)
                with suppress(StreamhouseError):
                    others: dict[Tier, Store] = {tier: one for tier, one in stores.items() if tier is not Tier.COLD}
                    found.lost.extend(_of_flow(project, plan, others, epochs))
            except StreamhouseError as error:
                found.unseen.update(dict.fromkeys(stores, f"{error.code} {error.message}"))
    return found if has_data or project.settings.fluss is not None else replace(found, unseen={})


def _tiers(plan: FlowPlan) -> set[Tier]:
    return {tier for table in plan.tables.values() for tier in table.tiers.present}


def _sure(
    project: Project,
    plan: FlowPlan,
    stores: Mapping[Tier, Store],
    epochs: EpochKnowledge,
    together: "KnownTogether | None",
) -> Iterator[LostTables]:
    """As `_of_flow`; where something is lost, by records that are read again: a table may have been dropped since."""
    found = _of_flow(project, plan, stores, epochs)
    first = next(found, None)
    if first is not None and together is not None:
        together.renew()
        found = _of_flow(project, plan, stores, epochs)
    elif first is not None:
        yield first
    yield from found


def _of_flow(
    project: Project, plan: FlowPlan, stores: Mapping[Tier, Store], epochs: EpochKnowledge
) -> Iterator[LostTables]:
    flow, readable = plan.flow, {table.name: table for table in plan.readable}
    for loss in losses(plan, stores, epochs, project.state_dir / "checkpoints"):
        tiers: list[Tier | None] = [*dict.fromkeys(readable[name].tiers.target for name in loss.tables)]
        for tier in tiers or [None]:
            names = tuple(table_name(n) for n in loss.tables if readable[n].tiers.target is tier)
            what = loss.what if loss.tables else loss.text
            yield LostTables(flow, tier, names, what, StateConflictError.code, loss.hint)
    for table in plan.tables.values():
        for tier in (one for one in table.tiers.present[1:] if one in stores):
            lake = cast("LakeStore", stores[tier])
            if (lost := lost_copy_as(lake, table.replica, table.tiers.target)) is not None:
                typed = f"fill it again from the first tier: streamhouse restore {flow}"
                yield LostTables(flow, tier, (table_name(table.name),), lost, TableLostError.code, typed)


def _more_rows(plan: FlowPlan, stores: Mapping[Tier, Store], epochs: EpochKnowledge) -> Iterator[LostTables]:
    """Tables of a flow that does not run, with rows of which the state store knows nothing."""
    for segment in plan.segments:
        found = seen(plan, segment, stores, epochs)
        if found.more and found.recorded is not StateRecord.IN_HAND:
            names = ", ".join(table_name(name) for name in found.more)
            if found.recorded is StateRecord.NOTHING:
                what = f"{unknown_rows_text(names)}: it was lost"
            else:
                what = (
                    f"{names} has more rows than the flow left: the state store is an older one, or others wrote them"
                )
            typed = hint(plan.flow, LossVerdict.LEAVE)
            yield LostTables(plan.flow, None, (), what, StateConflictError.code, typed)


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

        return cast("Store", FlussAtRest(ServicesFolder.of(project.root).data, ledger))  # the half of one that looks
    from streamhouse.stores.fluss.store import FlussStore
    from streamhouse.stores.fluss.wire.login import Login

    login = Login.of(project.settings.fluss_login.user)
    return FlussStore(endpoints.fluss, timeout_s=_ANSWER_S, ledger=ledger, login=login)


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())
