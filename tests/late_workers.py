"""Spark's Python workers on their worst day: in the middle of their writes the driver dies, and they go on later.

In place of `streamhouse.spark.worker_daemon`, by `spark.python.daemon.module`. The environment says when; without
`TABLE` nothing is different.
"""

import os
import signal
import time
from pathlib import Path

import psutil

from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.spark.worker_daemon import prepare
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss.store import FlussStore
from tests.patience import pause

MODULE = "tests.late_workers"
TABLE = "STREAMHOUSE_TEST_LATE_TABLE"
"""The table whose first write by tasks is cut in two: the driver dies in between."""
JVM = "STREAMHOUSE_TEST_LATE_JVM"
"""The JVM's fate in the same moment: SIGKILL; SIGSTOP, as if it hung; absent: it notices the driver's end itself."""
DRIVER = "STREAMHOUSE_TEST_LATE_DRIVER"
"""On a cluster: a part of the driver's command line; absent: the driver's JVM forks the workers."""
FOLDER = "STREAMHOUSE_TEST_LATE_FOLDER"
"""Tasks write down here what they do; when `GO` appears there, they write the second half of their rows."""

FIRST_HALF, SECOND_HALF, PROCESSES = "first-half", "second-half", "processes"
GO = "go"
_LOOKS = 45_000

_write = FlussStore.write


def late_write(store: FlussStore, table: Table, changes: Changes, context: WriteContext) -> Position:
    """`FlussStore.write` in two halves, with the driver's end between them."""
    if table.name != os.environ.get(TABLE):
        return _write(store, table, changes, context)
    folder, rows = Path(os.environ[FOLDER]), changes.upserts
    half = rows.num_rows // 2
    _write(store, table, Changes(rows.slice(0, half)), context)
    _note(folder / FIRST_HALF, f"{table.name} {half}")
    pause(0.3)  # so that the other tasks, too, may be in the middle
    _kill_driver(folder)
    # No verdict: the driver's end is to end this process, and `GO` comes when all kills are done.
    for _ in range(_LOOKS):
        if (folder / GO).exists():
            break
        time.sleep(0.02)
    end = _write(store, table, Changes(rows.slice(half)), context)
    _note(folder / SECOND_HALF, f"{table.name} {rows.num_rows - half}")
    return end


def _kill_driver(folder: Path) -> None:
    jvm = psutil.Process().parents()[1]  # behind the daemon
    driver = _driver()
    if driver is None:
        return  # another task was first
    _note(folder / PROCESSES, f"{os.getpid()} {jvm.pid}")
    if fate := os.environ.get(JVM):
        jvm.send_signal(signal.Signals[fate])
    driver.kill()


def _driver() -> psutil.Process | None:
    if root := os.environ.get(DRIVER):
        with_root = (p for p in psutil.process_iter(["cmdline"]) if root in (p.info["cmdline"] or []))
        return next((p for p in with_root if "java" not in p.name()), None)
    parents = psutil.Process().parents()
    is_there = len(parents) > 2 and any("streamhouse" in part for part in parents[2].cmdline())
    return parents[2] if is_there else None


def _note(file: Path, text: str) -> None:
    with file.open("a") as notes:
        notes.write(text + "\n")


if __name__ == "__main__":
    prepare()
    FlussStore.write = late_write  # type: ignore[method-assign,assignment]
    from pyspark.daemon import manager

    manager()  # type: ignore[no-untyped-call]
