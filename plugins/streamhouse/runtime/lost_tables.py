"""Tables that are known and not there, as far as that is seen without starting anything."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.errors import StreamhouseError
from streamhouse.model.types import Tier
from streamhouse.model.version import table_name
from streamhouse.project.project import Project
from streamhouse.services.layout import ServicesFolder
from streamhouse.services.services import Services
from streamhouse.stores.ledger import lost_as

if TYPE_CHECKING:
    from streamhouse.model.table import Table
    from streamhouse.state.store import StateStore
    from streamhouse.stores.ledger import Ledger, LedgerEntry

_ANSWER_S = 3.0


@dataclass(frozen=True)
class LostTables:
    """Tables of a flow in one tier that are lost.

    Attributes:
        what: Happened to them, in words.
    """

    flow: str
    tier: Tier
    tables: tuple[str, ...]
    what: str

    def __str__(self) -> str:
        """For people, with what to type."""
        return (
            f"{self.flow}: {', '.join(self.tables)} in the {self.tier} tier {self.what}; see what comes back: "
            f"streamhouse restore {self.flow} --dry-run"
        )


def lost_tables(project: Project, state: "StateStore | None") -> list[LostTables]:
    """What the state store knows and no folder has; of a hot tier that runs, also what it does not have.

    Starts and changes nothing: tables in an object store, or of a hot tier that does not run, are looked for by the
    next command that opens them.

    Args:
        project: Whose.
        state: Its state store; None: there is none, so nothing is known.
    """
    if state is None:
        return []
    try:
        plans = state.running_plans()
    except StreamhouseError:  # of a version whose plans this one cannot read
        return []
    found: list[LostTables] = []
    for flow, plan in plans.items():
        for tier in Tier:
            tables = {
                t.name: t if t.tiers.target is tier else t.replica
                for t in plan.tables.values()
                if tier in t.tiers.present
            }
            known = [t for t in tables.values() if _is_recorded(state.stored_tables.known(t, tier))]
            by_what: dict[str, list[str]] = {}
            for table, what in _lost(project, tier, known, state.stored_tables):
                by_what.setdefault(what, []).append(table_name(table.name))
            found += [LostTables(flow, tier, tuple(names), what) for what, names in by_what.items()]
    return found


def _is_recorded(entry: "LedgerEntry | None") -> bool:
    return entry is not None and entry.identity is not None


def _lost(project: Project, tier: Tier, known: "list[Table]", ledger: "Ledger") -> "Iterator[tuple[Table, str]]":
    if not known:
        return
    if tier is Tier.HOT:
        if project.settings.fluss is None and not ServicesFolder.of(project.root).data.is_dir():
            yield from ((table, "are gone" if len(known) > 1 else "is gone") for table in known)
        elif (fluss := _running(project)) is not None:
            with suppress(StreamhouseError):
                yield from [*_asked(fluss, project, known, ledger)]
        return
    place = project.warm if tier is Tier.WARM else project.cold
    is_folder = "://" not in place and (tier is Tier.WARM or project.settings.cold.catalog is None)
    if is_folder and not _has_files(Path(place)):
        yield from ((table, "are gone" if len(known) > 1 else "is gone") for table in known)


def _running(project: Project) -> str | None:
    """Where a hot tier answers that runs here."""
    endpoints = None if project.settings.fluss is not None else Services(project.root).status().endpoints
    return None if endpoints is None else endpoints.fluss


def _asked(fluss: str, project: Project, known: "list[Table]", ledger: "Ledger") -> "Iterator[tuple[Table, str]]":
    from streamhouse.stores.fluss.store import FlussStore
    from streamhouse.stores.fluss.wire.login import Login

    login = Login.of(project.settings.fluss_login.user)
    store = FlussStore(fluss, timeout_s=_ANSWER_S, ledger=ledger, login=login)
    try:
        for table in known:
            if (what := lost_as(store, table)) is not None:
                yield table, what
    finally:
        store.close()


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())
