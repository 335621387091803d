"""How long rows are kept when nobody says, and what is told of rows that are deleted."""

from datetime import timedelta

import pytest

from streamhouse.model.table import Column, Table, Tiers
from tests.unit.compiler.test_outcomes import plans

ACTION = """/* ---
action: take
step: ingest
description: Rows as they come.
inputs: {rows: {id: bigint, day: date}}
expect: {positive: {check: "id > 0", on_violation: quarantine}}
--- */
SELECT id, day FROM rows
"""
FLOW = """flow: f
sources: {rows: {files: {path: rows.csv}}}
steps: [{use: take, reads: {rows: rows}, writes: ods.t}]
tables:
  # how it is stored
  ods.t:
"""


@pytest.fixture
def planned(tmp_path):
    def make(options: str):
        (tmp_path / "actions").mkdir()
        (tmp_path / "flows").mkdir()
        (tmp_path / "actions" / "take.sql").write_text(ACTION)
        (tmp_path / "flows" / "f.yaml").write_text(f"{FLOW}    {options}\n")
        (tmp_path / "sources.yaml").write_text("f: {rows: {id: bigint, day: date}}\n")
        return plans(tmp_path)["f"]

    return make


@pytest.mark.parametrize(
    ("options", "tiers"),
    [
        ("{}", Tiers(hot="7d", warm="forever")),
        ("{primary_key: [id]}", Tiers(hot="7d", warm="forever")),
        ("{partition_by: [id]}", Tiers(hot="7d", warm="forever")),
        ("{partition_by: [day]}", Tiers(hot="forever", warm="forever")),
        ("{tiers: {hot: 1h}}", Tiers(hot="1h")),
    ],
)
def test_rows_are_kept_unless_the_flow_says_otherwise(planned, options, tiers) -> None:
    plan = planned(options)
    assert {table.tiers for table in plan.tables.values()} == {tiers}  # of the quarantine, too
    if "tiers" not in options:
        assert [table.deletes_after for table in plan.tables.values()] == [None, None]


def test_what_deletes_rows_is_told_with_its_place(planned) -> None:
    (step,) = planned("{buckets: 2, tiers: {hot: 30d}}").steps
    assert [str(notice).splitlines()[0] for notice in step.notices] == [
        "flows/f.yaml:7:18: note rows of ods.t older than 30d are deleted for good",
        "flows/f.yaml:7:18: note rows of ods.t__quarantine older than 30d are deleted for good",
    ]


@pytest.mark.parametrize(
    ("tiers", "options", "after"),
    [
        ({"hot": "1d"}, {}, timedelta(days=1)),
        ({"hot": "forever"}, {}, None),
        ({"hot": "1d", "warm": "2d"}, {}, None),  # a lake drops nothing by itself
        ({"hot": "1d"}, {"primary_key": ("k",)}, None),  # a key's row stays, only the log of changes grows old
        ({"hot": "1d"}, {"partition_by": ("d",)}, timedelta(days=1)),
        ({"hot": "3d", "cold": "2d"}, {"partition_by": ("d",)}, timedelta(days=3)),
        ({"hot": "forever", "cold": "2d"}, {"partition_by": ("d",)}, None),
        ({"hot": "3d", "cold": "forever"}, {"partition_by": ("d",)}, None),
        ({"warm": "3d"}, {"partition_by": ("d",), "primary_key": ("k", "d")}, timedelta(days=3)),
        ({"warm": "3d"}, {}, None),
    ],
)
def test_after_what_time_rows_are_gone_from_every_tier(tiers, options, after) -> None:
    columns = (Column(name="k", type="bigint"), Column(name="d", type="date"))
    assert Table(name="ods.t", columns=columns, tiers=tiers, **options).deletes_after == after
