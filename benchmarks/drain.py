"""Events that wait, drained through four layers as fast as it goes: rows per second and processor seconds.

Peers get the better of two ways: each layer after the other with `availableNow`, which takes everything in one
batch, and all layers side by side with bounded batches. 10 M rows go the second way alone: a batch of all of them
is more than a driver holds.

    python benchmarks/drain.py [--quick | --big]
"""

import argparse
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from statistics import median

from method.arms import OURS, STOCK, TUNED, Arm, arms, in_turn
from method.machine import Load, LoadMeter, cpu_seconds
from method.report import Bound, Figure, show
from method.workload import Chain, add_chain, expected_board, new_project, write_events

from streamhouse.services.services import Services, running

ALL_AT_ONCE = "each layer after the other, availableNow"
SIDE_BY_SIDE = "all layers side by side, trigger 0 s"
WARM_UP_ROWS = 500_000
TARGETS = {STOCK: 2.0, TUNED: 1.2}


@dataclass(frozen=True)
class Drained:
    """One drain of one arm."""

    seconds: float
    cpu_s: float
    services_cpu_s: float
    load: Load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="100,000 rows, once")
    size.add_argument("--big", action="store_true", help="10 M rows, once")
    given = parser.parse_args()
    rows = 100_000 if given.quick else 10_000_000 if given.big else 1_000_000
    rounds = 1 if given.quick or given.big else 2
    ways = {STOCK: [SIDE_BY_SIDE], TUNED: [SIDE_BY_SIDE]}
    if not given.big:
        ways = {peer: [ALL_AT_ONCE, *peer_ways] for peer, peer_ways in ways.items()}
    with tempfile.TemporaryDirectory() as folder:
        root = new_project(Path(folder))
        write_events(root, "events", max(rows, WARM_UP_ROWS))
        with running(root) as endpoints, arms(root, endpoints.fluss) as started:
            services = [service.pid for service in Services(root).status().services]
            _measure(root, started, services, ways, rows, rounds)


def _measure(
    root: Path, started: dict[str, Arm], services: list[int], ways: dict[str, list[str]], rows: int, rounds: int
) -> None:
    done: dict[str, list[Drained]] = {}
    kinds = [(name, way) for name in started for way in ways.get(name, [""])]
    # Every arm drains as many rows before: the JVM compiles for a million rows or two.
    most = max(len(of) for of in ways.values())
    warm_ups = [(name, way) for name in started for way in islice(cycle(ways.get(name, [""])), most)]
    for n, (name, way) in enumerate(warm_ups):
        _drain(root, started[name], f"warm_{n}", min(rows, WARM_UP_ROWS), way, services)
    for n, kind in enumerate(in_turn([f"{name}|{way}" for name, way in kinds], rounds)):
        name, _, way = kind.partition("|")
        found = _drain(root, started[name], f"drain_{n}", rows, way, services)
        done.setdefault(kind, []).append(found)
        print(
            f"{name}{f' ({way})' if way else ''}: {rows:,} rows in {found.seconds:.1f} s, {found.cpu_s:.1f} CPU-s "
            f"and Fluss {found.services_cpu_s:.1f}; {found.load}",
            flush=True,
        )
    wall, cpu = _best(done, lambda d: d.seconds), _best(done, lambda d: d.cpu_s / rows * 1e6)
    speed = {name: rows / seconds for name, seconds in wall.items()}
    show(
        [
            Figure(f"drain of {rows:,} rows, processor", "CPU-s per M rows", cpu.pop(OURS), cpu, Bound(times=TARGETS)),
            Figure(
                f"drain of {rows:,} rows", "rows/s", speed.pop(OURS), speed, Bound(times=TARGETS), more_is_better=True
            ),
        ]
    )


def _best(done: dict[str, list[Drained]], value: Callable[[Drained], float]) -> dict[str, float]:
    """Arm → the smallest median of its ways."""
    found: dict[str, float] = {}
    for kind, drains in done.items():
        name = kind.partition("|")[0]
        found[name] = min(found.get(name, math.inf), median(value(d) for d in drains))
    return found


def _drain(root: Path, arm: Arm, chain: str, rows: int, way: str, services: list[int]) -> Drained:
    add_chain(root, Chain(chain, "events", None, buckets=2, limit=rows))
    meter = LoadMeter()
    cpu_s, services_s = arm.cpu_s(), cpu_seconds(services)
    seconds = arm.drain(chain, way)
    cpu_s, services_s = arm.cpu_s() - cpu_s, cpu_seconds(services) - services_s
    load = meter.load()
    board, ods_rows = arm.board(chain), arm.ods_rows(chain)
    if ods_rows != rows or (sum(board["lines"]), sum(board["cents"])) != expected_board(rows):
        raise SystemExit(f"{arm.name}: WRONG: {ods_rows:,} of {rows:,} events in ODS, {sum(board['lines']):,} lines")
    return Drained(seconds, cpu_s, services_s, load)


if __name__ == "__main__":
    main()
