"""A table, or the state store, that was put back from a copy after the flow had run on: epochs have equal numbers."""

from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.project.desired import desired_plans
from streamhouse.runtime.lost_tables import LossKind, lost_tables
from streamhouse.runtime.owner import this_owner
from streamhouse.state.records import EpochRecord
from streamhouse.state.store import StateStore
from tests.unit.runtime.test_damaged_lakes import EPOCHS, project

__all__ = ["project"]
TABLES = {"f": "ods.warm", "g": "ods.cold"}
LATER = 10  # whatever is recorded of a second history is so much later than of the first


def history(state, project, later):
    """The state store of flows that ran `EPOCHS` epochs; those of a number in `later` at another time."""
    for flow, plan in desired_plans(project).items():
        state.save_plan(plan)
        lease = state.acquire(flow, this_owner(), timedelta(minutes=1), datetime.now(UTC))
        [segment] = plan.segments
        for epoch in range(EPOCHS):
            at_ms = epoch + (LATER if epoch in later else 0)
            state.begin_epoch(lease, segment.name, epoch, at_ms, datetime.now(UTC))
            ends = {TABLES[flow]: {"snapshot": epoch + 1}}
            state.finish_epoch(lease, EpochRecord(flow, segment.name, epoch, at_ms, 1, 1, ends=ends))
        state.release(lease)


@pytest.fixture
def state(tmp_path):
    with StateStore(f"sqlite:///{tmp_path}/other.db") as made:
        yield made


def test_the_history_that_wrote_the_tables_lost_nothing(project, state):
    history(state, project, later=())
    assert lost_tables(project, state).lost == []


@pytest.mark.parametrize("later", [[EPOCHS - 1], range(EPOCHS)], ids=["the last epoch", "all epochs"])
def test_tables_of_another_history_are_named_with_the_command_that_works(project, state, later):
    history(state, project, later)
    found = lost_tables(project, state).lost
    assert [(one.flow, one.kind) for one in found] == [("f", LossKind.STATE), ("g", LossKind.STATE)]
    for one in found:
        assert f"{TABLES[one.flow]} holds rows of another epoch {EPOCHS - 1} of {one.flow}/" in one.text
        assert f"streamhouse restore {one.flow} --from-sources" in one.hint


def test_a_table_that_ends_before_the_state_store_of_another_history_is_named(project, state):
    """The table's newest epoch is an older one than the state store's newest."""
    history(state, project, later=[EPOCHS - 1])
    for flow, plan in desired_plans(project).items():
        [segment] = plan.segments
        lease = state.acquire(flow, this_owner(), timedelta(minutes=1), datetime.now(UTC))
        state.begin_epoch(lease, segment.name, EPOCHS, 2 * LATER, datetime.now(UTC))
        ends = {TABLES[flow]: {"snapshot": EPOCHS}}
        state.finish_epoch(lease, EpochRecord(flow, segment.name, EPOCHS, 2 * LATER, 1, 1, ends=ends))
    texts = [one.text for one in lost_tables(project, state).lost]
    assert [f"another epoch {EPOCHS - 1} of {flow}/" in text for flow, text in zip(TABLES, texts, strict=True)] == [
        True,
        True,
    ]
