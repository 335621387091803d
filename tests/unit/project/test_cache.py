import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from streamhouse.project.cache import code
from streamhouse.project.cache import results as module
from streamhouse.project.cache.results import Cache

CODE = b"this code"


@pytest.fixture(autouse=True)
def same_code(monkeypatch):
    monkeypatch.setattr(module, "code_identity", lambda *, refresh=False: CODE)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "cache" / "plan.db"


def filled(file, values):
    cache = Cache(file, CODE)
    for key, value in values.items():
        cache.put(key, value)
    cache.close()


def found(file, *keys):
    cache = Cache(file, CODE)
    try:
        return cache.get(keys)
    finally:
        cache.close()


def test_what_was_put_is_found_by_the_next(file):
    assert found(file, "a") == {}
    assert not file.parent.exists()
    filled(file, {"a": b"1", "b": b"2"})
    assert found(file, "a", "b", "c") == {"a": b"1", "b": b"2"}
    filled(file, {"a": b"3"})
    assert found(file, "a") == {"a": b"3"}


def test_a_key_tells_its_facts_apart(file):
    cache, other = Cache(file, CODE), Cache(file, b"other code")
    keys = {
        cache.key("step", b"ab", b"c"),
        cache.key("step", b"a", b"bc"),
        cache.key("step", b"abc"),
        cache.key("stepa", b"bc"),
        cache.key("step", b"ab", b"c", b""),
        other.key("step", b"ab", b"c"),
    }
    assert len(keys) == 6
    assert cache.key("step", b"ab", b"c") == Cache(file, CODE).key("step", b"ab", b"c")


@pytest.mark.parametrize("content", [b"", b"no database at all", b"SQLite format 3\0" + bytes(4096)])
def test_a_file_that_is_no_cache_is_made_anew(file, content):
    file.parent.mkdir()
    file.write_bytes(content)
    assert found(file, "a") == {}
    filled(file, {"a": b"1"})
    assert found(file, "a") == {"a": b"1"}


def test_a_damaged_value_is_not_found(file):
    filled(file, {"a": b"value of a", "b": b"value of b", "c": b"value of c"})
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE entry SET value = 'value of B' WHERE key = 'b'")
        connection.execute("UPDATE entry SET key = 'd' WHERE key = 'c'")  # whole, but of another key
    connection.close()
    assert found(file, "a", "b", "c", "d") == {"a": b"value of a"}


def test_bytes_that_turned_are_never_a_value(file):
    values = {f"key {i}": bytes([i]) * 900 for i in range(20)}
    filled(file, values)
    whole = file.read_bytes()
    for place in range(0, len(whole), 97):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        got = found(file, *values)
        assert got == {key: values[key] for key in got}


def test_what_nobody_asks_for_goes(file):
    old = Cache(file, CODE)
    old._today -= 20
    old.put("asked", b"1")
    old.put("forgotten", b"2")
    old.close()
    assert found(file, "asked") == {"asked": b"1"}
    filled(file, {"new": b"3"})
    assert found(file, "asked", "forgotten", "new") == {"asked": b"1", "new": b"3"}


def test_a_file_that_grew_too_large_is_begun_anew(file, monkeypatch):
    filled(file, {"a": bytes(100_000)})
    monkeypatch.setattr(module, "_BYTES_MAX", 50_000)
    filled(file, {"b": b"2"})
    assert found(file, "a", "b") == {"b": b"2"}
    assert file.stat().st_size < 50_000


def test_another_process_that_writes_does_not_stop_us(file, monkeypatch):
    monkeypatch.setattr(module, "_BUSY_SECONDS", 0.05)
    filled(file, {"a": b"1"})
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert found(file, "a") == {}
    filled(file, {"b": b"2"})
    other.execute("ROLLBACK")
    other.close()
    assert found(file, "a", "b") == {"a": b"1"}


@pytest.mark.parametrize("where", ["folder", "file"])
def test_a_place_that_cannot_be_written_is_done_without(tmp_path, where):
    if where == "folder":
        (tmp_path / "cache").write_text("a file stands where the folder should")
    else:
        (tmp_path / "cache" / "plan.db").mkdir(parents=True)
    filled(tmp_path / "cache" / "plan.db", {"a": b"1"})
    assert found(tmp_path / "cache" / "plan.db", "a") == {}


def test_results_of_unknown_code_are_not_kept(file, monkeypatch):
    cache = Cache(file, None)
    cache.put("a", b"1")
    cache.close()
    assert not file.exists()
    changed = Cache(file, CODE)
    changed.put("a", b"1")
    monkeypatch.setattr(module, "code_identity", lambda *, refresh=False: b"changed since")
    changed.close()
    assert not file.exists()


def test_code_that_changed_after_it_was_loaded_has_no_identity(monkeypatch, tmp_path):
    assert code.code_identity(refresh=True) is not None
    assert code.code_identity(refresh=True) == code.code_identity()
    before = code._identity()
    (tmp_path / "__init__.py").write_text("")
    monkeypatch.setattr(code.streamhouse, "__file__", str(tmp_path / "__init__.py"))
    assert code.code_identity(refresh=True) is None  # the file is younger than this process
    monkeypatch.setattr(code.streamhouse, "LOADED_NS", code.streamhouse.LOADED_NS + 10**13)
    first = code.code_identity(refresh=True)
    assert first not in {None, before}
    os.utime(tmp_path / "__init__.py", ns=(0, 1))
    assert code.code_identity(refresh=True) not in {None, first}


def test_one_cache_serves_several_threads(file):
    filled(file, {key: key.encode() for key in "abcdefgh"})
    cache = Cache(file, CODE)
    assert cache.get(["a"]) == {"a": b"a"}  # this thread has opened the file
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda key: cache.get([key]), "abcdefgh" * 50))
    cache.close()
    assert answers == [{key: key.encode()} for key in "abcdefgh" * 50]
    assert file.exists(), "it counts as damaged in no thread"
