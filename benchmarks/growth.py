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
from method.machine import LoadMeter, cpu_seconds
from method.report import Bound, Figure, show
from method.workload import new_project

from streamhouse.engine.runner import Beat, Runner
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Strategy, Tier
from streamhouse.runtime.project import Project
from streamhouse.runtime.run import Meter, Open, carry, opened, plan_of
from streamhouse.runtime.services import Services

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

    def __str__(self) -> str:
        return f"{self.wall_ms:.0f} ms, {self.cpu_ms:.0f} CPU-ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 and 10,000 items, few epochs")
    given = parser.parse_args()
    sizes = (1_000, 10_000) if given.quick else (10_000, 100_000, 1_000_000)
    warm_up, epochs = (3, 5) if given.quick else (15, 25)
    meter = LoadMeter()
    found: dict[tuple[Strategy, int], Epochs] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = new_project(Path(folder))
        with opened(Project.at(root)) as open_:
            for strategy in FLOWS:
                for items in sizes:
                    done = found[strategy, items] = _measure(open_, strategy, items, warm_up, epochs)
                    print(
                        f"{strategy.value}, {items:,} items: {done.wall_ms:.0f} ms, {done.cpu_ms:.0f} CPU-ms",
                        flush=True,
                    )
    first, last = sizes[0], sizes[-1]
    for strategy in FLOWS:
        small, large = found[strategy, first], found[strategy, last]
        name = f"{strategy.value}, epoch over {last // first}x the rows, processor"
        ratio, wall = large.cpu_ms / small.cpu_ms, large.wall_ms / small.wall_ms
        show([Figure(name, "x", ratio, bound=Bound(at_most=FLAT))])
        show([Figure(name.replace("processor", "wall"), "x", wall, bound=Bound(at_most=FLAT))])
    print(f"machine: {meter.load()}")


def _measure(open_: Open, strategy: Strategy, items: int, warm_up: int, epochs: int) -> Epochs:
    root = open_.project.root
    name = f"{strategy.value}_{items}"
    (root / name).mkdir()
    (root / "flows" / f"{name}.yaml").write_text(FLOWS[strategy].format(name=name))
    _drop_in(root / name, "0", np.arange(items))
    plan = plan_of(open_.project, name)
    assert plan.steps[-1].strategy is strategy, plan.steps[-1].reason
    meter = _Waiting(plan)
    runners: list[Runner] = []
    thread = threading.Thread(
        target=carry, args=(open_, plan, meter), kwargs={"once": False, "on_runner": runners.append}
    )
    thread.start()
    try:
        meter.await_rows(items)
        random = np.random.default_rng(items)
        services = {service.pid for service in Services(root).status().services}
        walls, cpus = [], []
        for n in range(warm_up + epochs):
            cpu_s = cpu_seconds([os.getpid()]) - cpu_seconds(services)
            _drop_in(root / name, f"{n + 1:06d}", random.integers(0, items, CHANGED))
            beat = meter.await_rows(items + (n + 1) * CHANGED)
            cpus.append((cpu_seconds([os.getpid()]) - cpu_seconds(services) - cpu_s) * 1000)
            walls.append(beat.record.finished_ms - beat.record.at_ms)
    finally:
        runners[0].stop()
        thread.join()
    table = plan.steps[-1].writes
    state = open_.stores[Tier.HOT].read_state(table)
    expected = items if strategy is Strategy.MERGE else items // ITEMS_PER_GROUP
    if state.num_rows != expected:
        sys.exit(f"WRONG: {table.name} has {state.num_rows} rows, expected {expected}")
    return Epochs(median(walls[warm_up:]), median(cpus[warm_up:]))


def _drop_in(folder: Path, name: str, items: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> None:
    rows = pa.table({"group_id": items // ITEMS_PER_GROUP, "item_id": items, "amount": items * 7 % 1000})
    pq.write_table(rows, folder / f".{name}")
    (folder / f".{name}").rename(folder / f"{name}.parquet")


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
