"""Nexmark: each query by us and, where Spark can express it, by hand-written Structured Streaming, stock and tuned.

All read the same ODS tables in Fluss, filled before, and write Fluss tables with one store. A peer gets the better of
trigger 0 s, with as many rows in a batch as in our epochs, and `availableNow`, which takes all in one
(`nexmark_parts/peers.py`). Each arm is a process of its own; all run in turn, and the better round counts. Fails when a
query does not run or an arm gives other rows.

    python benchmarks/nexmark.py --events 200000 --queries 0,3,11-13
"""

import argparse
import tempfile
from collections.abc import Callable
from math import log
from pathlib import Path
from statistics import fmean

from method.answering import OperationFailedError
from method.arms import OURS, STOCK, TUNED
from method.machine import LoadMeter
from method.report import Bound, Figure, show
from nexmark_parts.bench import Bench, Result, Spent, started
from nexmark_parts.events import Load, write
from nexmark_parts.ours import QUERIES, write_project
from nexmark_parts.peers import PEERS

from streamhouse.services.services import Services, running

TARGET = Bound(times={STOCK: 1.5, TUNED: 1.5})
MUST_RUN = 21
EVENT_SECONDS = 200


def main() -> None:
    given = _arguments()
    warm_up = int(given.rounds > 1)
    rounds = range(warm_up + given.rounds)
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="nexmark-") as folder:
        root = Path(folder)
        for _ in write(_load(given), root / "data", parts=given.epochs):
            pass
        write_project(root, len(rounds) + 1, -(-given.events // given.epochs))
        try:
            with running(root) as endpoints, started(root, endpoints.fluss) as arms:
                services = [service.pid for service in Services(root).status().services]
                _measure(Bench(root, endpoints.fluss, services, arms), given, rounds, warm_up, results)
        finally:  # also of a run that was cut off
            _conclude(results, given)
    wrong = [f"q{result.query}" for result in results if result.differing]
    ran = {result.query for result in results}
    if failed := [f"q{query}" for query in given.queries if query not in ran]:
        raise SystemExit(f"do not run: {', '.join(failed)}")
    if wrong:
        raise SystemExit(f"results differ: {', '.join(wrong)}")


def _measure(bench: Bench, given: argparse.Namespace, rounds: range, warm_up: int, results: list[Result]) -> None:
    print(f"{given.events:,} events in {given.epochs} epochs; into ODS: {_text(bench.load())}", flush=True)
    meter = LoadMeter()
    bench.query(0, range(rounds.stop, rounds.stop + 1), 0)  # warms up every JVM
    for query in given.queries:
        try:
            results.append(bench.query(query, rounds, warm_up))
        except OperationFailedError as error:
            print(f"q{query} does not run: {error}", flush=True)
            continue
        _print(results[-1])
    print(meter.load(), flush=True)


def _load(given: argparse.Namespace) -> Load:
    # Always as many windows and sessions, and an end far enough for watermarks to pass most of them.
    return Load(given.events, seed=given.seed, rate=max(1, given.events // EVENT_SECONDS))


def _print(result: Result) -> None:
    name = f"q{result.query}"
    show(
        [
            _figure(f"{name}, processor", "CPU-s", result, lambda spent: spent.cpu_s),
            _figure(f"{name}, time", "s", result, lambda spent: spent.wall_s),
            _figure(f"{name}, Fluss's processor", "CPU-s", result, lambda spent: spent.fluss_cpu_s),
        ]
    )
    print(f"{name}: {result.strategies}, {result.rows:,} rows; {result.load}", flush=True)
    for wrong in result.differing:
        print(f"{name} DIFFERS, {wrong}", flush=True)


def _figure(name: str, unit: str, result: Result, value: Callable[[Spent], float]) -> Figure:
    values = {arm: value(spent) for arm, spent in result.spent.items()}
    return Figure(name, unit, values.pop(OURS), values)


def _conclude(results: list[Result], given: argparse.Namespace) -> None:
    if not results:
        return
    print("\n".join(_table(results)))
    print(f"{len(results)} of {len(given.queries)} queries run (of all {len(QUERIES)} at least {MUST_RUN} must)")
    rate = _geomean([given.events / result.spent[OURS].cpu_s / 1000 for result in results])
    figures = [Figure(f"geometric mean of {len(results)} queries", "K events/s per core", rate)]
    if compared := [result for result in results if result.query in PEERS]:
        of = f"geometric mean of {len(compared)} queries that have a peer"
        figures += [
            _means(f"{of}, processor", "CPU-s", compared, lambda spent: spent.cpu_s, TARGET),
            _means(f"{of}, processor with Fluss's", "CPU-s", compared, lambda spent: spent.cpu_s + spent.fluss_cpu_s),
            _means(f"{of}, time", "s", compared, lambda spent: spent.wall_s),
        ]
    show(figures)


def _means(
    name: str, unit: str, results: list[Result], value: Callable[[Spent], float], bound: Bound | None = None
) -> Figure:
    """The mean of ratios is the ratio of means, since both are geometric."""
    means = {arm: _geomean([value(result.spent[arm]) for result in results]) for arm in results[0].spent}
    return Figure(name, unit, means.pop(OURS), means, bound or Bound())


def _table(results: list[Result]) -> list[str]:
    """CPU-s, s and Fluss's CPU-s of each arm, and by which factor ours takes less processor time and time."""
    arms = (OURS, STOCK, TUNED)
    head = f"{'':<4}{'rows':>9}" + "".join(f" | {f'{arm}: CPU-s, s, Fluss':<22}" for arm in arms)
    lines = [f"{head} | {'CPU, time: ' + STOCK:<18} | {'CPU, time: ' + TUNED:<18} | strategies; peers' ways"]
    for result in results:
        cells = [f"{f'q{result.query}':<4}{result.rows:>9,}"]
        cells += [f"{_row(result.spent[arm]) if arm in result.spent else '':<22}" for arm in arms]
        for peer in (STOCK, TUNED):
            cells.append(f"{_factors(result.spent[OURS], result.spent[peer]) if peer in result.spent else '':<18}")
        ways = ", ".join(result.ways[peer] for peer in (STOCK, TUNED) if peer in result.ways)
        lines.append(" | ".join([*cells, "; ".join(filter(None, [result.strategies, ways]))]))
    return lines


def _row(spent: Spent) -> str:
    return f"{spent.cpu_s:6.2f} {spent.wall_s:6.2f} {spent.fluss_cpu_s:6.2f}"


def _factors(ours: Spent, peer: Spent) -> str:
    return f"{peer.cpu_s / ours.cpu_s:5.2f}x {peer.wall_s / ours.wall_s:5.2f}x"


def _text(spent: Spent) -> str:
    return f"{spent.cpu_s:.1f} CPU-s and Fluss {spent.fluss_cpu_s:.1f}, {spent.wall_s:.1f} s"


def _geomean(values: list[float]) -> float:
    return float(2.0 ** fmean(log(max(value, 0.01), 2) for value in values))  # a clock tick is 10 ms


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
    parser.add_argument("--events", type=int, default=200_000, help="of all three streams together")
    parser.add_argument("--epochs", type=int, default=5, help="into which the events are split")
    parser.add_argument(
        "--rounds", type=int, default=2, help="of each query that count; of two and more goes one before that does not"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--queries", type=_queries, default=list(QUERIES), help="such as 0,3,11-13")
    return parser.parse_args()


if __name__ == "__main__":
    main()
