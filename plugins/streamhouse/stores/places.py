"""Where the stores of a project are, small enough to travel to another process."""

from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.errors import StoreUnavailableError
from streamhouse.model.types import Frozen, Tier
from streamhouse.stores.base import Store
from streamhouse.stores.ledger import Ledger
from streamhouse.stores.lock import TableLocks
from streamhouse.stores.object_store import ObjectStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Places(Frozen):
    """Addresses and folders; None: the project does without."""

    root: Path  # the project: relative paths of sources begin here
    fluss: str | None = None  # host:port
    warm: str  # Paimon warehouse
    cold: str = "cold"  # name of the Iceberg catalog in the Spark session
    objects: ObjectStore = ObjectStore()  # holds what is in one
    locks: Path  # one lock file for each lake table, and for each hot one that drops days


def open_store(
    tier: Tier,
    places: Places,
    spark: "SparkSession | None" = None,
    *,
    guarded: bool = False,
    ledger: Ledger | None = None,
) -> Store:
    """Connect to one tier.

    Args:
        tier: Which.
        places: Where it is.
        spark: Needed for the cold tier.
        guarded: Another process holds the locks that writing needs, see `GuardedStore`.
        ledger: Knows the tables that must be there; None: another process looks after that.

    Raises:
        StoreUnavailableError: the tier has no address, or needs a Spark session.
    """
    tier = Tier(tier)
    if tier is Tier.HOT:
        from streamhouse.stores.fluss.store import FlussStore

        if places.fluss is None:
            raise StoreUnavailableError("no Fluss is running for this project", hint="streamhouse services up")
        return FlussStore(places.fluss, locks=None if guarded else TableLocks(places.locks), ledger=ledger)
    if tier is Tier.WARM:
        from streamhouse.stores.paimon.store import PaimonStore

        return PaimonStore(places.warm, places.locks, places.objects, ledger)
    from streamhouse.stores.iceberg.store import IcebergStore

    if spark is None:
        raise StoreUnavailableError("the cold tier is read and written through Spark, which is not running")
    return IcebergStore(lambda: spark, places.cold, places.locks, ledger)
