"""A table grows 1x, 10x, 100x: what a small epoch costs then.

- `merge`: sums of items, added up by the store; an epoch costs what changed, however many items there are
- `recompute`: the spread of each group of ten items; an epoch costs the groups it touched

Each epoch brings 100 rows of random items that exist. Medians after a warm-up.

    python benchmarks/growth.py [--quick]
"""

import argparse
import os
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from method.arms import in_turn
from method.machine import Load, LoadMeter, cpu_seconds
from method.report import Bound, Figure, show
from method.workload import new_project

from streamhouse.engine.execution import FlowExecution
from streamhouse.engine.surroundings import Beat
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Strategy, Tier
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, opened, plan_of
from streamhouse.services.services import Services

CHANGED = 100
ITEMS_PER_GROUP = 10
FLAT = 1.5  # a hundred times the table may cost so many times the epoch: noise
FLOWS = {
    Strategy.MERGE: """\
flow: {name}
freshness: 100ms
max_rows_per_epoch: 250_000
sources:
  changes: {{files: {{path: "{name}/*.parquet"}}}}
steps:
  - {{use: take_changes, reads: {{changes: changes}}, writes: ods.{name}}}
  - {{use: item_sums, reads: {{changes: ods.{name}}}, writes: dws.{name}}}
""",
    Strategy.RECOMPUTE: """\
flow: {name}
freshness: 100ms
max_rows_per_epoch: 1_000_000
sources:
  changes: {{files: {{path: "{name}/*.parquet"}}}}
steps:
  - {{use: take_changes, reads: {{changes: changes}}, writes: ods.{name}}}
  - {{use: group_spread, reads: {{items: ods.{name}}}, writes: dws.{name}}}
tables:
  ods.{name}: {{primary_key: [group_id, item_id], bucket_key: [group_id]}}
""",
}


@dataclass(frozen=True)
class Epochs:
    """Small epochs over a table of some size: medians of one epoch."""

    wall_ms: float
    cpu_ms: float
    load: Load

    def __str__(self) -> str:
        return f"{self.wall_ms:.0f} ms, {self.cpu_ms:.0f} CPU-ms; {self.load}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 and 10,000 items, few epochs")
    given = parser.parse_args()
    sizes = (1_000, 10_000) if given.quick else (10_000, 100_000, 1_000_000)
    warm_up, epochs, rounds = (3, 5, 1) if given.quick else (10, 25, 2)
    done: dict[tuple[Strategy, int], list[Epochs]] = {}
    with tempfile.TemporaryDirectory() as folder, opened(Project.at(new_project(Path(folder)))) as open_:
        for strategy in FLOWS:
            tables = {items: _Growing(open_, strategy, items) for items in sizes}
            tables[sizes[0]].measure(2 * warm_up, 1)  # Spark's code gets warm with whatever runs first
            for items in in_turn(sizes, rounds):
                found = tables[items].measure(warm_up, epochs)
                done.setdefault((strategy, items), []).append(found)
                print(f"{strategy.value}, {items:,} items: an epoch {found}", flush=True)
            for table in tables.values():
                table.check()
    for strategy in FLOWS:
        small, large = done[strategy, sizes[0]], done[strategy, sizes[-1]]
        name = f"{strategy.value}, an epoch over {sizes[-1] // sizes[0]}x the rows"
        cpu = median(e.cpu_ms for e in large) / median(e.cpu_ms for e in small)
        wall = median(e.wall_ms for e in large) / median(e.wall_ms for e in small)
        show([Figure(f"{name}, processor", "x", cpu, bound=Bound(at_most=FLAT))])
        show([Figure(f"{name}, wall", "x", wall, bound=Bound(at_most=FLAT))])


class _Growing:
    """A flow over a table of so many items."""

    def __init__(self, open_: Open, strategy: Strategy, items: int) -> None:
        """Load the table."""
        self._open = open_
        self._items = items
        self._name = f"{strategy.value}_{items}"
        self._folder = open_.project.root / self._name
        self._files = 0
        self._folder.mkdir()
        (open_.project.root / "flows" / f"{self._name}.yaml").write_text(FLOWS[strategy].format(name=self._name))
        self._drop_in(np.arange(items))
        self._plan = plan_of(open_.project, self._name)
        assert self._plan.steps[-1].strategy is strategy, self._plan.steps[-1].reason
        self._rows = items if strategy is Strategy.MERGE else items // ITEMS_PER_GROUP
        carry(open_, self._plan, Meter(self._plan, lambda _: None, once=True), once=True)

    def measure(self, warm_up: int, epochs: int) -> Epochs:
        """Run the flow for some small epochs."""
        meter = _Waiting(self._plan)
        runners: list[FlowExecution] = []
        more = {"once": False, "on_execution": runners.append}
        thread = threading.Thread(target=carry, args=(self._open, self._plan, meter), kwargs=more)
        thread.start()
        services = {service.pid for service in Services(self._open.project.root).status().services}
        random = np.random.default_rng(self._items + self._files)
        walls, cpus = [], []
        load = LoadMeter()
        try:
            for n in range(warm_up + epochs):
                cpu_s = _own_cpu_s(services)
                self._drop_in(random.integers(0, self._items, CHANGED))
                beat = meter.await_rows((n + 1) * CHANGED)
                cpus.append((_own_cpu_s(services) - cpu_s) * 1000)
                walls.append(beat.record.finished_ms - beat.record.at_ms)
        finally:
            runners[0].stop()
            thread.join()
        return Epochs(median(walls[warm_up:]), median(cpus[warm_up:]), load.load())

    def check(self) -> None:
        """End the run when the table does not have the rows it should."""
        table = self._plan.steps[-1].writes
        state = self._open.stores[Tier.HOT].read_state(table)
        if state.num_rows != self._rows:
            sys.exit(f"WRONG: {table.name} has {state.num_rows} rows, expected {self._rows}")

    def _drop_in(self, items: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> None:
        amounts = (items * 7 + self._files) % 1000
        rows = pa.table({"group_id": items // ITEMS_PER_GROUP, "item_id": items, "amount": amounts})
        name = f"{self._files:06d}"
        pq.write_table(rows, self._folder / f".{name}")
        (self._folder / f".{name}").rename(self._folder / f"{name}.parquet")
        self._files += 1


def _own_cpu_s(services: set[int]) -> float:
    return cpu_seconds([os.getpid()]) - cpu_seconds(services)


class _Waiting(Meter):
    """Lets another thread wait until so many rows were read."""

    def __init__(self, plan: FlowPlan) -> None:
        super().__init__(plan, lambda _: None, once=False)
        self._known = threading.Condition()
        self._last: Beat | None = None

    def beat(self, beat: Beat) -> None:
        super().beat(beat)
        with self._known:
            self._last = beat
            self._known.notify_all()

    def await_rows(self, rows: int) -> Beat:
        """The epoch with which `rows` were read."""
        with self._known:
            if not self._known.wait_for(lambda: self._last is not None and self._last.read_rows >= rows, timeout=300):
                sys.exit(f"the flow does not get to {rows:,} rows: {self._last}")
            assert self._last is not None
            return self._last


if __name__ == "__main__":
    main()
