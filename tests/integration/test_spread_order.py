"""Logs that Spark's tasks write keep the order of their input: who reads them later decides as the batch does."""

from collections import defaultdict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests.flows import assert_equals_batch, drop_tables, with_stores
from tests.gate.levels import deep

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("large tables", stays=("test_rows_that_look_up_in_a_large_table_keep_their_order[1]",)),
]

FLOW = "ordered"
ROWS, KEYS = 60_000, 50
COLUMNS = "{n: bigint, k: bigint, version: bigint}"
# Rows of the first half take long, so tasks that do not mind each other write the second half before it.
SLOW_FIRST = f"SELECT n, k, version, md5(repeat('x', IF(n < {ROWS // 2}, 30000, 1))) AS work FROM rows"
ACTIONS = {
    "take": f"step: ingest\ninputs: {{rows: {COLUMNS}}}\n--- */\n{SLOW_FIRST}",
    "decide": f"step: clean\ninputs: {{rows: {COLUMNS}}}\noutput: {{primary_key: [k]}}\n--- */\n"
    "SELECT k, n, version FROM rows",
}
LOGS = {"one": "buckets: 1", "by_key": "buckets: 3, bucket_key: [k]"}
ENGINES = {
    "last": "merge_engine: deduplicate",
    "first": "merge_engine: first_row",
    "newest": "merge_engine: versioned, version_column: version",
}
HEAD = f"""\
flow: {FLOW}
freshness: 100ms
max_rows_per_epoch: {ROWS}
local_epoch_rows: 1
sources: {{rows: {{files: {{path: data/*.parquet, columns: {COLUMNS}}}}}}}
steps:
  - {{use: take, reads: {{rows: rows}}, writes: ods.so_log}}
"""


def flow_text(log):
    steps = [f"  - {{use: decide, reads: {{rows: ods.so_log}}, writes: dwd.so_{e}, isolate: true}}" for e in ENGINES]
    tables = {"ods.so_log": LOGS[log], **{f"dwd.so_{engine}": options for engine, options in ENGINES.items()}}
    lines = [f"  {name}: {{{options}, tiers: {{hot: 7d}}}}" for name, options in tables.items()]
    return HEAD + "\n".join([*steps, "tables:", *lines])


@pytest.fixture(params=LOGS)
def project(request, tmp_path, fluss, spark):
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    for name, text in ACTIONS.items():
        (tmp_path / "actions" / f"{name}.sql").write_text(f"/* ---\naction: {name}\n{text}\n")
    (tmp_path / "flows" / f"{FLOW}.yaml").write_text(flow_text(request.param))
    found = Project(tmp_path, Settings(fluss=fluss))
    yield found
    drop_tables(found, FLOW, spark)


def test_whoever_reads_a_log_later_decides_as_the_batch(project, spark, fluss):
    number = range(ROWS)
    rows = pa.table({"n": number, "k": [n % KEYS for n in number], "version": [n // 20_000 for n in number]})
    pq.write_table(rows, project.root / "data" / "0.parquet", row_group_size=5_000)
    plan = plan_of(project, FLOW)
    assert len(plan.segments) == 1 + len(ENGINES)
    drain(project, spark, fluss)
    numbers = defaultdict(list)
    stored = with_stores(project, FLOW, spark, all_rows)["ods.so_log"]
    for n, k in zip(stored["n"].to_pylist(), stored["k"].to_pylist(), strict=True):
        numbers[k].append(n)
    assert {k: found == sorted(found) for k, found in numbers.items()} == dict.fromkeys(range(KEYS), True)
    assert_equals_batch(project, FLOW, spark)


LABELLED = f"""\
flow: {FLOW}
freshness: 100ms
max_rows_per_epoch: {ROWS}
local_epoch_rows: LOCAL
sources:
  rows: {{files: {{path: data/*.parquet, columns: {COLUMNS}}}}}
  items: {{files: {{path: items/*.parquet, columns: {{item: bigint, label: string}}}}}}
steps:
  - {{use: keep, reads: {{given: items}}, writes: ods.so_items}}
  - {{use: label, reads: {{rows: rows, items: {{table: ods.so_items, as: lookup}}}}, writes: ods.so_log}}
  - {{use: decide, reads: {{rows: ods.so_log}}, writes: dwd.so_last}}
  - {{use: label_last, reads: {{rows: rows, items: {{table: ods.so_items, as: lookup}}}}, writes: dwd.so_labelled}}
tables:
  ods.so_items: {{tiers: {{hot: 7d}}}}
  ods.so_log: {{tiers: {{hot: 7d}}}}
  dwd.so_last: {{tiers: {{hot: 7d}}}}
  dwd.so_labelled: {{tiers: {{hot: 7d}}}}
"""
LABEL = (
    f"inputs: {{rows: {COLUMNS}, items: {{item: bigint, label: string}}}}\noutput: {{primary_key: KEY}}\n--- */\n"
    "SELECT k, n, version, label FROM rows LEFT JOIN items ON item = n * 7919 % 1000"
)


@pytest.fixture
def no_broadcast(spark):
    """Each lookup counts as a large one."""
    before = spark.conf.get("spark.sql.autoBroadcastJoinThreshold")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", -1)
    yield
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", before)


@pytest.mark.usefixtures("no_broadcast")
@pytest.mark.parametrize("local_rows", [300_000, 1])
def test_rows_that_look_up_in_a_large_table_keep_their_order(tmp_path, spark, fluss, local_rows):
    for folder in ("actions", "flows", "data", "items"):
        (tmp_path / folder).mkdir()
    labels = {
        "label": f"step: ingest\n{LABEL.replace('KEY', '[]')}",
        "label_last": f"step: clean\n{LABEL.replace('KEY', '[k]')}",
    }
    keep = "step: ingest\ninputs: {given: {}}\n--- */\nSELECT * FROM given"
    for name, text in ({"decide": ACTIONS["decide"], "keep": keep} | labels).items():
        (tmp_path / "actions" / f"{name}.sql").write_text(f"/* ---\naction: {name}\n{text}\n")
    (tmp_path / "flows" / f"{FLOW}.yaml").write_text(LABELLED.replace("LOCAL", str(local_rows)))
    number = range(ROWS)
    rows = pa.table({"n": number, "k": [n % KEYS for n in number], "version": number})
    pq.write_table(rows, tmp_path / "data" / "0.parquet", row_group_size=5_000)
    items = pa.table({"item": range(1000), "label": [f"item {n}" for n in range(1000)]})
    pq.write_table(items, tmp_path / "items" / "0.parquet")
    project = Project(tmp_path, Settings(fluss=fluss))
    try:
        drain(project, spark, fluss)
        stored = with_stores(project, FLOW, spark, all_rows)
    finally:
        drop_tables(project, FLOW, spark)
    assert stored["ods.so_log"]["n"].to_pylist() == [*number]
    last = {n % KEYS: (n, f"item {n * 7919 % 1000}") for n in number}
    assert {row["k"]: row["n"] for row in stored["dwd.so_last"].to_pylist()} == {k: n for k, (n, _) in last.items()}
    found = {row["k"]: (row["n"], row["label"]) for row in stored["dwd.so_labelled"].to_pylist()}
    assert found == last


def drain(project, spark, fluss):
    plan, stores = plan_of(project, FLOW), open_stores(project, spark, fluss)
    with project.state() as state:
        carry(Open(project, spark, fluss, stores, state), plan, Meter(plan, lambda _: None, once=True), once=True)
    for store in stores.values():
        store.close()


def all_rows(plan, stores):
    return {name: stores[Tier.HOT].read_state(table) for name, table in plan.tables.items()}
