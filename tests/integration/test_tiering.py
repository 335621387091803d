"""Tiering and union reads over real stores: any history, tiered at any moment, reads as it was written."""

import random
import signal
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import count

import pyarrow as pa
import pytest

from streamhouse.errors import RowsLostError, StateConflictError
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Column, Table
from streamhouse.model.types import StepKind, Strategy, Tier
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.mark import Mark, read_mark
from streamhouse.tiering.move import tier, tier_all
from streamhouse.tiering.union import tiers_read, union_count, union_frame, union_read
from tests.gate.levels import deep, soak
from tests.patience import PATIENCE_S, pause

pytestmark = [
    deep(
        "histories and edits of keyed tables in the cold tier take as long as the others together",
        only=(
            "test_columns_are_told_by_name_after_any_edit[hot-cold-key]",
            "test_any_history_reads_as_it_was_written[hot-cold-log]",
            "test_any_history_reads_as_it_was_written[hot-cold-key]",
            "test_two_at_once_move_each_row_once",
        ),
    )
]

_numbers = count(1)
COLUMNS = {"k": "bigint", "place": "string", "v": "int", "tags": "array<string>", "at": "timestamp"}
ROUTES = [
    pytest.param(("hot", "warm"), id="hot-warm", marks=pytest.mark.services),
    pytest.param(("hot", "cold"), id="hot-cold", marks=[pytest.mark.services, pytest.mark.spark]),
    pytest.param(("warm", "cold"), id="warm-cold", marks=[pytest.mark.spark, soak]),
]


@pytest.fixture(scope="module")
def stores(tmp_path_factory, request):
    """Opens a tier when a test first asks for it."""
    from streamhouse.project.project import Project
    from streamhouse.project.settings import Settings
    from streamhouse.runtime.stores import open_stores

    project = Project(tmp_path_factory.mktemp("project"), Settings())
    opened = {}

    class Stores(dict):
        def __missing__(self, tier):
            spark = request.getfixturevalue("spark") if tier == Tier.COLD else None
            fluss = request.getfixturevalue("fluss") if tier == Tier.HOT else None
            opened.update(open_stores(project, spark, fluss, [tier]))
            self[tier] = opened[tier]
            return opened[tier]

    yield Stores()
    for store in opened.values():
        store.close()


@pytest.fixture(params=ROUTES)
def route(request):
    return tuple(Tier(tier) for tier in request.param)


def make_table(tiers, *, key=(), merge=None, columns=None):
    return Table(
        name=f"dwd.tiering_{next(_numbers)}",
        columns=tuple(Column(name=name, type=kind) for name, kind in (columns or COLUMNS).items()),
        primary_key=key,
        buckets=2,
        tiers={tier.value if isinstance(tier, Tier) else tier: "forever" for tier in tiers},
        merge=merge or {},
    )


class Writer:
    """A flow that writes a table, beside a plain list or dict of what it must hold."""

    def __init__(self, table, store, seed=0):
        self.table, self.store, self.random = table, store, random.Random(seed)
        self.epoch = 0
        self.model = {} if table.primary_key else []
        store.create(table)

    def rows(self):
        held = self.model.values() if self.table.primary_key else self.model
        return Counter(map(frozen, held))

    def row(self):
        number = self.random.randrange(25)
        row = {"k": number, "place": f"p{number % 2}", "v": self.random.randrange(1000)}
        return row | {"tags": self.random.choice([None, [], ["a", "b"]]), "at": self.random.choice([None, 1, 10**15])}

    def write(self, upserts=(), deletes=()):
        schema = arrow_schema(self.table.columns)
        keys = pa.schema([schema.field(name) for name in self.table.primary_key])
        changes = Changes(
            pa.Table.from_pylist([{**row} for row in upserts], schema=schema),
            pa.Table.from_pylist(list(deletes), schema=keys) if deletes else None,
        )
        self.store.write(self.table, changes, WriteContext(writer="test/writer", epoch=self.epoch))
        self.epoch += 1
        for row in deletes:
            self.model.pop(self.key(row), None)
        for row in upserts:
            if self.table.primary_key:
                self.model[self.key(row)] = row
            else:
                self.model.append(row)

    def key(self, row):
        return tuple(row[name] for name in self.table.primary_key)

    def write_some(self):
        if not self.table.primary_key:
            return self.write([self.row() for _ in range(self.random.randrange(1, 30))])
        upserts = {self.key(row): row for row in (self.row() for _ in range(self.random.randrange(1, 12)))}
        gone = self.random.sample(sorted(set(self.model) - set(upserts)), k=min(3, len(set(self.model) - set(upserts))))
        return self.write(upserts.values(), [dict(zip(self.table.primary_key, key, strict=True)) for key in gone])


def frozen(row):
    at = row["at"]
    micros = at if at is None or isinstance(at, int) else round(at.timestamp() * 1_000_000)
    return (row["k"], row["place"], row["v"], None if row["tags"] is None else tuple(row["tags"]), micros)


def read(rows):
    return Counter(map(frozen, rows.to_pylist()))


def assert_reads_as_written(writer, stores, request):
    table = writer.table
    assert read(union_read(table, stores)) == writer.rows()
    assert read(union_read(table, stores, through_lake=True)) == writer.rows()
    some = union_read(table, stores, ("v",), through_lake=True)
    assert some.column_names == ["v"]
    assert {union_count(table, stores, "v", through_lake=through) for through in (False, True)} == {some.num_rows}
    assert Counter(some.column("v").to_pylist()) == Counter(key[2] for key in writer.rows().elements())
    if Tier.COLD in table.tiers.present:
        frame = union_frame(request.getfixturevalue("spark"), table, stores, through_lake=True)
        assert read(frame.toArrow()) == writer.rows()


@pytest.mark.parametrize("key", [(), ("k",), pytest.param(("k", "place"), marks=soak)], ids=["log", "key", "two-keys"])
def test_any_history_reads_as_it_was_written(route, stores, key, request):
    table = make_table(route, key=key)
    source, lake = stores[route[0]], stores[route[1]]
    writer = Writer(table, source, seed=len(key))
    assert read(union_read(table, stores)) == Counter()
    moves = 0
    for step in range(10):
        writer.write_some()
        if step in {3, 4, 7, 9}:
            # From a log, small rounds; an update may lie on both sides of a cut.
            moved = tier(table, source, lake, max_rows=7)
            assert moved.waiting_rows in (0, None)
            moves += 1
        if step in {1, 3, 5, 8, 9}:
            assert_reads_as_written(writer, stores, request)
    assert read(lake.read_state(table.replica)) == writer.rows()
    assert moves == 4


VALID_TO = datetime(9999, 12, 31, 23, 59, 59, 999999)
VALIDITY = {"k": "bigint", "day": "date", "at": "timestamp", "local": "timestamp_ntz", "all": "array<timestamp_ntz>"}


@pytest.mark.parametrize("key", [(), ("k",), ("k", "local")], ids=["log", "key", "key-of-times"])
def test_rows_that_are_valid_for_ever_are_so_in_every_tier(route, stores, key, request):
    table = make_table(route, key=key, columns=VALIDITY)
    source, lake = stores[route[0]], stores[route[1]]
    source.create(table)
    ends = [datetime(2026, 1, 31, 12), VALID_TO, datetime(1, 1, 1, 0, 0, 0, 1)]
    wanted = [
        {"k": k, "day": at.date(), "at": at.replace(tzinfo=UTC), "local": at, "all": [at, None]}
        for k, at in enumerate(ends)
    ]
    schema = arrow_schema(table.columns)
    for epoch, rows in enumerate((wanted[:2], wanted[2:])):
        source.write(table, Changes(pa.Table.from_pylist(rows, schema)), WriteContext("test/writer", epoch))
        if not epoch:
            tier(table, source, lake)
    union = [union_read(table, stores, through_lake=through) for through in (False, True)]
    tier(table, source, lake)
    for found in (*union, lake.read_state(table.replica)):
        assert found.schema.types == schema.types
        assert found.sort_by("k").to_pylist() == wanted
    if Tier.COLD in route:
        frame = union_frame(request.getfixturevalue("spark"), table, stores, through_lake=True)
        assert frame.toArrow().cast(schema).sort_by("k").to_pylist() == wanted


@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "key"])
def test_a_second_run_moves_nothing(route, stores, key):
    table = make_table(route, key=key)
    source, lake = stores[route[0]], stores[route[1]]
    writer = Writer(table, source)
    writer.write_some()
    first = tier(table, source, lake)
    assert first.rows == sum(writer.rows().values())
    before = lake.end(table.replica)
    again = tier(table, source, lake)
    assert (again.rows, again.start, again.end) == (0, first.end, first.end)
    assert lake.end(table.replica) == before


def test_an_empty_table_moves_nothing_and_reads_empty(route, stores):
    table = make_table(route, key=("k",))
    source, lake = stores[route[0]], stores[route[1]]
    source.create(table)
    assert tier(table, source, lake).rows == 0
    assert read_mark(lake, table, route[0]) is None
    assert union_read(table, stores, through_lake=True).num_rows == 0


def test_a_table_that_its_flow_did_not_make_yet_has_no_copy(route, stores):
    """A copy without its table says that the table was lost: the flow would not start."""
    table = make_table(route)
    source, lake = stores[route[0]], stores[route[1]]
    assert tier(table, source, lake).rows == 0
    assert lake.identity(table.replica.name) is None


@pytest.mark.services
def test_rounds_are_bounded_and_told(stores):
    table = make_table(("hot", "warm"))
    source, lake = stores[Tier.HOT], stores[Tier.WARM]
    writer = Writer(table, source)
    writer.write([writer.row() for _ in range(100)])
    told = []
    moved = tier(table, source, lake, max_rows=30, on_progress=told.append)
    assert [(one.rows, one.waiting_rows) for one in told] == [(30, 70), (60, 40), (90, 10), (100, 0)]
    assert told[-1] == moved
    assert read_mark(lake, table, Tier.HOT) == Mark(3, Tier.HOT, moved.end)


def test_folded_values_are_copied_not_added(route, stores):
    merge = {"total": "sum", "last": "last_value"}
    table = make_table(route, key=("k",), merge=merge, columns={"k": "bigint", "total": "bigint", "last": "string"})
    source, lake = stores[route[0]], stores[route[1]]
    source.create(table)
    schema = arrow_schema(table.columns)
    expected = {}
    for epoch in range(4):
        rows = [{"k": k, "total": 10**epoch, "last": f"e{epoch}"} for k in range(epoch, 6)]
        source.write(table, Changes(pa.Table.from_pylist(rows, schema=schema)), WriteContext("test/writer", epoch))
        for row in rows:
            expected[row["k"]] = (expected.get(row["k"], (0, ""))[0] + row["total"], row["last"])
        tier(table, source, lake)
        for through_lake in (False, True):
            held = union_read(table, stores, through_lake=through_lake).to_pylist()
            assert {row["k"]: (row["total"], row["last"]) for row in held} == expected
    assert {row["k"]: row["total"] for row in lake.read_state(table.replica).to_pylist()} == {
        k: total for k, (total, _) in expected.items()
    }


EDITS = (
    ("k", "v"),
    ("k", "a", "v"),  # added in the middle
    ("b", "k", "a", "v"),  # and in front
    ("k", "v", "b"),  # dropped, and in another order
    ("v", "k", "c", "b"),  # added in the middle, and in another order
    ("k", "c", "a", "v"),  # one that was dropped comes back, and another goes
)


@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "key"])
def test_columns_are_told_by_name_after_any_edit(route, stores, key):
    source, lake = stores[route[0]], stores[route[1]]
    name, model = make_table(route).name, {}
    for epoch, columns in enumerate(EDITS):
        made = make_table(route, key=key, columns={one: "bigint" if one == "k" else "string" for one in columns})
        table = made.model_copy(update={"name": name})
        (source.add_columns if epoch else source.create)(table)
        rows = [{one: k if one == "k" else f"{one}{epoch}.{k}" for one in columns} for k in (epoch, epoch + 1)]
        changes = Changes(pa.Table.from_pylist(rows, schema=arrow_schema(table.columns)))
        source.write(table, changes, WriteContext("test/writer", epoch))
        model |= {(row["k"],) if key else (epoch, row["k"]): row for row in rows}
        tier(table, source, lake)
        wanted = Counter(tuple(row.get(one) for one in columns) for row in model.values())
        for found in (union_read(table, stores, through_lake=True), lake.read_state(table.replica)):
            assert Counter(tuple(row[one] for one in columns) for row in found.to_pylist()) == wanted, columns


@pytest.mark.services
@pytest.mark.spark
def test_a_flow_fills_every_tier_of_every_table(stores):
    three = make_table(("hot", "warm", "cold"))
    one = make_table(("hot",))
    keyed = make_table(("warm", "cold"), key=("k",))
    plan = FlowPlan(
        flow="f",
        sources=(),
        segments=(Segment(name="main", steps=tuple(step(table) for table in (three, one, keyed))),),
    )
    writers = [Writer(table, stores[table.tiers.target]) for table in (three, one, keyed)]
    for writer in writers:
        writer.write_some()
    for tier_ in Tier:
        assert stores[tier_]
    moved = tier_all(plan, stores)
    assert [(m.table, m.source, m.target) for m in moved] == [
        (three.name, Tier.HOT, Tier.WARM),
        (three.name, Tier.HOT, Tier.COLD),
        (keyed.name, Tier.WARM, Tier.COLD),
    ]
    assert tiers_read(three) == (Tier.HOT, Tier.COLD)
    for writer in writers:
        assert read(union_read(writer.table, stores)) == writer.rows()
    assert read(stores[Tier.WARM].read_state(three)) == writers[0].rows()


def step(table):
    return PlannedStep(
        action="a",
        version="1.0.0",
        kind=StepKind.CLEAN,
        reads=(),
        writes=table,
        sql="SELECT 1",
        strategy=Strategy.MAP,
        reason="test",
    )


@pytest.mark.services
def test_a_table_made_anew_is_not_tiered_into_the_old_copy(stores):
    table = make_table(("hot", "warm"))
    source, lake = stores[Tier.HOT], stores[Tier.WARM]
    writer = Writer(table, source)
    writer.write([writer.row() for _ in range(9)])
    tier(table, source, lake)
    source.drop(table.name)
    anew = Writer(table, source)
    anew.write([anew.row()])
    with pytest.raises(StateConflictError, match="tiered up to offset"):
        tier(table, source, lake)
    with pytest.raises(StateConflictError, match="tiered up to offset"):
        union_read(table, stores)


@pytest.mark.services
def test_a_copy_that_another_program_wrote_is_refused(stores):
    table = make_table(("hot", "warm"))
    lake = stores[Tier.WARM]
    Writer(table, stores[Tier.HOT]).write_some()
    other = Writer(table, lake)
    other.write([other.row()])
    with pytest.raises(StateConflictError, match="rows that tiering did not write"):
        tier(table, stores[Tier.HOT], lake)


@pytest.mark.services
def test_rows_that_left_the_log_are_an_error_not_a_gap(stores):
    """The lake's copy ends before the log begins: as if the log's TTL had passed the tiered offset."""
    table = make_table(("hot", "warm"))
    source, lake = stores[Tier.HOT], stores[Tier.WARM]
    writer = Writer(table, source)
    writer.write([writer.row() for _ in range(10)])
    tier(table, source, lake)
    writer.write([writer.row() for _ in range(10)])

    class Aged(type(source)):
        """The real store, whose log starts where it ends now."""

        def start(self, table):
            return self.end(table)

    aged = object.__new__(Aged)
    aged.__dict__.update(source.__dict__)
    with pytest.raises(RowsLostError, match="are in no tier"):
        tier(table, aged, lake)
    with pytest.raises(RowsLostError, match="are in no tier"):
        union_read(table, {Tier.HOT: aged, Tier.WARM: lake})


@pytest.mark.services
def test_a_lake_that_is_asked_for_later_begins_where_the_log_does(stores):
    table = make_table(("hot", "warm"))
    source, lake = stores[Tier.HOT], stores[Tier.WARM]
    writer = Writer(table, source)
    writer.write([writer.row() for _ in range(10)])
    began = source.end(table)
    rows = [writer.row() for _ in range(5)]
    writer.write(rows)

    class Aged(type(source)):
        def start(self, table):
            return began

    aged = object.__new__(Aged)
    aged.__dict__.update(source.__dict__)
    with pytest.raises(RowsLostError, match="are in no tier"):  # it was a tier when they were dropped
        tier(table, aged, lake, age_of_copy=lambda: timedelta(days=40_000))
    moved = tier(table, aged, lake, age_of_copy=lambda: timedelta(days=6))
    assert (moved.rows, moved.gone_rows) == (5, 10)
    assert union_read(table, {Tier.HOT: aged, Tier.WARM: lake}).num_rows == 5
    assert tier(table, aged, lake).rows == 0


# --- kill -9 --------------------------------------------------------------------------------------

TIERING_PROCESS = """
import sys
from pathlib import Path
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.runtime.session import local_session
from streamhouse.project.settings import Settings
from streamhouse.runtime.stores import open_stores
from streamhouse.tiering.move import tier

root, fluss, lake, rows, table, last = sys.argv[1:]
project = Project(Path(root), Settings.model_validate({"spark": {"master": "local[2]"}}))
spark = local_session(project) if lake == "cold" else None
stores = open_stores(project, spark, fluss, [Tier.HOT, Tier(lake)])
print("ready", flush=True)
rounds = 0

def tell(moved):
    global rounds
    rounds += 1
    print(moved.rows, flush=True)
    if rounds == int(last):
        sys.stdin.read()

tier(Table.model_validate_json(table), stores[Tier.HOT], stores[Tier(lake)], max_rows=int(rows), on_progress=tell)
print("done", flush=True)
sys.stdin.read()
"""


def tiering(root, fluss, lake, table, rows, stdin, last=0, **streams):
    """A process that tiers so many rows per round; after round `last` it waits for input, as it does at the end."""
    arguments = [str(root), fluss, lake, str(rows), table.model_dump_json(), str(last)]
    return subprocess.Popen([sys.executable, "-c", TIERING_PROCESS, *arguments], stdin=stdin, **streams)


def tier_in_process(root, fluss, lake, table, rows, kill_after_rounds, kill_after_s):
    """Tier in a process of its own and kill it so many seconds after a round, or never; its exit code.

    After no seconds, the kill finds it in that round. One that is to be killed does not end by itself.
    """
    last = kill_after_rounds if kill_after_s == 0 else 0
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = tiering(root, fluss, lake, table, rows, last=last, **pipes)
    with process:
        for _ in range(kill_after_rounds + 1):  # the first line says that it is ready
            assert process.stdout.readline().strip()
        if kill_after_s is None:
            process.communicate(timeout=PATIENCE_S)
        else:
            pause(kill_after_s)
            process.send_signal(signal.SIGKILL)
        return process.wait()


@pytest.mark.services
@pytest.mark.parametrize("key", [pytest.param((), marks=soak), ("k",)], ids=["log", "key"])
def test_kill_at_any_moment_loses_and_repeats_nothing(key, fluss, tmp_path):
    from streamhouse.project.project import Project
    from streamhouse.project.settings import Settings
    from streamhouse.runtime.stores import open_stores

    table = make_table(("hot", "warm"), key=key)
    stores = open_stores(Project(tmp_path, Settings()), None, fluss, [Tier.HOT, Tier.WARM])
    writer = Writer(table, stores[Tier.HOT])
    for number, (rounds, delay_s) in enumerate([(0, 0.01), (1, 0.0), (2, 0.005), (1, 0.02), (3, 0.04), (1, 0.08)]):
        for _ in range(12):
            writer.write_some()
        assert tier_in_process(tmp_path, fluss, "warm", table, 6 + number, rounds, delay_s) == -signal.SIGKILL
        assert read(union_read(table, stores, through_lake=True)) == writer.rows()
    moved = tier(table, stores[Tier.HOT], stores[Tier.WARM])
    assert moved.waiting_rows == 0
    assert read(stores[Tier.WARM].read_state(table)) == writer.rows()
    for store in stores.values():
        store.close()


@soak
@pytest.mark.services
@pytest.mark.spark
def test_kill_while_filling_the_cold_tier(fluss, tmp_path, spark):
    """Two kills; the copy lies in the process' own warehouse, so the last run is a process, too."""
    table = make_table(("hot", "cold"), key=("k",))
    from streamhouse.stores.fluss.store import FlussStore

    hot = FlussStore(fluss)
    writer = Writer(table, hot)
    for rounds, delay_s in [(1, 0.0), (1, 0.3), (1, None)]:
        for _ in range(6):
            writer.write_some()
        code = tier_in_process(tmp_path, fluss, "cold", table, 20, rounds, delay_s)
    assert code == 0
    (metadata,) = sorted((tmp_path / ".streamhouse/cold/dwd").glob("*/metadata/version-hint.text"))
    held = spark.read.format("iceberg").load(str(metadata.parent.parent)).toArrow()
    assert read(held) == writer.rows()
    hot.close()


@pytest.mark.services
def test_two_at_once_move_each_row_once(fluss, tmp_path):
    from streamhouse.project.project import Project
    from streamhouse.project.settings import Settings
    from streamhouse.runtime.stores import open_stores

    table = make_table(("hot", "warm"))
    stores = open_stores(Project(tmp_path, Settings()), None, fluss, [Tier.HOT, Tier.WARM])
    writer = Writer(table, stores[Tier.HOT])
    writer.write([writer.row() for _ in range(200)])
    stores[Tier.WARM].create(table)
    both = [tiering(tmp_path, fluss, "warm", table, rows=11, stdin=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(PATIENCE_S) for process in both] == [0, 0]
    assert read(stores[Tier.WARM].read_state(table)) == writer.rows()
    for store in stores.values():
        store.close()


@pytest.mark.services
def test_the_first_round_of_another_process_between_two_looks_is_no_foreign_copy(fluss, tmp_path, monkeypatch):
    """The copy has no mark at the first look, and the rows and the mark of another process at the second."""
    from streamhouse.project.project import Project
    from streamhouse.project.settings import Settings
    from streamhouse.runtime.stores import open_stores

    table = make_table(("hot", "warm"))
    stores = open_stores(Project(tmp_path, Settings()), None, fluss, [Tier.HOT, Tier.WARM])
    hot, warm = stores[Tier.HOT], stores[Tier.WARM]
    writer = Writer(table, hot)
    writer.write([writer.row() for _ in range(20)])
    create = warm.create

    def create_late(replica):
        create(replica)
        monkeypatch.setattr(warm, "create", create)
        tier(table, hot, warm)  # the other process

    monkeypatch.setattr(warm, "create", create_late)
    assert tier(table, hot, warm).rows == 0
    assert read(warm.read_state(table)) == writer.rows()
    for store in stores.values():
        store.close()
