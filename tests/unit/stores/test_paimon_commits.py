"""Exactly once in Paimon: after expiry, after a kill, and with another process at the same table."""

import multiprocessing
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from streamhouse.errors import RowsLostError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.base import SNAPSHOT_ID, Changes, WriteContext
from streamhouse.stores.paimon import PaimonStore

Write = Callable[..., int]
LOG = Table(name="ods.log", columns=(Column(name="n", type="bigint"),), tiers=Tiers(warm="1d"))


def numbers(*values: int) -> Changes:
    return Changes(pa.table({"n": pa.array(values, pa.int64())}))


@pytest.fixture
def store(tmp_path: Path) -> PaimonStore:
    opened = PaimonStore(tmp_path / "warm", tmp_path / "locks")
    opened.create(LOG)
    return opened


@pytest.fixture
def write(store: PaimonStore) -> Write:
    def write_numbers(epoch: int, *values: int, writer: str = "f/s", **properties: str) -> int:
        return store.write(LOG, numbers(*values), WriteContext(writer, epoch, properties=properties))["snapshot"]

    return write_numbers


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "warm" / "ods.db" / "log"


def stored(store: PaimonStore) -> list[int]:
    return sorted(store.read_state(LOG).column("n").to_pylist())


def expire(folder: Path, *snapshot_ids: int) -> None:
    for number in snapshot_ids:
        (folder / "snapshot" / f"snapshot-{number}").unlink()
    (folder / "snapshot" / "EARLIEST").write_text(str(max(snapshot_ids) + 1))


def test_a_repeated_epoch_is_known_after_its_snapshot_expired(store, write, folder):
    write(0, 1, offsets="0:1")
    write(0, 100, writer="other")
    write(1, 101, writer="other")
    expire(folder, 1, 2)
    write(0, 1, offsets="0:1")
    assert stored(store) == [1, 100, 101]
    write(1, 2)
    assert stored(store) == [1, 2, 100, 101]


def test_properties_outlive_their_snapshot(store, write, folder):
    write(0, 1, offsets="0:1")
    handle = store._catalog.get_table(LOG.name)
    builder = handle.new_batch_write_builder()
    # A commit of someone else on top, as a compaction is.
    foreign, commit = builder.new_write(), builder.new_commit()
    foreign.write_arrow(pa.table({"n": pa.array([7], pa.int64())}))
    commit.commit(foreign.prepare_commit())
    expire(folder, 1)
    found = store.snapshot_properties(LOG)
    assert found["offsets"] == "0:1"
    assert found[SNAPSHOT_ID] == "1"


@pytest.mark.parametrize("torn", [0, 1, 2])
def test_a_tag_cut_off_by_a_kill_does_no_harm(store, write, folder, torn):
    for epoch in range(2 + torn % 2):
        write(epoch, epoch)
    tags = sorted((folder / "tag").iterdir())
    assert len(tags) == 2
    for tag in tags[: torn + 1]:
        tag.write_text("" if torn == 0 else tag.read_text()[:40])
    last = 1 + torn % 2
    before = stored(store)
    write(last, last)
    assert stored(store) == before
    assert store.snapshot_properties(LOG)[SNAPSHOT_ID] == str(last + 1)
    write(last + 1, last + 1)
    assert stored(store) == [*before, last + 1]


def test_a_kill_between_commit_and_tag_is_repaired(store, write, folder, monkeypatch):
    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr("streamhouse.stores.paimon.commits.tag_commit", die)
        with pytest.raises(Killed):
            write(0, 1)
    assert not (folder / "tag").exists()
    write(0, 1)
    assert stored(store) == [1]
    assert len(list((folder / "tag").iterdir())) == 1


def test_a_range_that_expired_is_an_error(store, write, folder):
    ends = [write(epoch, epoch) for epoch in range(4)]
    expire(folder, 1, 2)
    with pytest.raises(RowsLostError, match=r"ods\.log"):
        store.read_changes(LOG, {"snapshot": ends[0]}, {"snapshot": ends[3]})
    with pytest.raises(RowsLostError):
        store.read_state(LOG, at={"snapshot": ends[1]})
    assert store.read_changes(LOG, {"snapshot": ends[2]}, {"snapshot": ends[3]}).upserts.to_pylist() == [{"n": 3}]
    assert sorted(store.read_changes(LOG, {}, {"snapshot": ends[3]}).upserts.column("n").to_pylist()) == [0, 1, 2, 3]


def _fill(warehouse: Path, locks: Path, writer: str, first: int) -> None:
    store = PaimonStore(warehouse, locks)
    for epoch in range(15):
        store.write(LOG, numbers(first + epoch), WriteContext(writer, epoch))


@pytest.mark.proof
def test_no_commit_is_lost_between_processes(store, tmp_path):
    spawn = multiprocessing.get_context("spawn")
    arguments = [(tmp_path / "warm", tmp_path / "locks", f"w/{n}", n * 100) for n in range(3)]
    workers = [spawn.Process(target=_fill, args=each) for each in arguments]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert stored(store) == sorted(n * 100 + epoch for n in range(3) for epoch in range(15))
    assert store.end(LOG) == {"snapshot": 45}
