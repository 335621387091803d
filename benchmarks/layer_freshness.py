"""Events at a steady pace through four layers: how old they are in ADS, and what they cost.

All arms look for new events every second, then all as often as they can.

Age is the time from when an event happened to when the write of a layer that holds it returned, over all events of
a window. Processor seconds are those of the arm's process tree in the window, for each million events that
arrived in ADS meanwhile.

    python benchmarks/layer_freshness.py [--quick | --pace 20000]
"""

import argparse
import math
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import numpy as np
from method.arms import OURS, STOCK, TUNED, Arm, Seen, arms, in_turn
from method.machine import Load, LoadMeter, cpu_seconds
from method.report import Bound, Figure, show
from method.workload import Chain, add_chain, new_project, write_events, wrong_stores

from streamhouse.services.services import Services, running

T_MS = 1000
FASTEST_MS = 0
WARM_UP_S = 45.0  # of each arm; what Java compiles meanwhile is not measured
ENOUGH_EVENTS = 4_000_000, 13_000_000  # at the slow pace and the fast one, for all windows of an arm
CHEAPER = Bound(times={STOCK: 1 / 0.3, TUNED: 1 / 0.7})
FRESHER = Bound(times={STOCK: 6, TUNED: 4.5})
LAYERS = ("ods", "dwd", "dws", "ads")


@dataclass(frozen=True)
class Times:
    """Seconds of the parts of a run."""

    warm_up: float
    settle: float
    window: float


@dataclass(frozen=True)
class Pace:
    """How many events come, and how often an arm looks for them; 0: as often as it can."""

    per_second: int
    trigger_ms: int

    @property
    def chain(self) -> str:
        """Name of the flow that takes them."""
        return f"paced_{self.per_second}_{self.trigger_ms}"

    def __str__(self) -> str:
        return f"{self.per_second:,}/s, T = {self.trigger_ms / 1000:g} s"


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

    def __str__(self) -> str:
        ages = ", ".join(f"{layer} {age:.2f}" for layer, age in self.mean_s.items())
        return (
            f"mean age {ages} s, p95 {self.p95_s:.2f} s, {self.events / self.seconds:,.0f} events/s in ADS, "
            f"{self.cores:.2f} cores and Fluss {self.services_cpu_s / self.seconds:.2f}; {self.load}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one short window each, at 20,000 events/s and T = 1 s")
    parser.add_argument("--pace", type=int, metavar="N", help="three whole windows each, at N events/s and T = 1 s")
    given = parser.parse_args()
    if given.quick:
        runs, times = [Pace(20_000, T_MS)], Times(0, 3, 4)
    elif given.pace:
        runs, times = [Pace(given.pace, T_MS)] * 3, Times(WARM_UP_S, 5, 12)
    else:
        paces = [Pace(rate, trigger_ms) for rate in (20_000, 100_000) for trigger_ms in (T_MS, FASTEST_MS)]
        runs, times = [*paces, *paces[:2]], Times(WARM_UP_S, 5, 12)
    with tempfile.TemporaryDirectory() as folder:
        root = new_project(Path(folder))
        for pace in set(runs):
            events = f"events_{pace.per_second}"
            write_events(root, events, ENOUGH_EVENTS[pace.per_second > 50_000])
            # Half of the freshness is how often a flow looks.
            freshness_ms = 2 * (pace.trigger_ms or 50)
            add_chain(root, Chain(pace.chain, events, pace.per_second, freshness_ms, max_rows=1_000_000))
        with running(root) as endpoints, arms(root, endpoints.fluss) as started:
            services = [service.pid for service in Services(root).status().services]
            _measure(started, services, runs, times)


def _measure(started: dict[str, Arm], services: list[int], runs: "list[Pace]", times: "Times") -> None:
    found: dict[tuple[str, Pace], list[Window]] = {}
    if times.warm_up:
        for arm in started.values():
            _window(arm, runs[0], times.warm_up, 0.1, services)
    # Each pace begins one arm further, so that none is always the first.
    turns = in_turn(list(started), len(runs))
    for n, name in enumerate(turns):
        pace = runs[n // len(started)]
        done = _window(started[name], pace, times.settle, times.window, services)
        found.setdefault((name, pace), []).append(done)
        print(f"{pace}, {name}: {done}", flush=True)
    for pace in dict.fromkeys(runs):
        show(_figures({name: found[name, pace] for name in started}, pace))
        for name, arm in started.items():
            if wrong := wrong_stores(arm.board(pace.chain)):
                raise SystemExit(f"{name}: WRONG at {pace}: {len(wrong)} stores of ADS")
    if len(set(runs)) > 1:
        show(_against_better_trigger(found))
        show([_marginal(found, list(started))])


def _window(arm: Arm, pace: Pace, settle_s: float, window_s: float, services: list[int]) -> Window:
    rate = pace.per_second
    arm.begin(pace.chain, pace.trigger_ms)
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


def _figures(done: dict[str, list[Window]], pace: Pace) -> list[Figure]:
    ages, p95s, costs = ({n: median(v(w) for w in ws) for n, ws in done.items()} for v in (_age, _p95, _cost))
    slow = pace.trigger_ms == T_MS
    return [
        Figure(f"{pace}: processor per million events", "CPU-s", costs.pop(OURS), costs, CHEAPER if slow else Bound()),
        Figure(f"{pace}: mean age in ADS", "s", ages.pop(OURS), ages, FRESHER if slow else Bound()),
        Figure(f"{pace}: p95 age in ADS", "s", p95s.pop(OURS), p95s, Bound(at_most=1.5)),
    ]


def _against_better_trigger(found: dict[tuple[str, Pace], list[Window]]) -> list[Figure]:
    """Ours at T = 1 s against whichever trigger serves a peer best, chosen for each figure."""
    figures = []
    for rate in dict.fromkeys(pace.per_second for _, pace in found):
        for text, unit, value, bound in (("processor", "CPU-s/M", _cost, CHEAPER), ("mean age", "s", _age, FRESHER)):
            best: dict[str, float] = {}
            for (name, pace), windows in found.items():
                if pace.per_second == rate and (name != OURS or pace.trigger_ms == T_MS):
                    best[name] = min(best.get(name, math.inf), median(value(w) for w in windows))
            name = f"{rate:,}/s, ours at T = 1 s, peers at the better of 1 s and 0 s: {text}"
            figures.append(Figure(name, unit, best.pop(OURS), best, bound))
    return figures


def _marginal(found: dict[tuple[str, Pace], list[Window]], names: list[str]) -> Figure:
    rates = sorted({pace.per_second for _, pace in found})
    cost = {}
    for name in names:
        windows = [found[name, Pace(rate, T_MS)] for rate in (rates[0], rates[-1])]
        cores = [mean(w.cores for w in at_rate) for at_rate in windows]
        events = [mean(w.events / w.seconds for w in at_rate) for at_rate in windows]
        cost[name] = (cores[1] - cores[0]) / (events[1] - events[0]) * 1e6
    return Figure("T = 1 s: processor per further million events", "CPU-s", cost.pop(OURS), cost, Bound(at_most=6))


def _age(window: Window) -> float:
    return window.mean_s["ads"]


def _p95(window: Window) -> float:
    return window.p95_s


def _cost(window: Window) -> float:
    return window.cpu_per_million


if __name__ == "__main__":
    main()
