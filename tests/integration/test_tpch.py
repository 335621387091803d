"""TPC-H: its 22 queries over eight keyed tables that arrive in parts and change; each equals the batch."""

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from streamhouse.engine import delta_step
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.plan import FlowPlan
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests.gate.levels import deep
from tests.golden import Golden
from tests.oracle import assert_same_rows, batch
from tests.patience import SOAKING

pytestmark = deep("all queries of TPC-H; test_nexmark.py stays", stays=("test_strategies",))

FIXTURE = Path(__file__).parent.parent / "fixtures" / "tpch"
SCALE = "0.001"  # 1,500 orders with 6,005 lines
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")
PARTS = 3
# Where a table is cut, by key, in shares of its key's range: lines come before their orders, and orders after theirs.
CUTS = {
    "orders": ("o_orderkey", (0.4, 0.8)),
    "lineitem": ("l_orderkey", (0.6, 0.7)),
    "customer": ("c_custkey", (0.7, 0.9)),
    "part": ("p_partkey", (0.8, 0.8)),
    "partsupp": ("ps_partkey", (0.8, 0.9)),
    "supplier": ("s_suppkey", (0.9, 1.0)),
}


@pytest.fixture(scope="module")
def generated(tmp_path_factory) -> dict[str, pa.Table]:
    folder = tmp_path_factory.mktemp("tpch")
    generator = Path(sysconfig.get_path("scripts")) / "tpchgen-cli"
    subprocess.run([generator, "parquet", "-s", SCALE, "--output-dir", folder], check=True)
    return {name: pq.read_table(folder / f"{name}.parquet") for name in TABLES}


@pytest.fixture
def project(tmp_path, generated) -> Project:
    """The flow over the rows of the first part."""
    for folder in ("actions", "flows"):
        shutil.copytree(FIXTURE / folder, tmp_path / folder)
    for name in TABLES:
        (tmp_path / "data" / name).mkdir(parents=True)
    deliver(tmp_path, generated, 0)
    return Project(tmp_path, Settings())


def deliver(root: Path, generated: dict[str, pa.Table], part: int) -> None:
    for name, table in generated.items():
        rows = pa.concat_tables([arriving(name, table, part), *changed(name, table, part)])
        if rows.num_rows:
            pq.write_table(rows, root / "data" / name / f"{part}.parquet")


def arriving(name: str, table: pa.Table, part: int) -> pa.Table:
    """The rows of a part: those whose key lies between two cuts."""
    if name not in CUTS:
        return table if part == 0 else table.slice(0, 0)
    key, shares = CUTS[name]
    highest = pc.max(table[key]).as_py()
    bounds = [0, *(int(highest * share) for share in shares), highest]
    return table.filter((pc.field(key) > bounds[part]) & (pc.field(key) <= bounds[part + 1]))


def changed(name: str, table: pa.Table, part: int) -> list[pa.Table]:
    """New versions of rows that came with the first part, in the parts after it."""
    if part == 0:
        return []
    old = arriving(name, table, 0)
    old = old.take(pa.array(range(part, old.num_rows, 7), pa.int64()))
    if name == "customer":  # richer, and in another nation and segment
        nation = pc.subtract(24, old["c_nationkey"])
        balance = pc.add(old["c_acctbal"], old["c_acctbal"]).cast(old.schema.field("c_acctbal").type)
        return [_with(old, c_nationkey=nation, c_acctbal=balance, c_mktsegment=_next(old["c_mktsegment"]))]
    if name == "part":  # of another kind
        return [_with(old, p_brand=_next(old["p_brand"]), p_type=_next(old["p_type"]), p_size=_next(old["p_size"]))]
    if name == "orders":  # of another customer
        return [_with(old, o_custkey=_next(old["o_custkey"]), o_orderpriority=_next(old["o_orderpriority"]))]
    if name == "lineitem":  # returned late, by another way
        return [_with(old, l_quantity=_next(old["l_quantity"]), l_shipmode=_next(old["l_shipmode"]))]
    return []


def _next(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Each row gets the value of the row after it."""
    return pa.chunked_array([pa.concat_arrays([column.combine_chunks()[1:], column.combine_chunks()[:1]])])


def _with(rows: pa.Table, **columns: pa.ChunkedArray) -> pa.Table:
    for name, values in columns.items():
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, rows.schema.field(at), values)
    return rows


def test_strategies(project, golden: Golden) -> None:
    plan = plan_of(project, "tpch")
    lines = []
    for step in sorted(plan.steps, key=lambda s: s.action):
        if step.action.startswith("q"):
            lines.append(f"{step.action}: {step.strategy}, key {', '.join(step.writes.primary_key)}")
            lines.append(f"  {step.reason}")
    assert len(lines) == 2 * 22
    golden("\n".join(lines) + "\n", FIXTURE / "strategies.txt")


@pytest.mark.services
@pytest.mark.spark
def test_every_query_equals_the_batch(project, generated, spark, fluss, monkeypatch) -> None:
    monkeypatch.setattr(delta_step, "_all_is_cheaper", lambda *_: False)  # the inputs here have few rows
    stores = open_stores(project, spark, fluss)
    plan = plan_of(project, "tpch")
    try:
        for part in range(PARTS):
            if part:
                deliver(project.root, generated, part)
            with project.state() as state:
                carry(
                    Open(project, spark, fluss, stores, state), plan, Meter(plan, lambda _: None, once=True), once=True
                )
            if part < (1 if SOAKING else PARTS - 1):
                continue  # the end tells enough; when soaking, the middle and the end
            for name, expected in batch(spark, plan, delivered(project, plan)).items():
                table = plan.tables[name]
                rows = stores[table.tiers.target].read_state(table)
                assert_same_rows(rows, expected, key=table.primary_key, name=f"{name} after part {part}")
                assert rows.num_rows, f"{name} is empty after part {part}: choose parameters that tell something"
    finally:
        for table in plan.tables.values():
            stores[table.tiers.target].drop(table.name)
        for store in stores.values():
            store.close()


def delivered(project: Project, plan: FlowPlan) -> dict[str, pa.Table]:
    sources = {source.name: open_source(source, project.root) for source in plan.sources}
    return {name: source.read({}, source.available()) for name, source in sources.items()}
