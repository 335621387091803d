"""Rows that should not be: expectations, NULL keys, values that do not fit. Nothing is lost, nothing is half done."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.runtime.open import plan_of
from streamhouse.runtime.stores import open_stores
from tests.gate.levels import deep
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("bad rows of every source in one flow; test_dead_letters.py stays"),
]

INGEST = """\
/* ---
action: ingest_items
step: ingest
inputs: {lines: {id: bigint, shop: string, cents: string}}
--- */
SELECT id, shop, cents FROM lines
"""
CLEAN = """\
/* ---
action: clean_items
step: clean
inputs: {items: {id: bigint, shop: string, cents: string}}
expect:
  has_an_id: {check: id IS NOT NULL, on_violation: drop}
  is_no_gift: {check: cents > 0, on_violation: quarantine}
  is_cheap: {check: cents < 1000, on_violation: warn}
--- */
SELECT id, shop, CAST(cents AS BIGINT) AS cents FROM items
"""
TOTALS = """\
/* ---
action: shop_totals
step: aggregate
inputs: {items: {shop: string, cents: bigint}}
--- */
SELECT shop, SUM(cents) AS cents FROM items GROUP BY shop
"""
FLOW = """\
flow: items
sources:
  lines: {files: {path: data/*.csv, columns: {id: bigint, shop: string, cents: string}}}
steps:
  - {use: ingest_items, reads: {lines: lines}, writes: ods.bad_items}
  - {use: clean_items, reads: {items: ods.bad_items}, writes: dwd.bad_items}
  - {use: shop_totals, reads: {items: dwd.bad_items}, writes: dws.bad_totals}
"""


@pytest.fixture
def project(tmp_path, fluss, monkeypatch):
    for name, text in {
        "actions/ingest_items.sql": INGEST,
        "actions/clean_items.sql": CLEAN,
        "actions/shop_totals.sql": TOTALS,
        "flows/items.yaml": FLOW,
        "data/1.csv": "id,shop,cents\n1,north,100\n,north,5\n2,south,0\n3,south,5000\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("STREAMHOUSE_FLUSS", fluss)
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
    monkeypatch.setenv("STREAMHOUSE_AUTO_APPLY", "all")
    found = Project.at(tmp_path)
    yield found
    with_hot(found, lambda store: [store.drop(name) for name in plan_of(found, "items").tables])


def with_hot(project, act):
    store = open_stores(project, None, project.settings.fluss, [Tier.HOT])[Tier.HOT]
    try:
        return act(store)
    finally:
        store.close()


def rows_of(project, name):
    table = plan_of(project, "items").tables[name]
    return sorted(with_hot(project, lambda store: store.read_state(table)).to_pylist(), key=str)


def run(project):
    done = subprocess.run(
        [Path(sys.executable).with_name("streamhouse"), "run", "items", "--once", "--project", str(project.root)],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done.returncode, done.stderr


def test_bad_rows_go_where_they_were_told_and_a_row_that_cannot_be_stops_the_flow(project):
    code, printed = run(project)
    assert code == 0, printed
    good = [{"id": 1, "shop": "north", "cents": 100}, {"id": 3, "shop": "south", "cents": 5000}]
    assert rows_of(project, "dwd.bad_items") == good
    gift = {"id": 2, "shop": "south", "cents": 0, "_expectation": "is_no_gift"}
    assert rows_of(project, "dwd.bad_items__quarantine") == [gift]
    totals = [{"shop": "north", "cents": 100}, {"shop": "south", "cents": 5000}]
    assert rows_of(project, "dws.bad_totals") == totals
    with project.state() as state:
        told = [event.text for event in state.events("items") if event.kind == "expectation"]
    assert sorted(text.split(": ")[1] for text in told) == [
        "1 rows violate dwd.bad_items.has_an_id",
        "1 rows violate dwd.bad_items.is_cheap",
        "1 rows violate dwd.bad_items.is_no_gift",
    ]

    (project.root / "data" / "2.csv").write_text("id,shop,cents\n4,north,seven\n")
    code, printed = run(project)
    assert code == 6, printed
    assert "SH503" in printed
    assert "clean_items" in printed
    assert "hint:" in printed
    assert rows_of(project, "dws.bad_totals") == totals

    # What could not be read is mended in the action; the same epoch goes through, once.
    action = project.root / "actions" / "clean_items.sql"
    action.write_text(action.read_text().replace("CAST(", "TRY_CAST("))
    (project.root / "data" / "3.csv").write_text("id,shop,cents\n5,north,50\n")
    code, printed = run(project)
    assert code == 0, printed
    assert len(rows_of(project, "ods.bad_items")) == 6
    assert rows_of(project, "dws.bad_totals") == [{"shop": "north", "cents": 150}, {"shop": "south", "cents": 5000}]

    (project.root / "data" / "4.csv").write_text("id,shop,cents\n6,,9\n")
    code, printed = run(project)
    assert code == 0, printed
    known = [{"shop": "north", "cents": 150}, {"shop": "south", "cents": 5000}]
    assert rows_of(project, "dws.bad_totals") == [*known, {"shop": None, "cents": 9}], "a group like any other"
