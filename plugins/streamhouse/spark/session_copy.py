"""A Spark session beside another, for what must not change for all who use that one."""

from collections.abc import Callable, Mapping
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar
from weakref import WeakKeyDictionary

from streamhouse.spark.shortcuts import Shortcut, shortcuts_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")


class CopiesSessions(Protocol):
    """Makes a session beside another."""

    def copied(self, spark: "SparkSession") -> "SparkSession":
        """A session with the settings that another one has now."""


def copies_of(spark: "SparkSession") -> CopiesSessions:
    """What copies a session, by its shortcuts."""
    return ClonedSessions() if Shortcut.SESSION_COPY in shortcuts_of(spark) else NewSessions()


class ClonedSessions:
    """See `CopiesSessions`; Spark's own copy, with temporary views."""

    def copied(self, spark: "SparkSession") -> "SparkSession":
        """See `CopiesSessions.copied`."""
        from pyspark.sql import SparkSession

        return SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession())


class NewSessions:
    """See `CopiesSessions`; on public APIs alone. Temporary views are not in it."""

    def copied(self, spark: "SparkSession") -> "SparkSession":
        """See `CopiesSessions.copied`."""
        session = spark.newSession()
        for name, value in spark.conf.getAll.items():
            if name.startswith("spark.sql.") and session.conf.isModifiable(name):
                session.conf.set(name, value)
        return session


def session_copy(spark: "SparkSession", settings: Mapping[str, str]) -> "SparkSession":
    """A copy of a session as it is now, with some settings of its own."""
    session = copies_of(spark).copied(spark)
    for name, value in settings.items():
        session.conf.set(name, value)
    return session


def once_for_each(make: "Callable[[SparkSession], T]") -> "Callable[[SparkSession], T]":
    """Makes something of a session at its first call, which others wait for, and gives the same from then on.

    When the Spark gets other shortcuts, it is made again: what went through a shortcut that is off now must not stay.
    """
    cache: WeakKeyDictionary[SparkSession, tuple[frozenset[Shortcut], T]] = WeakKeyDictionary()
    making = Lock()

    @wraps(make)
    def found(spark: "SparkSession") -> T:
        on = shortcuts_of(spark).on
        with making:
            if spark not in cache or cache[spark][0] != on:
                cache[spark] = on, make(spark)
            return cache[spark][1]

    return found
