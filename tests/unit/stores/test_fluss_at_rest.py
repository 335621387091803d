"""Where the tables of a server that does not run end, by its files."""

import os
import struct
from pathlib import Path

import pytest

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import Tier
from streamhouse.stores.fluss.at_rest import FlussAtRest
from streamhouse.stores.ledger import LedgerEntry, NoLedger, lost_as

TABLE = Table(name="ods.orders", columns=(Column(name="id", type="int"),), tiers=Tiers(hot="1h"))


def batch(base, rows, magic=0):
    body = (b"\0\0\0\0" if magic else b"") + struct.pack("<IhBiqii", 0, 1, 1, rows - 1, 0, 0, rows) + b"rows"
    return struct.pack("<qibq", base, len(body) + 9, magic, 0) + body


class Known(NoLedger):
    def __init__(self, entry):
        self.entry = entry

    def known(self, table, tier):
        return self.entry


@pytest.fixture
def log(tmp_path):
    def write(name, data, part="log-0", table="orders-7"):
        folder = tmp_path / "ods" / table / part
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name:020}.log").write_bytes(data)

    return write


@pytest.fixture
def end(tmp_path):
    return lambda: FlussAtRest(tmp_path, NoLedger()).end(TABLE)


def test_a_bucket_ends_behind_its_last_whole_batch(log, end):
    log(0, batch(0, 3) + batch(3, 2, magic=1))
    assert end() == {"0": 5}
    log(0, batch(0, 3) + batch(3, 2)[:-1])
    assert end() == {"0": 3}, "the server was killed while it wrote"
    log(0, batch(0, 3) + b"\0" * 200)
    assert end() == {"0": 3}, "the disk was full"


def test_the_newest_segment_counts(log, end):
    log(0, batch(0, 30))
    log(30, batch(30, 1))
    log(31, b"")
    assert end() == {"0": 31}


def test_partitions_and_buckets_have_the_names_that_positions_have(log, end):
    log(0, batch(0, 2), part="2026-01-31-p17/log-0")
    log(0, b"", part="2026-01-31-p17/log-1")
    log(0, batch(0, 4), part="log-1.deleted")
    assert end() == {"2026-01-31#17/0": 2, "2026-01-31#17/1": 0}


@pytest.mark.parametrize(
    ("entry", "lost"),
    [
        (LedgerEntry("7@1", {"0": 5}), None),
        (LedgerEntry("7@1", {"0": 6}), "ends before its record: bucket 0 ends at 5, recorded is 6"),
        (LedgerEntry("8@1", {"0": 5}), "is another table than the one that was recorded"),
        (None, None),
    ],
    ids=str,
)
def test_it_is_compared_with_its_record(log, tmp_path, entry, lost):
    log(0, batch(0, 5))
    log(0, batch(0, 9), table="orders_new-9")
    store = FlussAtRest(tmp_path, Known(entry))
    assert (store.identity("ods.orders"), store.tier) == ("7", Tier.HOT)
    assert lost_as(store, TABLE) == lost


def test_a_table_without_a_folder_is_gone(tmp_path):
    store = FlussAtRest(tmp_path / "nothing", Known(LedgerEntry("7@1", {"0": 5})))
    assert lost_as(store, TABLE) == "is gone"
    assert (store.columns("ods.orders"), store.end(TABLE)) == (None, {})


def test_a_look_at_many_tables_lists_their_folder_once(log, tmp_path, monkeypatch):
    for number in range(20):
        log(0, batch(0, number + 1), table=f"t_{number}-{number}")
    os.utime(tmp_path / "ods", (1, 1))
    listed, store = [], FlussAtRest(tmp_path, NoLedger())
    each = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda self: (listed.append(self), each(self))[1])
    assert [store.identity(f"ods.t_{number}") for number in range(20)] == [str(number) for number in range(20)]
    assert listed == [tmp_path / "ods"]


def test_a_table_that_comes_or_goes_meanwhile_is_seen(log, tmp_path):
    log(0, batch(0, 1))
    os.utime(tmp_path / "ods", (1, 1))
    store = FlussAtRest(tmp_path, NoLedger())
    assert store.identity("ods.orders") == "7"
    (tmp_path / "ods" / "orders-7").rename(tmp_path / "ods" / "orders-8")
    assert store.identity("ods.orders") == "8"
    (tmp_path / "ods" / "orders-8").rename(tmp_path / "ods" / "orders-9")
    assert store.identity("ods.orders") == "9", "twice within a tick of the clock of the file system"


def test_without_the_files_of_its_zookeeper_there_is_no_table(tmp_path):
    data, zookeeper = tmp_path / "data", tmp_path / "zookeeper"
    (data / "ods" / "orders-7" / "log-0").mkdir(parents=True)
    (zookeeper / "version-2").mkdir(parents=True)
    assert FlussAtRest(data, NoLedger(), zookeeper).identity("ods.orders") is None
    (zookeeper / "version-2" / "log.1").write_bytes(b"1")
    assert FlussAtRest(data, NoLedger(), zookeeper).identity("ods.orders") == "7"
