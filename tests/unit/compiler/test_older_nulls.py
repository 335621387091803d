"""Columns that an edit keeps free of NULL, over rows already written that may have NULL."""

import pytest
import yaml

from streamhouse.compiler import compile_project
from streamhouse.compiler.diff import diff
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.registry.registry import Registry
from streamhouse.upstream.view import FlowView
from tests.columns import columns_of

KEEP = """/* ---
action: keep
step: ingest
description: Rows.
inputs: {rows: {id: bigint, cents: int, name: string}}
--- */
SELECT id, cents, name FROM rows
"""
COPY = """/* ---
action: copy
step: clean
description: The same rows.
inputs: {rows: {id: bigint, cents: int, name: string}}
--- */
SELECT id, cents, name FROM rows
"""
SUMS = """/* ---
action: sums
step: aggregate
description: Cents per name.
inputs: {rows: {id: bigint, cents: int, name: string}}
output: {primary_key: [name]}
--- */
SELECT name, SUM(cents) AS cents FROM rows GROUP BY name
"""
FLOW = """flow: f
sources: {rows: {files: {path: rows.csv}}}
steps:
  - {use: keep, reads: {rows: rows}, writes: ods.t}
  - {use: copy, reads: {rows: ods.t}, writes: dwd.t}
  - {use: sums, reads: {rows: dwd.t}, writes: dws.t}
"""
FILTERED = KEEP.replace("FROM rows", "FROM rows WHERE cents > 10")


@pytest.fixture
def planned(tmp_path):
    def make(keep: str = KEEP, copy: str = COPY, *, applied: FlowPlan | None = None, columns="cents: int"):
        for folder in ("actions", "flows"):
            (tmp_path / folder).mkdir(exist_ok=True)
        for name, text in (("keep", keep), ("copy", copy), ("sums", SUMS)):
            (tmp_path / "actions" / f"{name}.sql").write_text(text)
        (tmp_path / "flows" / "f.yaml").write_text(FLOW)
        registry = Registry.load(tmp_path)
        types = yaml.safe_load(f"{{id: bigint, {columns}, name: string}}")
        views = {"f": FlowView.of(registry.flow("f"), applied, ())} if applied is not None else None
        return compile_project(registry.flows.values(), registry, {"f": {"rows": columns_of(types)}}, views=views)["f"]

    return make


def nullable(plan: FlowPlan, table: str, column: str = "cents") -> bool:
    return plan.tables[table].column(column).nullable


def test_a_filter_that_proves_a_column_needs_no_decision(planned):
    before = planned()
    after = planned(FILTERED, applied=before)
    assert not nullable(planned(FILTERED), "ods.t")  # of a new flow it is never NULL
    assert nullable(after, "ods.t")
    assert nullable(after, "dwd.t")  # which copies the older rows
    assert after.older_nulls == {"ods.t": ("cents",)}
    assert {one.outcome for one in diff(before, after, {}).steps} == {Outcome.FORWARD}


def test_it_stays_so_for_the_same_files_and_for_later_edits(planned):
    filtered = planned(FILTERED, applied=planned())
    assert planned(FILTERED, applied=filtered) == filtered
    other = planned(FILTERED, COPY.replace("cents, name FROM", "cents, upper(name) AS name FROM"), applied=filtered)
    assert nullable(other, "ods.t")
    assert nullable(other, "dwd.t")
    stricter = planned(FILTERED.replace("> 10", "> 20"), applied=filtered)
    assert stricter.older_nulls == {"ods.t": ("cents",)}


def test_a_column_that_may_be_null_again_is_forgotten(planned):
    filtered = planned(FILTERED, applied=planned())
    assert planned(KEEP, applied=filtered).older_nulls == {}


def test_a_step_behind_that_stops_null_itself_is_noted_itself(planned):
    before = planned()
    after = planned(copy=COPY.replace("FROM rows", "FROM rows WHERE cents > 10"), applied=before)
    assert after.older_nulls == {"dwd.t": ("cents",)}


def test_a_source_that_promises_more_leaves_older_rows_as_they_are(planned):
    before = planned()
    after = planned(applied=before, columns="cents: int not null")
    assert after.older_nulls["ods.t"] == ("cents",)


def test_a_table_that_is_computed_whole_has_no_older_rows(planned):
    whole = COPY.replace("inputs:", "output: {primary_key: [id]}\ninputs:").replace(
        "rows\n", "rows ORDER BY id LIMIT 3\n"
    )
    before = planned(copy=whole)
    assert nullable(before, "dwd.t")
    after = planned(copy=whole.replace("rows ORDER", "rows WHERE cents > 10 ORDER"), applied=before)
    assert after.steps[1].strategy.sees_all
    assert not nullable(after, "dwd.t")
    assert after.older_nulls == {}


def test_a_key_is_not_loosened(planned):
    before = planned()
    after = planned(KEEP.replace("FROM rows", "FROM rows WHERE name IS NOT NULL"), applied=before)
    assert after.older_nulls == {"ods.t": ("name",)}
    assert after.tables["dws.t"].null_keys == ("name",)  # its rows are stored as before


def test_what_a_later_version_proves_of_the_same_sql_is_taken(planned):
    plan = planned(FILTERED)
    less = plan.model_copy(update={"segments": tuple(map(_unproved, plan.segments))})
    assert planned(FILTERED, applied=less) == plan


def _unproved(segment):
    def less(step):
        columns = tuple(c.model_copy(update={"nullable": True}) for c in step.writes.columns)
        return step.model_copy(update={"writes": step.writes.model_copy(update={"columns": columns})})

    return segment.model_copy(update={"steps": tuple(map(less, segment.steps))})
