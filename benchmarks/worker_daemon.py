"""What a small job with Python in it costs: with our worker daemon and Unix sockets, and with stock Spark.

A job sends 1,000 rows through `mapInArrow` in two tasks. Spark reads these settings once for each process, so each
arm is a process of its own; they run in the order A B B A, and an arm's figure is the better of its two runs.

    python benchmarks/worker_daemon.py [--quick]
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import psutil

STOCK = {"spark.python.daemon.module": "pyspark.daemon", "spark.python.unix.domain.socket.enabled": "false"}
ARMS = {"ours": {}, "stock": STOCK}
TARGET = {"ms": 2.0, "CPU-ms": 3.0}
WARM_UP = 15


def cpu_s(process: psutil.Process) -> float:
    """User and system time of a process and of all below it."""
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


def measure(conf: dict[str, str], jobs: int) -> dict[str, float]:
    from streamhouse.project.project import Project
    from streamhouse.project.settings import Settings
    from streamhouse.runtime.session import local_session

    settings = Settings.model_validate({"spark": {"master": "local[2]", "conf": conf}})
    with tempfile.TemporaryDirectory() as folder:
        spark = local_session(Project(Path(folder), settings))

        def same(batches):  # type: ignore[no-untyped-def]
            yield from batches

        def job() -> float:
            began = time.perf_counter()
            assert len(spark.range(0, 1000, 1, 2).mapInArrow(same, "id bigint").collect()) == 1000
            return time.perf_counter() - began

        for _ in range(WARM_UP):
            job()
        before = cpu_s(psutil.Process())
        walls = [job() for _ in range(jobs)]
        cpu = cpu_s(psutil.Process()) - before
        spark.stop()
    return {"ms": median(walls) * 1000, "CPU-ms": cpu * 1000 / jobs}


def main() -> None:
    if sys.argv[1:2] == ["--arm"]:
        print(json.dumps(measure(ARMS[sys.argv[2]], int(sys.argv[3]))))
        return
    jobs = 20 if "--quick" in sys.argv else 60
    found: dict[str, list[dict[str, float]]] = {arm: [] for arm in ARMS}
    for arm in ("ours", "stock", "stock", "ours"):
        command = [sys.executable, __file__, "--arm", arm, str(jobs)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found[arm].append(json.loads(done.stdout.splitlines()[-1]))
        print(arm, {name: round(value) for name, value in found[arm][-1].items()}, flush=True)
    for figure, target in TARGET.items():
        ours, stock = (min(run[figure] for run in found[arm]) for arm in ("ours", "stock"))
        print(f"{figure} per job: ours {ours:.0f}, stock {stock:.0f}, ratio {stock / ours:.1f}, target ≥ {target:g}")


if __name__ == "__main__":
    main()
