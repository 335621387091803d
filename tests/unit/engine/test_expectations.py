"""What happens to rows that violate an expectation."""

import pyarrow as pa
import pytest

from streamhouse.engine.expectations import judge
from streamhouse.errors import EpochFailedError
from streamhouse.model.action import Expectation
from streamhouse.model.plan import PlannedStep
from streamhouse.model.table import Column, Table, Tiers

TABLE = Table(name="dwd.sales", columns=(Column(name="cents", type="bigint"),), tiers=Tiers(hot="7d"))
ROWS = pa.table(
    {"cents": [5, -1, None], "__expect_positive": [True, False, False], "__expect_known": [True, True, False]}
)


def step(**on_violation):
    checks = {"positive": "cents > 0", "known": "cents IS NOT NULL"}
    expect = {name: Expectation(check=checks[name], on_violation=on_violation.get(name, "warn")) for name in checks}
    return PlannedStep(
        action="clean", version="1.0.0", kind="clean", reads=(), writes=TABLE, sql="", strategy="map", reason="",
        expect=expect,
    )  # fmt: skip


def test_warn_counts_and_keeps():
    judged = judge(step(), ROWS)
    assert judged.valid_rows.to_pydict() == {"cents": [5, -1, None]}
    assert judged.violations == {"positive": 2, "known": 1}
    assert judged.quarantined is None


def test_drop_leaves_out_what_violates_any_dropping_rule():
    assert judge(step(positive="drop"), ROWS).valid_rows.to_pydict() == {"cents": [5]}
    assert judge(step(known="drop"), ROWS).valid_rows.to_pydict() == {"cents": [5, -1]}


def test_a_quarantined_row_goes_there_once_with_the_first_rule_it_violates():
    judged = judge(step(positive="quarantine", known="quarantine"), ROWS)
    assert judged.valid_rows.to_pydict() == {"cents": [5]}
    assert judged.quarantined.to_pydict() == {"cents": [-1, None], "_expectation": ["positive", "positive"]}


def test_fail_names_the_rule_and_the_first_row():
    with pytest.raises(EpochFailedError, match="2 rows violate 'positive'") as failed:
        judge(step(positive="fail"), ROWS)
    assert "-1" in failed.value.hint


def test_only_a_quarantining_step_has_a_quarantine_table():
    assert step().quarantine is None
    table = step(known="quarantine").quarantine
    assert table.name == "dwd.sales__quarantine"
    assert table.column_names == ("cents", "_expectation")
    assert not table.primary_key
