"""Nexmark: each query by us and, where Spark can express it, by a hand-written Structured Streaming job.

Both read ODS tables in Fluss, filled before, and write Fluss tables with one store (`nexmark_parts/peers.py`), as
many rows in an epoch as in a micro-batch, in one process and one Spark session with our settings, turn by turn
(ours, peer, ours, peer); the better round of each side counts. CPU is that of all processes, the Fluss servers'
too. Fails when the two give different rows.

    python benchmarks/nexmark.py --events 200000 --queries 0,3,11-13
"""

import argparse
import os
import tempfile
from dataclasses import dataclass
from math import log
from pathlib import Path
from statistics import fmean

from method.layer_source import LayerSource
from nexmark_parts import peers
from nexmark_parts.cpu import Spent, spent
from nexmark_parts.events import Load, write
from nexmark_parts.ours import LOADING, QUERIES, flow_of, write_project

from streamhouse.errors import StreamhouseError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Tier
from streamhouse.runtime.layout import ServicesFolder
from streamhouse.runtime.project import Project
from streamhouse.runtime.run import Meter, Open, carry, opened, plan_of
from streamhouse.runtime.service_state import load

TARGET = 1.5
MUST_RUN = 21
EVENT_SECONDS = 200


@dataclass(frozen=True)
class Result:
    """One query: the better round of each side, and the rows of both results."""

    query: int
    strategies: str
    ours: Spent
    rows: int
    peer: Spent | None = None
    peer_rows: int = 0

    @property
    def agrees(self) -> bool:
        """Whether the peer, if there is one, gave the rows it should."""
        if self.peer is None:
            return True
        return self.rows == self.peer_rows if peers.PEERS[self.query].whole else 0 < self.peer_rows <= self.rows


class Bench:
    """What all queries share: the project, its services and the Spark session."""

    def __init__(self, open_: Open, scratch: Path) -> None:
        self._open = open_
        self._scratch = scratch
        state = load(ServicesFolder.of(open_.project.root).state)
        self._servers = [service.process.pid for service in state.services] if state else []
        self._streams = plan_of(open_.project, LOADING)
        open_.spark.dataSource.register(LayerSource)

    def load(self) -> Spent:
        """Fill the ODS tables."""
        return self._carry(self._streams)

    def query(self, query: int, rounds: range) -> Result:
        """Both sides, turn by turn, in rounds not run before; a query without a peer runs once."""
        peer = peers.PEERS.get(query)
        ours: list[Spent] = []
        theirs: list[Spent] = []
        strategies, rows, peer_rows = "", 0, 0
        for number in rounds if peer else rounds[:1]:
            plan = plan_of(self._open.project, flow_of(query, number))
            strategies = "+".join(step.strategy.value for step in plan.steps)
            try:
                ours.append(self._carry(plan))
                rows = self._rows(plan)
            finally:
                self._drop(plan)
            if peer:
                took, peer_rows = self._peer(peer, plan)
                theirs.append(took)
        return Result(query, strategies, _best(ours), rows, _best(theirs) if theirs else None, peer_rows)

    def _carry(self, plan: FlowPlan) -> Spent:
        def work() -> None:
            carry(self._open, plan, Meter(plan, lambda _: None, once=True), once=True)

        return spent(work, counting=self._servers)

    def _peer(self, peer: peers.Peer, plan: FlowPlan) -> tuple[Spent, int]:
        hot, project = self._open.stores[Tier.HOT], self._open.project
        place = peers.Place(self._open.spark, project.root, hot, self._open.fluss, plan, self._streams)
        table = peers.target_of(plan)
        with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
            try:
                took = spent(lambda: peers.run(peer, place, Path(folder)), counting=self._servers)
                return took, int(hot.read_state(table).num_rows)
            finally:
                hot.drop(table.name)

    def _rows(self, plan: FlowPlan) -> int:
        table = plan.steps[-1].writes
        return int(self._open.stores[table.tiers.target].read_state(table).num_rows)

    def _drop(self, plan: FlowPlan) -> None:
        for table in plan.tables.values():
            self._open.stores[table.tiers.target].drop(table.name)


def main() -> None:
    args = _arguments()
    # Spark's workers load the peers' source.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory(prefix="nexmark-") as folder:
        root = Path(folder) / "project"
        for _ in write(_load(args), root / "data", parts=args.epochs):
            pass
        write_project(root, args.rounds + 1, -(-args.events // args.epochs))
        results: list[Result] = []
        try:
            with opened(Project.at(root), say=print) as open_:
                _measure(Bench(open_, Path(folder)), args, results)
        finally:  # also of a run that was cut off
            _conclude(results, len(args.queries), args.events)


def _measure(bench: Bench, args: argparse.Namespace, results: list[Result]) -> None:
    loading = bench.load()
    print(f"{args.events:,} events in {args.epochs} epochs; into ODS: {_show(loading, args.events)}", flush=True)
    bench.query(0, range(args.rounds, args.rounds + 1))  # warms up both sides
    for query in args.queries:
        try:
            results.append(bench.query(query, range(args.rounds)))
        except StreamhouseError as error:
            print(f"q{query:<3} does not run: {error}", flush=True)
            continue
        _print(results[-1], args.events)


def _load(args: argparse.Namespace) -> Load:
    # Always as many windows and sessions, and an end far enough for watermarks to pass most of them.
    return Load(args.events, seed=args.seed, rate=max(1, args.events // EVENT_SECONDS))


def _print(result: Result, events: int) -> None:
    line = f"q{result.query:<3} {result.strategies:<20} ours {_show(result.ours, events)}, {result.rows:>7,} rows"
    if result.peer is not None:
        cpu, wall = _ratios(result)
        line += f" | peer {_show(result.peer, events)} | CPU {cpu:.2f}x, time {wall:.2f}x"
    if not result.agrees:
        line += f"  DIFFERS: the peer has {result.peer_rows:,} rows"
    print(line, flush=True)


def _conclude(results: list[Result], asked: int, events: int) -> None:
    print(f"{len(results)} of {asked} queries run (of all 23 at least {MUST_RUN} must); {len(peers.PEERS)} have a peer")
    if results:
        rate = _geomean([events / result.ours.cpu_s / 1000 for result in results])
        print(f"ours, geometric mean over {len(results)} queries: {rate:.1f} K events/s per core")
    if compared := [_ratios(result) for result in results if result.peer is not None]:
        cpu, wall = (_geomean(list(ratios)) for ratios in zip(*compared, strict=True))
        print(f"geometric mean over {len(compared)} peers: CPU {cpu:.2f}x, time {wall:.2f}x; target ≥ {TARGET}x")
    if differing := [f"q{result.query}" for result in results if not result.agrees]:
        raise SystemExit(f"results differ: {', '.join(differing)}")


def _ratios(result: Result) -> tuple[float, float]:
    """How many times more the peer takes: CPU, wall."""
    assert result.peer is not None
    return result.peer.cpu_s / result.ours.cpu_s, result.peer.wall_s / result.ours.wall_s


def _best(rounds: list[Spent]) -> Spent:
    return Spent(min(r.cpu_s for r in rounds), min(r.wall_s for r in rounds))


def _show(took: Spent, events: int) -> str:
    return f"{took.cpu_s:5.1f} CPU s {took.wall_s:5.1f} s {events / took.cpu_s / 1000:6.1f} K/s per core"


def _geomean(values: list[float]) -> float:
    return 2.0 ** fmean(log(value, 2) for value in values)


def _queries(text: str) -> list[int]:
    chosen: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        chosen += range(int(first), int(last or first) + 1)
    if stray := sorted(set(chosen) - set(QUERIES)):
        raise argparse.ArgumentTypeError(f"there is no query {stray[0]}")
    return chosen


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=100_000, help="of all three streams together")
    parser.add_argument("--epochs", type=int, default=5, help="into which the events are split")
    parser.add_argument("--rounds", type=int, default=2, help="of each query that has a peer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--queries", type=_queries, default=list(QUERIES), help="such as 0,3,11-13")
    return parser.parse_args()


if __name__ == "__main__":
    main()
