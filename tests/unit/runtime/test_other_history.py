"""A table, or the state store, that was put back from a copy after the flow had run on: epochs have equal numbers."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from streamhouse.change.building import epochs_of_writers
from streamhouse.model.types import Tier
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.runtime.lost_tables import LossKind, lost_tables
from streamhouse.runtime.owner import this_owner
from streamhouse.state.records import EpochRecord
from streamhouse.state.store import StateStore
from streamhouse.stores.base import EPOCH, WRITER
from streamhouse.stores.mark import Mark, WriterEpochs
from streamhouse.stores.paimon import PaimonStore
from tests.unit.runtime.test_damaged_lakes import EPOCHS, KEEP, cold_table, project

__all__ = ["project"]
TABLES = {"f": "ods.warm", "g": "ods.cold"}
LATER = 10  # whatever is recorded of a second history is so much later than of the first


def history(state, project, later):
    """The state store of flows that ran `EPOCHS` epochs; those of a number in `later` at another time."""
    for flow, plan in desired_plans(project).items():
        state.save_plan(plan)
        lease = leased(state, flow)
        for epoch in range(EPOCHS):
            at_ms = epoch + (LATER if epoch in later else 0)
            finish_epoch(state, lease, epoch, at_ms, ends={TABLES[flow]: {"snapshot": epoch + 1}})
        state.release(lease)


def leased(state, flow):
    return state.acquire(flow, this_owner(), timedelta(minutes=1), datetime.now(UTC))


def finish_epoch(state, lease, epoch, at_ms, **known):
    """Record an epoch of the only segment of a flow."""
    [segment] = state.plan(lease.flow)[1].segments
    state.begin_epoch(lease, segment.name, epoch, at_ms, datetime.now(UTC))
    state.finish_epoch(lease, EpochRecord(lease.flow, segment.name, epoch, at_ms, 1, 1, **known))


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
    for flow, table in TABLES.items():
        finish_epoch(state, leased(state, flow), EPOCHS, 2 * LATER, ends={table: {"snapshot": EPOCHS}})
    texts = [one.text for one in lost_tables(project, state).lost]
    assert [f"another epoch {EPOCHS - 1} of {flow}/" in text for flow, text in zip(TABLES, texts, strict=True)] == [
        True,
        True,
    ]


COPIED = """\
flow: f
sources: {orders: {files: {path: data/*.csv, columns: {id: bigint, v: bigint}}}}
steps:
  - {use: keep, reads: {rows: orders}, writes: ods.warm}
tables: {ods.warm: {tiers: {warm: 30d, cold: forever}}}
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A project whose warm table has no rows yet, and a cold copy that says of which epochs its rows are."""
    root = tmp_path_factory.mktemp("copied")
    for name, text in {
        "actions/keep.sql": KEEP,
        "flows/f.yaml": COPIED,
        "data/a.csv": "id,v\n1,2\n",
        "streamhouse.yaml": "{}\n",
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    project = Project.at(root)
    [table] = desired_plans(project)["f"].tables.values()
    PaimonStore(project.warm, project.state_dir / "locks").create(table)
    mark = Mark(0, Tier.WARM, {}, {"f/lake": EPOCHS}, {"f/lake": {EPOCHS - 1: EPOCHS - 1}})
    cold_table(Path(project.cold), "ods.warm", [{WRITER: "tiering/ods.warm", EPOCH: "0", **mark.properties()}])
    return project


@pytest.mark.parametrize("later", [[], [0], [EPOCHS - 1]], ids=["the same", "an older epoch", "the last epoch"])
def test_a_copy_of_another_history_is_named_with_the_command_that_fills_it_again(copied, state, later):
    [plan] = desired_plans(copied).values()
    state.save_plan(plan)
    lease = leased(state, "f")
    for epoch in range(EPOCHS):
        finish_epoch(state, lease, epoch, epoch + (LATER if epoch in later else 0))
    seen = lost_tables(copied, state)
    assert seen.unseen == {}
    found = seen.lost
    if EPOCHS - 1 in later:
        [one] = found
        assert (one.flow, one.kind, one.tier, one.tables) == ("f", LossKind.TABLES, Tier.COLD, ("ods.warm",))
        assert one.what == f"has rows of another epoch {EPOCHS - 1} of f/lake than the one that the state store knows"
        assert one.hint.endswith("streamhouse restore f")
    else:
        assert found == []


def test_a_mark_names_the_last_epochs_that_wrote_rows_to_the_table(copied, state):
    [plan] = desired_plans(copied).values()
    state.save_plan(plan)
    lease = leased(state, "f")
    for epoch in range(12):
        finish_epoch(state, lease, epoch, 10 * epoch, rows={"ods.warm": epoch % 2, "ods.other": 1})
    state.begin_epoch(lease, "lake", 12, 120, datetime.now(UTC))
    found = epochs_of_writers(state, "f", "ods.warm")
    assert found == WriterEpochs({"f/lake": 12}, {"f/lake": {11: 110, 9: 90, 7: 70, 3: 30}})


def test_no_epochs_are_read_for_a_table_to_which_none_wrote_rows(copied, state, monkeypatch):
    [plan] = desired_plans(copied).values()
    state.save_plan(plan)
    lease = leased(state, "f")
    finish_epoch(state, lease, 0, 10, rows={"ods.warm": 0, "ods.other": 1})
    with monkeypatch.context() as patched:
        patched.setattr(StateStore, "recent_epochs", lambda *_: pytest.fail("they were read"))
        assert epochs_of_writers(state, "f", "ods.warm") == WriterEpochs({"f/lake": 0})
    finish_epoch(state, lease, 1, 20, rows={"ods.warm": 1})
    assert epochs_of_writers(state, "f", "ods.warm") == WriterEpochs({"f/lake": 1}, {"f/lake": {1: 20}})
