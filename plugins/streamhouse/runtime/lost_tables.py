"""What a project lost, as far as that is seen without starting anything.

The same rules decide as where a flow runs (`engine/observed.py`), over those tiers that can be read as they lie there.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from streamhouse.engine.observed import EpochKnowledge, losses
from streamhouse.errors import StateConflictError, StreamhouseError, TableLostError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Tier
from streamhouse.model.version import table_name
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.runtime.cold import cold_reader
from streamhouse.runtime.stores import ProjectLedger, warm_reader
from streamhouse.services.layout import ServicesFolder
from streamhouse.services.services import Services
from streamhouse.stores.base import LakeStore, NeedsSparkError, Store
from streamhouse.stores.ledger import LedgerEntry
from streamhouse.stores.mark import lost_copy_as

if TYPE_CHECKING:
    from streamhouse.model.table import Table
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


def lost_tables(project: Project, state: "StateStore | None") -> SeenLosses:
    """What the records of a project say together of its tables; starts and changes nothing.

    Tables in an object store are not looked at, nor is how far those of a hot tier reach that does not run.

    Args:
        project: Whose.
        state: Its state store; None: there is none.
    """
    plans: dict[str, FlowPlan] = {}
    with suppress(StreamhouseError):  # a version whose plans this one cannot read
        plans |= state.running_plans() if state is not None else {}
    has_data = _has_data(project)
    if has_data:
        with suppress(StreamhouseError):  # a file is wrong
            plans = {**desired_plans(project), **plans}
    if not plans:
        return SeenLosses()
    found = SeenLosses()
    with ExitStack() as stack:
        stores = _readable(project, {table for plan in plans.values() for table in _tiers(plan)}, found.unseen, stack)
        epochs: EpochKnowledge = _NoEpochs() if state is None else state
        for flow, plan in plans.items():
            if state is not None and Tier.HOT not in stores:
                found.lost.extend(_gone_from_disk(project, flow, plan, state))
            try:
                found.lost.extend(_of_flow(project, plan, stores, epochs))
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
                hint = f"fill it again from the first tier: streamhouse restore {flow}"
                yield LostTables(flow, tier, (table_name(table.name),), lost, TableLostError.code, hint)


def _has_data(project: Project) -> bool:
    """Whether something ever ran here: a project that is new has nothing to lose, and is not compiled for it."""
    places = [
        ServicesFolder.of(project.root).data,
        *(Path(one) for one in (project.warm, project.cold) if _is_path(one)),
    ]
    return any(_has_files(place) for place in places)


def _is_path(place: str) -> bool:
    return "://" not in place


def _readable(project: Project, tiers: set[Tier], unseen: dict[Tier, str], stack: ExitStack) -> "dict[Tier, Store]":
    """The tiers that can be read as they lie there, or answer; why the others cannot."""
    found: dict[Tier, Store] = {}
    if Tier.HOT in tiers:
        hot = _running_hot(project)
        if hot is None:
            unseen[Tier.HOT] = "it does not run, so how far its tables reach is not known"
        else:
            stack.callback(hot.close)
            found[Tier.HOT] = hot
    for tier, place in ((Tier.WARM, project.warm), (Tier.COLD, project.cold)):
        if tier not in tiers:
            continue
        reader = None
        if not _is_path(place) or (tier is Tier.COLD and project.settings.cold.catalog is not None):
            unseen[tier] = "it is in an object store, or in a catalog"
        else:
            reader = warm_reader(project) if tier is Tier.WARM else cold_reader(project)
        if reader is not None:
            stack.callback(reader.close)
            found[tier] = cast("Store", reader)  # the half of one that reads
        else:
            unseen.setdefault(tier, "only Spark reads it")
    return found


def _running_hot(project: Project) -> "Store | None":
    """A hot tier that runs."""
    endpoints = None if project.settings.fluss is not None else Services(project.root).status().endpoints
    if endpoints is None:
        return None
    from streamhouse.stores.fluss.store import FlussStore
    from streamhouse.stores.fluss.wire.login import Login

    with suppress(StreamhouseError):
        login = Login.of(project.settings.fluss_login.user)
        return FlussStore(endpoints.fluss, timeout_s=_ANSWER_S, ledger=ProjectLedger(project), login=login)
    return None


def _gone_from_disk(project: Project, flow: str, plan: FlowPlan, state: "StateStore") -> Iterator[LostTables]:
    """Known hot tables of a server that does not run here, and that its folder does not have."""
    if project.settings.fluss is not None:
        return
    hot = [table for table in plan.tables.values() if table.tiers.target is Tier.HOT]
    gone = [table for table in hot if _is_gone(project, table, state.stored_tables.known(table, Tier.HOT))]
    if gone:
        what, names = "is gone" if len(gone) == 1 else "are gone", tuple(table_name(table.name) for table in gone)
        hint = f"see what is lost, and what comes back: streamhouse restore {flow} --dry-run"
        yield LostTables(flow, Tier.HOT, names, what, StateConflictError.code, hint)


def _is_gone(project: Project, table: "Table", known: LedgerEntry | None) -> bool:
    """Whether a known table has no folder: a server has one for each, named by the table and its number."""
    if known is None or known.identity is None:
        return False
    database, _, name = table.name.partition(".")
    number = known.identity.partition("@")[0]
    return not (ServicesFolder.of(project.root).data / database / f"{name}-{number}").is_dir()


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())
