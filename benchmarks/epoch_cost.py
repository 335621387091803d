"""What one epoch of few rows through four layers costs: processor ms, and ms from the rows to each layer.

Compares sources of Streamhouse: each tree is an arm with a session of its own, all over one Fluss, window by window
in turn.

    python benchmarks/epoch_cost.py [TREE ...] [--rows 10] [--every-ms 250] [--windows 4] [--threads] [--quick]
"""

import argparse
import os
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from method.answering import Answering
from method.arms import in_turn
from method.machine import LoadMeter
from method.workload import Chain, add_chain, new_project, write_events, wrong_stores

from streamhouse.services.services import running

HERE = Path(__file__).parents[1]
FRESHNESS_MS = 100
WINDOW_S = 15.0
LAYERS = ("seen", "ods", "dwd", "dws", "ads")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", type=Path, default=[HERE], help="checkouts to compare; default: this one")
    parser.add_argument("--rows", type=int, default=10, help="rows that come at once")
    parser.add_argument("--every-ms", type=int, default=250, help="how often they come")
    parser.add_argument("--freshness-ms", type=int, default=FRESHNESS_MS)
    parser.add_argument("--windows", type=int, default=4, help=f"of {WINDOW_S:.0f} s, for each tree")
    parser.add_argument("--threads", action="store_true", help="tell which threads spend the processor time")
    parser.add_argument("--stages", action="store_true", help="tell when the parts of an epoch begin and end")
    parser.add_argument("--quick", action="store_true", help="one window of 5 s after a warm-up of 5 s")
    parser.add_argument("--shortcuts", default="on", choices=("on", "off"))
    given = parser.parse_args()
    windows, window_s, warm_up_s = (1, 5.0, 5.0) if given.quick else (given.windows, WINDOW_S, 30.0)
    per_second = given.rows * 1000 // given.every_ms
    os.environ["ROWS_AT_ONCE"] = str(given.rows)
    if given.stages:
        os.environ["TIME_STAGES"] = "1"
    trees = {f"tree{n}": tree.resolve() for n, tree in enumerate(given.trees)}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        root = new_project(Path(folder))
        if given.shortcuts == "off":
            (root / "streamhouse.yaml").write_text("spark: {shortcuts: off}\n")
        seconds = warm_up_s + windows * window_s + 10.0 * (windows + 1)
        write_events(root, "events", max(1_000_000, round(per_second * seconds)))
        for name in trees:
            add_chain(root, Chain(name, "events", per_second, given.freshness_ms))
        endpoints = stack.enter_context(running(root))
        arms = {
            name: stack.enter_context(Answering(name, "method.cost_arm", root, endpoints.fluss, tree / "plugins"))
            for name, tree in trees.items()
        }
        for name, arm in arms.items():
            print(f"{name}: {trees[name]}", flush=True)
            _window(arm, name, warm_up_s, per_second)
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for name in in_turn(list(arms), windows):
            meter = LoadMeter()
            one = _window(arms[name], name, window_s, per_second)
            found[name].append(one)
            print(f"{name}: {_told([one])}; {meter.load()}", flush=True)
        for name, arm in arms.items():
            print(f"{name} in all: {_told(found[name])}")
            if given.threads:
                _show_threads(found[name])
            if given.stages:
                _show_stages(found[name])
            if wrong := wrong_stores(arm.ask("board", chain=name)):
                raise SystemExit(f"{name}: wrong sums of stores {wrong}")


def _window(arm: Answering, chain: str, seconds: float, per_second: int) -> dict[str, Any]:
    arm.ask("begin", chain=chain)
    arm.ask("window", seconds=2.0, per_second=per_second)
    found: dict[str, Any] = arm.ask("window", seconds=seconds, per_second=per_second)
    arm.ask("end")
    return found


def _told(windows: Sequence[dict[str, Any]]) -> str:
    epochs = sum(one["epochs"] for one in windows)
    cpu_ms = median(one["cpu_ms"] / max(one["epochs"], 1) for one in windows)
    lags = {layer: [ms for one in windows for ms in one["lags"].get(layer, [])] for layer in LAYERS}
    told = [f"{layer} {median(of):.0f}" for layer, of in lags.items() if of]
    ads = np.quantile(lags["ads"], [0.5, 0.95, 0.99])
    return (
        f"{epochs} epochs, {cpu_ms:.1f} CPU-ms each; ms from the rows, medians: {', '.join(told)}; "
        f"ADS p50 {ads[0]:.1f}, p95 {ads[1]:.1f}, p99 {ads[2]:.1f}"
    )


def _show_threads(windows: Sequence[dict[str, Any]]) -> None:
    epochs = sum(one["epochs"] for one in windows)
    spent: dict[str, float] = defaultdict(float)
    for one in windows:
        for name, ms in one["threads"].items():
            spent[name] += ms / epochs
    for name, ms in sorted(spent.items(), key=lambda item: -item[1]):
        if ms >= 0.1:
            print(f"    {ms:6.2f} CPU-ms  {name}")


def _show_stages(windows: Sequence[dict[str, Any]]) -> None:
    stages: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in windows:
        for name, times in one["stages"].items():
            stages[name] += times
    for name, times in sorted(stages.items(), key=lambda item: median(start for start, _ in item[1])):
        starts, ends = zip(*times, strict=True)
        took = median(end - start for start, end in times)
        print(f"    {median(starts):7.1f} to {median(ends):6.1f} ms, {took:6.1f} each, {len(times)} times  {name}")


if __name__ == "__main__":
    main()
