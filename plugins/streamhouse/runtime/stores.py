"""Opens the stores of a project."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.stores.base import Store
from streamhouse.stores.places import Places, open_store
from streamhouse.stores.upkeep import LakeUpkeep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamhouse.stores.paimon.light import PaimonReader


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
    return {tier: open_store(tier, where, spark) for tier in tiers}


def warm_reader(project: Project) -> "PaimonReader":
    """Who reads the warm tables of a project for a query, whose first answer shall be quick."""
    from streamhouse.stores.paimon.light import PaimonReader

    where = places(project, None)
    return PaimonReader(where.warm, where.locks, where.objects)


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
