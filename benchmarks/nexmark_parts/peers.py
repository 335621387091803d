"""The peers: the queries that Structured Streaming can express, written by hand, over the same Fluss tables.

Each reads the ODS tables through the reader that the other benchmarks' peers use, keeps its state in Spark, and writes
a table like ours with our store in `foreachBatch`. A query with a watermark holds its last rows back, so it gives
fewer rows than ours.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nexmark_parts.events import STREAMS
from nexmark_parts.ours import sql_of

from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.stores.arrow import conform
from streamhouse.stores.base import Changes, Store, WriteContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

EPOCHS = "0 s"  # as often as it can, as many rows at a time as our epochs take
AT_ONCE = "availableNow"  # all rows in one batch
WAYS = (EPOCHS, AT_ONCE)
_LATE = "2 seconds"
_SIDE_INPUT = "side_input"


@dataclass(frozen=True)
class Streams:
    """The inputs that a query reads, as frames of one session: `person`, `auction`, `bid`, `side`."""

    spark: "SparkSession"
    frames: "Mapping[str, DataFrame]"

    def __getitem__(self, name: str) -> "DataFrame":
        return self.frames[name]

    def sql(self, action: str) -> "DataFrame":
        """The SQL of an action of the example over these inputs."""
        for name, frame in self.frames.items():
            frame.createOrReplaceTempView(name)
        return self.spark.sql(sql_of(action))


@dataclass(frozen=True)
class Peer:
    """One query.

    Attributes:
        frame: Its streaming frame.
        mode: Spark's output mode.
        whole: It gives all rows that the batch gives; otherwise a watermark holds some back.
    """

    frame: "Callable[[Streams], DataFrame]"
    mode: str = "append"
    whole: bool = True

    @property
    def ways(self) -> tuple[str, ...]:
        """Those of `WAYS` that give rows: a watermark rises after a batch, so one batch of all gives none."""
        return WAYS if self.whole else (EPOCHS,)


def _as_ours(action: str, mode: str = "append") -> Peer:
    return Peer(lambda streams: streams.sql(action), mode)


def _new_users(streams: Streams) -> "DataFrame":
    from pyspark.sql import functions as f

    window = f.window("dateTime", "10 seconds").alias("w")
    people = streams["person"].withWatermark("dateTime", _LATE).select("id", "name", window)
    sellers = (
        streams["auction"].withWatermark("dateTime", _LATE).select("seller", window).dropDuplicates(["seller", "w"])
    )
    on = (people["id"] == sellers["seller"]) & (people["w"] == sellers["w"])
    return people.join(sellers, on).select("id", "name", people["w"]["start"].alias("starttime"))


def _user_sessions(streams: Streams) -> "DataFrame":
    from pyspark.sql import functions as f

    sessions = f.session_window("dateTime", "10 seconds").alias("s")
    counted = streams["bid"].withWatermark("dateTime", _LATE).groupBy("bidder", sessions).count()
    return counted.selectExpr("bidder", "s.start AS starttime", "s.end AS endtime", "count AS bid_count")


def _auction_statistics(streams: Streams) -> "DataFrame":
    from pyspark.sql import functions as f

    price = f.col("price")
    ranks = {"rank1": price < 10_000, "rank2": price.between(10_000, 999_999), "rank3": price >= 1_000_000}
    return (
        streams["bid"]
        .groupBy("auction", f.date_format("dateTime", "yyyy-MM-dd").alias("day"))
        .agg(
            f.count("*").alias("total_bids"),
            *(f.count_if(condition).alias(f"{name}_bids") for name, condition in ranks.items()),
            *(getattr(f, name)("price").alias(f"{name}_price") for name in ("min", "max", "avg", "sum")),
        )
    )


def _last_bid(streams: Streams) -> "DataFrame":
    from pyspark.sql import functions as f

    rest = f.struct("dateTime", "price", "channel", "url", "extra")
    return (
        streams["bid"].groupBy("bidder", "auction").agg(f.max(rest).alias("last")).select("bidder", "auction", "last.*")
    )


PEERS: dict[int, Peer] = {
    0: _as_ours("q0_pass_through"),
    1: _as_ours("q1_currency"),
    2: _as_ours("q2_selection"),
    3: _as_ours("q3_local_items"),
    8: Peer(_new_users, whole=False),
    10: _as_ours("q10_log"),
    11: Peer(_user_sessions, whole=False),
    12: _as_ours("q12_bids_by_window", "update"),
    13: _as_ours("q13_side_input"),
    14: _as_ours("q14_calculation"),
    17: Peer(_auction_statistics, "update"),
    18: Peer(_last_bid, "update"),
    20: _as_ours("q20_bids_with_auction"),
    21: _as_ours("q21_channel_id"),
    22: _as_ours("q22_directories"),
}


@dataclass(frozen=True)
class Place:
    """Where a peer runs.

    Attributes:
        spark: Its session, which knows the format `layer`.
        root: The project.
        store: Fluss, at `fluss`.
        plan: Our plan of the same query.
        streams: The plan of the flow that fills ODS.
        target: What the peer writes, see `target_of`.
        checkpoint: A folder that is not there yet.
    """

    spark: "SparkSession"
    root: Path
    store: Store
    fluss: str
    plan: FlowPlan
    streams: FlowPlan
    target: Table
    checkpoint: Path


def target_of(plan: FlowPlan, suffix: str) -> Table:
    """A peer's table: like that of the last step of our `plan`, with another name.

    Sums come whole from Spark's state, so the last row of a key wins also where ours adds up.
    """
    ours = plan.steps[-1].writes.replica
    return ours.model_copy(update={"name": f"{ours.name}_{suffix}"})


def run(peer: Peer, place: Place, way: str) -> None:
    """Drain ODS into the peer's table, in one of `WAYS`."""
    place.store.create(place.target)

    def write(batch: "DataFrame", number: int) -> None:
        rows = batch.toArrow()
        # Ours has the names as Spark resolves them, in small letters.
        rows = conform(rows.rename_columns([name.lower() for name in rows.column_names]), place.target.columns)
        if rows.num_rows:
            place.store.write(place.target, Changes(rows), WriteContext(place.target.name, number))

    frame = peer.frame(_streams(place, 0 if way == AT_ONCE else place.plan.max_rows_per_epoch))
    writer = frame.writeStream.outputMode(peer.mode).foreachBatch(write)
    writer = writer.option("checkpointLocation", str(place.checkpoint))
    if way == AT_ONCE:
        writer.trigger(availableNow=True).start().awaitTermination()
        return
    ends = [place.store.end(place.streams.tables[f"ods.{name}"]) for name in STREAMS]
    query = writer.trigger(processingTime="0 seconds").start()
    try:
        while not _at(query, ends):
            if (error := query.exception()) is not None:
                raise error
            time.sleep(0.01)
    finally:
        query.stop()


def _at(query: "StreamingQuery", ends: Sequence[Position]) -> bool:
    """Whether the last batch reached the end of whatever the query reads; no two streams end at the same place."""
    last = query.lastProgress
    sources = json.loads(last.json)["sources"] if last is not None else []
    return bool(sources) and all((source["endOffset"] or {}).get("position") in ends for source in sources)


def _streams(place: Place, max_rows: int) -> Streams:
    columns: dict[str, set[str]] = {}  # ODS table → those that our steps read
    for step in place.plan.steps:
        for read in step.reads:
            if read.table in place.streams.tables:
                columns.setdefault(read.table, set()).update(read.columns)
    frames = {}
    for name, wanted in columns.items():
        table = place.streams.tables[name]
        if name.endswith(_SIDE_INPUT):
            frames["side"] = place.spark.createDataFrame(place.store.read_state(table))
            continue
        stream = place.spark.readStream.format("layer").options(
            plan=place.streams.model_dump_json(),
            table=name,
            columns=json.dumps(sorted(wanted) or table.column_names),
            root=str(place.root),
            fluss=place.fluss,
            max_rows=str(max_rows),
        )
        frames[name.removeprefix("ods.")] = stream.load()
    return Streams(place.spark, frames)
