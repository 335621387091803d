"""One lock for each table of a lake tier, and for each hot one that drops days.

The commits of Paimon and of Iceberg's Hadoop catalog check and then rename: two of them at once
can lose one. Whatever commits to a lake table (a flow, tiering, compaction, expiry) holds the
table's lock, so "is this epoch already there?" and the commit that follows are one step.
"""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from platform import node
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from streamhouse.errors import StoreUnavailableError
from streamhouse.model.types import Tier
from streamhouse.spark.java_process import pid_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ORPHAN_S = 10.0  # a JVM ends within some two seconds of the process that started it


@dataclass(frozen=True)
class TableLocks:
    """Lock files in `directory`, which every process that commits to the tables must share.

    A lock excludes threads of this process as it does other processes, and dies with its holder.
    It is not reentrant.
    """

    directory: Path
    timeout_s: float = 600.0

    @contextmanager
    def hold(self, tier: Tier, name: str, spark: "SparkSession | None" = None) -> Iterator[None]:
        """Hold the lock of table `name` in `tier` for the length of a `with` block.

        Args:
            tier: With `name`, which table.
            name: `layer.name`.
            spark: Its JVM commits in the block, and goes on for a moment when this process is killed: who comes next
                waits until it is gone.

        Raises:
            StoreUnavailableError: another holder kept it for `timeout_s`.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        # An instance for each call: one shared by threads would count them as one holder.
        lock = FileLock(self.directory / f"{tier.value}.{name}.lock", timeout=self.timeout_s)
        try:
            lock.acquire()
        except Timeout as error:
            message = f"table {name} ({tier.value}) has been locked by another process for {self.timeout_s:.0f} s"
            hint = "it is being written or compacted; try again when that has ended"
            raise StoreUnavailableError(message, hint=hint) from error
        note = self.directory / f"{tier.value}.{name}.jvm"
        try:
            _outlive(note)
            if spark is None:
                yield
                return
            with _noted(note, pid_of(spark)):
                yield
        finally:
            lock.release()


def _outlive(note: Path) -> None:
    """Return when the JVM is gone whose driver died while it committed; at once when there was none."""
    try:
        machine, pid = json.loads(note.read_text())
        written_s = note.stat().st_mtime
    except (FileNotFoundError, ValueError, TypeError):  # none, or its writer died before anything was committed
        return
    patience = time.monotonic() + _ORPHAN_S
    while machine == node() and _is_there(pid, written_s):
        if time.monotonic() > patience:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    note.unlink(missing_ok=True)


@contextmanager
def _noted(note: Path, pid: int) -> Iterator[None]:
    """While the block runs, a file names the JVM that commits."""
    note.write_text(json.dumps([node(), pid]))
    try:
        yield
    finally:
        note.unlink()


def _is_there(pid: int, since_s: float) -> bool:
    import psutil

    try:
        process = psutil.Process(pid)
        # One that began later only has the number of the JVM.
        return process.create_time() <= since_s and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
