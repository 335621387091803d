"""Opens the stores of a project."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.project.project import Project
from streamhouse.stores.base import Store
from streamhouse.stores.ledger import Known
from streamhouse.stores.places import Places, open_store
from streamhouse.stores.upkeep import LakeUpkeep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamhouse.stores.paimon.light import PaimonReader


@dataclass(frozen=True)
class ProjectLedger:
    """What the state store of a project knows of its tables; connected to for each question, which are few."""

    project: Project

    def known(self, table: Table, tier: Tier) -> Known | None:
        """See `Ledger`."""
        state = self.project.existing_state()
        if state is None:
            return None
        with state:
            return state.stored_tables.known(table, tier)

    def made(self, table: Table, tier: Tier, identity: str) -> None:
        """See `Ledger`."""
        with self.project.state() as state:
            state.stored_tables.made(table, tier, identity)

    def filled(self, table: Table, tier: Tier, round_: int, end: Position) -> None:
        """See `Ledger`."""
        with self.project.state() as state:
            state.stored_tables.filled(table, tier, round_, end)

    def dropped(self, name: str, tier: Tier) -> None:
        """See `Ledger`."""
        with self.project.state() as state:
            state.stored_tables.dropped(name, tier)


def places(project: Project, fluss: str | None) -> Places:
    """Where the stores of a project are; `fluss` is host:port of the running server, if any."""
    return Places(
        root=project.root,
        fluss=fluss,
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
    project: Project, spark: "SparkSession | None", fluss: str | None, tiers: Iterable[Tier] = tuple(Tier)
) -> dict[Tier, Store]:
    """Connect to the tiers asked for; close each store afterwards."""
    where = places(project, fluss)
    return {tier: open_store(tier, where, spark, ledger=ProjectLedger(project)) for tier in tiers}


def warm_reader(project: Project) -> "PaimonReader":
    """Who reads the warm tables of a project for a query, whose first answer shall be quick."""
    from streamhouse.stores.paimon.light import PaimonReader

    where = places(project, None)
    return PaimonReader(where.warm, where.locks, where.objects, ProjectLedger(project))


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
        self._opened: dict[Tier, Store] = {}
        self._guard = threading.Lock()

    def __getitem__(self, tier: Tier) -> Store:
        """The store of a tier.

        Raises:
            EnvironmentProblem: Fluss does not start.
        """
        found = self._opened.get(tier)
        if found is not None:  # whoever has what it needs does not wait until another's Fluss is up
            return found
        with self._guard:
            if tier not in self._opened:
                address = self._fluss() if tier is Tier.HOT else None
                self._opened |= open_stores(self._project, self._spark, address, [tier])
            return self._opened[tier]

    def __iter__(self) -> Iterator[Tier]:
        return iter(Tier)

    def __len__(self) -> int:
        return len(Tier)

    def close(self) -> None:
        """Close those that were used."""
        for store in self._opened.values():
            store.close()
