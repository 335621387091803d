"""Tiering and upkeep are killed again and again, while flows write and people read: every read is as it was written.

Readers know the model's rows before and after each read. A read must show every write that had ended when it began and
none that had not begun when it ended, and of each key (each row of a log) never an older state than the read before.
In tables by day most rows are of days past their time: upkeep drops such days as soon as colder tiers hold them, while
rows of these days go on being written and deleted.
"""

import os
import random
import threading
from contextlib import contextmanager
from datetime import UTC, date, datetime
from itertools import cycle
from uuid import uuid4

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Column, Table
from streamhouse.model.types import StepKind, Strategy, Tier
from streamhouse.project.project import Project
from streamhouse.runtime.stores import open_stores
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.tiering.move import tier
from streamhouse.tiering.union import union_read
from tests.gate.levels import soak
from tests.keeping import Keeper, Point, rounds_begun
from tests.patience import PATIENCE_S, SOAKING, pause

pytestmark = [pytest.mark.services, pytest.mark.spark, soak]

MOVE, FLUSS = "streamhouse.tiering.move", "streamhouse.stores.fluss"
PAIMON, ICEBERG = "streamhouse.stores.paimon", "streamhouse.stores.iceberg"
# Each is a process that dies there; the next one begins with what it left.
KILLS = [
    Point(f"{ICEBERG}.store:IcebergStore._commit", 2, after_ms=40),
    Point(f"{FLUSS}.catalog:FlussCatalog.drop_partition", 2),  # one day is dropped, the next one is not
]
if SOAKING:
    KILLS += [
        Point(f"{PAIMON}.upkeep:PaimonUpkeep.compact", 2, after_ms=30),  # Spark's JVM goes on by itself for a moment
        Point(f"{MOVE}:_write", 3),  # rows were read, nothing is written
        Point(f"{PAIMON}.commits:tag_commit", 2),  # committed, not tagged
        Point(f"{PAIMON}.upkeep:PaimonUpkeep.expire", 2, after_ms=5),
        Point(f"{ICEBERG}.snapshots:tag", 2),
        Point(f"{ICEBERG}.upkeep:IcebergUpkeep.compact", 1, after_ms=150),
        Point(f"{ICEBERG}.upkeep:IcebergUpkeep.expire", 2, after_ms=20),
        Point(f"{FLUSS}.catalog:FlussCatalog.drop_partition", 4, after_ms=1),
        Point(f"{PAIMON}.partitions:drop", 1, after_ms=10),
        Point(f"{PAIMON}.commits:tag_commit", 4, after_ms=1),
    ]
FUNCTIONS = sorted({point.function for point in KILLS if "drop" not in point.function})  # what every round calls
AT_ONCE = 2  # kills of one history, besides as many at any time

TIERS = {  # by kind of table
    "log": {"hot": "1d", "warm": "30d", "cold": "90d"},
    "keyed": {"hot": "1d", "warm": "30d"},
    "days_keyed": {"hot": "1d", "cold": "forever"},
    "lake_keyed": {"warm": "30d", "cold": "90d"},
    "days_log": {"hot": "1d", "warm": "forever"},
}
if SOAKING:
    TIERS |= {
        "totals": {"hot": "1d", "warm": "30d"},
        "lake_log": {"warm": "30d", "cold": "90d"},
        "cold_keyed": {"hot": "1d", "cold": "90d"},
        "all_days_keyed": {"hot": "1d", "warm": "30d", "cold": "forever"},
        "lake_days_keyed": {"warm": "1d", "cold": "forever"},
        "lake_days_log": {"warm": "1d", "cold": "forever"},
    }
OLD = date(2024, 1, 2)
DAYS = [date(2024, 1, 1), OLD, datetime.now(UTC).date()]
# In the first of so many rounds of tiering and upkeep, rows of old days are written too. In the others they are not, so
# that a round begins and ends without such a write, and its upkeep finds the days covered.
ROUNDS = 3
PAUSE_S = 0.1 if SOAKING else 0.7  # between two reads
KEYS = st.sets(st.integers(0, 9), max_size=6)
WRITES = st.lists(st.tuples(KEYS, KEYS), min_size=5, max_size=30)  # keys to upsert (or append), keys to delete
HISTORY = WRITES.filter(lambda writes: sum(bool(deletes - upserts) for upserts, deletes in writes) > 4)


def table_of(kind, run):
    by_day = ("d",) if "days" in kind else ()
    columns = {"k": "bigint", "v": "bigint"} | dict.fromkeys(by_day, "date")
    return Table(
        name=f"dwd.{kind}_{run}",
        columns=tuple(Column(name=name, type=type_) for name, type_ in columns.items()),
        primary_key=() if kind.endswith("log") else ("k", *by_day),
        partition_by=by_day,
        buckets=2,
        tiers=TIERS[kind],
        merge={"v": "sum"} if kind == "totals" else {},
    )


class Written:
    """A table, what writes it, and all that it ever held."""

    def __init__(self, table, store, root):
        self.table, self.store, self.root = table, store, root
        store.create(table)
        self.begun = self.ended = 0  # writes
        self.states = [{}]  # after each write: of a log row → 1, else key → value

    def write(self, upserts, deletes):
        number, old = self.begun + 1, self.states[-1]
        if self.table.partition_by and rounds_begun(self.root) % ROUNDS != 1 and old:
            upserts, deletes = ({k for k in keys if DAYS[k % 3] > OLD} for keys in (upserts, deletes))
        added = [{"k": k, "v": number, "d": DAYS[k % 3]} for k in sorted(upserts)]
        gone = sorted(set(deletes) & old.keys() - set(upserts)) if self.table.primary_key else []
        if self.table.merge:
            gone, new = [], old | {row["k"]: old.get(row["k"], 0) + number for row in added}
        elif self.table.primary_key:
            new = {k: v for k, v in old.items() if k not in gone} | {row["k"]: row["v"] for row in added}
        else:
            new = old | {(row["k"], row["v"]): 1 for row in added}
        self.states.append(new)
        self.begun = number
        schema = arrow_schema(self.table.columns)
        rows = pa.Table.from_pylist(added, schema=schema)
        keys = pa.schema([schema.field(name) for name in self.table.primary_key])
        deleted = pa.Table.from_pylist([{"k": k, "d": DAYS[k % 3]} for k in gone], schema=keys) if gone else None
        self.store.write(self.table, Changes(rows, deleted), WriteContext(writer="test/killed", epoch=number))
        self.ended = number


class Reader:
    """Reads a table over and over; `seen` has for each key the write up to which it was shown."""

    def __init__(self, written, stores):
        self.written, self.stores = written, stores
        self.seen, self.reads = {}, 0

    def read(self):
        written = self.written
        first = written.ended
        rows = union_read(written.table, self.stores, through_lake=True).select(["k", "v"]).to_pylist()
        last = written.begun
        found = [(row["k"], row["v"]) for row in rows]
        shown = dict(found) if written.table.primary_key else dict.fromkeys(found, 1)
        assert len(shown) == len(found), f"{written.table.name} has a row twice: {sorted(found)}"
        if written.table.tiers.target is Tier.WARM:  # whose commits are seen as a whole
            first = max(first, self.seen.get("all", 0))
            at = next((n for n in range(first, last + 1) if written.states[n] == shown), None)
            assert at is not None, self.told(shown, first, last)
            self.seen["all"] = at
        else:
            for key in {*shown, *self.seen, *written.states[first]}:
                oldest = max(first, self.seen.get(key, 0))
                at = next((n for n in range(oldest, last + 1) if written.states[n].get(key) == shown.get(key)), None)
                assert at is not None, f"{key}: {self.told(shown, oldest, last)}"
                self.seen[key] = at
        self.reads += 1

    def told(self, shown, first, last):
        states = {n: self.written.states[n] for n in range(first, last + 1)}
        return f"{self.written.table.name} shows {shown}, which is none of {states}"


@contextmanager
def in_threads(*works):
    """Repeat works beside the block; the first error of any ends them all and is raised."""
    over, problems = threading.Event(), []

    def repeat(work, pause_s):
        try:
            work()
            while not over.wait(pause_s):
                work()
        except BaseException as error:  # noqa: BLE001  told by the test
            problems.append(error)
            over.set()

    threads = [threading.Thread(target=repeat, args=one) for one in works]
    for thread in threads:
        thread.start()
    try:
        yield problems
    finally:
        over.set()
        for thread in threads:
            thread.join(PATIENCE_S)
        if problems:
            raise problems[0]


@pytest.fixture(scope="module")
def project(tmp_path_factory, fluss, spark):
    patch = pytest.MonkeyPatch()
    patch.setenv("STREAMHOUSE_FLUSS", fluss)
    patch.setenv("STREAMHOUSE_COLD", spark.conf.get("spark.sql.catalog.cold.warehouse"))
    patch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
    root = tmp_path_factory.mktemp("killed")
    (root / "streamhouse.yaml").write_text("keep_snapshots: 0s\n")  # upkeep spares nothing that it may take
    yield Project.at(root)
    patch.undo()


@pytest.fixture(scope="module")
def stores(project, fluss, spark):
    opened = open_stores(project, spark, fluss)
    yield opened
    for store in opened.values():
        store.close()


def plan_of(tables):
    steps = tuple(
        PlannedStep(
            action="a",
            version="1.0.0",
            kind=StepKind.CLEAN,
            reads=(),
            writes=table,
            sql="SELECT 1",
            strategy=Strategy.MAP,
            reason="test",
        )
        for table in tables
    )
    return FlowPlan(flow="killed", sources=(), segments=(Segment(name="main", steps=steps),))


def check(project, stores, history, kills, seed):
    run = uuid4().hex[:8]
    described = [table_of(kind, run) for kind in TIERS]
    tables = [Written(table, stores[table.tiers.target], project.root) for table in described]
    with project.state() as state:
        state.save_plan(plan_of([written.table for written in tables]))
    moments, steps = random.Random(seed), cycle(history)

    def write():
        for written in tables:
            written.write(*next(steps))

    readers = [Reader(written, stores) for written in tables]
    keepers = [Keeper(project)]
    try:
        write()
        with in_threads((write, 0.3), *((reader.read, PAUSE_S) for reader in readers)) as problems:
            for point in [*kills, *([None] if SOAKING else [])]:
                keeper = keepers[-1]
                keeper.go(point)
                keepers.append(Keeper(project))  # begins to start while this one is on its way
                if point is not None:
                    keeper.assert_dies()
                else:
                    keeper.rounds(1)
                    pause(moments.uniform(0, 5))
                    keeper.kill()
                assert not problems
            keepers[-1].go()
            keepers[-1].rounds(1)
    finally:
        for keeper in keepers:
            keeper.close()
    assert all(reader.reads > len(kills) for reader in readers), [reader.reads for reader in readers]
    for written, reader in zip(tables, readers, strict=True):
        reader.read()
        for lake in written.table.tiers.present[1:]:
            tier(written.table, written.store, stores[lake])
            copy = stores[lake].read_state(written.table.replica).to_pylist()
            pairs = [(row["k"], row["v"]) for row in copy]
            expected = written.states[-1].items() if written.table.primary_key else written.states[-1]
            if not written.table.keeps_all(lake):
                pairs, expected = ([pair for pair in some if DAYS[pair[0] % 3] > OLD] for some in (pairs, expected))
            assert sorted(pairs) == sorted(expected), (written.table.name, lake)
        for one in written.table.tiers.present:
            stores[one].drop(written.table.name)


def names_of(points):
    return "-".join(f"{point.function.rpartition(':')[2]}_{point.nth}" for point in points)


@pytest.mark.timeout(7200 if SOAKING else 1800)
@pytest.mark.parametrize("points", [KILLS[n : n + AT_ONCE] for n in range(0, len(KILLS), AT_ONCE)], ids=names_of)
def test_killed_at_every_point_every_read_is_as_it_was_written(project, stores, points):
    @settings(
        max_examples=int(os.environ.get("STREAMHOUSE_EXAMPLES", "6")) if SOAKING else 1,
        deadline=None,
        phases=[Phase.generate],  # what happens side by side cannot be shrunk
        suppress_health_check=list(HealthCheck),
        derandomize=not SOAKING,
    )
    @given(HISTORY, st.integers(0, 1000))
    def history(steps, seed):
        kills = list(points)
        if SOAKING:
            moments = random.Random(seed)
            kills += [Point(moments.choice(FUNCTIONS), moments.randint(1, 6), moments.uniform(0, 300)) for _ in points]
        check(project, stores, steps, kills, seed)

    history()
