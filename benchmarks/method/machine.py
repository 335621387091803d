"""What the machine did meanwhile: processor seconds and memory of process trees, load and pressure."""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

_PRESSURE = Path("/proc/pressure/cpu")


def tree(pids: Iterable[int]) -> list[psutil.Process]:
    """The processes and all that descend from them, each once; those that are gone are left out."""
    found: dict[int, psutil.Process] = {}
    for pid in pids:
        try:
            root = psutil.Process(pid)
            found |= {p.pid: p for p in (root, *root.children(recursive=True))}
        except psutil.NoSuchProcess:
            continue
    return list(found.values())


def cpu_seconds(pids: Iterable[int], *, alone: bool = False) -> float:
    """User and system seconds of the trees since they began, with those of descendants that have ended.

    With `alone`, of the processes themselves.
    """
    total = 0.0
    for process in _living(pids) if alone else tree(pids):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        # What a child used comes to its parent when it has ended, so nobody is counted twice.
        ended = 0.0 if alone else times.children_user + times.children_system
        total += times.user + times.system + ended
    return total


def megabytes(pids: Iterable[int], *, alone: bool = False) -> float:
    """Memory of the trees; a page that several processes share is counted once (PSS). `alone`: without descendants."""
    total = 0
    for process in _living(pids) if alone else tree(pids):
        try:
            total += process.memory_full_info().pss
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return total / 2**20


def _living(pids: Iterable[int]) -> list[psutil.Process]:
    return [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]


@dataclass(frozen=True)
class Load:
    """How busy the machine was over some time.

    Attributes:
        stalled: Share of the time in which some task waited for a processor; NaN where the system does not tell.
        cores: Cores that were busy, with whatever else runs on the machine.
    """

    stalled: float
    cores: float

    def __str__(self) -> str:
        return (
            f"{self.cores:.1f} of {os.cpu_count()} cores busy, some task waiting for one {self.stalled:.0%} of the time"
        )


class LoadMeter:
    """Measures the load of the machine from its creation until it is asked."""

    def __init__(self) -> None:
        self._began = self._now()

    def load(self) -> Load:
        """The load since this meter was made."""
        (t0, stalled0, busy0), (t1, stalled1, busy1) = self._began, self._now()
        seconds = max(t1 - t0, 1e-3)
        return Load((stalled1 - stalled0) / seconds, (busy1 - busy0) / seconds)

    @staticmethod
    def _now() -> tuple[float, float, float]:
        times = psutil.cpu_times()
        busy = sum(getattr(times, name) for name in ("user", "system", "nice", "irq", "softirq"))
        return time.monotonic(), _stalled_seconds(), busy


def _stalled_seconds() -> float:
    try:
        some = _PRESSURE.read_text().splitlines()[0]
    except OSError:
        return float("nan")
    return int(some.rpartition("=")[2]) / 1e6
