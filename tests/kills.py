"""A flow's process that dies at a named point, and what it left behind."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from streamhouse.engine.points import KILL_AT, POINTS
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Position, Tier
from streamhouse.project.project import Project
from streamhouse.state.records import EpochRecord
from streamhouse.stores.base import Store
from tests.flows import command, with_stores

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run(
    project: Project,
    flow: str,
    kill_at: str | None = None,
    environment: Mapping[str, str] | None = None,
    timeout: float = 600,
) -> tuple[int, str]:
    """One process that drains the flow; its exit code and what it printed."""
    given = {**os.environ, **(environment or {}), **({KILL_AT: kill_at} if kill_at else {})}
    with TemporaryFile("w+") as output:  # not a pipe: its JVM may outlive it, and hold that open
        done = subprocess.run(
            command(project, flow), env=given, stdout=output, stderr=output, timeout=timeout, check=False
        )
        output.seek(0)
        return done.returncode, output.read()


@dataclass(frozen=True)
class Records:
    """What the three records of a segment say, by the epoch's number, and where its tables end."""

    logged: int  # by Spark's offset log
    committed: int  # by Spark's commit log
    unfinished: int | None
    last: EpochRecord | None
    ends: dict[str, Position]

    @property
    def finished(self) -> int:
        return self.last.epoch if self.last else -1

    def moved(self, table: str) -> bool:
        """Whether the table holds more than the last finished epoch left."""
        return self.ends[table] != (self.last.ends[table] if self.last else {})


def records(project: Project, flow: str, spark: "SparkSession", segment: str) -> Records:
    """The records of a segment whose process is gone."""
    with project.state() as state:
        last, unfinished = state.last_epoch(flow, segment), state.unfinished(flow, segment)
    [checkpoint] = (project.state_dir / "checkpoints" / flow / segment).iterdir()

    def newest(log: str) -> int:
        return max((int(p.name) for p in (checkpoint / log).glob("[0-9]*")), default=-1) + int(checkpoint.name)

    def ends(plan: FlowPlan, stores: dict[Tier, Store]) -> dict[str, Position]:
        [found] = [s for s in plan.segments if s.name == segment]
        return {name: stores[table.tiers.target].end(table) for name, table in found.tables.items()}

    return Records(newest("offsets"), newest("commits"), unfinished, last, with_stores(project, flow, spark, ends))


def assert_died_at(point: str, left: Records, logs: list[str]) -> None:
    """The records are those of a process that went exactly so far; `logs`: tables that every epoch writes."""
    name, _, detail = point.partition("#")[0].partition(":")
    assert name in POINTS
    assert left.logged == left.finished + (name != "before_commit_log"), (point, left)
    if name == "after_offset_log":
        assert left.unfinished is None, (point, left)
    elif name == "before_commit_log":
        assert left.unfinished is None, (point, left)
        assert left.committed == left.logged - 1, (point, left)
    else:
        assert left.unfinished == left.logged, (point, left)
    if name == "after_begin":
        assert not any(left.moved(table) for table in left.ends), (point, left)
    if name == "during_write" and point.endswith("#2"):  # not a recovery, so no earlier attempt wrote it
        assert not left.moved(detail), (point, left)
    if name == "between_writes":
        assert left.moved(detail), (point, left)
    if name == "after_last_write":
        assert any(left.moved(table) for table in logs), (point, left)
