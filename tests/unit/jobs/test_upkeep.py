"""How far flows have read a table, as those who drop what is old must know."""

from types import SimpleNamespace

from streamhouse.jobs.upkeep import _read_to
from streamhouse.state.records import EpochRecord
from streamhouse.state.store import StateStore
from tests.unit.compiler.test_aside import plan, step


def test_a_segment_that_a_flow_has_no_more_stands_nowhere(tmp_path):
    both = plan(main=[step("ods.a", "src")], slow=[step("dwd.b", "ods.a")])
    with StateStore(f"sqlite:///{tmp_path / 'state.db'}") as state:
        state.save_plan(both)
        for flow, segment, read in [("f", "slow", 9), ("f", "gone", 2), ("f-change-1", "any", 5), ("other", "x", 1)]:
            state.begin_at([EpochRecord(flow, segment, 0, 1, 1, 1, end={"ods.a": {"0": read}})])
        found = _read_to(SimpleNamespace(state=state), both.tables["ods.a"])
        assert sorted(at["0"] for at in found) == [5, 9], "what is built anew for a change stands somewhere"
