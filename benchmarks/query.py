"""The first answer of `streamhouse query`: a process that starts, answers one query of a small table, and ends.

Tables of each kind, with and without a key, in each tier and behind one name; Fluss is up, as beside a flow. The peer,
told as `spark`, is the same command with `--engine spark`. Arms take turns. Seconds are those of the wall, CPU seconds
those of the process and all that it started, Spark's JVM too; those of the Fluss servers are not among them.
With `--remote` cold tables alone, told of by a REST catalog that wants OAuth2, in an S3 server: those of the tests.

    python benchmarks/query.py [--rows 10000] [--rounds 3 | --quick] [--remote]
"""

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from statistics import median
from typing import cast

import psutil
import pyarrow as pa
from method.arms import in_turn
from method.machine import LoadMeter
from method.report import Bound, Figure, show

from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import StepKind, Strategy, Tier
from streamhouse.project.project import Project
from streamhouse.runtime.session import local_session
from streamhouse.runtime.stores import open_stores
from streamhouse.services.services import running
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, LakeStore, WriteContext
from streamhouse.tiering.move import tier

ALL = {"hot": "7d", "warm": "30d", "cold": "forever"}
ANSWER_S = 2.0
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_SPARK = "org.apache.spark.deploy.SparkSubmit"
DAYS = (date(2024, 1, 1), datetime.now(UTC).date())


@dataclass(frozen=True)
class Cost:
    seconds: float
    cpu_s: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000, help="of each table; 10,000 unless said otherwise")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="1,000 rows, once")
    parser.add_argument("--remote", action="store_true", help="cold tables in a REST catalog and an S3 server")
    given = parser.parse_args()
    _adopt()
    rows, rounds = (1_000, 1) if given.quick else (given.rows, given.rounds)
    parts = ("$cold",) if given.remote else ("", "$hot", "$warm", "$cold")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        if given.remote:
            os.environ |= stack.enter_context(_remote(Path(folder) / "remote"))
        (Path(folder) / "flows").mkdir()
        project = Project.at(Path(folder))
        with running(project.root) as services:
            tables = {"log": _table("log", ()), "keyed": _table("keyed", ("id", "day"))}
            _fill(project, services.fluss, list(tables.values()), rows)
            names = {
                f"{kind} {part or 'union'}": f"select count(*) as n, sum(cents) as cents from {table.name}{part}"
                for kind, table in tables.items()
                for part in parts
            }
            arms = [(name, engine) for name in names for engine in ("auto", "spark")]
            costs: dict[tuple[str, str], list[Cost]] = {arm: [] for arm in arms}
            answers: dict[str, set[str]] = {name: set() for name in names}
            meter = LoadMeter()
            for name, engine in in_turn(arms, rounds):
                cost, answer = _asked(project.root, names[name], engine)
                costs[name, engine].append(cost)
                answers[name].add(answer)
            if wrong := [name for name, found in answers.items() if len(found) != 1]:
                raise SystemExit(f"answers differ: {wrong}")
            print(f"{rows:,} rows, {rounds} rounds; {meter.load()}", flush=True)
            _show(names, costs)


@contextmanager
def _remote(folder: Path) -> Iterator[dict[str, str]]:
    """The servers of the tests, and the variables by which a project reaches them."""
    sys.path.append(str(Path(__file__).parents[1]))
    from tests.iceberg_rest import rest_catalog
    from tests.production import object_store

    with object_store(folder, "lake") as store, rest_catalog(folder, "s3://lake/cold", store) as catalog:
        yield {**store, **catalog.variables}


def _show(names: dict[str, str], costs: dict[tuple[str, str], list[Cost]]) -> None:
    for name in names:
        ours, theirs = costs[name, "auto"], costs[name, "spark"]
        cpu_s, spark_cpu_s = (median(one.cpu_s for one in found) for found in (ours, theirs))
        seconds, spark_s = (median(one.seconds for one in found) for found in (ours, theirs))
        bound = Bound(at_most=ANSWER_S)
        show([Figure(f"{name}, processor", "CPU-s", cpu_s, {"spark": spark_cpu_s})])
        show([Figure(f"{name}, first answer", "s", seconds, {"spark": spark_s}, bound)])


def _asked(root: Path, sql: str, engine: str) -> tuple[Cost, str]:
    command = [str(Path(sys.executable).with_name("streamhouse")), "query", sql, "--engine", engine, "--json"]
    others = {child.pid for child in psutil.Process().children()}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*command, "--project", str(root)], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    _end_of_spark(others)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(seconds, cpu_s), json.dumps(json.loads(done.stdout)["rows"])


def _adopt() -> None:
    """Let processes that outlive the one which started them become children of this one."""
    if ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0):
        raise SystemExit("this benchmark needs Linux: it adopts Spark's JVM to count its seconds")


def _end_of_spark(others: set[int]) -> None:
    for child in (child for child in psutil.Process().children() if child.pid not in others):
        with suppress(psutil.NoSuchProcess, ChildProcessError):
            if child.status() == psutil.STATUS_ZOMBIE or _SPARK in " ".join(child.cmdline()):
                os.waitpid(child.pid, 0)


def _fill(project: Project, fluss: str, tables: list[Table], rows: int) -> None:
    """Half of the rows are tiered, old days are dropped from the hot tier as upkeep does, then come the others."""
    spark = local_session(project)
    stores = open_stores(project, spark, fluss)
    for table in tables:
        hot = stores[Tier.HOT]
        hot.create(table)
        for epoch in range(2):
            part = _rows(table, range(epoch * rows // 2, (epoch + 1) * rows // 2))
            hot.write(table, Changes(part), WriteContext("bench/query", epoch))
            for lake in (Tier.WARM, Tier.COLD) if not epoch else ():
                tier(table, hot, cast("LakeStore", stores[lake]))
    steps = tuple(
        PlannedStep(
            action="a",
            version="1.0.0",
            kind=StepKind.CLEAN,
            reads=(),
            writes=table,
            sql="SELECT 1",
            strategy=Strategy.MAP,
            reason="benchmark",
        )
        for table in tables
    )
    with project.state() as state:
        state.save_plan(FlowPlan(flow="bench", sources=(), segments=(Segment(name="main", steps=steps),)))
    for store in stores.values():
        store.close()
    spark.stop()


def _table(name: str, key: tuple[str, ...]) -> Table:
    columns = {"id": "bigint", "day": "date", "cents": "bigint", "customer": "string"}
    return Table(
        name=f"dwd.{name}",
        columns=tuple(Column(name=name, type=kind) for name, kind in columns.items()),
        primary_key=key,
        partition_by=("day",),
        tiers=Tiers.model_validate(ALL),
    )


def _rows(table: Table, ids: range) -> pa.Table:
    rows = [{"id": n, "day": DAYS[n % 2], "cents": n * 7, "customer": f"customer-{n % 100}"} for n in ids]
    return pa.Table.from_pylist(rows, schema=arrow_schema(table.columns))


if __name__ == "__main__":
    os.environ.setdefault("STREAMHOUSE_SPARK_MASTER", "local[2]")
    main()
