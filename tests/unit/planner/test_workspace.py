"""How long the epochs of a flow worked, as a promise of freshness takes it."""

import dataclasses

import pytest

from streamhouse.planner.workspace import Workspace
from streamhouse.state.records import EpochRecord
from streamhouse.state.store import StateStore


@pytest.fixture
def workspace(tmp_path):
    """A workspace whose project has a state store."""

    class Stored:
        def existing_state(self):
            return StateStore(f"sqlite:///{tmp_path}/state.db")

    others = {field.name: None for field in dataclasses.fields(Workspace) if field.name != "project"}
    return Workspace(project=Stored(), **others)


def test_only_epochs_that_read_count(workspace):
    read = EpochRecord("shop", "main", 0, 0, 1_000, 1_900, rows={"ods.a": 3}, layer_visible_ms={"ods": 1_900})
    empty = EpochRecord("shop", "other", 0, 0, 1_000, 1_700, rows={"ods.a": 0}, layer_visible_ms={"ods": 1_700})
    with workspace.project.existing_state() as state:
        state.begin_at([read, empty, dataclasses.replace(read, segment="adopted", layer_visible_ms={})])
    assert workspace.epoch_work_ms("shop") == {"main": [900]}
