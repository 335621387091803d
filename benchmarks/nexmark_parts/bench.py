"""Runs each query in every arm, in turn, and compares the rows."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa
from method.answering import Answering
from method.arms import OURS, STOCK, TUNED, in_turn
from method.machine import Load, LoadMeter, cpu_seconds
from nexmark_parts.compare import difference
from nexmark_parts.ours import LOADING, flow_of
from nexmark_parts.peers import PEERS, WAYS, target_of

from streamhouse.model.table import Table
from streamhouse.project.project import Project
from streamhouse.runtime.open import plan_of
from streamhouse.stores.fluss.store import FlussStore

Kind = tuple[str, str]  # an arm, and its way: one of WAYS, "" of ours


@dataclass(frozen=True)
class Spent:
    """What a run took: processor seconds of the arm's tree, seconds on the wall, processor seconds of Fluss."""

    cpu_s: float
    wall_s: float
    fluss_cpu_s: float


@dataclass(frozen=True)
class Result:
    """One query.

    Attributes:
        query: Its number.
        strategies: How we keep it up to date.
        rows: Of the result.
        spent: Arm → each figure at its best, over all rounds and ways.
        ways: Peer → the way that took the least processor time.
        differing: What is wrong with a result, arm by arm.
        load: Of the machine meanwhile.
    """

    query: int
    strategies: str
    rows: int
    spent: Mapping[str, Spent]
    ways: Mapping[str, str]
    differing: Sequence[str]
    load: Load


@contextmanager
def started(root: Path, fluss: str) -> Iterator[dict[str, Answering]]:
    """All arms; they end with the block."""
    modules = {name: f"nexmark_parts.{'our' if name == OURS else 'peer'}_arm" for name in (OURS, STOCK, TUNED)}
    with ExitStack() as stack:
        yield {name: stack.enter_context(Answering(name, module, root, fluss)) for name, module in modules.items()}


class Bench:
    """What all queries share.

    Args:
        root: The project, whose Fluss is up.
        fluss: Where it answers.
        services: Its processes.
        arms: By name.
    """

    def __init__(self, root: Path, fluss: str, services: Sequence[int], arms: Mapping[str, Answering]) -> None:
        self._project = Project.at(root)
        self._store = FlussStore(fluss)
        self._services = services
        self._arms = arms
        self._plan = cache(lambda flow: plan_of(self._project, flow))

    def load(self) -> Spent:
        """Fill the ODS tables."""
        return self._spent(self._arms[OURS], plan=self._plan(LOADING).model_dump_json())

    def query(self, query: int, rounds: range, warm_up: int) -> Result:
        """Every arm in every way, in turn.

        Args:
            query: Its number.
            rounds: Numbers not used before.
            warm_up: As many of the first rounds do not count.

        Raises:
            OperationFailedError: it does not run in some arm.
        """
        kinds: list[Kind] = [(OURS, "")]
        if query in PEERS:
            kinds += [(name, way) for name in self._arms if name != OURS for way in PEERS[query].ways]
        meter = LoadMeter()
        done: dict[Kind, list[Spent]] = {}
        differing: dict[str, str] = {}
        wanted: pa.Table | None = None  # ours come first in the first round
        for n, (name, way) in enumerate(in_turn(kinds, len(rounds))):
            number = n // len(kinds)
            took, rows = self._run(name, way, query, rounds[number])
            if number >= warm_up:
                done.setdefault((name, way), []).append(took)
            wanted = rows if wanted is None else wanted
            if wrong := difference(wanted, rows, whole=name == OURS or PEERS[query].whole):
                differing[f"{name} {way}".strip()] = wrong
        assert wanted is not None
        return Result(
            query,
            "+".join(step.strategy.value for step in self._plan(flow_of(query, rounds[0])).steps),
            wanted.num_rows,
            {name: _best(took for (of, _), runs in done.items() if of == name for took in runs) for name, _ in kinds},
            {name: way for (name, way) in sorted(kinds, key=lambda kind: -_best(done[kind]).cpu_s) if way},
            [f"{what}: {wrong}" for what, wrong in differing.items()],
            meter.load(),
        )

    def _run(self, name: str, way: str, query: int, number: int) -> tuple[Spent, pa.Table]:
        plan = self._plan(flow_of(query, number))
        if name == OURS:
            tables, request = [*plan.tables.values()], {"plan": plan.model_dump_json()}
            return self._kept(name, plan.steps[-1].writes, tables, request)
        target = target_of(plan, f"{name}{WAYS.index(way)}")
        checkpoint = self._project.root / "checkpoints" / target.name
        asked: dict[str, Any] = {
            "query": query,
            "way": way,
            "plan": plan.model_dump_json(),
            "streams": self._plan(LOADING).model_dump_json(),
            "target": target.model_dump_json(),
            "checkpoint": str(checkpoint),
        }
        try:
            return self._kept(name, target, [target], asked)
        finally:
            shutil.rmtree(checkpoint, ignore_errors=True)

    def _kept(self, name: str, result: Table, tables: list[Table], request: dict[str, Any]) -> tuple[Spent, pa.Table]:
        """Run, read the result, and drop the tables written."""
        try:
            return self._spent(self._arms[name], **request), self._store.read_state(result)
        finally:
            for table in tables:
                self._store.drop(table.name)

    def _spent(self, arm: Answering, **request: Any) -> Spent:
        cpu_s, fluss_cpu_s, began = arm.cpu_s(), cpu_seconds(self._services), perf_counter()
        arm.ask("run", **request)
        wall_s = perf_counter() - began
        return Spent(arm.cpu_s() - cpu_s, wall_s, cpu_seconds(self._services) - fluss_cpu_s)


def _best(runs: Iterable[Spent]) -> Spent:
    all_ = list(runs)
    return Spent(min(r.cpu_s for r in all_), min(r.wall_s for r in all_), min(r.fluss_cpu_s for r in all_))
