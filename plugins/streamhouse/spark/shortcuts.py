"""Faster ways through what is private to Spark, each beside a way on public APIs, and which of them a Spark takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


class Shortcut(StrEnum):
    """One faster way."""

    CARRIER = "carrier"  # rows to Spark and back with few questions to the JVM; else `createDataFrame` and `toArrow`
    SESSION_COPY = "session_copy"  # `cloneSession`; else `newSession` with the settings of the other one
    STANDING_QUERIES = "standing_queries"  # planned in the first epoch; else in each
    DRIVER_TASKS = "driver_tasks"  # tasks of these run in the driver's thread; else Spark schedules them
    STREAM_SOURCE = "stream_source"  # an object of this process, and epochs that begin early; else a Python data source
    LOG_FILES = "log_files"  # logs of streams without a process for each file; else Hadoop's file system


NEEDS: Mapping[Shortcut, Shortcut] = {
    Shortcut.STANDING_QUERIES: Shortcut.CARRIER,
    Shortcut.DRIVER_TASKS: Shortcut.STANDING_QUERIES,
}
"""A shortcut → the one that it goes through."""


@dataclass(frozen=True)
class Shortcuts:
    """Which shortcuts a Spark takes.

    Attributes:
        on: Those that are taken.
        refused: Those that were asked for and do not do what the public way does → what was seen.
    """

    on: frozenset[Shortcut] = frozenset(Shortcut)
    refused: Mapping[Shortcut, str] = field(default_factory=dict)

    def __contains__(self, shortcut: Shortcut) -> bool:
        return shortcut in self.on


_CHOSEN: "WeakKeyDictionary[SparkContext, Shortcuts]" = WeakKeyDictionary()
_LOCK = Lock()


def use_shortcuts(spark: "SparkSession", chosen: Shortcuts) -> None:
    """Let all sessions of this Spark take these shortcuts. Before anything is run with them."""
    with _LOCK:
        _CHOSEN[spark.sparkContext] = chosen


def shortcuts_of(spark: "SparkSession") -> Shortcuts:
    """The shortcuts of this Spark; all, where nothing was chosen."""
    with _LOCK:
        return _CHOSEN.get(spark.sparkContext, Shortcuts())


def without_unmet(shortcuts: frozenset[Shortcut]) -> frozenset[Shortcut]:
    """Of some shortcuts, those whose needs are among them."""
    while unmet := {one for one in shortcuts if one in NEEDS and NEEDS[one] not in shortcuts}:
        shortcuts -= unmet
    return shortcuts
