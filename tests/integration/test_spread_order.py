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

pytestmark = [pytest.mark.services, pytest.mark.spark]

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
    stores = open_stores(project, spark, fluss)
    with project.state() as state:
        carry(Open(project, spark, fluss, stores, state), plan, Meter(plan, lambda _: None, once=True), once=True)
    for store in stores.values():
        store.close()
    numbers = defaultdict(list)
    stored = with_stores(
        project, FLOW, spark, lambda plan, open_: open_[Tier.HOT].read_state(plan.tables["ods.so_log"])
    )
    for n, k in zip(stored["n"].to_pylist(), stored["k"].to_pylist(), strict=True):
        numbers[k].append(n)
    assert {k: found == sorted(found) for k, found in numbers.items()} == dict.fromkeys(range(KEYS), True)
    assert_equals_batch(project, FLOW, spark)
