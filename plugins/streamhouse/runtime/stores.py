"""Opens the stores of a project."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.stores.base import Store
from streamhouse.stores.places import Places, open_store
from streamhouse.stores.upkeep import LakeUpkeep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
