"""Held rows that are too many for the driver reach Spark by files: equal to those that come from memory."""

import json
import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

from streamhouse.engine import states
from streamhouse.engine.bits import as_bits, from_bits
from streamhouse.engine.frames import Frames
from streamhouse.engine.spill import Bound, Spilled, SpillFolder, read_bounded, spilled_frame
from streamhouse.errors import EpochFailedError
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.plan import PlannedStep
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import Strategy
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.spark.frame import arrow_frame
from streamhouse.stores.arrow import arrow_schema
from tests.gate.levels import deep, soak
from tests.oracle import assert_same_rows, batch
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.spark,
    deep("floats in files of other writers", only=("test_floats_are_found_whatever_a_file_tells_of_them",)),
]

# --- types ------------------------------------------------------------------------------------

NAN, INFINITE = float("nan"), float("inf")
OLD = datetime(1, 1, 1, 0, 0, 0, 1)
LATE = datetime(9999, 12, 31, 23, 59, 59, 999_999)
VALUES = {
    "boolean": [True, False],
    "tinyint": [-128, 127],
    "smallint": [-(2**15), 2**15 - 1],
    "int": [-(2**31), 2**31 - 1],
    "bigint": [-(2**63), 2**63 - 1],
    "float": [-0.0, 0.0, float("nan"), float("inf"), 1.5],
    "double": [-0.0, 0.0, float("nan"), float("-inf"), 0.1],
    "string": ["", "Grüße, 世界 \U0001f680", "x" * 5000, "a\x00b"],
    "binary": [b"", b"\x00\xff"],
    "date": [date(1, 1, 1), date(1582, 10, 4), date(1969, 12, 31), date(9999, 12, 31)],
    "timestamp": [at.replace(tzinfo=UTC) for at in (OLD, datetime(1582, 10, 4), datetime(1899, 12, 31, 23), LATE)],
    "timestamp_ntz": [OLD, datetime(1582, 10, 4), datetime(1899, 12, 31, 23), LATE],
    "decimal(4,2)": [Decimal("-99.99"), Decimal("0.01")],
    "decimal(9,0)": [Decimal(999_999_999)],
    "decimal(18,6)": [Decimal("-999999999999.999999")],
    "decimal(38,10)": [Decimal("1234567890123456789012345678.0123456789"), Decimal("-0.0000000001")],
    "array<string>": [[], ["a", None, ""]],
    "map<string,bigint>": [[], [("k", 1), ("l", None)]],
    "struct<a:int,b:array<decimal(20,3)>>": [{"a": None, "b": None}, {"a": 1, "b": [Decimal("1.000"), None]}],
    "array<struct<x:timestamp_ntz,y:map<int,struct<z:double>>>>": [
        [None, {"x": OLD, "y": [(1, {"z": -0.0}), (2, None)]}, {"x": None, "y": []}]
    ],
}
EVERY_TYPE = (Column(name="id", type="int"), *(Column(name=f"c_{n}", type=t) for n, t in enumerate(VALUES)))


def rows_of_every_type() -> pa.Table:
    """One row for each value, NULL in all other columns; and a row of NULLs."""
    values = [(f"c_{n}", value) for n, listed in enumerate(VALUES.values()) for value in listed]
    rows = [{"id": -1}, *({"id": n, name: value} for n, (name, value) in enumerate(values))]
    return pa.Table.from_pylist(rows, schema=arrow_schema(EVERY_TYPE))


def spilled_rows(rows: pa.Table, columns: tuple[Column, ...], folder: Path) -> Spilled:
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.register("given", as_bits(rows))
        query, few = exp.select("*").from_("given"), Bound(rows=0, bytes=0)
        found = read_bounded(
            database, query, columns, SpillFolder(folder), few, lambda found: from_bits(found, columns)
        )
    assert isinstance(found, Spilled)
    return found


@pytest.fixture
def both(spark, tmp_path):
    """The same rows from memory and from a file; its path looks like a pattern to Hadoop."""
    rows = rows_of_every_type()
    spilled = spilled_rows(rows, EVERY_TYPE, tmp_path / "a [b]{c,d}* %20 é?")
    return arrow_frame(spark, rows), spilled_frame(spark, spilled)


def test_every_type_is_the_same_from_a_file(both):
    memory, file = both
    assert memory.schema == file.schema
    assert {f.name: f.dataType.simpleString() for f in file.schema} == {c.name: c.type for c in EVERY_TYPE}
    given = rows_of_every_type()
    for frame in (memory, file):
        found = frame.orderBy("id").toArrow()
        assert repr(found.cast(given.schema).to_pylist()) == repr(given.to_pylist())  # -0.0 and NaN show


def ids(frame):
    return sorted(frame.select("id").toArrow()["id"].to_pylist())


FLOAT_CONDITIONS = {
    "= 0.0": [-0.0, 0.0],
    "= -0.0": [-0.0, 0.0],
    "IN (-0.0, 7.0)": [-0.0, 0.0],
    "> 1": [NAN, INFINITE, 1.5],
    "> double('Infinity')": [NAN],
    ">= 1.5": [NAN, INFINITE, 1.5],
    "< 0": [],
    "<= 0": [-0.0, 0.0],
    "= double('NaN')": [NAN],
    "IN (double('NaN'), 1.5)": [NAN, 1.5],
    "<> 0": [NAN, INFINITE, 1.5],
    "<> double('NaN')": [-0.0, 0.0, INFINITE, 1.5],
    "IS NULL": [None],
}


@pytest.mark.parametrize("name", ["c_5", "c_6"])
@pytest.mark.parametrize("condition", FLOAT_CONDITIONS)
def test_a_filter_by_floats_finds_the_same_rows_in_a_file(both, name, condition):
    memory, file = (ids(frame.where(f"{name} {condition}")) for frame in both)
    assert memory == file


# What stands in the file: many rows, so that every reader of Parquet has a reason to skip some.
FLOATS = [-0.0, 0.0, NAN, INFINITE, 1.5, None]


@pytest.fixture(params=["ours", "read by row", "taken down", "dictionaries and blooms"])
def floats(request, spark, tmp_path):
    """Rows of floats in a file of ours or of another writer, in a session of ours or one that pushes filters down."""
    columns = (Column(name="id", type="int"), Column(name="f", type="float"), Column(name="d", type="double"))
    some = [FLOATS[n % 6] for n in range(90_000)]
    rows = pa.table({"id": range(90_000), "f": some, "d": some}, schema=arrow_schema(columns))
    spilled = spilled_rows(rows, columns, tmp_path / "floats")
    session = spark.newSession()
    if request.param == "read by row":
        session.conf.set("spark.sql.parquet.enableVectorizedReader", "false")
    if request.param == "taken down":  # what a file without bounds is worth alone
        session.conf.set("spark.sql.parquet.filterPushdown", "true")
    if request.param == "dictionaries and blooms":  # of any writer: what a session that takes nothing down is worth
        options = {"parquet.bloom.filter.enabled": "true", "parquet.enable.dictionary": "true"}
        arrow_frame(session, rows).coalesce(1).write.options(**options).parquet(str(tmp_path / "other"))
        [spilled] = [Spilled(file, columns) for file in (tmp_path / "other").glob("*.parquet")]
    return spilled_frame(session, spilled)


@pytest.mark.parametrize("name", ["f", "d"])
def test_floats_are_found_whatever_a_file_tells_of_them(floats, name):
    found = {condition: floats.where(f"{name} {condition}").count() for condition in FLOAT_CONDITIONS}
    assert found == {condition: 15_000 * len(values) for condition, values in FLOAT_CONDITIONS.items()}


@pytest.mark.parametrize(
    "condition",
    [
        *("c_7 = ''", "c_7 >= 'x'", "c_9 < '1582-10-05'", "c_10 < '1900-01-01'", "c_11 > '1900-01-01'", "c_15 < 0"),
        *("c_8 = X''", "c_18.a = 1", "size(c_16) = 0", "c_0", "c_1 < 0", "c_12 > 0"),
    ],
)
def test_a_filter_by_other_types_finds_the_same_rows_in_a_file(both, condition):
    memory, file = (ids(frame.where(condition)) for frame in both)
    assert memory == file
    assert memory


@pytest.mark.parametrize("rows", [1, 100, 30_000])
def test_rows_behind_an_empty_chunk_are_not_lost(spark, rows):
    full = pa.table({"n": pa.array(range(rows), pa.int64())})
    given = pa.concat_tables([full.schema.empty_table(), full, full.slice(0, 0), full])
    assert 0 in {len(chunk) for chunk in given["n"].chunks}
    assert arrow_frame(spark, given).toArrow()["n"].to_pylist() == [*range(rows), *range(rows)]


def test_many_rows_are_read_by_several_tasks(spark, tmp_path):
    columns = (Column(name="id", type="bigint"), Column(name="word", type="string"))
    rows = pa.table({"id": range(300_000), "word": ["w" * 40] * 300_000}, schema=arrow_schema(columns))
    spilled = spilled_rows(rows, columns, tmp_path / "many")
    frame = spilled_frame(spark, spilled)
    assert pq.ParquetFile(spilled.file).num_row_groups >= 4
    assert frame.rdd.getNumPartitions() >= 2
    assert frame.selectExpr("count(*) n", "sum(id) s").collect() == [(300_000, 300_000 * 299_999 // 2)]


@pytest.fixture
def small_results(spark):
    """A driver that takes no more than 1 MiB of a result."""
    conf = spark.sparkContext._jsc.sc().conf()
    before = conf.get("spark.driver.maxResultSize")
    conf.set("spark.driver.maxResultSize", "1m")
    yield
    conf.set("spark.driver.maxResultSize", before)


@pytest.mark.usefixtures("small_results")
def test_a_result_too_large_for_the_driver_says_so(spark):
    columns = (Column(name="id", type="bigint"), Column(name="word", type="string"))
    table = Table(name="dws.large", columns=columns, primary_key=("id",), tiers=Tiers(hot="1d"))
    step = PlannedStep(
        action="large", version="1.0.0", kind="aggregate", reads=(), writes=table, sql="", strategy="full", reason=""
    )
    frames = Frames(spark)
    frame = spark.range(20_000).selectExpr("id", "repeat('x', 100) AS word")
    with pytest.raises(EpochFailedError, match=r"'large' is larger than this process takes: .* of at most 1024\.0 KiB"):
        frames.collect(step, frame)
    with pytest.raises(EpochFailedError, match="larger than this process takes"):
        frames.rows(frame)
    assert frames.rows(frame.limit(10)).num_rows == 10


# --- a flow with one key that has nearly all rows ----------------------------------------------

ACTION = (
    "/* ---\naction: {name}\nstep: {step}\ninputs: {{{port}: {{{columns}}}}}\noutput: {{{output}}}\n--- */\n{sql}\n"
)
COLUMNS = "store: int, basket: bigint, cents: bigint, note: string"
ACTIONS = [
    ACTION.format(
        name="take",
        step="ingest",
        port="given",
        columns=COLUMNS,
        output="",
        sql="SELECT store, basket, cents, note FROM given",
    ),
    ACTION.format(
        name="spread",
        step="aggregate",
        port="sales",
        columns=COLUMNS,
        output="primary_key: [store]",
        sql="SELECT store, COUNT(DISTINCT basket) AS baskets, percentile(cents, 0.5) AS middle, MAX(note) AS note\n"
        "FROM sales GROUP BY store",
    ),
]
FULL = ACTION.format(
    name="in_order",
    step="customize",
    port="sales",
    columns=COLUMNS,
    output="primary_key: [place]",
    sql="SELECT place, store, n FROM (SELECT ROW_NUMBER() OVER (ORDER BY n DESC, store) AS place, store, n\n"
    "FROM (SELECT store, COUNT(*) AS n FROM sales GROUP BY store))",
)
FLOW = """\
flow: skewed
max_rows_per_epoch: {rows}
sources:
  given: {{files: {{path: "given/*.parquet", columns: {{{columns}}}}}}}
steps:
  - {{use: take, reads: {{given: given}}, writes: ods.skewed}}
  - {{use: spread, reads: {{sales: ods.skewed}}, writes: dws.skewed}}
"""
FULL_STEP = "  - {use: in_order, reads: {sales: ods.skewed}, writes: ads.skewed, strategy: full}\n"


def skewed(rows: int, first: int = 0) -> pa.Table:
    """Of ten rows nine belong to store 0."""
    number = np.arange(first, first + rows)
    return pa.table(
        {
            "store": pa.array(np.where(number % 10, 0, number // 10 % 7 + 1), pa.int32()),
            "basket": number * 7_919 % 100_003,
            "cents": number * 31 % 9_973,
            "note": pa.array([f"note number {n % 1000:060d}" for n in range(1000)]).take(pa.array(number % 1000)),
        }
    )


def write_project(root: Path, *, rows_at_once: int, full: bool) -> None:
    (root / "actions").mkdir()
    for number, text in enumerate([*ACTIONS, FULL]):
        (root / "actions" / f"{number}.sql").write_text(text)
    (root / "flows").mkdir()
    flow = FLOW.format(rows=rows_at_once, columns=COLUMNS) + (FULL_STEP if full else "")
    (root / "flows" / "skewed.yaml").write_text(flow)
    (root / "given").mkdir()


@pytest.fixture
def project(tmp_path, fluss):
    write_project(tmp_path, rows_at_once=4_000, full=True)
    return Project(tmp_path, Settings(fluss=fluss))


@pytest.mark.services
def test_a_skewed_key_and_a_whole_state_equal_the_batch(project, spark, fluss, monkeypatch):
    made, frames = [], []
    monkeypatch.setattr(states, "Bound", lambda: Bound(rows=1_000))
    monkeypatch.setattr("streamhouse.engine.frames.spilled_frame", lambda s, r: frames.append(r) or spilled_frame(s, r))
    stores = open_stores(project, spark, fluss)
    plan = plan_of(project, "skewed")
    assert [step.strategy for step in plan.steps] == [Strategy.MAP, Strategy.RECOMPUTE, Strategy.FULL]
    try:
        for part in range(2):
            pq.write_table(skewed(7_000, part * 7_000), project.root / "given" / f"{part}.parquet")
            with project.state() as state:
                open_ = Open(project, spark, fluss, stores, state)
                spilled = spilled_files(project)

                def seen(_, spilled=spilled):
                    made.append(len(list(spilled.glob("*.parquet"))) if spilled.exists() else 0)

                carry(open_, plan, Meter(plan, seen, once=True), once=True)
            assert not spilled.exists()
        source = open_source(plan.sources[0], project.root)
        for name, expected in batch(spark, plan, {"given": source.read({}, source.available())}).items():
            table = plan.tables[name]
            if table.primary_key:
                assert_same_rows(
                    stores[table.tiers.target].read_state(table), expected, key=table.primary_key, name=name
                )
        assert len(frames) >= 6  # the rows of store 0, and the whole of `ods.skewed`, in epochs over 1,000 rows
        assert not any(one.file.exists() for one in frames)
        assert max(made) == 0  # told after each epoch, when its files are gone
    finally:
        for table in plan.tables.values():
            stores[table.tiers.target].drop(table.name)
        for store in stores.values():
            store.close()


def spilled_files(project: Project) -> Path:
    plan = plan_of(project, "skewed")
    segment = plan.segments[0].name
    return project.state_dir / "cache" / "states" / "skewed" / f"{segment}.spilled"


MANY = 4_000_000
CARRY = """
import json, sys
from pathlib import Path
import psutil
from streamhouse.engine import states
from streamhouse.engine.spill import Bound
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, opened, plan_of
from streamhouse.jobs.run import Meter, carry
from streamhouse.project.settings import Settings
def highest(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
root, fluss, bounded = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "bounded"
if not bounded:
    states.Bound = lambda: Bound(10**12, 10**15)
settings = Settings.model_validate({"fluss": fluss, "spark": {"master": "local[2]"}})
with opened(Project(root, settings)) as open_:
    before = highest("self")
    plan = plan_of(open_.project, "skewed")
    summary = carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)
    peak = highest("self")
    jvm = [p for p in psutil.Process().children(recursive=True) if p.name() == "java"]
    jvm_peak = highest(jvm[0].pid)
    rows = open_.stores[plan.steps[-1].writes.tiers.target].read_state(plan.steps[-1].writes).to_pylist()
    print("\\n" + json.dumps({"before_mb": before >> 10, "peak_mb": peak >> 10, "jvm_peak_mb": jvm_peak >> 10,
        "epochs": summary.epochs, "seconds": summary.seconds, "rows": rows}))
"""


def carried(root: Path, fluss: str, how: str = "bounded") -> dict:
    done = subprocess.run(
        [sys.executable, "-c", CARRY, str(root), fluss, how],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.services
@pytest.mark.timeout(1800)
@soak  # loads four million rows
def test_a_key_of_millions_of_rows_does_not_pass_through_the_driver(tmp_path, fluss):
    """A process of its own runs an epoch of few rows, one of them of the key that has nine rows in ten."""
    write_project(tmp_path, rows_at_once=1_000_000, full=False)
    given = skewed(MANY)
    pq.write_table(given, tmp_path / "given" / "0.parquet", row_group_size=250_000)
    carried(tmp_path, fluss)
    everything = given
    grew = {}
    for n, how in enumerate(["bounded", "unbounded"]):
        few = skewed(100, MANY + 100 * n)
        pq.write_table(few, tmp_path / "given" / f"{n + 1}.parquet")
        found = carried(tmp_path, fluss, how)
        assert found["epochs"] == 1
        everything = pa.concat_tables([everything, few])
        store_0 = everything.filter(pc.equal(everything["store"], 0))
        row = next(row for row in found["rows"] if row["store"] == 0)
        assert row["baskets"] == len(store_0["basket"].unique())
        assert row["middle"] == float(np.percentile(store_0["cents"].to_numpy(), 50))
        grew[how] = found["peak_mb"] - found["before_mb"]
    # The key's rows are some 350 MB of Arrow; DuckDB may take 512 MB for whatever it does.
    assert store_0.nbytes > 300 << 20
    assert grew["bounded"] < 550, grew
    assert grew["unbounded"] > 1.5 * grew["bounded"], grew  # so this test sees what it looks for
