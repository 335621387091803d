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
    fluss_user: str | None = None  # whose password every process has in its environment; None: nobody logs in
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
        EnvironmentProblem: the password for the tier is not set.
    """
    tier = Tier(tier)
    if tier is Tier.HOT:
        from streamhouse.stores.fluss.store import FlussStore
        from streamhouse.stores.fluss.wire.login import Login

        if places.fluss is None:
            raise StoreUnavailableError("no Fluss is running for this project", hint="streamhouse services up")
        locks = None if guarded else TableLocks(places.locks)
        return FlussStore(places.fluss, locks=locks, ledger=ledger, login=Login.of(places.fluss_user))
    if tier is Tier.WARM:
        from streamhouse.stores.paimon.store import PaimonStore

        return PaimonStore(places.warm, places.locks, places.objects, ledger)
    from streamhouse.stores.iceberg.store import IcebergStore

    if spark is None:
        raise StoreUnavailableError("the cold tier is read and written through Spark, which is not running")
    return IcebergStore(lambda: spark, places.cold, places.locks, ledger)
