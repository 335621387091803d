"""32 flows of four layers in one process, and nothing to read: cores and memory.

Every flow first takes 100 events. Memory is PSS over the process tree, Fluss apart; each flow's share is all of it
divided by the flows, and what one more flow takes is told beside it.

    python benchmarks/idle.py [--quick]
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
from method.machine import LoadMeter, cpu_seconds, megabytes, tree
from method.report import Bound, Figure, show
from method.workload import PACKAGE, Chain, add_chain, new_project, write_events

from streamhouse.engine.execution import FlowExecution
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, opened, plan_of
from streamhouse.services.services import Services, running

EVENTS = 100
SETTLE_S = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="3 flows for 5 seconds")
    given = parser.parse_args()
    flows, seconds = (3, 5) if given.quick else (32, 60)
    with tempfile.TemporaryDirectory() as folder:
        root = new_project(Path(folder))
        write_events(root, "events", EVENTS)
        names = [f"idle_{n}" for n in range(flows)]
        for name in names:
            add_chain(root, Chain(name, "events", None))
        sys.path.insert(0, str(root))  # the events are a package
        assert (root / PACKAGE).is_dir()
        with running(root), opened(Project.at(root)) as open_:
            _measure(open_, names, seconds)


def _measure(open_: Open, names: list[str], seconds: int) -> None:
    services = [service.pid for service in Services(open_.project.root).status().services]
    ours = [os.getpid()]
    before_mb = megabytes(ours) - megabytes(services)
    runners: list[FlowExecution] = []
    threads = [threading.Thread(target=_carry, args=(open_, name, runners)) for name in names]
    try:
        for name, thread in zip(names, threads, strict=True):
            thread.start()
            _await_first_epoch(open_, name, thread)
        time.sleep(SETTLE_S)
        meter = LoadMeter()
        cpu_s, services_s = cpu_seconds(ours) - cpu_seconds(services), cpu_seconds(services)
        kinds_s = _by_kind(services, lambda pid: cpu_seconds([pid], alone=True))
        time.sleep(seconds)
        cpu_s, services_s = cpu_seconds(ours) - cpu_seconds(services) - cpu_s, cpu_seconds(services) - services_s
        load = meter.load()
        kinds_s = {
            k: s - kinds_s.get(k, 0) for k, s in _by_kind(services, lambda p: cpu_seconds([p], alone=True)).items()
        }
        kinds_mb = _by_kind(services, lambda pid: megabytes([pid], alone=True))
        all_mb, processes = megabytes(ours) - megabytes(services), len(tree(ours)) - len(tree(services))
    finally:
        for runner in runners:
            runner.stop()
        for thread in threads:
            if thread.is_alive():
                thread.join()
    for name in names:
        rows = open_.stores[Tier.HOT].read_state(plan_of(open_.project, name).tables[f"ods.{name}"]).num_rows
        if rows != EVENTS:
            sys.exit(f"WRONG: ods.{name} has {rows} rows")
    show(
        [
            Figure(f"{len(names)} idle flows", "cores", cpu_s / seconds, bound=Bound(at_most=0.1)),
            Figure("memory, each", "MB", all_mb / len(names), bound=Bound(at_most=120)),
            Figure("memory, one more flow", "MB", (all_mb - before_mb) / len(names)),
        ]
    )
    for kind, mb in kinds_mb.items():
        print(f"{kind}: {mb:,.0f} MB, {kinds_s[kind] / seconds:.3f} cores")
    print(f"{processes} processes, {all_mb:,.0f} MB ({before_mb:,.0f} before the first flow), ", end="")
    print(f"Fluss {services_s / seconds:.3f} cores; {load}")


def _by_kind(services: list[int], value: Callable[[int], float]) -> dict[str, float]:
    """Sums over our own processes: this one, the JVM, and Spark's Python processes."""
    left_out = {process.pid for process in tree(services)}
    found = {"driver": 0.0, "JVM": 0.0, "Python workers": 0.0}
    for process in tree([os.getpid()]):
        if process.pid not in left_out:
            with suppress(psutil.NoSuchProcess):  # it has just ended
                java = process.name() == "java"
                kind = "driver" if process.pid == os.getpid() else "JVM" if java else "Python workers"
                found[kind] += value(process.pid)
    return found


def _carry(open_: Open, name: str, runners: list[FlowExecution]) -> None:
    plan = plan_of(open_.project, name)
    carry(open_, plan, Meter(plan, lambda _: None, once=False), once=False, on_execution=runners.append)


def _await_first_epoch(open_: Open, name: str, thread: threading.Thread) -> None:
    while not open_.state.recent_epochs(name, limit=1):
        if not thread.is_alive():
            sys.exit(f"{name} ended by itself")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
