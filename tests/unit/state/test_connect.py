import sqlite3
import subprocess
import sys
import textwrap
from datetime import timedelta

import pytest
from sqlalchemy import Engine, create_engine, event, update

from streamhouse.errors import (
    DiskFullError,
    EnvironmentProblem,
    FileFormatError,
    MissingPackageError,
    StateConflictError,
    StoreUnavailableError,
)
from streamhouse.state import connect
from streamhouse.state.schema import schema_version
from streamhouse.state.store import StateStore
from tests.patience import PATIENCE_S


def test_the_first_call_creates_file_and_tables(tmp_path):
    file = tmp_path / "a" / "b" / "state.db"
    with StateStore(f"sqlite:///{file}") as store:
        assert not file.exists()
        assert store.flows() == []
    assert file.exists()
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("url", ["state.db", "", "sqlite:/x"])
def test_no_url(url):
    with pytest.raises(FileFormatError, match="no database URL"):
        StateStore(url)


def test_a_missing_driver_is_named():
    with pytest.raises(MissingPackageError, match="driver of the state store"):
        StateStore("nodatabase://host/name")


def test_a_store_of_another_version_is_refused(url):
    with StateStore(url) as store:
        store.flows()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(update(schema_version).values(version=99))
    engine.dispose()
    with StateStore(url) as store, pytest.raises(StateConflictError, match="schema version 99") as refused:
        store.flows()
    assert "streamhouse.yaml" in refused.value.hint


def test_a_file_that_is_no_database(tmp_path):
    file = tmp_path / "state.db"
    file.write_text("not a database at all" * 100)
    with StateStore(f"sqlite:///{file}") as store, pytest.raises(StateConflictError, match="not a database") as refused:
        store.flows()
    assert "streamhouse restore" in str(refused.value)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with StateStore(f"sqlite:///{tmp_path}/file/state.db") as store, pytest.raises(EnvironmentProblem) as refused:
        store.flows()
    assert refused.value.hint


def test_a_writer_that_never_ends_is_told_and_not_waited_for_forever(sqlite_url, monkeypatch, now):
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_MS", 200)
    with StateStore(sqlite_url) as store:
        store.append_event("a", "run", "one", now)
        other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert [e.text for e in store.events()] == ["one"]  # readers go on
        with pytest.raises(StoreUnavailableError, match="locked") as refused:
            store.append_event("a", "run", "two", now)
        assert refused.value.retryable
        other.close()


def test_looking_does_not_wait_for_a_writer(sqlite_url, monkeypatch, now):
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_MS", 200)
    with StateStore(sqlite_url) as store:
        store.append_event("a", "run", "one", now)
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with StateStore(sqlite_url) as newcomer:
        assert [e.text for e in newcomer.events()] == ["one"]
    other.close()


def test_a_full_disk_is_told_as_such_and_changes_nothing(sqlite_url, now):
    with StateStore(sqlite_url) as store:
        store.append_event("a", "run", "one", now)

    def no_more_pages(connection, _):
        connection.execute("PRAGMA max_page_count=1").close()  # as if not a page more could be had

    event.listen(Engine, "connect", no_more_pages)
    try:
        with StateStore(sqlite_url) as store:
            with pytest.raises(DiskFullError, match="no room left") as refused:
                store.append_event("a", "run", "x" * 1_000_000, now)
            assert "free some disk space" in refused.value.hint
            assert [e.text for e in store.events()] == ["one"]
    finally:
        event.remove(Engine, "connect", no_more_pages)


def test_processes_share_one_new_store(url, now):
    """Several processes create the store at once and then fight for one lease; each number is given once."""
    program = textwrap.dedent("""
        import sys
        from datetime import UTC, datetime, timedelta
        from streamhouse.errors import LeaseHeldError, LeaseLostError
        from streamhouse.state.records import Owner
        from streamhouse.state.store import StateStore
        now = datetime.now(UTC)
        me = Owner("alpha", int(sys.argv[2]), now)
        with StateStore(sys.argv[1]) as store:
            for _ in range(20):
                store.append_event("retail", "run", sys.argv[2], now)
                try:
                    lease = store.acquire("retail", me, timedelta(seconds=30), now)
                except LeaseHeldError:
                    continue
                print(lease.fencing)
                store.release(lease, now)
    """)
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, url, str(pid)],
            env={"PYTHONPATH": ":".join(p for p in sys.path if p)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for pid in range(4)
    ]
    outputs = [process.communicate(timeout=PATIENCE_S) for process in started]
    assert [errors for _, errors in outputs] == [""] * 4
    numbers = sorted(int(line) for out, _ in outputs for line in out.split())
    assert numbers == list(range(1, len(numbers) + 1))
    with StateStore(url) as store:
        assert len(store.events(limit=1_000)) == 80
        assert store.progress("retail", now + timedelta(minutes=1)).state == "stopped"
