"""An environment whose flow reads other versions than those that its tables were made of."""

from types import SimpleNamespace

import pytest

from streamhouse.change.building import Building
from streamhouse.model.outcome import Outcome
from streamhouse.model.types import Tier
from streamhouse.state.changes import Wish
from streamhouse.state.records import EpochRecord
from tests.unit.state.conftest import flow_plan, lease, now, owner, sqlite_url, store, url
from tests.unit.state.test_changes import NEW, TABLE
from tests.unit.state.test_outdated_reads import AT, FIRST, reader, reader_lease, swapped

__all__ = ["flow_plan", "lease", "now", "owner", "reader", "reader_lease", "sqlite_url", "store", "url"]
ENDS = {"dwd.copy": {"0": 5}}


@pytest.fixture
def open_(store, tmp_path):
    tier = SimpleNamespace(end=lambda table: {"0": 5})
    return SimpleNamespace(state=store, stores={Tier.HOT: tier}, project=SimpleNamespace(state_dir=tmp_path))


@pytest.fixture
def fills(monkeypatch):
    """The tables that were filled, and from which, each time."""
    found = []

    def fill(building, plan, begun, at):
        found.append((sorted(plan.tables), {name: at[name] for s in plan.segments for name in s.reads}))

    monkeypatch.setattr(Building, "_fill", fill)
    return found


@pytest.fixture
def built(store, reader, open_, fills):
    """Of a flow that has read `TABLE` up to 2."""
    store.begin_at([EpochRecord("other", "main", 0, 1, 1, 1, end={TABLE: {"0": 2}}, ends=ENDS)])
    edited = reader.model_copy(update={"description": "edited"})
    change = store.ask_change(Wish(edited, Outcome.REBUILD, frozenset({"dwd.copy"}), environment="dev"), "bob")
    Building(open_, change).fill()
    Building(open_, change).fill()
    assert fills == [(["dwd.copy__v2"], {TABLE: {"0": 2}})]
    return change


def test_it_is_filled_again_and_reads_no_row_of_the_next_version_twice(
    store, open_, built, lease, reader_lease, flow_plan, fills
):
    follow = swapped(store, lease, flow_plan(NEW), AT)
    Building(open_, built).fill()
    assert len(fills) == 1, "its flow reads the version before"
    end = {"ods.orders__v2": FIRST.began}
    moved = EpochRecord("other", "main", 2, 2, 2, 2, end=end, ends=ENDS)
    assert store.complete_change(reader_lease, follow, [moved])
    said = []
    building = Building(open_, store.change(built.id), said.append)
    building.fill()
    assert fills[1:] == [(["dwd.copy__v2"], end)]
    assert {name: record.end for name, record in building.last.items()} == {"main": end}
    assert said == ["filling again: ods.orders no longer serves"]
    building.fill()
    assert len(fills) == 2


def test_also_what_was_built_and_read_on_before_a_kill_is_filled_again(
    store, open_, built, lease, reader_lease, flow_plan, fills
):
    """The epochs are forgotten before the tables are dropped and filled."""
    follow = swapped(store, lease, flow_plan(NEW), AT)
    moved = EpochRecord("other", "main", 2, 2, 2, 2, end={"ods.orders__v2": FIRST.began}, ends=ENDS)
    assert store.complete_change(reader_lease, follow, [moved])
    store.forget_candidate(built)
    Building(open_, built).fill()
    assert len(fills) == 2
