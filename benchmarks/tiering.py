"""Rows of the hot tier copied into the lakes, beside a plain Spark append of the same rows; and how fresh a read is.

Ours reads from Fluss and commits rows and offsets exactly once. The peer, told as `spark`, appends the same rows from
a Parquet file, which costs less to read: into an Iceberg table as ours does for cold, into Parquet files for warm, as
Spark has no Paimon here. Arms take turns. Processor seconds are those of this process, its JVM and its workers;
those of the Fluss servers stand beside them.

    python benchmarks/tiering.py [--rows 10000000 | --quick] [--only warm cold keyed freshness]
"""

import argparse
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, cast

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from method.arms import in_turn
from method.machine import LoadMeter
from method.report import Bound, Figure, show

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.session import local_session
from streamhouse.runtime.stores import open_stores
from streamhouse.services.services import running
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, LakeStore, Store, WriteContext
from streamhouse.stores.where import RowCondition
from streamhouse.tiering.move import tier
from streamhouse.tiering.union import union_read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {
    "event_id": "bigint",
    "customer_id": "bigint",
    "product": "string",
    "quantity": "bigint",
    "price": "double",
    "sold_at": "timestamp",
}
AT_ONCE = 100_000  # rows of a write
FEW = 1_000_000  # of a keyed table
FIRST, LATER = "first copy of a keyed table to", "changes of a keyed table to"
CHANGED = 4  # one of so many keys is written again
PARTS = ("warm", "cold", "keyed", "freshness")
PER_CORE = 200_000
BEHIND_S = 1.0
FLUSS = "org.apache.fluss"


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Arm:
    """A copy of `rows` rows; `before` is not part of what it costs."""

    rows: int
    work: Callable[[], None]
    before: Callable[[], object] = _nothing


@dataclass(frozen=True)
class Cost:
    """One copy of all rows."""

    seconds: float
    cpu_s: float
    fluss_cpu_s: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="1,000,000 unless said otherwise")
    parser.add_argument("--quick", action="store_true", help="100,000 rows, once")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="what to measure")
    given = parser.parse_args()
    rows, rounds = (100_000, 1) if given.quick else (given.rows, 3 if given.rows <= 1_000_000 else 1)
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder), Settings.model_validate({"spark": {"master": "local[2]"}}))
        with running(project.root) as services:
            spark = local_session(project)
            stores = open_stores(project, spark, services.fluss)
            if copied := [part for part in PARTS[:3] if part in given.only]:
                _copies(project, spark, stores, rows, rounds, copied)
            if "freshness" in given.only:
                _freshness(stores, 1.0 if given.quick else 10.0)
            for store in stores.values():
                store.close()
            spark.stop()


def _copies(
    project: Project,
    spark: "SparkSession",
    stores: dict[Tier, Store],
    rows: int,
    rounds: int,
    parts: Sequence[str],
) -> None:
    appended, source, few = project.root / "appended", stores[Tier.HOT], min(rows, FEW)
    writes = count()

    def filled(name: str, key: tuple[str, ...], rows: int) -> Table:
        table = _table(name, key)
        source.create(table)
        for first in range(0, rows, AT_ONCE):
            part = _events(first, min(rows, first + AT_ONCE))
            source.write(table, Changes(part), WriteContext("bench/tiering", next(writes)))
        return table

    def file_of(name: str, rows: int) -> str:
        file = project.root / f"{name}.parquet"
        with pq.ParquetWriter(file, _events(0, 0).schema) as writer:
            for first in range(0, rows, AT_ONCE):
                writer.write_table(_events(first, min(rows, first + AT_ONCE)))
        return str(file)

    def first(table: Table, lake: Tier, rows: int) -> None:
        stores[lake].drop(table.name)
        follow(table, lake, rows)

    def follow(table: Table, lake: Tier, rows: int) -> None:
        moved = tier(table, source, _lake(stores[lake]))
        assert moved.rows == rows, moved

    def change(table: Table, lake: Tier, rows: int) -> None:
        tier(table, source, _lake(stores[lake]))
        some = _events(0, rows).take(np.arange(0, rows, CHANGED))
        source.write(table, Changes(some), WriteContext("bench/tiering", next(writes)))

    def append(file: str) -> None:
        spark.read.parquet(file).writeTo("cold.peer").append()

    def files(file: str) -> None:
        shutil.rmtree(appended, ignore_errors=True)
        spark.read.parquet(file).write.parquet(str(appended))

    def arms_of(name: str, rows: int) -> dict[tuple[str, str], Arm]:
        found: dict[tuple[str, str], Arm] = {}
        if {"warm", "cold"} & set(parts):
            log, file = filled(name, (), rows), file_of(name, rows)
            for lake, peer in ((Tier.WARM, files), (Tier.COLD, append)):
                if lake.value in parts:
                    found[f"hot to {lake.value}", "ours"] = Arm(rows, partial(first, log, lake, rows))
                    found[f"hot to {lake.value}", "spark"] = Arm(rows, partial(peer, file))
        if "keyed" in parts:
            keyed, file = filled(f"{name}_keyed", ("event_id",), few), file_of(f"{name}_keyed", few)
            for lake in (Tier.WARM, Tier.COLD):
                before = partial(change, keyed, lake, few)
                some = few // CHANGED
                found[f"{FIRST} {lake.value}", "ours"] = Arm(few, partial(first, keyed, lake, few))
                found[f"{LATER} {lake.value}", "ours"] = Arm(some, partial(follow, keyed, lake, some), before)
            found[f"{FIRST} {Tier.COLD.value}", "spark"] = Arm(few, partial(append, file))
        return found

    spark.createDataFrame(_events(0, 0)).writeTo("cold.peer").create()
    for arm in arms_of("small", few).values():  # classes are loaded, code is compiled
        arm.before()
        arm.work()
    arms = arms_of("log", rows)
    costs: dict[tuple[str, str], list[Cost]] = {name: [] for name in arms}
    meter = LoadMeter()
    for name in in_turn(list(arms), rounds):
        arms[name].before()
        costs[name].append(_cost(arms[name].work))
    print(f"{rows:,} rows, {rounds} rounds; {meter.load()}", flush=True)
    _told(arms, costs)


def _told(arms: dict[tuple[str, str], Arm], costs: dict[tuple[str, str], list[Cost]]) -> None:
    figures = []
    for (what, who), found in costs.items():
        moved = arms[what, who].rows
        seconds, cpu_s, fluss = (
            median(getattr(one, name) for one in found) for name in ("seconds", "cpu_s", "fluss_cpu_s")
        )
        print(f"{what}, {who}: {moved / seconds:,.0f} rows/s, {cpu_s:.2f} CPU-s, and {fluss:.2f} of Fluss", flush=True)
        if who == "ours":
            peers = {p: moved / median(one.cpu_s for one in costs[w, p]) for w, p in costs if w == what and p != "ours"}
            bound = Bound(at_least=PER_CORE)
            figures.append(Figure(what, "rows/s per core", moved / cpu_s, peers, bound, more_is_better=True))
    show(figures)


def _freshness(stores: dict[Tier, Store], seconds: float) -> None:
    """A writer adds a row every 50 ms, tiering runs all the while, a reader asks for the newest rows."""
    table, source = _table("fresh", ()), stores[Tier.HOT]
    source.create(table)
    written: list[float] = []  # when the write of each row returned
    over = threading.Event()

    def write() -> None:
        while not over.wait(0.05):
            number = len(written)
            source.write(table, Changes(_events(number, number + 1)), WriteContext("bench/fresh", number))
            written.append(time.monotonic())

    def fill() -> None:
        while not over.wait(0.2):
            tier(table, source, _lake(stores[Tier.WARM]))

    threads = [threading.Thread(target=work) for work in (write, fill)]
    for thread in threads:
        thread.start()
    behind: list[float] = []
    shown = 0
    ends = time.monotonic() + seconds
    while time.monotonic() < ends or not behind:
        where = [RowCondition("event_id", ">=", (shown,))]
        found = union_read(table, stores, ("event_id",), where=where).column("event_id")
        now = time.monotonic()
        newest = max(found.to_pylist(), default=-1) + 1
        behind += [now - at for at in written[shown:newest]]
        shown = max(shown, newest)
    over.set()
    for thread in threads:
        thread.join()
    quantiles = {name: float(np.quantile(behind, at)) for name, at in (("p50", 0.5), ("p99", 0.99))}
    show([Figure(f"a union read is behind the writer, {n}", "s", s, {}, Bound(BEHIND_S)) for n, s in quantiles.items()])


def _table(name: str, key: tuple[str, ...]) -> Table:
    columns = tuple(Column(name=name, type=kind) for name, kind in COLUMNS.items())
    tiers = Tiers.model_validate({"hot": "1d", "warm": "30d"})
    return Table(name=f"ods.tiering_{name}", columns=columns, primary_key=key, buckets=2, tiers=tiers)


def _events(first: int, end: int) -> pa.Table:
    event = np.arange(first, end, dtype=np.int64)
    columns = {
        "event_id": event,
        "customer_id": event * 7_919 % 100_003,
        "product": pa.array([f"product-{n:04d}" for n in range(1000)]).take(pa.array(event * 31 % 1000)),
        "quantity": event % 20,
        "price": (event * 13 % 10_000) / 100,
        "sold_at": pa.array(event * 50 + 1_700_000_000_000_000, pa.timestamp("us", tz="UTC")),
    }
    schema = arrow_schema(tuple(Column(name=name, type=kind) for name, kind in COLUMNS.items()))
    return pa.table(columns).cast(schema)


def _lake(store: Store) -> LakeStore:
    return cast("LakeStore", store)


def _cost(work: Callable[[], None]) -> Cost:
    (own, fluss), began = _cpu_s(), time.perf_counter()
    work()
    seconds, (own_now, fluss_now) = time.perf_counter() - began, _cpu_s()
    return Cost(seconds, own_now - own, fluss_now - fluss)


def _cpu_s() -> tuple[float, float]:
    """User and system time of this process and those below it, and of the Fluss servers."""
    own = fluss = 0.0
    me = psutil.Process()
    for one in (me, *me.children(recursive=True)):
        try:
            times = one.cpu_times()
            if FLUSS in " ".join(one.cmdline()):
                fluss += times.user + times.system
            else:
                own += times.user + times.system
        except psutil.NoSuchProcess:
            continue
    return own, fluss


if __name__ == "__main__":
    main()
