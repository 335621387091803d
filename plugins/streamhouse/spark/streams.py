"""Streams of offsets that this process says, whose batches have no rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from streamhouse.spark.shortcuts import Shortcut, shortcuts_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class Offsets(Protocol):
    """What a query asks, from its own thread, one call at a time. Offsets are objects of JSON, with a text as value."""

    def newest(self) -> str:
        """The offset to which the next batch goes; the one before it, the same object, when nothing is new."""

    def begins(self, end: str) -> None:
        """A batch that ends there is in Spark's log; also the one that a restart repeats."""

    def stop(self) -> None:
        """The query ends."""


@dataclass(frozen=True)
class Stream:
    """The stream of one query.

    Attributes:
        frame: A streaming frame without rows.
        close: Lets go what the query's thread had here. To be called when the query has ended.
    """

    frame: "DataFrame"
    close: Callable[[], None]


class Streams(Protocol):
    """Makes streams, and calls back with their batches."""

    def stream(self, spark: "SparkSession", offsets: Offsets) -> Stream:
        """A stream whose batches end at these offsets and have no rows; for one query."""

    def calling(self, writer: "DataStreamWriter", run: Callable[[int], None]) -> "DataStreamWriter":
        """As `writer.foreachBatch`, of a function that gets the batch's number alone."""


def streams_of(spark: "SparkSession") -> Streams:
    """What makes streams of a session, by its shortcuts."""
    from streamhouse.spark.public_streams import PublicStreams
    from streamhouse.spark.stream_source import JavaStreams

    return JavaStreams() if Shortcut.STREAM_SOURCE in shortcuts_of(spark) else PublicStreams()
