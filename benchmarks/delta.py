"""TPC-H: the CPU time of an epoch of 1,000 changed rows in each `delta` query, against the same query computed in full.

Three arms in one process, without stores: the engine's `run_delta` by the groups that changed (with what its state
takes over), the same by computing all and comparing, and Spark alone with the whole query over Parquet files. The ratio
is Spark's. CPU seconds of this process and the JVM, medians of the epochs.

    python benchmarks/delta.py --quick
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parent.parent))

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamhouse.engine.frames import Frames
    from streamhouse.model.plan import FlowPlan, PlannedStep

TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")
KEYS = {"lineitem": ("l_orderkey", "l_linenumber"), "orders": ("o_orderkey",)}
_WARM = 2  # epochs before those that count
FIXTURE = Path(__file__).parent.parent / "tests" / "fixtures" / "tpch"


def main() -> None:
    given = _arguments()
    with tempfile.TemporaryDirectory(prefix="delta-") as folder:
        root = Path(folder)
        ratios = _measured(root, _generated(root, given.scale), given)
    if ratios:
        print(f"median ratio {median(ratios):.1f}, worst {min(ratios):.1f}")


def _measured(root: Path, tables: dict[str, pa.Table], given: argparse.Namespace) -> list[float]:
    from streamhouse.engine.frames import Frames
    from streamhouse.model.types import Strategy
    from streamhouse.project.project import Project
    from streamhouse.project.settings import Settings
    from streamhouse.runtime.open import plan_of
    from streamhouse.runtime.session import local_session

    for name in ("actions", "flows"):
        shutil.copytree(FIXTURE / name, root / name)
    for name, rows in tables.items():
        (root / "data" / name).mkdir(parents=True)
        pq.write_table(rows.slice(0, 10), root / "data" / name / "0.parquet")
    project = Project(root, Settings.model_validate({"spark": {"master": "local[2]"}}))
    plan = plan_of(project, "tpch")
    spark = local_session(project, name="delta")
    ratios = []
    print(f"{'query':28} {'delta':>7} {'all':>7} {'Spark':>7} {'ratio':>6}  parts of an epoch, seconds", flush=True)
    for step in plan.steps:
        chosen = not given.queries or any(step.action.startswith(name) for name in given.queries)
        if step.strategy is not Strategy.DELTA or not chosen:
            continue
        delta, all_, full, parts = _query(step, plan, tables, Frames(spark), root / step.action, given.epochs)
        if not delta:  # no input of it changed
            continue
        ratios.append(full / delta)
        shown = ", ".join(f"{name} {seconds:.3f}" for name, seconds in parts.items())
        print(f"{step.action:28} {delta:7.3f} {all_:7.3f} {full:7.3f} {full / delta:6.1f}  {shown}", flush=True)
    spark.stop()
    return ratios


def _query(
    step: "PlannedStep",
    plan: "FlowPlan",
    tables: Mapping[str, pa.Table],
    frames: "Frames",
    folder: Path,
    epochs: int,
) -> tuple[float, float, float, dict[str, float]]:
    from streamhouse.engine import delta_step
    from streamhouse.engine.groups import Groups
    from streamhouse.model.plan import FlowPlan, Segment
    from streamhouse.stores.arrow import conform
    from streamhouse.stores.base import Changes
    from tests.memory_world import Planned, World

    input_of = _input_type()  # type: ignore[no-untyped-call]

    files = {
        read.table: folder.parent / "made" / f"{read.table.removeprefix('ods.tpch_')}.parquet" for read in step.reads
    }
    own = {read.table: next(table for table in plan.readable if table.name == read.table) for read in step.reads}
    alone = FlowPlan(
        flow="tpch", sources=(), external=tuple(own.values()), segments=(Segment(name="s", steps=(step,)),)
    )
    inputs = {}
    for name, table in own.items():
        inputs[name] = input_of(table.columns, table.primary_key)
        rows = tables[name.removeprefix("ods.tpch_")].select(table.column_names)
        inputs[name].log.append(Changes(conform(rows, table.columns)))
    world = World(Planned(step, alone), inputs, frames, folder)
    world.epoch()
    spent: dict[str, list[float]] = {"delta": [], "all": []}
    parts: dict[str, list[float]] = defaultdict(list)
    chance = Random(1)
    valid = Groups.valid
    delta_step._all_is_cheaper = lambda *_: False  # also where all is cheaper
    for at in range(epochs + _WARM):
        for arm, times in spent.items():
            for name, given_ in inputs.items():
                if name.removeprefix("ods.tpch_") in KEYS:
                    given_.replace(chance)
            deltas = world.deltas(before=True)
            if arm == "all":
                Groups.valid = property(lambda _: False)  # type: ignore[assignment,method-assign]
            taken: dict[str, float] = {}
            with _Parts(frames, taken):
                before = _cpu(frames.spark)
                result = world.made(deltas)
                cpu = _cpu(frames.spark) - before
            Groups.valid = valid  # type: ignore[method-assign]
            world.write(result)
            before = _cpu(frames.spark)
            world.record(result, deltas)
            cpu += _cpu(frames.spark) - before
            if at >= _WARM:
                times.append(cpu)
                if arm == "delta":
                    for name, seconds in taken.items():
                        parts[name].append(seconds)
    world.held.close()
    spark_alone = _by_spark(step, frames, files, max(3, epochs // 2))
    found = {arm: median(of_arm) for arm, of_arm in spent.items()}
    return found["delta"], found["all"], spark_alone, {name: median(times) for name, times in parts.items()}


def _by_spark(step: "PlannedStep", frames: "Frames", files: Mapping[str, Path], runs: int) -> float:
    """The whole query over Parquet files, as anybody would run it in this session."""
    spent = []
    for _ in range(runs + 1):
        before = _cpu(frames.spark)
        bound = {read.port: frames.spark.read.parquet(str(files[read.table])) for read in step.reads}
        frames.collect(step, frames.run(step, bound, 0))
        spent.append(_cpu(frames.spark) - before)
    return median(spent[1:])


class _Parts:
    """Wall seconds of what an epoch does, by the method that does it."""

    def __init__(self, frames, taken) -> None:  # type: ignore[no-untyped-def]
        from streamhouse.engine.groups import Groups
        from streamhouse.engine.states import StateCache

        self._taken = taken
        self._methods = [
            (type(frames), "run", "plan"), (type(frames), "frame", "send"), (type(frames), "rows", "rows"),
            (type(frames), "collect", "result"),
            (type(frames), "place", "place"), (StateCache, "rows_with_keys", "fetch"), (StateCache, "rows", "whole"),
            (Groups, "add", "add"), (StateCache, "difference", "differ"),
        ]  # fmt: skip
        self._old = [(owner, name, getattr(owner, name)) for owner, name, _ in self._methods]

    def __enter__(self) -> None:
        for (owner, name, label), (_, _, real) in zip(self._methods, self._old, strict=True):

            def timed(*args, _real=real, _label=label, **more):  # type: ignore[no-untyped-def]
                begun = perf_counter()
                try:
                    return _real(*args, **more)
                finally:
                    self._taken[_label] = self._taken.get(_label, 0.0) + perf_counter() - begun

            setattr(owner, name, timed)

    def __exit__(self, *_: object) -> None:
        for owner, name, real in self._old:
            setattr(owner, name, real)


def _input_type():  # type: ignore[no-untyped-def]
    from streamhouse.stores.base import Changes
    from tests.memory_world import MemoryInput

    class Replaced(MemoryInput):
        """Rows of which each is replaced at most once, so that nobody need keep a whole version for each epoch."""

        def __init__(self, columns, key) -> None:  # type: ignore[no-untyped-def]
            super().__init__(columns, key)
            self._left: list[int] = []

        def replace(self, chance: Random) -> None:
            """500 rows, each with the values of another one beside its key: inputs of 1,000 in two tables."""
            rows = self.log[0].upserts
            if not self._left:
                self._left = chance.sample(range(rows.num_rows), min(rows.num_rows, 500 * 100))
            at, self._left = sorted(self._left[:500]), self._left[500:]
            before = rows.take(pa.array(at))
            values = rows.take(pa.array([chance.randrange(rows.num_rows) for _ in at]))
            made = {name: before[name] if name in self.key else values[name] for name in rows.column_names}
            self.log.append(Changes(pa.table(made, schema=rows.schema), None, before))

        def parts(self, _at, columns):  # type: ignore[no-untyped-def]
            yield self.log[0].upserts.slice(0, 0).select(columns)

        def changes(self, start, end, columns, *, before=False):  # type: ignore[no-untyped-def]
            entries = self.log[start.get("log", 0) : end.get("log", 0)]
            upserts = pa.concat_tables([entry.upserts for entry in entries]).select(columns)
            old = [entry.before for entry in entries if entry.before is not None]
            return Changes(upserts, None, pa.concat_tables(old).select(columns) if old and before else None)

    return Replaced


def _cpu(spark: "SparkSession") -> float:
    java = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat").read_text().rpartition(")")[2].split()  # type: ignore[union-attr]
    return process_time() + (int(java[11]) + int(java[12])) / os.sysconf("SC_CLK_TCK")


def _generated(root: Path, scale: str) -> dict[str, pa.Table]:
    generator = Path(sysconfig.get_path("scripts")) / "tpchgen-cli"
    subprocess.run(
        [generator, "parquet", "-s", scale, "--output-dir", root / "made"], check=True, stdout=subprocess.DEVNULL
    )
    return {name: pq.read_table(root / "made" / f"{name}.parquet") for name in TABLES}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", default="0.1", help="scale factor of TPC-H")
    parser.add_argument("--quick", action="store_const", dest="scale", const="0.01", help="scale factor 0.01")
    parser.add_argument("--epochs", type=int, default=5, help="of each arm, after one that warms up")
    parser.add_argument("--queries", nargs="*", default=[], help="beginnings of names: q03 q05; all by default")
    return parser.parse_args()


if __name__ == "__main__":
    main()
