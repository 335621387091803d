"""The project that all arms run: events from a replay, four layers of Fluss tables."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ACTIONS = Path(__file__).parents[1] / "actions"
PACKAGE = "benchmark_events"
STORES = 500
BOARD = ("store_id", "lines", "cents", "last_event_id")  # columns of the last layer that are checked

_FLOW = """\
flow: {name}
freshness: {freshness_ms}ms
max_rows_per_epoch: {max_rows}
sources:
  events: {{replay: {{package: {package}, table: {table}, speed: {speed}{limit}}}}}
steps:
  - {{use: take_events, reads: {{events: events}}, writes: ods.{name}}}
  - {{use: clean_events, reads: {{events: ods.{name}}}, writes: dwd.{name}}}
  - {{use: store_totals, reads: {{sales: dwd.{name}}}, writes: dws.{name}}}
  - {{use: store_board, reads: {{totals: dws.{name}}}, writes: ads.{name}}}
tables:
  ods.{name}: {{buckets: {buckets}}}
  dwd.{name}: {{buckets: {buckets}}}
"""


@dataclass(frozen=True)
class Chain:
    """A flow of four layers: ODS and DWD are logs, DWS adds up, ADS follows DWS."""

    name: str
    events: str  # file of events, see `write_events`
    per_second: int | None  # None: all events wait from the start
    freshness_ms: int = 1000
    max_rows: int = 200_000
    buckets: int = 1
    limit: int | None = None  # only the first events


def new_project(root: Path) -> Path:
    """An empty project with the benchmarks' actions; its folder must be on the path of Python, see `write_events`."""
    shutil.copytree(ACTIONS, root / "actions")
    (root / "flows").mkdir()
    (root / PACKAGE).mkdir()
    (root / PACKAGE / "__init__.py").touch()
    return root


def write_events(root: Path, table: str, rows: int) -> None:
    """Put `rows` deterministic events into `root`/benchmark_events, which `replay` finds as a package."""
    event = np.arange(rows, dtype=np.int64)
    columns = {
        "event_id": event,
        "customer_id": event * 7_919 % 100_003,
        "product": pa.array([f"product-{n:04d}" for n in range(1000)]).take(pa.array(event * 31 % 1000)),
        "quantity": event % 20,
        "price": (event * 13 % 10_000) / 100,
        "sold_at": pa.array(event * 50 + 1_700_000_000_000_000, pa.timestamp("us", tz="UTC")),
    }
    pq.write_table(pa.table(columns), root / PACKAGE / f"{table}.parquet", row_group_size=1_000_000, compression="none")


def expected_board(rows: int) -> tuple[int, int]:
    """Sum of `lines` and of `cents` over the last layer after the first `rows` events."""
    event = np.arange(rows, dtype=np.int64)
    quantity = event % 20
    cents = quantity * np.round((event * 13 % 10_000) / 100 * 100).astype(np.int64)
    return int((quantity > 0).sum()), int(cents.sum())


def wrong_stores(board: dict[str, list[int]]) -> list[int]:
    """The stores whose sums are not those of all their events up to `last_event_id`.

    Args:
        board: Columns of the last layer, as lists: `store_id`, `lines`, `cents` and `last_event_id`.
    """
    store = np.array(board["store_id"], np.int64)
    last = np.full(STORES, -1, np.int64)
    last[store] = board["last_event_id"]
    event = np.arange(int(last.max()) + 1, dtype=np.int64)
    of = event * 7_919 % 100_003 % STORES
    counted = (event % 20 > 0) & (event <= last[of])
    cents = event % 20 * np.round((event * 13 % 10_000) / 100 * 100).astype(np.int64)
    lines = np.bincount(of[counted], minlength=STORES)
    # Sums of whole numbers below 2**53 are exact as floats.
    sums = np.bincount(of[counted], weights=cents[counted], minlength=STORES).astype(np.int64)
    right = (lines[store] == np.array(board["lines"])) & (sums[store] == np.array(board["cents"]))
    return [int(s) for s in store[~right]]


def add_chain(root: Path, chain: Chain) -> None:
    """Write the chain's flow into the project."""
    text = _FLOW.format(
        name=chain.name,
        freshness_ms=chain.freshness_ms,
        max_rows=chain.max_rows,
        package=PACKAGE,
        table=chain.events,
        speed=f"{chain.per_second}/s" if chain.per_second else "max",
        buckets=chain.buckets,
        limit=f", limit: {chain.limit}" if chain.limit else "",
    )
    (root / "flows" / f"{chain.name}.yaml").write_text(text)
