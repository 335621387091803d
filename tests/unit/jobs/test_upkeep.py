"""How far flows have read a table, as those who drop what is old must know."""

from contextlib import contextmanager
from types import SimpleNamespace

from sqlalchemy import Engine, event

from streamhouse.jobs.upkeep import _read_to
from streamhouse.state.records import EpochRecord
from streamhouse.state.store import StateStore
from tests.unit.compiler.test_detached import plan, step


def test_a_segment_that_a_flow_has_no_more_stands_nowhere(tmp_path):
    both = plan(main=[step("ods.a", "src")], slow=[step("dwd.b", "ods.a")])
    with StateStore(f"sqlite:///{tmp_path / 'state.db'}") as state:
        state.save_plan(both)
        for flow, segment, read in [("f", "slow", 9), ("f", "gone", 2), ("f-change-1", "any", 5), ("other", "x", 1)]:
            state.begin_at([EpochRecord(flow, segment, 0, 1, 1, 1, end={"ods.a": {"0": read}})])
        found = _read_to(SimpleNamespace(state=state), both.tables["ods.a"])
        assert sorted(at["0"] for at in found) == [5, 9], "what is built anew for a change stands somewhere"


def test_the_state_store_is_asked_as_often_for_many_flows_as_for_few(tmp_path):
    asked = []
    for flows in (1, 40):
        with StateStore(f"sqlite:///{tmp_path / str(flows)}.db") as state:
            for number in range(flows):
                one = plan(main=[step(f"ods.a{number}", "src")]).model_copy(update={"flow": f"f{number}"})
                state.save_plan(one)
                state.begin_at([EpochRecord(one.flow, "main", 0, 1, 1, 1, ends={f"ods.a{number}": {"0": number}})])
            with counting() as statements:
                assert _read_to(SimpleNamespace(state=state), one.tables[f"ods.a{number}"]) == [{"0": number}]
            asked.append(len(statements))
    assert asked[0] == asked[1]


@contextmanager
def counting():
    """The statements of the block."""
    seen = []

    def note(*given):
        seen.append(given[2])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)
