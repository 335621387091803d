"""What is lost of a hot tier that does not run, by the records of a project."""

import pytest

from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.runtime.lost_tables import lost_tables
from streamhouse.services.layout import ServicesFolder
from streamhouse.stores.fluss.at_rest import FlussAtRest

KEEP = "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n"
FLOW = """\
flow: f
sources: {orders: {files: {path: data/*.csv, columns: {id: int}}}}
steps:
  - {use: keep, reads: {rows: orders}, writes: ods.near}
"""


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    for name, text in {
        "actions/keep.sql": KEEP,
        "flows/f.yaml": FLOW,
        "data/a.csv": "id\n1\n",
        "streamhouse.yaml": "{}\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (ServicesFolder.of(tmp_path).data / "something").mkdir(parents=True)
    with Project.at(tmp_path).state() as opened:
        yield opened


def test_a_table_that_was_dropped_during_the_look_is_not_lost(tmp_path, state, monkeypatch):
    from streamhouse.project.desired import desired_plans

    project = Project.at(tmp_path)
    plans = desired_plans(project)
    table = plans["f"].tables["ods.near"]
    state.stored_tables.record_table(table, Tier.HOT, "7@1")
    found = lost_tables(project, state, plans)
    assert [(one.flow, one.tier, one.what) for one in found.lost] == [("f", Tier.HOT, "is gone")]

    looked, each = [], FlussAtRest.identity

    def identity(store, name):
        looked.append(name)
        if len(looked) == 1:
            state.stored_tables.dropped(table.name, Tier.HOT)
        return each(store, name)

    monkeypatch.setattr(FlussAtRest, "identity", identity)
    assert lost_tables(project, state, plans).lost == []
    assert looked
