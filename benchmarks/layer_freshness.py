"""Events at a steady pace through four layers, T = 1 s: how old they are in ADS, and what they cost.

Age is the time from when an event happened to when the write of a layer that holds it returned, over all events of
a window. Processor seconds are those of the arm's process tree in the window, for each million events that
arrived in ADS meanwhile.

    python benchmarks/layer_freshness.py [--quick]
"""

import argparse
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import numpy as np
from method.arms import OURS, STOCK, TUNED, Arm, Seen, arms, in_turn
from method.machine import Load, LoadMeter, cpu_seconds
from method.report import Bound, Figure, show
from method.workload import Chain, add_chain, new_project, write_events, wrong_stores

from streamhouse.runtime.services import Services, running

T_MS = 1000
FASTEST_MS = 0
WARM_UP_S = 15.0
LAYERS = ("ods", "dwd", "dws", "ads")


@dataclass(frozen=True)
class Times:
    """Seconds of the parts of a run."""

    pilot: float
    settle: float
    window: float
    rounds: int


@dataclass(frozen=True)
class Window:
    """What one arm did in one window.

    Attributes:
        mean_s: Layer → mean age of the events that arrived there.
        p95_s: Of the last layer.
        events: That arrived in the last layer.
        cpu_s: Of the arm.
        services_cpu_s: Of Fluss meanwhile.
        seconds: How long it was.
    """

    mean_s: dict[str, float]
    p95_s: float
    events: int
    cpu_s: float
    services_cpu_s: float
    seconds: float
    load: Load

    @property
    def cpu_per_million(self) -> float:
        """Processor seconds for a million events."""
        return self.cpu_s / self.events * 1e6 if self.events else math.inf

    @property
    def cores(self) -> float:
        """Cores the arm kept busy."""
        return self.cpu_s / self.seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one short window at 20,000 events/s, no pilot")
    given = parser.parse_args()
    rates = (20_000,) if given.quick else (20_000, 100_000)
    times = Times(0, 3, 4, 1) if given.quick else Times(8, 6, 15, 2)
    with tempfile.TemporaryDirectory() as folder:
        root = new_project(Path(folder))
        for rate in rates:
            seconds = 120 if rate > 50_000 else 240
            write_events(root, f"events_{rate}", rate * (60 if given.quick else seconds))
            # Half of the freshness is how often a flow looks: T.
            add_chain(root, Chain(f"paced_{rate}", f"events_{rate}", rate, 2 * T_MS, max_rows=1_000_000))
        with running(root) as endpoints, arms(root, endpoints.fluss) as started:
            services = [service.pid for service in Services(root).status().services]
            _measure(started, services, rates, times)


def _measure(started: dict[str, Arm], services: list[int], rates: tuple[int, ...], times: Times) -> None:
    found: dict[tuple[str, int], list[Window]] = {}
    best = dict.fromkeys(started, T_MS)

    def window(name: str, rate: int, settle_s: float, window_s: float, trigger_ms: int) -> Window:
        return _window(started[name], rate, settle_s, window_s, trigger_ms, services)

    if times.pilot:
        window(OURS, rates[0], WARM_UP_S, times.pilot, T_MS)
        for peer in (STOCK, TUNED):
            pilot = {ms: window(peer, rates[0], WARM_UP_S, times.pilot, ms) for ms in (T_MS, FASTEST_MS)}
            best[peer] = min(pilot, key=lambda ms: pilot[ms].mean_s["ads"])
            for trigger_ms, done in pilot.items():
                _tell(rates[0], f"pilot, {peer}", trigger_ms, done)
    for rate in rates:
        for name in in_turn(list(started), times.rounds):
            done = window(name, rate, times.settle, times.window, best[name])
            found.setdefault((name, rate), []).append(done)
            _tell(rate, name, best[name], done)
    for rate in rates:
        show(_figures({name: found[name, rate] for name in started}, rate))
        for name, arm in started.items():
            _check(arm, rate, name)
    if len(rates) > 1:
        show([_marginal(found, list(started), rates)])


def _window(arm: Arm, rate: int, settle_s: float, window_s: float, trigger_ms: int, services: list[int]) -> Window:
    arm.begin(f"paced_{rate}", trigger_ms)
    time.sleep(settle_s)
    meter = LoadMeter()
    began_ms, cpu_s, services_s = time.time() * 1000, arm.cpu_s(), cpu_seconds(services)
    time.sleep(window_s)
    ended_ms = time.time() * 1000
    cpu_s, services_s, load = arm.cpu_s() - cpu_s, cpu_seconds(services) - services_s, meter.load()
    seen = [s for s in arm.end() if began_ms <= s.visible_ms < ended_ms]
    zero_ms = arm.zero_ms(rate)
    ages = {layer: _ages_s([s for s in seen if s.layer == layer], zero_ms, rate) for layer in LAYERS}
    return Window(
        {layer: float(found.mean()) if len(found) else math.inf for layer, found in ages.items()},
        float(np.quantile(ages["ads"], 0.95)) if len(ages["ads"]) else math.inf,
        sum(s.end - s.first for s in seen if s.layer == "ads"),
        cpu_s,
        services_s,
        window_s,
        load,
    )


def _ages_s(seen: list[Seen], zero_ms: float, rate: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Ages of every hundredth event, since event `n` happened at `zero_ms + n / rate`."""
    parts = [s.visible_ms - zero_ms - np.arange(s.first, s.end, 100) * 1000 / rate for s in seen]
    return np.concatenate(parts) / 1000 if parts else np.empty(0)


def _tell(rate: int, name: str, trigger_ms: int, done: Window) -> None:
    ages = ", ".join(f"{layer} {age:.2f}" for layer, age in done.mean_s.items())
    print(
        f"{rate:,}/s {name}{'' if name == OURS else f' (trigger {trigger_ms} ms)'}: mean age {ages} s, "
        f"p95 {done.p95_s:.2f} s, {done.events / done.seconds:,.0f} events/s in ADS, {done.cores:.2f} cores and "
        f"Fluss {done.services_cpu_s / done.seconds:.2f}; {done.load}",
        flush=True,
    )


def _figures(done: dict[str, list[Window]], rate: int) -> list[Figure]:
    def of(value: Callable[[Window], float]) -> tuple[float, dict[str, float]]:
        values = {name: median(value(window) for window in windows) for name, windows in done.items()}
        return values.pop(OURS), values

    age, p95, cpu = of(lambda w: w.mean_s["ads"]), of(lambda w: w.p95_s), of(lambda w: w.cpu_per_million)
    return [
        Figure(
            f"{rate:,}/s, processor per million events", "CPU-s", *cpu, Bound(times={STOCK: 1 / 0.3, TUNED: 1 / 0.7})
        ),
        Figure(f"{rate:,}/s, mean age in ADS", "s", *age, Bound(times={STOCK: 6, TUNED: 4.5})),
        Figure(f"{rate:,}/s, p95 age in ADS", "s", *p95, Bound(at_most=1.5)),
    ]


def _marginal(found: dict[tuple[str, int], list[Window]], names: list[str], rates: tuple[int, ...]) -> Figure:
    slow, fast = rates[0], rates[-1]
    cost = {}
    for name in names:
        cores = [mean(w.cores for w in found[name, rate]) for rate in (slow, fast)]
        events = [mean(w.events / w.seconds for w in found[name, rate]) for rate in (slow, fast)]
        cost[name] = (cores[1] - cores[0]) / (events[1] - events[0]) * 1e6
    return Figure("processor per further million events", "CPU-s", cost.pop(OURS), cost, Bound(at_most=6))


def _check(arm: Arm, rate: int, name: str) -> None:
    if wrong := wrong_stores(arm.board(f"paced_{rate}")):
        raise SystemExit(f"{name}: WRONG at {rate}/s: {len(wrong)} stores of ADS")


if __name__ == "__main__":
    main()
