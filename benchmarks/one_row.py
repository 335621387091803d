"""One row at a time from source to ADS over four hot tables: how long until every layer shows it.

Measured is the time from when the row could be read to the return of the last write of a layer, after a warm-up.
Peers get the better of the same trigger and 0 s.

    python benchmarks/one_row.py [--quick]
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np
from method.arms import OURS, Arm, arms, in_turn
from method.machine import LoadMeter
from method.report import Bound, Figure, show
from method.workload import Chain, add_chain, new_project, write_events

from streamhouse.services.services import running

PER_SECOND = 3
FRESHNESS_MS = 100
T_MS = FRESHNESS_MS // 2  # how often a flow of that freshness looks
FASTEST_MS = 0
WARM_UP_S = 20.0
CHAIN = "one_row"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one window of 5 seconds")
    given = parser.parse_args()
    warm_up_s, window_s, rounds = (3.0, 5.0, 1) if given.quick else (WARM_UP_S, 20.0, 3)
    with tempfile.TemporaryDirectory() as folder:
        root = new_project(Path(folder))
        write_events(root, "events", 10_000)
        add_chain(root, Chain(CHAIN, "events", PER_SECOND, FRESHNESS_MS))
        with running(root) as endpoints, arms(root, endpoints.fluss) as started:
            _measure(started, warm_up_s, window_s, rounds)


def _measure(started: dict[str, Arm], warm_up_s: float, window_s: float, rounds: int) -> None:
    kinds = [(name, trigger) for name in started for trigger in ((T_MS,) if name == OURS else (T_MS, FASTEST_MS))]
    for name, trigger_ms in kinds:
        _window(started[name], trigger_ms, 0, warm_up_s)
    lags: dict[tuple[str, int], list[float]] = {kind: [] for kind in kinds}
    for name, trigger_ms in in_turn(kinds, rounds):
        meter = LoadMeter()
        cpu_s, found = _window(started[name], trigger_ms, 3.0, window_s)
        lags[name, trigger_ms] += found["ads"]
        layers = ", ".join(f"{layer} {median(of):.0f}" for layer, of in found.items())
        print(
            f"{name} (trigger {trigger_ms} ms): median {layers} ms over {len(found['ads'])} rows, "
            f"{cpu_s / window_s:.2f} cores; {meter.load()}",
            flush=True,
        )
    p50 = _best(lags, 0.5)
    p99 = _best(lags, 0.99)
    show(
        [
            Figure("one row to ADS, p50", "ms", p50.pop(OURS), p50, Bound(250, times={"stock": 7, "tuned": 4})),
            Figure("one row to ADS, p99", "ms", p99.pop(OURS), p99, Bound(500)),
        ]
    )


def _best(lags: dict[tuple[str, int], list[float]], quantile: float) -> dict[str, float]:
    """Arm → its lag with the better of its triggers."""
    found: dict[str, float] = {}
    for (name, _), values in lags.items():
        found[name] = min(found.get(name, float("inf")), float(np.quantile(values, quantile)))
    return found


def _window(arm: Arm, trigger_ms: int, settle_s: float, window_s: float) -> tuple[float, dict[str, list[float]]]:
    """Processor seconds, and for each layer how long each row took."""
    arm.begin(CHAIN, trigger_ms)
    time.sleep(settle_s)
    began_ms, cpu_s = time.time() * 1000, arm.cpu_s()
    time.sleep(window_s)
    cpu_s = arm.cpu_s() - cpu_s
    seen = [s for s in arm.end() if s.visible_ms >= began_ms]
    zero_ms = arm.zero_ms(PER_SECOND)

    def lags(layer: str) -> Sequence[float]:
        # Row n can be read from n + 1 thirds of a second on: then the replay's count passes it.
        rows = ((row, s.visible_ms) for s in seen if s.layer == layer for row in range(s.first, s.end))
        return [visible_ms - zero_ms - (row + 1) * 1000 / PER_SECOND for row, visible_ms in rows]

    return cpu_s, {layer: list(lags(layer)) for layer in ("ods", "dwd", "dws", "ads")}


if __name__ == "__main__":
    main()
