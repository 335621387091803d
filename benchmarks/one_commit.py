"""One commit after the other in a PostgreSQL: how long until its row is in ADS, over four hot tables.

Measured is the time from when COMMIT has returned to its client to the return of the last write of a layer, after a
warm-up. A capture reads the database. Its pair is the same flow over a file of the same events in Debezium's form, from
when a line is on the disk: what ours has above it is the capture's and the database's.

    python benchmarks/one_commit.py [--quick]
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from method.arms import OURS, Arm, arms, in_turn
from method.machine import LoadMeter
from method.report import Bound, Figure, show
from method.serve import wait_until
from method.workload import ACTIONS, expected_board, wrong_stores

from streamhouse.services.services import running

BEFORE = 10_000  # rows that are there before the first commit
PER_SECOND = 3
FRESHNESS_MS = 100
CAPTURE, FILE = "one_commit", "one_line"
LAYERS = ("ods", "dwd", "dws", "ads")
_COLUMNS = {
    "event_id": "bigint",
    "customer_id": "bigint",
    "product": "string",
    "quantity": "bigint",
    "price": "double",
    "sold_at": "timestamp",
}
_TABLE = (
    b"CREATE TABLE events (event_id bigint PRIMARY KEY, customer_id bigint, product text, quantity bigint, "
    b"price double precision, sold_at timestamptz)"
)
_INSERT = b"INSERT INTO events VALUES (%s, %s, %s, %s, %s, %s)"
_PLACES = {
    CAPTURE: "postgres: {connection: shop, table: public.events}",
    FILE: "path: data/events.jsonl, time_unit: us",
}
_FLOW = """\
flow: {name}
freshness: {freshness_ms}ms
sources:
  events: {{cdc: {{{place}, primary_key: [event_id], columns: {columns}}}}}
steps:
  - {{use: take_events, reads: {{events: events}}, writes: ods.{name}}}
  - {{use: clean_events, reads: {{events: ods.{name}}}, writes: dwd.{name}}}
  - {{use: store_totals, reads: {{sales: dwd.{name}}}, writes: dws.{name}}}
  - {{use: store_board, reads: {{totals: dws.{name}}}, writes: ads.{name}}}
"""
Write = Callable[[list[tuple[Any, ...]]], None]


def main() -> None:
    """Fill a database and a file, and time commits to both."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.capture import Shop
    from tests.production import postgres

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one window of 5 seconds")
    times = (3.0, 5.0, 1) if parser.parse_args().quick else (20.0, 20.0, 3)
    with tempfile.TemporaryDirectory() as folder, postgres("wal_level=logical", "max_replication_slots=10") as url:
        shop = Shop(Path(folder) / "shop", url)
        _add_flows(shop.root)
        with shop.session() as session, (shop.root / "data" / "events.jsonl").open("a") as file:
            session.execute(_TABLE)
            feeds = {CAPTURE: Feed(lambda rows: _commit(session, rows)), FILE: Feed(lambda rows: _append(file, rows))}
            for feed in feeds.values():
                feed.add(BEFORE)
            shop.source("public.events", _COLUMNS, ["event_id"])
            with shop.capture() as process, running(shop.root) as endpoints:
                shop.until_begun(process)
                with arms(shop.root, endpoints.fluss, [OURS]) as started:
                    _measure(started[OURS], feeds, *times)


class Feed:
    """Where events are added, in the order of their numbers, from 0.

    Args:
        write: Adds rows, and returns when they are committed.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self.count = 0
        self.committed_ms: dict[int, float] = {}  # event → when it was committed

    def add(self, count: int = 1) -> None:
        """Commit the next events in one transaction."""
        first, self.count = self.count, self.count + count
        self._write([event(number) for number in range(first, self.count)])
        now_ms = time.time() * 1000
        self.committed_ms |= dict.fromkeys(range(first, self.count), now_ms)


def event(number: int) -> tuple[Any, ...]:
    """The row of `workload.write_events` with this number; the order is that of the columns."""
    sold_at = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC) + timedelta(microseconds=number * 50)
    product = f"product-{number * 31 % 1000:04d}"
    return number, number * 7_919 % 100_003, product, number % 20, (number * 13 % 10_000) / 100, sold_at


def _commit(session: Any, rows: list[tuple[Any, ...]]) -> None:
    with session.transaction(), session.cursor() as cursor:
        cursor.executemany(_INSERT, rows)


def _append(file: Any, rows: list[tuple[Any, ...]]) -> None:
    for *values, sold_at in rows:
        micros = (sold_at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        after = dict(zip(_COLUMNS, (*values, micros), strict=True))
        file.write(json.dumps({"op": "c", "after": after}) + "\n")
    file.flush()
    os.fsync(file.fileno())


def _add_flows(root: Path) -> None:
    shutil.copytree(ACTIONS, root / "actions")
    (root / "data").mkdir()
    for name, place in _PLACES.items():
        text = _FLOW.format(name=name, freshness_ms=FRESHNESS_MS, place=place, columns=json.dumps(_COLUMNS))
        (root / "flows" / f"{name}.yaml").write_text(text)


def _measure(arm: Arm, feeds: dict[str, Feed], warm_up_s: float, window_s: float, rounds: int) -> None:
    for name, feed in feeds.items():
        _window(arm, name, feed, warm_up_s)
    lags: dict[str, list[float]] = {name: [] for name in feeds}
    for name in in_turn([*feeds], rounds):
        meter = LoadMeter()
        found = _window(arm, name, feeds[name], window_s)
        lags[name] += found["ads"]
        layers = ", ".join(f"{layer} {median(of):.0f}" for layer, of in found.items())
        print(f"{name}: median {layers} ms over {len(found['ads'])} rows; {meter.load()}", flush=True)
    show([_figure(lags, 0.5, Bound(300)), _figure(lags, 0.95, Bound())])


def _figure(lags: dict[str, list[float]], quantile: float, bound: Bound) -> Figure:
    ours, pair = (float(np.quantile(lags[name], quantile)) for name in (CAPTURE, FILE))
    return Figure(f"commit to ADS, p{quantile * 100:.0f}", "ms", ours, {"a file": pair}, bound)


def _window(arm: Arm, name: str, feed: Feed, window_s: float) -> dict[str, list[float]]:
    """For each layer how long each row took, in milliseconds; events of no quantity reach ODS alone, and do not count.

    Raises:
        RuntimeError: the last layer does not equal the events.
    """
    feed.add()  # `begin` waits for new events
    arm.begin(name)
    first, until = feed.count, time.monotonic() + window_s
    chance = random.Random(first)  # else commits and looks at the journal keep one distance
    while time.monotonic() < until:
        time.sleep(chance.uniform(0.6, 1.4) / PER_SECOND)
        feed.add()
    lines, cents = expected_board(feed.count)
    wait_until(lambda: sum(arm.board(name)["lines"]) == lines)
    seen = arm.end()
    board = arm.board(name)
    if sum(board["cents"]) != cents or wrong_stores(board):
        raise RuntimeError(f"{name}: the board is not that of {feed.count} events")
    counted = [number for number in range(first, feed.count) if number % 20]
    found = {}
    for layer in LAYERS:
        visible_ms = {number: s.visible_ms for s in seen if s.layer == layer for number in range(s.first, s.end)}
        found[layer] = [visible_ms[number] - feed.committed_ms[number] for number in counted]
    return found


if __name__ == "__main__":
    main()
