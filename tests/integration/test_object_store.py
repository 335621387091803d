"""The lakes in an object store that speaks S3, with the cold tables' catalog in PostgreSQL: all by the commands."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
  ods.orders: {tiers: {warm: forever, cold: forever}}
  dws.spent: {tiers: {warm: forever, cold: forever}}
"""
ROWS = 200

pytestmark = [pytest.mark.services, pytest.mark.spark, pytest.mark.timeout(420)]


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A project whose lakes are all in the object store."""
    root = tmp_path / "shop"
    for name, text in (("actions/keep.sql", KEEP), ("actions/spent.sql", SPENT), ("flows/shop.yaml", FLOW)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "data").mkdir()
    with postgres() as database, object_store(tmp_path, "lake") as variables:
        host = database.partition("@")[2]
        catalog = f"jdbc:postgresql://{host}?user=streamhouse"
        places = {"WARM": "s3://lake/warm", "COLD": "s3://lake/cold", "COLD_CATALOG": catalog}
        for name, value in {**variables, **{f"STREAMHOUSE_{key}": where for key, where in places.items()}}.items():
            monkeypatch.setenv(name, value)
        _done(root, "services", "up")  # once, not by each command
        try:
            yield root
        finally:
            _done(root, "services", "down")


def test_a_flow_its_tiers_and_their_upkeep(shop):
    for part in range(2):
        _add(shop / "data", part)
        _done(shop, "run", "shop", "--once")
        _done(shop, "tier", "shop")
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
    written = [file for file in (shop / ".streamhouse").rglob("*") if file.is_file()]
    secret = os.environ["AWS_SECRET_ACCESS_KEY"].encode()
    assert not [file for file in written if secret in file.read_bytes()]


def _add(folder: Path, part: int) -> None:
    rows = ({"order_id": i, "store": f"s{i % 3}", "cents": i} for i in range(part * ROWS, (part + 1) * ROWS))
    (folder / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _done(root: Path, *words: str) -> str:
    program = Path(sys.executable).with_name("streamhouse")
    done = subprocess.run(
        [str(program), *words, "--project", str(root)], capture_output=True, text=True, check=False, timeout=180
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _asked(root: Path, sql: str) -> list[object]:
    return [json.loads(line) for line in _done(root, "query", sql, "--format", "json").splitlines()]
