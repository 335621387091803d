"""A flow that is 100 M rows behind: how fast it catches up, and that its memory does not depend on the backlog.

One Parquet file of a million rows stands in the source's folder a hundred times, as hard links, so that the disk
holds little; the source counts and reads each as a file of its own. Rows go into a log table of Fluss and from there
into a table that adds them up. Memory is PSS, of the driver's Python and of its JVM, after a tenth of the epochs, when
the JVM has compiled what it compiles, and at the end.

    python benchmarks/backlog.py [--quick | --all]
"""

import argparse
import gc
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from method.machine import LoadMeter, cpu_seconds, megabytes
from method.report import Bound, Figure, show
from method.workload import new_project

from streamhouse.engine.execution import FlowExecution
from streamhouse.engine.surroundings import Beat
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, opened, plan_of

FILE_ROWS = 1_000_000
ITEMS = 10_000
EPOCH_ROWS = 250_000
GROWTH = 1.2
FLOW = f"""\
flow: backlog
freshness: 1s
max_rows_per_epoch: {EPOCH_ROWS}
sources:
  changes: {{files: {{path: "backlog/*.parquet"}}}}
steps:
  - {{use: take_changes, reads: {{changes: changes}}, writes: ods.backlog}}
  - {{use: item_sums, reads: {{changes: ods.backlog}}, writes: dws.backlog}}
"""


@dataclass(frozen=True)
class Looked:
    """What was found after some epoch.

    Attributes:
        read_rows: Since the begin.
        driver_mb: Of this process.
        jvm_mb: Of Spark's JVM.
        heap_mb: What lives in the JVM after a collection.
        workers_mb: Of the processes that Spark started: stream source, Python workers.
        entry_bytes: Length of the epoch's entry in Spark's offset log.
        state_bytes: Size of the state store.
    """

    epoch: int
    read_rows: int
    finished_ms: int
    driver_mb: float
    jvm_mb: float
    heap_mb: float
    workers_mb: float
    entry_bytes: int
    state_bytes: int

    def __str__(self) -> str:
        return (
            f"epoch {self.epoch}: {self.read_rows:,} rows; driver {self.driver_mb:,.0f} MB, JVM {self.jvm_mb:,.0f} MB "
            f"({self.heap_mb:,.0f} MB alive), workers {self.workers_mb:,.0f} MB; "
            f"offset log entry {self.entry_bytes:,} B, state store {self.state_bytes:,} B"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="10 M rows behind, 20 epochs")
    size.add_argument("--all", action="store_true", help="drain all 100 M rows")
    parser.add_argument("--epochs", type=int, default=100, help="how many epochs of the 100 M rows")
    given = parser.parse_args()
    files = 10 if given.quick else 100
    epochs = 20 if given.quick else None if given.all else given.epochs
    with tempfile.TemporaryDirectory() as folder:
        root = new_project(Path(folder))
        part_sums = write_backlog(root, files)
        with opened(Project.at(root)) as open_:
            _measure(open_, files, epochs, part_sums)


def write_backlog(root: Path, files: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Put the rows and the flow into the project; tells the sum of each item over one file."""
    number = np.arange(FILE_ROWS, dtype=np.int64)
    item, amount = number * 7_919 % ITEMS, number * 31 % 1_000
    folder = root / "backlog"
    folder.mkdir()
    first = folder / "00000.parquet"
    pq.write_table(pa.table({"group_id": item // 10, "item_id": item, "amount": amount}), first, row_group_size=125_000)
    for n in range(1, files):
        (folder / f"{n:05d}.parquet").hardlink_to(first)
    (root / "flows" / "backlog.yaml").write_text(FLOW)
    return np.bincount(item, weights=amount, minlength=ITEMS).astype(np.int64)


def _measure(
    open_: Open, files: int, epochs: int | None, part_sums: "np.ndarray[tuple[int], np.dtype[np.int64]]"
) -> None:
    plan = plan_of(open_.project, "backlog")
    tenth = (epochs or files * FILE_ROWS // EPOCH_ROWS) // 10
    meter = _Looking(plan, lambda _: None, once=True, open_=open_, first=tenth, last=epochs)
    load, cpu_s = LoadMeter(), cpu_seconds([os.getpid()])
    carry(open_, plan, meter, once=True, on_execution=meter.runners.append)
    cpu_s = cpu_seconds([os.getpid()]) - cpu_s
    if len(meter.looked) < 2:
        sys.exit(f"WRONG: {meter.epochs} epochs only")
    early, late = meter.looked[0], meter.looked[-1]
    _check(open_, plan.steps[-1].writes.name, files, late.read_rows, part_sums, whole=epochs is None)
    rate = (late.read_rows - early.read_rows) / max(1, late.finished_ms - early.finished_ms) * 1000
    print(f"{files * FILE_ROWS:,} rows behind; {cpu_s / late.read_rows * 1e6:.1f} CPU-s per M rows; {load.load()}")
    per_file = (late.entry_bytes - early.entry_bytes) / max(1, (late.read_rows - early.read_rows) / FILE_ROWS)
    grown = {
        "driver's memory": late.driver_mb / early.driver_mb,
        "JVM's memory": late.jvm_mb / early.jvm_mb,
        "alive in the JVM": late.heap_mb / early.heap_mb,
    }
    show(
        [
            Figure("rows taken", "rows/s", rate, more_is_better=True),
            *(Figure(f"{what}, end ÷ after a tenth", "x", times, bound=Bound(GROWTH)) for what, times in grown.items()),
            Figure("offset log entry, longer by each file taken", "bytes", per_file),
        ]
    )


class _Looking(Meter):
    """Looks at memory from some epoch on, now and then, and stops the runner after the last."""

    def __init__(self, *args: object, open_: Open, first: int, last: int | None, **more: object) -> None:
        super().__init__(*args, **more)  # type: ignore[arg-type]
        self.runners: list[FlowExecution] = []
        self.looked: list[Looked] = []
        self.epochs = 0
        self._open = open_
        self._every = first
        self._until = last

    def beat(self, beat: Beat) -> None:
        super().beat(beat)
        self.epochs += 1
        done = self.epochs == self._until or beat.read_rows >= beat.waiting_rows
        if self.epochs >= self._every and (self.epochs % self._every == 0 or done):
            self.looked.append(_look(self._open, beat))
            print(self.looked[-1], flush=True)
        if self.epochs == self._until:
            self.runners[0].stop()


def _look(open_: Open, beat: Beat) -> Looked:
    gc.collect()
    state_dir = open_.project.state_dir
    below = {p.pid: p.name() for p in psutil.Process().children(recursive=True)}
    jvm = [pid for pid, name in below.items() if name == "java" and _is_spark(pid)]
    workers = [pid for pid, name in below.items() if name != "java"]
    driver_mb, jvm_mb, workers_mb = (megabytes(pids, alone=True) for pids in ([os.getpid()], jvm, workers))
    assert len(jvm) == 1, below
    assert open_.spark._jvm is not None
    java = open_.spark._jvm.java.lang.Runtime.getRuntime()
    java.gc()
    heap_mb = (java.totalMemory() - java.freeMemory()) / 2**20
    log = next((state_dir / "checkpoints" / "backlog").glob(f"*/*/offsets/{beat.record.epoch}"))
    return Looked(
        epoch=beat.record.epoch + 1,
        read_rows=beat.read_rows,
        finished_ms=beat.record.finished_ms,
        driver_mb=driver_mb,
        jvm_mb=jvm_mb,
        heap_mb=heap_mb,
        workers_mb=workers_mb,
        entry_bytes=log.stat().st_size,
        state_bytes=sum(file.stat().st_size for file in state_dir.glob("state.db*")),
    )


def _is_spark(pid: int) -> bool:
    return any("org.apache.spark.deploy.SparkSubmit" in word for word in psutil.Process(pid).cmdline())


def _check(
    open_: Open,
    name: str,
    files: int,
    rows: int,
    part_sums: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    *,
    whole: bool,
) -> None:
    """End the run when the sums are not those of the rows taken."""
    plan = plan_of(open_.project, "backlog")
    found = open_.stores[Tier.HOT].read_state(plan.tables[name]).sort_by("item_id")
    if whole and rows != files * FILE_ROWS:
        sys.exit(f"WRONG: {rows:,} rows of {files * FILE_ROWS:,}")
    number = np.arange(rows % FILE_ROWS, dtype=np.int64)
    rest = np.bincount(number * 7_919 % ITEMS, weights=number * 31 % 1_000, minlength=ITEMS).astype(np.int64)
    if not np.array_equal(found["amount"].to_numpy(), part_sums * (rows // FILE_ROWS) + rest):
        sys.exit(f"WRONG: the sums in {name} are not those of {rows:,} rows")


if __name__ == "__main__":
    main()
