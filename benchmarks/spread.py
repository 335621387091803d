"""Read, SQL, write of one epoch: through the driver, and on the executors. From which size do executors win?

A log table of 8 columns is read, filtered and projected, and written to another log table. The two routes alternate.
CPU is that of driver, JVM and workers. The size from which the executors win is the default of `local_epoch_rows`.

    python benchmarks/spread.py [--quick] [ROWS ...]
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from wide_prune import cpu_s

from streamhouse.engine.rows_source import spread_changes
from streamhouse.engine.spread import spread_write
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import Position
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.session import local_session
from streamhouse.services.services import running
from streamhouse.spark.frame import arrow_frame
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss.store import FlussStore
from streamhouse.stores.places import Places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SIZES = (20_000, 50_000, 100_000, 300_000, 1_000_000)
COLUMNS = {"id": "bigint", "store": "int", "product": "bigint", "basket": "bigint", "amount": "double"}
WORDS = {"note": "string", "brand": "string", "city": "string"}


def filled(rows: int, first: int) -> pa.Table:
    dice = np.random.default_rng(first)
    words = np.array([f"word number {n}" for n in range(2_000)])
    return pa.table(
        {
            "id": np.arange(first, first + rows),
            "store": dice.integers(0, 500, rows).astype("int32"),
            "product": dice.integers(0, 90_000, rows),
            "basket": dice.integers(0, 1 << 40, rows),
            "amount": dice.random(rows) * 100,
            **{name: pa.array(words[dice.integers(0, len(words), rows)]) for name in WORDS},
        }
    )


def step(frame: "DataFrame") -> "DataFrame":
    return frame.where("amount > 5").selectExpr("id", "store", "product", "amount * 2 AS amount", "note", "brand")


def main() -> None:
    given = tuple(sorted(int(word) for word in sys.argv[1:] if word.isdigit()))
    sizes = given or (SIZES[:3] if "--quick" in sys.argv else SIZES)
    rounds = 3 if "--quick" in sys.argv else 5
    columns = tuple(Column(name=n, type=t) for n, t in {**COLUMNS, **WORDS}.items())
    source = Table(name="ods.lines", columns=columns, buckets=2, tiers=Tiers(hot="1d"))
    kept = tuple(c for c in columns if c.name not in ("city", "basket"))
    target = Table(name="dwd.lines", columns=kept, buckets=2, tiers=Tiers(hot="1d"))
    used = tuple(c.name for c in kept)
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder), Settings.model_validate({"spark": {"master": "local[2]"}}))
        with running(project.root) as services:
            store = FlussStore(services.fluss)
            store.create(source)
            store.create(target)
            for at in range(0, sizes[-1], 20_000):
                store.write(source, Changes(filled(20_000, at)), WriteContext("bench/fill", at))
            spark = local_session(project)
            places = Places(root=project.root, fluss=services.fluss, warm=project.warm, locks=project.root)

            def local(end: Position) -> int:
                rows = store.read_changes(source, {}, end, used).upserts
                result = step(arrow_frame(spark, rows)).toArrow()
                store.write(target, Changes(result), WriteContext("bench/local", 0))
                return int(result.num_rows)

            def executors(end: Position) -> int:
                frame = spread_changes(spark, source, places, project.root, {}, end, used)
                return spread_write(step(frame), target, places, store, WriteContext("bench/spread", 0)).rows

            whole = store.end(source)
            for rows in sizes:
                end = {bucket: last * rows // sizes[-1] for bucket, last in whole.items()}
                found: dict[str, list[tuple[float, float]]] = {"local": [], "executors": []}
                for turn in range(rounds + 2):
                    for name, route in (("local", local), ("executors", executors)):
                        before, began = cpu_s(), time.perf_counter()
                        written = route(end)
                        assert 0.9 * rows < written < rows, (written, rows)
                        if turn > 1:  # the first two warm up
                            found[name].append((time.perf_counter() - began, cpu_s() - before))
                texts = []
                for name, runs in found.items():
                    wall, cpu = median(r[0] for r in runs), median(r[1] for r in runs)
                    texts.append(
                        f"{name} {wall:.2f} s, {rows / wall:,.0f} rows/s, {cpu * 1_000_000 / rows:.1f} CPU-s per M"
                    )
                print(f"{rows:>9,} rows: {'; '.join(texts)}", flush=True)
            spark.stop()
            store.close()


if __name__ == "__main__":
    main()
