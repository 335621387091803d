"""A flipped bit in the file of a state store: the same records, or an error that says so; never other positions."""

import random

import pytest
from sqlalchemy import create_engine, text

from streamhouse.errors import StateConflictError, StreamhouseError
from streamhouse.state.records import EpochRecord
from streamhouse.state.store import StateStore

SEED, FLIPS = 30, 300
DONE = EpochRecord(
    "retail", "main", 0, 1_000, 1_005, 1_090,
    start={"orders": {"row": 0}}, end={"orders": {"row": 7}, "dwd.sales": {"0": 3, "1": 4}},
    ends={"ods.orders": {"0": 9}}, rows={"ods.orders": 7},
)  # fmt: skip


@pytest.fixture
def recorded(store, lease, now, flow_plan):
    store.save_plan(flow_plan())
    store.begin_epoch(lease, "main", 0, DONE.at_ms, now)
    store.finish_epoch(lease, DONE)
    return store


def test_no_flipped_bit_of_what_is_recorded_gives_other_positions_or_another_plan(
    recorded, sqlite_url, flow_plan, tmp_path
):
    recorded.close()
    file = tmp_path / "deep" / "state.db"
    if not file.exists():
        pytest.skip("only of a file it is known where its bytes are")
    whole, chance, found = file.read_bytes(), random.Random(SEED), []
    places = [
        at for part in (b'"end":', b'"segments":') for at in range(whole.index(part) - 200, whole.index(part) + 400)
    ]
    for at in chance.sample(places, FLIPS):
        bytes_ = bytearray(whole)
        bytes_[at] ^= 1 << chance.randrange(8)
        for old in file.parent.glob("state.db-*"):
            old.unlink()
        file.write_bytes(bytes_)
        try:
            with StateStore(sqlite_url) as store:
                last, plan = store.last_epoch("retail", "main"), store.plan("retail")
        except StreamhouseError:
            continue
        same = last is None or (last.start, last.end, last.ends, last.epoch) == (DONE.start, DONE.end, DONE.ends, 0)
        if not same or (plan is not None and plan[1] != flow_plan()):
            found.append((at, whole[at - 20 : at + 20]))
    assert found == []


def test_an_epoch_without_a_checksum_is_of_an_earlier_version(recorded, url):
    with create_engine(url).begin() as connection:
        [record] = connection.execute(text("SELECT record FROM streamhouse_epoch")).scalars()
        if not isinstance(record, str):
            pytest.skip("this database gives no text")
        before, _, after = record.partition(', "sum": ')
        assert after
        connection.execute(text("UPDATE streamhouse_epoch SET record = :r"), {"r": before + "}"})
    assert recorded.last_epoch("retail", "main") == DONE


def test_the_error_of_a_damaged_record_says_what_to_do(recorded, url):
    with create_engine(url).begin() as connection:
        connection.execute(text("UPDATE streamhouse_epoch SET at_ms = at_ms + 1"))
    with pytest.raises(StateConflictError, match="epoch 0 of retail/main is not as it was recorded") as refused:
        recorded.last_epoch("retail", "main")
    assert "streamhouse restore" in str(refused.value)
