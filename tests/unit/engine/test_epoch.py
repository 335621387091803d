"""The steps of an epoch among each other: who waits for whom, what is written when one fails. No Spark, no store."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import pyarrow as pa
import pytest

from streamhouse.engine import epoch as epoch_module
from streamhouse.engine.epoch import EpochRun, SegmentParts
from streamhouse.engine.expectations import Judged
from streamhouse.engine.needs import needs_of
from streamhouse.engine.spread import SpreadWritten
from streamhouse.engine.vector import Vector
from streamhouse.errors import EngineError, EpochFailedError, LeaseExpiredError
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.runtime.open import plan_of
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes
from tests.patience import PATIENCE_S

ACTIONS = {
    "take": ("ingest", "lines: {id: bigint, shop: bigint, cents: bigint}", "SELECT id, shop, cents FROM lines", ""),
    "clean": (
        "clean",
        "items: {id: bigint, shop: bigint, cents: bigint}",
        "SELECT id, shop, cents * 2 AS cents FROM items WHERE cents > 0",
        "",
    ),
    "totals": (
        "aggregate",
        "items: {shop: bigint, cents: bigint}",
        "SELECT shop, SUM(cents) AS cents FROM items GROUP BY shop",
        "output: {primary_key: [shop]}\n",
    ),
    "both": (
        "ingest",
        "lines: {id: bigint, shop: bigint, cents: bigint}\n  more: {id: bigint, shop: bigint, cents: bigint}",
        "SELECT id, shop, cents FROM lines UNION ALL SELECT id, shop, cents FROM more",
        "",
    ),
    "parts": (
        "clean",
        "items: {id: bigint, shop: bigint}",
        "SELECT id, explode(sequence(1L, shop)) AS part FROM items",
        "output: {primary_key: [id]}\n",
    ),
    "highest": (
        "customize",
        "totals: {shop: bigint, cents: bigint}",
        "SELECT shop, MAX(cents) AS cents FROM totals GROUP BY shop",
        "output: {primary_key: [shop]}\n",
    ),
}
FLOW = """\
flow: items
sources:
  lines: {files: {path: data/*.csv, columns: {id: bigint, shop: bigint, cents: bigint}}}
steps:
  - {use: take, reads: {lines: lines}, writes: ods.items}
  - {use: clean, reads: {items: ods.items}, writes: dwd.items}
  - {use: totals, reads: {items: dwd.items}, writes: dws.totals}
"""


@pytest.fixture
def plan(tmp_path):
    return planned(tmp_path, FLOW)


def planned(tmp_path, flow):
    (tmp_path / "data").mkdir()
    (tmp_path / "flows").mkdir()
    (tmp_path / "actions").mkdir()
    (tmp_path / "flows" / "items.yaml").write_text(flow)
    for name, (kind, inputs, sql, output) in ACTIONS.items():
        text = f"/* ---\naction: {name}\nstep: {kind}\ninputs:\n  {inputs}\n{output}--- */\n{sql}\n"
        (tmp_path / "actions" / f"{name}.sql").write_text(text)
    return plan_of(Project.at(tmp_path), "items")


class Frames:
    """In place of Spark: what each step's query gives, and what its rows have to wait for."""

    def __init__(self, given):
        self.given = given
        self.ran = []

    def frame(self, rows):
        return rows

    def rows(self, frame):
        return frame

    def may_stand(self, step):
        return False

    def place(self, name, rows):
        return None

    def stands(self, frame):
        return False

    def run(self, step, inputs, at_ms):
        self.ran.append(step.id)
        return step.id

    def collect(self, step, frame):
        rows = self.given[step.id]()
        return Judged(pa.Table.from_pylist(rows, arrow_schema(step.columns)))


class Store:
    def __init__(self):
        self.written = {}

    def write(self, table, changes, context):
        self.written[table.name] = changes.upserts.to_pylist()
        return {"0": changes.upserts.num_rows}


def held_lease():
    pass


@contextmanager
def running(plan, frames, store, check=held_lease, rows_between=1):
    """An epoch that has not begun; all sources have the same rows."""
    [segment] = plan.segments
    rows = pa.Table.from_pylist([{"id": 1, "shop": 7, "cents": 5}], arrow_schema(plan.sources[0].columns))
    source = SimpleNamespace(
        rows_between=lambda start, end: rows_between, changes=lambda start, end, names: Changes(rows)
    )
    held = SimpleNamespace(extending=lambda name: lambda rows: rows)
    with ThreadPoolExecutor(8) as pool:
        parts = SegmentParts(
            plan,
            segment,
            needs_of(plan, segment),
            {one.name: source for one in plan.sources},
            {Tier.HOT: store},
            frames,
            held,
            SimpleNamespace(root=None),
            pool,
            SimpleNamespace(check=check, stands=lambda: True),
        )
        parts.frames.spark = None
        end = Vector(1, {one.name: {"row": 1} for one in plan.sources})
        yield EpochRun(parts, 0, Vector(), end, {name: {} for name in segment.tables}, replay=False)


def epoch(plan, given, check=held_lease):
    frames, store = Frames(given), Store()
    with running(plan, frames, store, check) as run:
        try:
            return frames, store, run.all()
        except EngineError as error:
            return frames, store, error


def test_a_step_that_repeats_columns_asks_spark_for_nothing(plan):
    frames, store, _ = epoch(plan, {"dwd.items": list, "dws.totals": list})
    assert "ods.items" not in frames.ran
    assert store.written == {"ods.items": [{"id": 1, "shop": 7, "cents": 5}]}


def test_a_step_begins_before_the_rows_of_the_one_before_it_are_here(plan):
    begun = threading.Event()

    def clean():
        assert begun.wait(PATIENCE_S), "the step that follows waits for these rows"
        return [{"id": 1, "shop": 7, "cents": 10}]

    def totals():
        begun.set()
        return [{"shop": 7, "cents": 10}]

    _, store, outcome = epoch(plan, {"dwd.items": clean, "dws.totals": totals})
    assert store.written["dws.totals"] == [{"shop": 7, "cents": 10}]
    assert outcome.rows == {"ods.items": 1, "dwd.items": 1, "dws.totals": 1}
    assert outcome.deltas["dwd.items"].rows == 1


def test_nothing_is_written_after_a_step_that_failed_later(plan):
    done = threading.Event()

    def clean():
        assert done.wait(PATIENCE_S)
        raise EpochFailedError("clean fails on a row")

    def totals():
        done.set()
        return [{"shop": 7, "cents": 10}]

    _, store, failed = epoch(plan, {"dwd.items": clean, "dws.totals": totals})
    assert "clean fails" in str(failed)
    assert list(store.written) == ["ods.items"]


def test_rows_made_of_no_rows_are_not_written(plan):
    """As `SELECT 1, COUNT(*)` makes one."""
    _, store, outcome = epoch(plan, {"dwd.items": list, "dws.totals": lambda: [{"shop": 7, "cents": 0}]})
    assert list(store.written) == ["ods.items"]
    assert outcome.rows == {"ods.items": 1}


class CachedRows:
    """In place of a DataFrame."""

    def __init__(self, name, cached):
        self.name, self.cached = name, cached

    def persist(self):
        self.cached.append(self.name)
        return self

    def unpersist(self):
        if self.name in self.cached:
            self.cached.remove(self.name)


class SpreadFrames(Frames):
    def __init__(self, cached):
        super().__init__({})
        self.cached = cached

    def valid_rows(self, step, frame):
        return CachedRows(step.id, self.cached)


@pytest.mark.parametrize("fails", [False, True])
def test_spark_forgets_the_rows_of_an_epoch(tmp_path, monkeypatch, fails):
    """Also those of a table that merges: the steps that read it get rows of the store in their place."""
    cached, seen = [], []

    def write(frame, table, *_):
        seen.append((table.name, frame.name in cached))
        if fails and table.name == "dws.totals":
            raise EngineError("a task failed")
        return SpreadWritten(2, {"0": 2})

    monkeypatch.setattr(epoch_module, "spread_changes", lambda *_: CachedRows("lines", cached))
    monkeypatch.setattr(epoch_module, "spread_write", write)
    read = "  - {use: highest, reads: {totals: dws.totals}, writes: ads.highest}\nlocal_epoch_rows: 1\n"
    plan = planned(tmp_path, FLOW + read)
    store = SimpleNamespace(read_changes=lambda *_: Changes(pa.table({"shop": []})))
    with running(plan, SpreadFrames(cached), store, rows_between=2) as run:
        with pytest.raises(EngineError) if fails else nullcontext():
            run.all()
        run.release()
    assert ("dws.totals", True) in seen
    assert cached == []


BOTH = """\
flow: items
sources:
  lines: {files: {path: data/*.csv, columns: {id: bigint, shop: bigint, cents: bigint}}}
  more: {files: {path: data/*.csv, columns: {id: bigint, shop: bigint, cents: bigint}}}
steps:
  - {use: both, reads: {lines: lines, more: more}, writes: ods.items}
  - {use: both, reads: {lines: lines, more: more}, writes: ods.again}
local_epoch_rows: 1
"""


def test_spark_forgets_the_rows_of_a_read_that_ends_after_its_epoch_failed(tmp_path, monkeypatch):
    """Both steps fail as soon as `lines` does, and wait no longer for `more`."""
    cached, released = [], threading.Event()

    def read(_, origin, *__):
        if origin.name == "lines":
            raise EngineError("lines cannot be read")
        assert released.wait(PATIENCE_S)
        return CachedRows(origin.name, cached)

    monkeypatch.setattr(epoch_module, "spread_changes", read)
    with running(planned(tmp_path, BOTH), SpreadFrames(cached), Store(), rows_between=2) as run:
        with pytest.raises(EngineError, match="lines cannot be read"):
            run.all()
        run.release()
        released.set()
    assert cached == []


def test_rows_of_which_several_may_have_one_key_are_compared_in_one_place(tmp_path, monkeypatch):
    """A task of Spark sees some of them; of those that are made of one row none comes last."""
    spread = []

    def write(frame, table, *_):
        spread.append(table.name)
        return SpreadWritten(2, {"0": 2})

    monkeypatch.setattr(epoch_module, "spread_changes", lambda *_: CachedRows("lines", []))
    monkeypatch.setattr(epoch_module, "spread_write", write)
    [head, _] = FLOW.split("  - {use: clean")
    step = "  - {use: parts, reads: {items: ods.items}, writes: dwd.parts}\nlocal_epoch_rows: 1\n"
    frames, store = SpreadFrames([]), Store()
    frames.given = {"dwd.parts": lambda: [{"id": 1, "part": 1}]}
    with running(planned(tmp_path, head + step), frames, store, rows_between=2) as run:
        run.all()
        run.release()
    assert spread == ["ods.items"]
    assert store.written == {"dwd.parts": [{"id": 1, "part": 1}]}


def test_nothing_is_written_once_the_lease_ran_out(plan):
    def run_out():
        raise LeaseExpiredError("not renewed")

    _, store, error = epoch(plan, {"dwd.items": list, "dws.totals": list}, run_out)
    assert isinstance(error, LeaseExpiredError)
    assert not store.written
