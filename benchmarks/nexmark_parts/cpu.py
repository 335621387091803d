"""CPU time of this process and of everything it started."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Spent:
    """What some work took: CPU seconds (user and system, all processes) and seconds on the wall."""

    cpu_s: float
    wall_s: float


def spent(work: Callable[[], object], *, counting: Collection[int] = (), leaving_out: Collection[int] = ()) -> Spent:
    """Do the work and tell what it took.

    Args:
        work: Called once.
        counting: Processes to count besides this one and those below it.
        leaving_out: Processes to leave out, with those below them.
    """
    before, began = _cpu_s(counting, leaving_out), time.perf_counter()
    work()
    wall_s = time.perf_counter() - began
    return Spent(_cpu_s(counting, leaving_out) - before, wall_s)


def _cpu_s(counting: Collection[int], leaving_out: Collection[int]) -> float:
    skipped = {process.pid for root in leaving_out for process in _tree(root)}
    found = {process.pid: process for root in (psutil.Process().pid, *counting) for process in _tree(root)}
    return sum(_of(process) for pid, process in found.items() if pid not in skipped)


def _tree(root: int) -> list[psutil.Process]:
    process = psutil.Process(root)
    return [process, *process.children(recursive=True)]


def _of(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0  # it ended just now; its parent has its time
    # What ended and was waited for counts for its parent.
    return float(times.user + times.system + times.children_user + times.children_system)
