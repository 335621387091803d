"""The hot store of a Spark Python worker: one for the life of the process, whichever tasks come."""

from functools import lru_cache

from streamhouse.model.types import Tier
from streamhouse.stores.base import Store
from streamhouse.stores.places import Places, open_store


@lru_cache(maxsize=4)  # made in a task, so after the fork: Fluss's client would hang in a child of its user
def hot_store(places: Places) -> Store:
    """The hot store at `places`."""
    return open_store(Tier.HOT, places, guarded=True)  # by its driver, see `spread_write`
