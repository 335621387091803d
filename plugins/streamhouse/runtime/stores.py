"""Opens the stores of a project."""

import os
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.project.project import Project
from streamhouse.stores.base import Store
from streamhouse.stores.ledger import Ledger, LedgerEntry
from streamhouse.stores.places import Places, open_store
from streamhouse.stores.upkeep import LakeUpkeep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamhouse.state.store import StateStore
    from streamhouse.stores.paimon.light import PaimonReader


class ProjectLedger:
    """What the state store of a project knows of its tables; safe to use from several threads.

    It stays connected from the first question on, as a connection costs more than many answers, until nobody has it.
    """

    def __init__(self, project: Project) -> None:
        """Nothing is touched before the first question."""
        self._project = project
        self._opened: tuple[tuple[int, ...], StateStore] | None = None  # which database it is, and the way to it
        self._lock = threading.Lock()

    def known(self, table: Table, tier: Tier) -> LedgerEntry | None:
        """See `Ledger`."""
        state = self._state()
        return None if state is None else state.stored_tables.known(table, tier)

    def record_table(self, table: Table, tier: Tier, identity: str) -> None:
        """See `Ledger`."""
        self._create_state().stored_tables.record_table(table, tier, identity)

    def filled(self, table: Table, tier: Tier, round_: int, end: Position) -> None:
        """See `Ledger`."""
        self._create_state().stored_tables.filled(table, tier, round_, end)

    def dropped(self, name: str, tier: Tier) -> None:
        """See `Ledger`."""
        self._create_state().stored_tables.dropped(name, tier)

    def recorded_times(self, writer: str, numbers: Collection[int]) -> Mapping[int, int | None]:
        """See `Ledger`."""
        state = self._state()
        return {} if state is None else state.stored_tables.recorded_times(writer, numbers)

    def _state(self) -> "StateStore | None":
        """The state store, or None when nothing ever ran here: a question must not create it."""
        with self._lock:
            which = self._which()
            if self._opened is None or self._opened[0] != which:
                self._opened = self._register(which, self._project.existing_state())
            return None if self._opened is None else self._opened[1]

    def _create_state(self) -> "StateStore":
        state = self._state()
        if state is None:
            state = self._project.state()
            weakref.finalize(self, state.close)  # the first call on it makes it, and the next question finds it
        return state

    def _register(
        self, which: tuple[int, ...], state: "StateStore | None"
    ) -> "tuple[tuple[int, ...], StateStore] | None":
        if state is None:
            return None
        weakref.finalize(self, state.close)
        return which, state

    def _which(self) -> tuple[int, ...]:
        """Another one in a child after a fork, and where another file came into the place of SQLite's."""
        file = self._project.state_file
        with suppress(FileNotFoundError):
            found = None if file is None else file.stat()
            return (os.getpid(),) if found is None else (os.getpid(), found.st_dev, found.st_ino)
        return (os.getpid(),)


def places(project: Project, fluss: str | None) -> Places:
    """Where the stores of a project are; `fluss` is host:port of the running server, if any."""
    return Places(
        root=project.root,
        fluss=fluss,
        fluss_user=project.settings.fluss_login.user,
        warm=project.warm,
        objects=project.settings.object_store,
        locks=project.state_dir / "locks",
    )


def open_upkeep(project: Project, spark: "SparkSession") -> dict[Tier, LakeUpkeep]:
    """What keeps the tables of each lake tier of a project."""
    from streamhouse.stores.iceberg.upkeep import IcebergUpkeep
    from streamhouse.stores.paimon.upkeep import PaimonUpkeep

    where = places(project, None)
    return {
        Tier.WARM: PaimonUpkeep(lambda: spark, where.warm, where.locks, where.objects),
        Tier.COLD: IcebergUpkeep(lambda: spark, where.cold, where.locks),
    }


def open_stores(
    project: Project,
    spark: "SparkSession | None",
    fluss: str | None,
    tiers: Iterable[Tier] = tuple(Tier),
    ledger: ProjectLedger | None = None,
) -> dict[Tier, Store]:
    """Connect to the tiers asked for; close each store afterwards. They ask `ledger`; None: one of their own."""
    where, known = places(project, fluss), ledger or ProjectLedger(project)
    return {tier: open_store(tier, where, spark, ledger=known) for tier in tiers}


def warm_reader(project: Project, ledger: Ledger | None = None) -> "PaimonReader":
    """A reader of the warm tables of a project without Spark, which answers a first query fast.

    Args:
        project: Whose.
        ledger: That it asks; None: one of its own.
    """
    from streamhouse.stores.paimon.light import PaimonReader

    where = places(project, None)
    return PaimonReader(where.warm, where.locks, where.objects, ledger or ProjectLedger(project))


class LazyStores(Mapping[Tier, Store]):
    """The store of every tier, each connected to when it is first asked for. Safe to use from several threads."""

    def __init__(self, project: Project, spark: "SparkSession | None", fluss: Callable[[], str]) -> None:
        """Nothing is touched before the first use.

        Args:
            project: Whose stores.
            spark: As of `open_store`.
            fluss: Gives host:port of a Fluss that answers, starting it if need be; called when the hot tier is first
                asked for, and again after it failed.
        """
        self._project = project
        self._spark = spark
        self._fluss = fluss
        self._ledger = ProjectLedger(project)
        self._opened: dict[Tier, Store] = {}
        self._guard = threading.Lock()

    def __getitem__(self, tier: Tier) -> Store:
        """The store of a tier.

        Raises:
            EnvironmentProblem: Fluss does not start.
        """
        found = self._opened.get(tier)
        if found is not None:  # a thread that has what it needs does not wait until another's Fluss is up
            return found
        with self._guard:
            if tier not in self._opened:
                address = self._fluss() if tier is Tier.HOT else None
                self._opened |= open_stores(self._project, self._spark, address, [tier], self._ledger)
            return self._opened[tier]

    def __contains__(self, tier: object) -> bool:
        """Whether it is a tier; none is opened for the question."""
        return tier in tuple(Tier)

    def __iter__(self) -> Iterator[Tier]:
        return iter(Tier)

    def __len__(self) -> int:
        return len(Tier)

    def close(self) -> None:
        """Close those that were used."""
        for store in self._opened.values():
            store.close()
