"""A log table of 100 columns of which a flow uses 5: read on the executors with and without compile-time pruning.

The peer is what Spark does by itself with a Python source: all columns come, and the query then drops 95. Both arms
are the same reader and the same query, in the order A B A B. CPU is that of driver, JVM and workers; bytes are what
the Fluss server sends, counted in the driver, which reads the same range with the same client.

    python benchmarks/wide_prune.py [--quick]
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np
import psutil
import pyarrow as pa

from streamhouse.engine.rows_source import spread_changes
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.session import local_session
from streamhouse.services.services import running
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss.store import FlussStore
from streamhouse.stores.fluss.wire.link import ServerLink
from streamhouse.stores.places import Places

COLUMNS, USED = 100, 5
ROUNDS = 5
TARGET = {"CPU-s per M rows": 8, "bytes": 15}


def cpu_s() -> float:
    """User and system time of this process and those below it, without the Fluss servers."""
    total = 0.0
    for one in (psutil.Process(), *psutil.Process().children(recursive=True)):
        try:
            if "org.apache.fluss" not in " ".join(one.cmdline()):
                times = one.cpu_times()
                total += times.user + times.system
        except psutil.NoSuchProcess:
            continue
    return total


@contextmanager
def counted() -> Iterator[list[int]]:
    """The sizes of what this process receives from Fluss meanwhile."""
    sizes: list[int] = []
    receive = ServerLink._receive

    def counting(self: ServerLink, size: int) -> memoryview:
        sizes.append(size)
        return receive(self, size)

    ServerLink._receive = counting  # type: ignore[method-assign]
    try:
        yield sizes
    finally:
        ServerLink._receive = receive  # type: ignore[method-assign]


def main() -> None:
    rows = 60_000 if "--quick" in sys.argv else 1_200_000
    names = tuple(f"c{n:03}" for n in range(COLUMNS))
    used = names[7::20]
    assert len(used) == USED
    table = Table(
        name="ods.wide", columns=tuple(Column(name=n, type="bigint") for n in names), buckets=2, tiers=Tiers(hot="1d")
    )
    dice = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder), Settings.model_validate({"spark": {"master": "local[2]"}}))
        with running(project.root) as services:
            store = FlussStore(services.fluss)
            store.create(table)
            for at in range(0, rows, 10_000):
                part = pa.table({n: dice.integers(0, 1 << 60, 10_000) for n in names})
                store.write(table, Changes(part), WriteContext("bench/wide", at))
            end = store.end(table)
            spark = local_session(project)
            places = Places(root=project.root, fluss=services.fluss, warm=project.warm, locks=project.root)

            def query(columns: tuple[str, ...]) -> tuple[float, float, object]:
                before, began = cpu_s(), time.perf_counter()
                frame = spread_changes(spark, table, places, project.root, {}, end, columns)
                total = frame.selectExpr(*(f"sum({name} % 1000) AS {name}" for name in used)).first()
                return cpu_s() - before, time.perf_counter() - began, total

            def fetched(columns: tuple[str, ...]) -> int:
                with counted() as sizes:
                    store.read_changes(table, {}, end, columns)
                return sum(sizes)

            for _ in range(3):
                assert query(used)[2] == query(names)[2]
            runs = [(query(used), query(names)) for _ in range(ROUNDS)]
            sent = fetched(used), fetched(names)
            spark.stop()
            store.close()
    ours, peer = ([run[arm] for run in runs] for arm in (0, 1))
    cpu = [median(run[0] for run in arm) * 1_000_000 / rows for arm in (ours, peer)]
    wall = [median(run[1] for run in arm) for arm in (ours, peer)]
    print(f"{rows} rows, {USED} of {COLUMNS} columns; wall s: pruned {wall[0]:.2f}, all {wall[1]:.2f}")
    for figure, (pruned, whole), digits in (("CPU-s per M rows", cpu, 2), ("bytes", sent, 0)):
        print(
            f"{figure}: pruned {pruned:.{digits}f}, all {whole:.{digits}f}, "
            f"ratio {whole / pruned:.1f}, target ≥ {TARGET[figure]}"
        )


if __name__ == "__main__":
    main()
