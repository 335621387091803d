"""What Spark's AutoCDC publishes, on Spark and in epochs: the changes of all cases come batch by batch."""

import json

import pytest

from streamhouse.jobs.examples import run_examples
from streamhouse.jobs.run import Meter, carry
from streamhouse.planner.ready_actions import READY, text_of
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests import autocdc
from tests.autocdc import CASES, TYPES
from tests.gate.levels import deep

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("the same cases are in test_autocdc.py of the unit tests, answered by DuckDB"),
]
COLUMNS = ", ".join(f"{name}: {type_}" for name, type_ in TYPES.items())
FLOW = f"""\
flow: changes
sources: {{changes: {{files: {{path: data/*.json, columns: {{{COLUMNS}}}}}}}}}
steps:
  - {{use: keep, reads: {{rows: changes}}, writes: ods.autocdc_changes}}
  - {{use: scd2, reads: {{rows: ods.autocdc_changes}}, writes: dwd.autocdc_history}}
  - {{use: cdc_apply, reads: {{rows: ods.autocdc_changes}}, writes: dwd.autocdc_latest}}
"""
KEEP = "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n"


@pytest.fixture
def project(tmp_path, fluss):
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "actions" / "keep.sql").write_text(KEEP)
    for name in ("scd2", "cdc_apply"):
        (tmp_path / "actions" / f"{name}.sql").write_text(text_of(READY[name], name, autocdc.REQUEST))
    (tmp_path / "flows" / "changes.yaml").write_text(FLOW)
    return Project(tmp_path, Settings(fluss=fluss))


def test_examples_of_a_history_with_deletes(spark):
    results = run_examples(spark, autocdc.action("scd2"))
    assert [one for one in results if not one.passed] == []


def test_every_case_in_epochs(project, spark, fluss):
    stores = open_stores(project, spark, fluss)
    plan = plan_of(project, "changes")
    try:
        for number, rows in enumerate(autocdc.batches(CASES)):
            lines = [json.dumps({**row, "at": row["at"].isoformat()}) for row in rows]
            (project.root / "data" / f"{number}.json").write_text("\n".join(lines) + "\n")
            plan = plan_of(project, "changes")
            with project.state() as state:
                carry(
                    Open(project, spark, fluss, stores, state), plan, Meter(plan, lambda _: None, once=True), once=True
                )
        found = {
            name: stores[plan.tables[name].tiers.target].read_state(plan.tables[name]).to_pylist()
            for name in ("dwd.autocdc_history", "dwd.autocdc_latest")
        }
        for name in CASES:
            versions = autocdc.of_case(CASES, name, autocdc.history(found["dwd.autocdc_history"]))
            assert versions == autocdc.wanted_history(CASES, name), name
            current = autocdc.of_case(CASES, name, autocdc.latest(found["dwd.autocdc_latest"]))
            assert current == autocdc.wanted_latest(CASES, name), name
    finally:
        for table in plan.tables.values():
            for tier in table.tiers.present:
                stores[tier].drop(table.name)
        for store in stores.values():
            store.close()
