"""The peers: the queries that Structured Streaming can express, written by hand.

Each reads the streams' Parquet files, one file in a micro-batch, keeps its state in Spark, and writes Parquet files
through `foreachBatch`, a folder for each batch: the cheapest sink that survives a crash. A query whose rows change
(`update`) writes the changed rows and leaves it to the reader to take the last ones; ours keeps them by key.
A query with a watermark holds its last rows back, so it gives fewer rows than ours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from nexmark_parts.events import STREAMS
from nexmark_parts.ours import sql_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LATE = "2 seconds"


@dataclass(frozen=True)
class Streams:
    """The three streams and the side input, as frames of one session."""

    spark: "SparkSession"
    person: "DataFrame"
    auction: "DataFrame"
    bid: "DataFrame"
    side: "DataFrame"

    def sql(self, action: str) -> "DataFrame":
        """The SQL of an action of the example over these streams."""
        for name in (*STREAMS, "side"):
            getattr(self, name).createOrReplaceTempView(name)
        return self.spark.sql(sql_of(action))


@dataclass(frozen=True)
class Peer:
    """One query.

    Attributes:
        frame: Its streaming frame.
        mode: Spark's output mode.
        key: Columns of which the last row counts; empty: every row written counts.
        whole: It gives all rows that the batch gives; otherwise a watermark holds some back.
    """

    frame: "Callable[[Streams], DataFrame]"
    mode: str = "append"
    key: tuple[str, ...] = ()
    whole: bool = True


def _as_ours(action: str, mode: str = "append", key: tuple[str, ...] = ()) -> Peer:
    return Peer(lambda streams: streams.sql(action), mode, key)


def _new_users(streams: Streams) -> "DataFrame":
    from pyspark.sql import functions as f

    window = f.window("dateTime", "10 seconds").alias("w")
    people = streams.person.withWatermark("dateTime", _LATE).select("id", "name", window)
    sellers = streams.auction.withWatermark("dateTime", _LATE).select("seller", window).dropDuplicates(["seller", "w"])
    on = (people["id"] == sellers["seller"]) & (people["w"] == sellers["w"])
    return people.join(sellers, on).select("id", "name", people["w"]["start"].alias("starttime"))


def _user_sessions(streams: Streams) -> "DataFrame":
    from pyspark.sql import functions as f

    sessions = f.session_window("dateTime", "10 seconds").alias("s")
    counted = streams.bid.withWatermark("dateTime", _LATE).groupBy("bidder", sessions).count()
    return counted.select("bidder", "s.start", "s.end", "count")


def _auction_statistics(streams: Streams) -> "DataFrame":
    from pyspark.sql import functions as f

    price = f.col("price")
    ranks = {"rank1": price < 10_000, "rank2": price.between(10_000, 999_999), "rank3": price >= 1_000_000}
    return streams.bid.groupBy("auction", f.date_format("dateTime", "yyyy-MM-dd").alias("day")).agg(
        f.count("*").alias("total_bids"),
        *(f.count_if(condition).alias(f"{name}_bids") for name, condition in ranks.items()),
        *(getattr(f, name)("price").alias(f"{name}_price") for name in ("min", "max", "avg", "sum")),
    )


def _last_bid(streams: Streams) -> "DataFrame":
    from pyspark.sql import functions as f

    rest = f.struct("dateTime", "price", "channel", "url", "extra")
    return streams.bid.groupBy("bidder", "auction").agg(f.max(rest).alias("last")).select("bidder", "auction", "last.*")


PEERS: dict[int, Peer] = {
    0: _as_ours("q0_pass_through"),
    1: _as_ours("q1_currency"),
    2: _as_ours("q2_selection"),
    3: _as_ours("q3_local_items"),
    8: Peer(_new_users, whole=False),
    10: _as_ours("q10_log"),
    11: Peer(_user_sessions, whole=False),
    12: _as_ours("q12_bids_by_window", "update", ("bidder", "starttime")),
    13: _as_ours("q13_side_input"),
    14: _as_ours("q14_calculation"),
    17: Peer(_auction_statistics, "update", ("auction", "day")),
    18: Peer(_last_bid, "update", ("bidder", "auction")),
    20: _as_ours("q20_bids_with_auction"),
    21: _as_ours("q21_channel_id"),
    22: _as_ours("q22_directories"),
}


def run(peer: Peer, spark: "SparkSession", data: Path, folder: Path) -> None:
    """Drain the streams under `data` into Parquet files under `folder/out`."""

    def write(batch: "DataFrame", number: int) -> None:
        batch.write.mode("overwrite").parquet(str(folder / "out" / f"batch={number}"))

    query = (
        peer.frame(_streams(spark, data))
        .writeStream.outputMode(peer.mode)
        .foreachBatch(write)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def rows_of(peer: Peer, spark: "SparkSession", folder: Path) -> int:
    """How many rows the result has."""
    written = spark.read.parquet(str(folder / "out"))
    return (written.select(*peer.key).distinct() if peer.key else written).count()


def _streams(spark: "SparkSession", data: Path) -> Streams:
    from pyspark.sql.pandas.types import from_arrow_schema

    frames = {}
    for name in STREAMS:
        schema = from_arrow_schema(pq.read_schema(min((data / name).iterdir())))
        frames[name] = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(data / name))
    return Streams(spark, **frames, side=spark.read.parquet(str(data / "side_input")))
