"""A segment that left its flow's plan and comes back, after the state store was made again, in each first tier.

`tests/unit/change/test_switch.py` has the same over Paimon, and copies.
"""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pyarrow as pa
import pytest

from streamhouse.change.switch import switch_between
from streamhouse.engine.note import Note
from streamhouse.model.outcome import Outcome
from streamhouse.model.table import Tiers
from streamhouse.model.types import Tier
from streamhouse.runtime.owner import this_owner
from streamhouse.state.changes import Wish
from streamhouse.state.records import EpochRecord
from streamhouse.state.store import StateStore
from streamhouse.stores.base import Changes, WriteContext
from tests.gate.levels import deep
from tests.unit.change.test_switch import LAST, plan

pytestmark = deep("tests/unit/change/test_switch.py asks it of Paimon; this of the other stores that flows write first")
STORES = [
    pytest.param("iceberg_store", Tier.COLD, id="iceberg", marks=pytest.mark.spark),
    pytest.param("fluss_store", Tier.HOT, id="fluss", marks=pytest.mark.services),
]


@pytest.mark.parametrize(("fixture", "tier"), STORES)
def test_a_segment_that_comes_back_loses_no_row(fixture, tier, request, make_table, tmp_path):
    store = request.getfixturevalue(fixture)
    names, tiers = [make_table(id="bigint").name for _ in range(2)], Tiers(**{tier.value: "30d"})
    old, wanted = plan(tiers, main=names), plan(tiers, main=names[:1], aside=names[1:])
    table, flow = wanted.tables[names[1]], "comes_back"
    old, wanted = (one.model_copy(update={"flow": flow}) for one in (old, wanted))
    for one in wanted.tables.values():
        store.create(one)
    write(store, table, LAST, 1)
    if tier is Tier.HOT:  # its rows do not say their epoch: a note beside them does
        store.note(f"{flow}/aside", Note(LAST, LAST - 1, 1, "", done=True).to_text(), [table.name])
    with StateStore(f"sqlite:///{tmp_path}/state.db") as state:
        state.save_plan(old)
        lease = state.acquire(flow, this_owner(), timedelta(minutes=1), datetime.now(UTC))
        state.begin_epoch(lease, "main", 3, 30, datetime.now(UTC))
        state.finish_epoch(lease, EpochRecord(flow, "main", 3, 30, 1, 1, end={"src": {"0": 5}}))
        change = state.ask_change(Wish(wanted, Outcome.SWAP), "ann")
        opened = SimpleNamespace(state=state, stores={tier: store})
        records = {one.segment: one for one in switch_between(opened, old, wanted, change, {}).records}
    assert records["aside"].epoch == LAST + 2
    write(store, table, records["aside"].epoch + 1, 2)
    rows = store.read_changes(table, {}, store.end(table)).upserts
    assert sorted(rows.column("id").to_pylist()) == [1, 2]


def write(store, table, epoch, number):
    """As the segment `aside` writes."""
    rows = Changes(pa.table({"id": pa.array([number], pa.int64())}))
    store.write(table, rows, WriteContext("comes_back/aside", epoch))
