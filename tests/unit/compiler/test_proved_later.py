"""A version of Streamhouse that proves more of the same SQL than the one that applied the plan."""

import pytest

from streamhouse.compiler.diff import diff
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import PlannedStep
from streamhouse.model.table import Table
from tests.unit.compiler.test_outcomes import plans

TAKE = """/* ---
action: take
step: ingest
description: Rows with a name.
inputs: {rows: {id: bigint, name: string}}
--- */
SELECT id, name FROM rows WHERE name IS NOT NULL
"""
COPY = """/* ---
action: copy
step: clean
description: The same rows.
inputs: {rows: {id: bigint, name: string}}
--- */
SELECT id, name FROM rows
"""
FLOW = """flow: f
sources: {rows: {files: {path: rows.csv}}}
steps:
  - {use: take, reads: {rows: rows}, writes: ods.t}
  - {use: copy, reads: {rows: ods.t}, writes: dwd.t}
"""


@pytest.fixture
def planned(tmp_path):
    def make(name: str, *, take: str = TAKE, columns: str = "{id: bigint, name: string}"):
        root = tmp_path / name
        for folder in ("actions", "flows"):
            (root / folder).mkdir(parents=True)
        (root / "actions" / "take.sql").write_text(take)
        (root / "actions" / "copy.sql").write_text(COPY)
        (root / "flows" / "f.yaml").write_text(FLOW)
        (root / "sources.yaml").write_text(f"f: {{rows: {columns}}}\n")
        return plans(root)["f"]

    return make


def proved_less(plan):
    """The plan as a version applied it that did not look at WHERE."""

    def less(step):
        columns = tuple(c.model_copy(update={"nullable": True}) for c in step.writes.columns)
        return PlannedStep(**dict(step) | {"writes": Table(**dict(step.writes) | {"columns": columns})})

    segments = tuple(one.model_copy(update={"steps": tuple(map(less, one.steps))}) for one in plan.segments)
    return plan.model_copy(update={"segments": segments})


def outcomes(old, new):
    return {one.step: one.outcome for one in diff(old, new, {}).steps}


def test_what_is_only_proved_later_blocks_nothing(planned):
    now = planned("now")
    assert not now.steps[1].writes.column("name").nullable  # it goes through both steps
    assert Outcome.BLOCK not in outcomes(proved_less(now), now).values()


def test_another_query_still_has_to_prove_its_older_rows(planned):
    edited = planned("edited", take=TAKE.replace("SELECT id, name", "SELECT id, COALESCE(name, 'x') AS name"))
    assert outcomes(proved_less(planned("before")), edited)["ods.t"] is Outcome.BLOCK


def test_so_has_a_source_that_promises_more(planned):
    take = TAKE.replace(" WHERE name IS NOT NULL", "")
    before = planned("before", take=take)
    promised = planned("promised", take=take, columns="{id: bigint, name: string not null}")
    assert outcomes(before, promised)["ods.t"] is Outcome.BLOCK
