"""Random histories with tiering between: every moment is read as the model was then, and no view goes back in time."""

import threading
from datetime import date
from itertools import count

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamhouse.errors import RowsLostError
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.query.views import changes
from streamhouse.runtime.stores import open_stores
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.where import RowCondition
from streamhouse.tiering import union
from streamhouse.tiering.move import tier
from streamhouse.tiering.retention import covered
from streamhouse.tiering.union import union_count, union_frame, union_read
from tests.gate.levels import deep
from tests.patience import PATIENCE_S, SOAKING, until

pytestmark = deep(
    "histories of each kind of table; one of each tier stays",
    stays=("test_hot_and_warm[log]", "test_hot_and_cold"),
)

COLUMNS = (Column(name="k", type="bigint"), Column(name="v", type="bigint"))
DAYS = [date(2024, 1, day) for day in (1, 2)]  # long past the time that any first tier here holds them
DROPPING = [(Tier.HOT, Tier.WARM), *([(Tier.WARM, Tier.COLD)] if SOAKING else [])]
_numbers = count()

READS, MOVES = (8, 4) if SOAKING else (5, 2)
KEYS = st.sets(st.integers(0, 7), max_size=5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), KEYS, KEYS),  # keys to upsert (or append), keys to delete
        st.tuples(st.just("tier"), st.integers(1, 12)),
    ),
    min_size=2,
    max_size=9,
)
STEPS_AND_DROPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), KEYS, KEYS),
        st.tuples(st.just("tier"), st.integers(3, 99)),
        st.tuples(st.just("drop")),
    ),
    min_size=4,
    max_size=12,
)

COLD_HISTORY = (
    ("tier", 5),
    ("write", {0, 1, 6}, {0, 3}),
    ("tier", 2),
    ("write", set(), set()),
    ("write", {1, 2, 4}, set()),
    ("tier", 3),
    ("write", {1, 7}, {2}),
)
"""Each write there takes Spark: nothing to move, a part of a write moved, a part of another, and rows behind them."""


class Written:
    """A table and what it held after each write, by its position then."""

    def __init__(self, stores, tiers, key, *, by_day=False):
        self.table = Table(
            name=f"dwd.history_{next(_numbers)}",
            columns=(*COLUMNS, Column(name="d", type="date")) if by_day else COLUMNS,
            primary_key=("d", *key) if by_day and key else key,
            partition_by=("d",) if by_day else (),
            buckets=2,
            tiers=tiers,
        )
        self.source, self.stores = stores[self.table.tiers.target], stores
        self.source.create(self.table)
        self.rows, self.clock, self.dropped_at = [], 0, 0
        self.past = [(self.source.end(self.table), [])]

    def write(self, upserts, deletes=()):
        keyed = bool(self.table.primary_key)
        added = [(key, self.clock) for key in sorted(upserts)]
        gone = sorted(set(deletes) - set(upserts)) if keyed else []
        schema = arrow_schema(self.table.columns)
        rows = pa.Table.from_pylist([{"k": k, "v": v, "d": DAYS[k % 2]} for k, v in added], schema=schema)
        keys = pa.schema([schema.field(name) for name in self.table.primary_key])
        deleted = pa.Table.from_pylist([{"k": k, "d": DAYS[k % 2]} for k in gone], schema=keys) if gone else None
        context = WriteContext(writer="test/history", epoch=self.clock)
        at = self.source.write(self.table, Changes(rows, deleted), context)
        self.clock += 1
        touched = {*upserts, *gone} if keyed else set()
        self.rows = [row for row in self.rows if row[0] not in touched] + added
        self.past.append((at, sorted(self.rows)))

    def tier(self, max_rows):
        tier(self.table, self.source, self.stores[self.table.tiers.present[-1]], max_rows=max_rows)

    def drop(self):
        """What upkeep does: the days go that a colder tier holds."""
        held = covered(self.table, self.table.tiers.target, self.stores, [])
        gone = self.source.drop_partitions(self.table, [(day,) for day in DAYS], held.until) if held else []
        self.dropped_at = len(self.past) - 1 if gone else self.dropped_at
        return gone

    def read(self, **options):
        return pairs(union_read(self.table, self.stores, **options))


def pairs(found):
    return sorted(zip(found.column("k").to_pylist(), found.column("v").to_pylist(), strict=True))


@pytest.fixture(scope="module")
def stores(tmp_path_factory, request):
    project, opened = Project(tmp_path_factory.mktemp("project"), Settings()), {}

    def of(*tiers):
        fluss = request.getfixturevalue("fluss") if Tier.HOT in tiers else None
        spark = request.getfixturevalue("spark") if Tier.COLD in tiers else None
        opened.update(open_stores(project, spark, fluss, [t for t in tiers if t not in opened]))
        return opened

    yield of
    for store in opened.values():
        store.close()


def check(stores, steps, tiers, key, *, by_day=False):
    written = Written(stores, tiers, key, by_day=by_day)
    for what, *how in steps:
        getattr(written, what)(*how)
        for through_lake in (False, True):
            assert written.read(through_lake=through_lake) == sorted(written.rows)
    if not by_day:
        check_moments(written, key)
        return
    for number, (at, rows) in enumerate(written.past):
        for through_lake in (False, True):
            try:
                assert written.read(at=at, through_lake=through_lake) == rows
            except RowsLostError:
                assert number < written.dropped_at, "nothing was dropped since then"


def check_moments(written, key):
    """The past can be read, and the changes since any moment of it."""
    for at, rows in written.past:
        assert written.read(at=at) == rows
        some = written.read(at=at, where=[RowCondition("k", "<=", (3,))], through_lake=not key)
        assert [row for row in some if row[0] <= 3] == [row for row in rows if row[0] <= 3]
    # The changes lead from any moment to any later one.
    for (first, old), (last, new) in zip(written.past, written.past[1:], strict=False):
        found = changes(written.table, written.source, first, last).to_pylist()
        held = {tuple(row) for row in old} if key else list(old)
        for row in found:
            if not key:
                held.append((row["k"], row["v"]))
            else:
                held = {one for one in held if one[0] != row["k"]}
                if row["_kind"] in ("+I", "+U"):
                    held.add((row["k"], row["v"]))
        assert sorted(held) == new


SOME = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@pytest.mark.services
@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "key"])
def test_hot_and_warm(stores, key):
    @SOME
    @given(STEPS)
    def history(steps):
        check(stores(Tier.HOT, Tier.WARM), steps, {"hot": "1h", "warm": "forever"}, key)

    history()


@pytest.mark.services
@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "key"])
def test_hot_and_warm_by_days_that_are_dropped(stores, key):
    @SOME
    @given(STEPS_AND_DROPS)
    def history(steps):
        check(stores(Tier.HOT, Tier.WARM), steps, {"hot": "1d", "warm": "forever"}, key, by_day=True)

    history()


@pytest.mark.parametrize("tiers", DROPPING, ids=lambda tiers: "-".join(tiers))
@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "key"])
@pytest.mark.parametrize("tiered", [True, False], ids=["tiered", "new"])
@pytest.mark.services
@pytest.mark.spark
def test_a_day_that_is_tiered_and_dropped_between_two_looks_of_a_reader(stores, monkeypatch, spark, tiers, key, tiered):
    first, last = tiers
    written = Written(stores(*tiers), {first.value: "1d", last.value: "forever"}, key, by_day=True)
    written.write({0, 1})
    if tiered:
        written.tier(99)
    written.write({2, 3}, {0})
    moment, rows = written.past[-1]
    looks, find = [], union.find_base

    def find_then_drop(*given):
        found = find(*given)
        if not looks:
            looks.append(found)
            written.tier(99)
            assert written.drop() == [(day,) for day in DAYS]
        return found

    reads = [
        written.read,
        lambda: pairs(union_frame(spark, written.table, written.stores, through_lake=True).toArrow()),
        lambda: union_count(written.table, written.stores, "v"),
    ]
    for read in reads:
        monkeypatch.setattr(union, "find_base", find)
        written.write({4, 5})
        looks.clear()
        monkeypatch.setattr(union, "find_base", find_then_drop)
        found = read()
        assert found == (len(written.rows) if isinstance(found, int) else sorted(written.rows))
    if first is Tier.HOT:  # a lake still has what a snapshot of it had
        with pytest.raises(RowsLostError):
            written.read(at=moment)
    else:
        assert written.read(at=moment) == rows


@pytest.mark.services
@pytest.mark.spark
def test_hot_and_cold(stores):
    check(stores(Tier.HOT, Tier.COLD), COLD_HISTORY, {"hot": "1h", "cold": "forever"}, ())


@pytest.mark.services
@pytest.mark.spark
def test_hot_and_cold_by_chance(stores):
    @settings(SOME, max_examples=3)
    @given(STEPS)
    def history(steps):
        check(stores(Tier.HOT, Tier.COLD), steps, {"hot": "1h", "cold": "forever"}, ())

    history()


@pytest.mark.services
@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "key"])
def test_a_view_never_goes_back_in_time(stores, key):
    """One thread writes rising numbers, one tiers all the while; every reader sees no less than it saw before."""
    written = Written(stores(Tier.HOT, Tier.WARM), {"hot": "1h", "warm": "forever"}, key)
    written.write(range(8))
    over, problems, tiered = threading.Event(), [], []
    reads = dict.fromkeys(("views", "lake", "other lake"), 0)

    def writing():
        while not over.is_set():
            written.write({written.clock % 8, (written.clock * 3) % 8})

    def moving():
        while not over.is_set():
            written.tier(5)
            tiered.append(1)

    def reading(reader, through_lake):
        seen = {}
        while not over.is_set():
            before = written.clock - 1  # was readable when the read began
            rows, now = written.read(through_lake=through_lake), {}
            for k, v in rows:
                now[k] = max(v, now.get(k, -1))
            if not key:
                assert len(set(rows)) == len(rows), "a row twice"
                assert len(rows) >= len(seen.get("rows", [])), "rows are gone"
                seen["rows"] = rows
            assert all(now.get(k, -1) >= v for k, v in seen.items() if k != "rows"), f"{now} after {seen}"
            assert max(now.values()) >= before, f"{max(now.values())} is older than {before}"
            seen |= now
            reads[reader] += 1

    def guarded(work, *arguments):
        try:
            work(*arguments)
        except BaseException as error:  # noqa: BLE001  told by the test
            problems.append(error)

    threads = [
        threading.Thread(target=guarded, args=one)
        for one in (
            (writing,),
            (moving,),
            (reading, "views", False),
            (reading, "lake", True),
            (reading, "other lake", True),
        )
    ]
    for thread in threads:
        thread.start()
    try:
        until(
            lambda: problems or (min(reads.values()) >= READS and len(tiered) >= MOVES),
            saw=lambda: (reads, len(tiered)),
        )
    finally:
        over.set()
        for thread in threads:
            thread.join(PATIENCE_S)
    assert problems == []
    assert written.read() == sorted(written.rows)
