"""Saving a file changes nothing that runs: not in the flow that goes on, and not in the next one that is started."""

import json
import threading

import pytest

from streamhouse.change.apply import apply
from streamhouse.errors import StreamhouseError
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.project.compare import compare_project
from streamhouse.project.edits import edits, to_run
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open
from streamhouse.runtime.stores import open_stores
from tests.patience import PATIENCE_S, until

pytestmark = [pytest.mark.spark]

FLOW = "waits"
TAKE = """\
/* ---
action: take
step: ingest
inputs: {rows: {}}
output: {extra_columns: pass}
--- */
SELECT * FROM rows
"""
CLEAN = """\
/* ---
action: clean
step: clean
inputs: {rows: {id: bigint, price: bigint}}
output: {primary_key: [id]}
--- */
SELECT id, price FROM rows WHERE price > 0
"""
YAML = """\
flow: waits
freshness: 200ms
commit_interval: 200ms
schema_change: evolve
sources: {rows: {files: {path: data/*.json}}}
steps:
  - {use: take, reads: {rows: rows}, writes: ods.ew_rows}
  - {use: clean, reads: {rows: ods.ew_rows}, writes: dwd.ew_rows}
tables:
  ods.ew_rows: {tiers: {warm: forever}}
  dwd.ew_rows: {tiers: {warm: forever}}
"""


class Made:
    def __init__(self, open_):
        self.open, self.root, self.said, self.error = open_, open_.project.root, [], None
        self._runners, self._thread = [], None

    def add(self, **row):
        new = self.root / "data" / ".new"
        new.write_text(json.dumps(row) + "\n")
        new.replace(self.root / "data" / f"{row['id']}.json")

    def edit(self, old, new):
        file = self.root / "actions" / "clean.sql"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    def carry(self, *, once=False):
        wanted = to_run(self.open.project, FLOW)
        meter = Meter(wanted.plan, lambda progress: self.said.append(progress.stage), once=once)
        carry(self.open, wanted.plan, meter, once=once, follow=True, wanted=wanted, on_execution=self._runners.append)

    def _run(self):
        try:
            self.carry()
        except StreamhouseError as error:
            self.error = error

    def __enter__(self):
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._runners[-1].stop()
        self._thread.join(PATIENCE_S)

    def rows(self):
        table = self.open.state.plan(FLOW)[1].tables["dwd.ew_rows"]
        found = self.open.stores[table.tiers.target].read_state(table).to_pylist()
        return {row.pop("id"): row for row in found}

    def until(self, condition):
        def look():
            found = condition()
            if self.error and not found:
                raise self.error
            return found

        until(look, saw=lambda: (self.rows(), self.said))


@pytest.fixture
def made(tmp_path, spark):
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "actions" / "take.sql").write_text(TAKE)
    (tmp_path / "actions" / "clean.sql").write_text(CLEAN)
    (tmp_path / "flows" / f"{FLOW}.yaml").write_text(YAML)
    project = Project(tmp_path, Settings())
    stores = open_stores(project, spark, None, [Tier.WARM])
    with project.state() as state:
        yield Made(Open(project, spark, None, stores, state))
    for store in stores.values():
        store.close()


def test_an_edit_waits_beside_a_flow_that_runs_and_over_its_next_start_until_it_is_applied(made):
    made.add(id=1, price=1)
    made.carry(once=True)
    made.edit("SELECT id, price FROM", "SELECT id, price, price * 2 AS twice FROM")
    with made:
        made.add(id=2, price=2)
        made.until(lambda: 2 in made.rows())
        made.until(lambda: any("an edit waits: swap (dwd.ew_rows)" in text for text in made.said))
        made.add(id=3, price=3, note="n")  # what changes upstream is followed, and by what is applied
        made.until(lambda: "note" in made.open.state.plan(FLOW)[1].tables["ods.ew_rows"].column_names)
        made.until(lambda: 3 in made.rows())
        assert "twice" not in made.rows()[3]
        [compared] = compare_project(made.open.project, FLOW)
        apply(made.open.project, compared, "ada")
        made.add(id=4, price=4)
        made.until(lambda: made.rows().get(4) == {"price": 4, "twice": 8})
    made.edit("price > 0", "price > 4")
    made.add(id=5, price=1)
    made.carry(once=True)
    assert made.rows()[5] == {"price": 1, "twice": 2}, "the next start goes on with what is applied"
    (made.root / "flows" / f"{FLOW}.yaml").write_text("flow: waits\n")
    made.add(id=6, price=1)
    made.carry(once=True)
    assert 6 in made.rows()
    assert edits(made.open.project)[FLOW].outcome is None
