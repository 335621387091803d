"""`kill -9` in the middle of a run: how long until the first new epoch is in every layer?

- cold: a new process, with Fluss still up; then also after `kill -9` of Fluss itself
- warm: in the same session, a new runner after an epoch failed for good

The cold time is broken down. Afterwards the tables must hold each event exactly once.

    python benchmarks/recovery.py [--quick]
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from method.machine import LoadMeter, tree
from method.report import Bound, Figure, show
from method.workload import Chain, add_chain, expected_board, new_project, write_events

from streamhouse.services.services import Services, running

FLOW = "recovery"
PER_SECOND = 20_000
EPOCHS_BEFORE = 12
CHILD_TIMEOUT_S = 120


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="once each, without killing Fluss")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        _child(given.child)
        return
    with tempfile.TemporaryDirectory() as folder:
        root = new_project(Path(folder))
        write_events(root, "events", 4_000_000)
        add_chain(root, Chain(FLOW, "events", PER_SECOND))
        try:
            with running(root):
                _measure(root, times=1 if given.quick else 3, services_too=not given.quick)
        finally:
            Services(root).down()  # the child that was killed had started those that replaced the killed ones


def _measure(root: Path, *, times: int, services_too: bool) -> None:
    meter = LoadMeter()
    stages: dict[str, list[dict[str, float]]] = {"cold": [], "cold, Fluss killed too": []}
    warm: list[float] = []
    with _Child(root) as child:
        child.await_epochs(EPOCHS_BEFORE)
        child.kill()
    for _ in range(times):
        with _Child(root) as child:
            stages["cold"].append(child.breakdown())
            child.await_epochs(EPOCHS_BEFORE)
            warm += child.fail()
            child.await_epochs(EPOCHS_BEFORE)
            child.kill()
    if services_too:
        _kill_services(root)
        with _Child(root) as child:
            stages["cold, Fluss killed too"].append(child.breakdown())
            child.kill()
    with _Child(root) as child:
        child.await_epochs(1)
        counted = child.stop()
    for name, runs in stages.items():
        _show_breakdown(name, runs)
    figures = [Figure("recovery, cold", "s", median(sum(r.values()) for r in stages["cold"]), bound=Bound(at_most=20))]
    figures.append(Figure("recovery, warm", "s", median(warm), bound=Bound(at_most=3)))
    show(figures)
    lines, cents = expected_board(counted["events"])
    right = (counted["ods"], counted["lines"], counted["cents"]) == (counted["events"], lines, cents)
    print(
        f"events {counted['events']:,}: each exactly once: {'yes' if right else f'NO: {counted}, {lines=}, {cents=}'}"
    )
    print(f"machine: {meter.load()}")


def _show_breakdown(name: str, runs: list[dict[str, float]]) -> None:
    if not runs:
        return
    print(f"{name}: {median(sum(run.values()) for run in runs):.1f} s = ", end="")
    print(" + ".join(f"{stage} {median(run[stage] for run in runs):.2f}" for stage in runs[0]))


def _kill_services(root: Path) -> None:
    for service in Services(root).status().services:
        os.kill(service.pid, signal.SIGKILL)


class _Child:
    """A process that runs the flow and tells what it does, one JSON document to a line."""

    def __init__(self, root: Path) -> None:
        path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
        self._began = time.time()
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--child", str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )

    def __enter__(self) -> "_Child":
        return self

    def __exit__(self, *_: object) -> None:
        family = tree([self._process.pid])
        if self._process.poll() is None:
            self.kill()
        for process in psutil.wait_procs(family, timeout=10)[1]:
            process.kill()

    def _next(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the flow's process ended with {self._process.wait()}")
        document: dict[str, Any] = json.loads(line)
        return document

    def await_epochs(self, count: int) -> None:
        """Wait for so many further epochs."""
        while count:
            count -= self._next()["stage"] == "epoch"

    def breakdown(self) -> dict[str, float]:
        """Seconds from the process' start to the end of its first epoch, by stage."""
        found: dict[str, float] = {}
        last = self._began
        while True:
            document = self._next()
            found[document["stage"]] = document["at"] - last
            last = document["at"]
            if document["stage"] == "epoch":
                return found

    def fail(self) -> list[float]:
        """Let an epoch fail; seconds from there to the end of the first new epoch."""
        self._ask("fail")
        while (document := self._next())["stage"] != "failed":
            pass
        failed_at = document["failed_at"]
        while (document := self._next())["stage"] != "epoch":
            pass
        return [document["at"] - failed_at]

    def stop(self) -> dict[str, int]:
        """Stop the flow, and count its tables."""
        self._ask("stop")
        while (document := self._next())["stage"] != "stopped":
            pass
        self._process.wait(CHILD_TIMEOUT_S)
        counted: dict[str, int] = document["counted"]
        return counted

    def kill(self) -> None:
        """`kill -9`, of this process alone: Spark's must notice by itself."""
        self._process.kill()
        self._process.wait()

    def _ask(self, what: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()


def _child(root: Path) -> None:
    """Run the flow until told to stop; see `_Child`."""
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # standard output is for documents alone

    def tell(stage: str, **more: Any) -> None:
        said.write(json.dumps({"stage": stage, "at": time.time(), **more}) + "\n")
        said.flush()

    tell("interpreter, our modules")
    import duckdb  # noqa: F401  loaded here so that its import is not booked elsewhere
    import pyarrow  # noqa: F401
    import pyspark.sql  # noqa: F401

    tell("pyspark, pyarrow")
    _carry_on(root, tell)


def _carry_on(root: Path, tell: Callable[..., None]) -> None:
    import threading
    from collections import ChainMap
    from dataclasses import replace

    from streamhouse.engine.execution import FlowExecution
    from streamhouse.engine.segment import SegmentExecution
    from streamhouse.engine.surroundings import Beat
    from streamhouse.jobs.run import Meter, carry
    from streamhouse.model.types import Tier
    from streamhouse.project.project import Project
    from streamhouse.runtime.open import opened, plan_of

    class Beats(Meter):
        def beat(self, beat: Beat) -> None:
            super().beat(beat)
            tell("epoch")

    def timed_prepare(segment: SegmentExecution, *args: Any, **more: Any) -> None:
        tell("lease, inputs")
        prepare(segment, *args, **more)
        tell("tables and types checked")

    def timed_run(segment: SegmentExecution, *args: Any, **more: Any) -> Any:
        tell("Spark stream started")
        return run(segment, *args, **more)

    prepare, run = SegmentExecution.prepare, SegmentExecution.run
    SegmentExecution.prepare, SegmentExecution.run = timed_prepare, timed_run  # type: ignore[method-assign, assignment]

    project = Project.at(root)
    plan = plan_of(project, FLOW)
    tell("plan")
    stage_of = {"starting Fluss": "look around", "starting Spark": "Fluss"}
    with opened(project, say=lambda text: tell(stage_of[text]) if text in stage_of else None) as found:
        tell("Spark session, stores")
        hot = _Failing(found.stores[Tier.HOT])
        open_ = replace(found, stores=ChainMap({Tier.HOT: hot}, dict(found.stores)))
        current: list[FlowExecution] = []
        stopping = threading.Event()

        def listen() -> None:
            for line in sys.stdin:
                if line.strip() == "fail":
                    hot.fails.set()
                else:
                    stopping.set()
                    current[-1].stop()

        threading.Thread(target=listen, daemon=True).start()
        while not stopping.is_set():
            try:
                carry(open_, plan, Beats(plan, lambda _: None, once=False), once=False, on_execution=current.append)
            except Exception:
                if hot.failed_at is None:
                    raise
                tell("failed", failed_at=hot.failed_at)
                hot.failed_at = None
        last = open_.state.recent_epochs(FLOW, limit=1)[0]
        ods, board = (hot.read_state(plan.tables[f"{layer}.{FLOW}"]) for layer in ("ods", "ads"))
        rows = {"events": last.end["events"]["row"], "ods": ods.num_rows}
        sums = {name: int(board.column(name).to_numpy().sum()) for name in ("lines", "cents")}
        tell("stopped", counted=rows | sums)


class _Failing:
    """A store of which one write of the last layer fails for good when told so."""

    def __init__(self, store: Any) -> None:
        import threading

        self._store = store
        self.fails = threading.Event()
        self.failed_at: float | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, table: Any, changes: Any, context: Any) -> Any:
        """As the store's, but for the failure."""
        from streamhouse.errors import StoreError

        if self.fails.is_set() and table.name == f"ads.{FLOW}":
            self.fails.clear()
            self.failed_at = time.time()
            raise StoreError("the benchmark lets this write fail")
        return self._store.write(table, changes, context)


if __name__ == "__main__":
    main()
