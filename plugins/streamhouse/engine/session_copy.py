"""A Spark session beside another, for what must not change for all who use that one."""

from collections.abc import Callable, Mapping
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")


def session_copy(spark: "SparkSession", settings: Mapping[str, str]) -> "SparkSession":
    """A copy of a session as it is now, with some settings of its own."""
    from pyspark.sql import SparkSession

    session = SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession())
    for name, value in settings.items():
        session.conf.set(name, value)
    return session


def once_for_each(make: "Callable[[SparkSession], T]") -> "Callable[[SparkSession], T]":
    """Makes something of a session at its first call, which others wait for, and gives the same from then on."""
    made: WeakKeyDictionary[SparkSession, T] = WeakKeyDictionary()
    making = Lock()

    @wraps(make)
    def found(spark: "SparkSession") -> T:
        with making:
            if spark not in made:
                made[spark] = make(spark)
            return made[spark]

    return found
