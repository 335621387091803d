"""Rows that cannot be read go to the dead-letter table of their source, and come back once what was wrong is mended."""

import json
from pathlib import Path

import pytest

from streamhouse.errors import TooManyBadRowsError
from streamhouse.jobs.quarantine import applied_plans, counted, find, quarantine_tables, replay, shown_rows
from streamhouse.jobs.query import QueryService
from streamhouse.jobs.run import Meter, carry
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores

pytestmark = [pytest.mark.services, pytest.mark.spark]

INGEST = """\
/* ---
action: ingest_parcels
step: ingest
inputs: {parcels: {id: bigint, grams: bigint}}
--- */
SELECT id, grams FROM parcels
"""
TOTALS = """\
/* ---
action: total_parcels
step: clean
inputs: {parcels: {id: bigint, grams: bigint}}
output: {primary_key: [id]}
--- */
SELECT id, grams FROM parcels
"""
FLOW = """\
flow: parcels
sources:
  scans:
    files:
      path: data/*.csv
      columns: {id: bigint, grams: KIND}
      on_bad_rows: {action: dead_letter, limit: LIMIT}
  labels:
    cdc:
      path: labels/*.jsonl
      primary_key: [id]
      columns: {id: bigint, grams: KIND}
      on_bad_rows: dead_letter
steps:
  - {use: ingest_parcels, reads: {parcels: scans}, writes: ods.dl_parcels}
  - {use: ingest_parcels, reads: {parcels: labels}, writes: ods.dl_labels}
  - {use: total_parcels, reads: {parcels: ods.dl_parcels}, writes: dwd.dl_parcels}
"""
DEAD, DEAD_LABELS = "ods.parcels_scans__dead_letters", "ods.parcels_labels__dead_letters"
HUGE = 3_000_000_000


def write(root: Path, *, kind: str = "int", limit: str = "2") -> None:
    for name, text in {
        "actions/ingest_parcels.sql": INGEST,
        "actions/total_parcels.sql": TOTALS,
        "flows/parcels.yaml": FLOW.replace("KIND", kind).replace("LIMIT", limit),
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)


def label(id_: object, grams: object) -> str:
    return json.dumps({"op": "u", "before": None, "after": {"id": id_, "grams": grams}}) + "\n"


class Run:
    """A flow that runs in this process."""

    def __init__(self, root, spark, fluss):
        self.project = Project(root, Settings(fluss=fluss))
        self.spark, self.fluss = spark, fluss
        self.stores = open_stores(self.project, spark, fluss)

    @property
    def plan(self):
        return plan_of(self.project, "parcels")

    def once(self):
        with self.project.state() as state:
            open_ = Open(self.project, self.spark, self.fluss, self.stores, state)
            carry(open_, self.plan, Meter(self.plan, lambda _: None, once=True), once=True)

    def rows(self, name):
        table = self.plan.tables[name]
        return sorted(self.stores[table.tiers.target].read_state(table).to_pylist(), key=str)

    def asked(self, act):
        with QueryService(self.project) as asking:
            return act(asking, quarantine_tables(applied_plans(self.project)))

    def replay(self, name):
        return self.asked(lambda asking, tables: replay(self.project, asking, find(tables, name, dead=True)))

    def drop(self):
        for table in self.plan.tables.values():
            self.stores[table.tiers.target].drop(table.name)
        for store in self.stores.values():
            store.close()


@pytest.fixture
def run(tmp_path, fluss, spark):
    write(tmp_path)
    for folder in ("data", "labels"):
        (tmp_path / folder).mkdir()
    (tmp_path / "data" / "1.csv").write_text(f"id,grams\n1,100\ntwo,5\n3,{HUGE}\n4,400\n")
    (tmp_path / "labels" / "1.jsonl").write_text(label(1, HUGE) + label(2, HUGE) + label(1, 7) + "{no\n")
    found = Run(tmp_path, spark, fluss)
    yield found
    found.drop()


@pytest.mark.timeout(1800)
def test_bad_rows_go_to_dead_letters_and_come_back_once(run):
    run.once()
    good = [{"id": 1, "grams": 100}, {"id": 4, "grams": 400}]
    assert run.rows("ods.dl_parcels") == run.rows("dwd.dl_parcels") == sorted(good, key=str)
    assert run.rows("ods.dl_labels") == [{"id": 1, "grams": 7}]
    assert [(row["position"], row["reason"], row["raw"]) for row in run.rows(DEAD)] == [
        ("data/1.csv:3", "type", b"two,5"),
        ("data/1.csv:4", "type", f"3,{HUGE}".encode()),
    ]
    told = run.asked(lambda asking, tables: counted(run.project, asking, tables))
    assert {one.table: one.reasons for one in told} == {DEAD: {"type": 2}, DEAD_LABELS: {"type": 2, "malformed": 1}}
    shown = run.asked(lambda asking, tables: shown_rows(asking, find(tables, "scans"), 1))
    assert [row["raw"] for row in shown] in (["two,5"], [f"3,{HUGE}"])

    # The type is widened. What is good now is read once; an event that a later one outdid changes nothing.
    write(run.project.root, kind="bigint")
    assert run.replay(DEAD).rows == 2
    assert run.replay("labels").rows == 3
    again = run.replay(DEAD)
    assert (again.rows, again.waiting) == (0, 2)
    for _ in range(2):
        run.once()
        assert run.rows("ods.dl_parcels") == sorted([*good, {"id": 3, "grams": HUGE}], key=str)
        assert run.rows("ods.dl_labels") == [{"id": 1, "grams": 7}, {"id": 2, "grams": HUGE}]
        assert [(row["position"], row["replays"]) for row in run.rows(DEAD)] == [("data/1.csv:3", 1)]
        assert [(row["position"], row["replays"]) for row in run.rows(DEAD_LABELS)] == [("labels/1.jsonl:4", 1)]

    # More bad rows than the flow allows stop it.
    (run.project.root / "data" / "2.csv").write_text("id,grams\nfive,1\nsix,1\n7,1\n")
    with pytest.raises(TooManyBadRowsError, match="3 rows that cannot be read, and its limit is 2"):
        run.once()
    assert len(run.rows(DEAD)) == 1
    write(run.project.root, kind="bigint", limit="3")
    run.once()
    assert len(run.rows(DEAD)) == 3
    assert {"id": 7, "grams": 1} in run.rows("dwd.dl_parcels")
