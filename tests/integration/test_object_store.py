"""The lakes in an object store that speaks S3, the catalog of cold tables by REST or in PostgreSQL: all by commands."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from streamhouse.services.layout import ServicesFolder
from tests.gate.levels import soak
from tests.iceberg_rest import SECRET, rest_catalog
from tests.patience import PATIENCE_S
from tests.production import object_store, postgres

KEEP = """\
/* ---
action: keep
step: ingest
inputs: {rows: {order_id: bigint, store: string, cents: bigint}}
--- */
SELECT order_id, store, cents FROM rows
"""
SPENT = """\
/* ---
action: spent
step: aggregate
inputs: {orders: {store: string, cents: bigint}}
output: {primary_key: [store]}
--- */
SELECT store, SUM(cents) AS cents, COUNT(*) AS orders FROM orders GROUP BY store
"""
FLOW = """\
flow: shop
sources: {orders: {files: {path: "data/*.jsonl"}}}
steps:
  - {use: keep, reads: {rows: orders}, writes: ods.orders}
  - {use: spent, reads: {orders: ods.orders}, writes: dws.spent}
tables:
  ods.orders: {partition_by: [store], tiers: {warm: forever, cold: forever}}
  dws.spent: {tiers: {warm: forever, cold: forever}}
"""
ROWS = 200
LAKES = [
    "SELECT COUNT(*) AS n, COUNT(DISTINCT order_id) AS ids, SUM(cents) AS cents FROM ods.orders$cold",
    "SELECT store, SUM(cents) AS cents FROM ods.orders$lake WHERE store IN ('s0', 's2') GROUP BY store ORDER BY store",
    "SELECT store, cents, orders FROM dws.spent$cold ORDER BY store",  # changed rows lie beside what deletes them
    "SELECT store, cents, orders FROM dws.spent VERSION AS OF 1 ORDER BY store",
    "SELECT store, cents, orders FROM dws.spent$warm ORDER BY store",
]
ASKING = """
import json, sys
from pathlib import Path
from streamhouse.jobs.query import QueryService, Engine
from streamhouse.project.project import Project

with QueryService(Project.find(Path(sys.argv[1]))) as asking:
    for engine in (Engine.AUTO, Engine.SPARK):
        answers = [asking.ask(sql, engine=engine) for sql in json.loads(sys.argv[2])]
        print(json.dumps([sorted({one.engine for one in answers}), [one.rows.to_pylist() for one in answers]]))
"""

pytestmark = [pytest.mark.spark, soak]


@pytest.fixture(
    params=[
        "rest",
        pytest.param("jdbc", marks=soak),
    ]
)
def shop(request, tmp_path, monkeypatch):
    """A project whose lakes are all in the object store."""
    root = tmp_path / "shop"
    for name, text in (("actions/keep.sql", KEEP), ("actions/spent.sql", SPENT), ("flows/shop.yaml", FLOW)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "data").mkdir()
    with ExitStack() as stack:
        store = stack.enter_context(object_store(tmp_path, "lake"))
        given = {**store, "STREAMHOUSE_WARM": "s3://lake/warm", "STREAMHOUSE_COLD": "s3://lake/cold"}
        if request.param == "rest":
            given |= stack.enter_context(rest_catalog(tmp_path / "catalog", "s3://lake/cold", store)).variables
        else:
            host = stack.enter_context(postgres()).partition("@")[2]
            given["STREAMHOUSE_COLD_CATALOG"] = f"jdbc:postgresql://{host}?user=streamhouse"
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        yield root


def test_a_flow_its_tiers_and_their_upkeep(shop):
    for part in range(2):
        _add(shop / "data", part)
        _done(shop, "run", "shop", "--once")
        _done(shop, "tier", "shop")
    _same_without_spark(shop)
    _done(shop, "upkeep", "shop", "--full", "--orphans")
    rows = 2 * ROWS
    spent = [
        {"store": f"s{n}", "cents": sum(i for i in range(rows) if i % 3 == n), "orders": len(range(n, rows, 3))}
        for n in range(3)
    ]
    assert _asked(shop, "SELECT store, cents, orders FROM dws.spent ORDER BY store") == spent  # of the warm tier
    counted = "SELECT COUNT(*) AS n, COUNT(DISTINCT order_id) AS ids, SUM(cents) AS cents FROM ods.orders$lake"
    assert _asked(shop, counted) == [{"n": rows, "ids": rows, "cents": sum(range(rows))}]  # of the cold one
    assert not list((shop / ".streamhouse").glob("warm*")), "the lake is not on this machine"
    assert not list((shop / ".streamhouse").glob("cold*"))
    assert not ServicesFolder.of(shop).base.exists(), "no table is hot, so nothing needed Fluss"
    written = [file for file in (shop / ".streamhouse").rglob("*") if file.is_file()]
    for secret in (os.environ["AWS_SECRET_ACCESS_KEY"].encode(), SECRET.encode()):
        assert not [file for file in written if secret in file.read_bytes()]


def _same_without_spark(root: Path) -> None:
    command = [sys.executable, "-c", ASKING, str(root), json.dumps(LAKES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    ours, spark = map(json.loads, done.stdout.splitlines())
    assert (ours[0], spark[0]) == (["this process"], ["Spark"])
    assert ours[1] == spark[1]
    assert [len(rows) for rows in ours[1]] == [1, 2, 3, 3, 3]
    assert ours[1][2] != ours[1][3]
    assert ours[1][2] == ours[1][4]


def _add(folder: Path, part: int) -> None:
    rows = ({"order_id": i, "store": f"s{i % 3}", "cents": i} for i in range(part * ROWS, (part + 1) * ROWS))
    (folder / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _done(root: Path, *words: str) -> str:
    program = Path(sys.executable).with_name("streamhouse")
    done = subprocess.run(
        [str(program), *words, "--project", str(root)], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _asked(root: Path, sql: str) -> list[object]:
    return [json.loads(line) for line in _done(root, "query", sql, "--format", "json").splitlines()]
