"""A cache of states whose file is damaged: the rows are right, or the cache says so and is made again."""

import random

import duckdb
import pyarrow as pa
import pytest

from streamhouse.engine.cache_damage import DamagedCacheError
from streamhouse.engine.states import CachedRows, StateCache
from streamhouse.model.table import Column
from streamhouse.stores.base import Changes

pytestmark = pytest.mark.proof

ROWS = CachedRows("dwd.rows", (Column(name="id", type="bigint"), Column(name="text", type="string")), ("id",))
ALL = pa.table({"id": range(5_000), "text": [f"text of {n}" for n in range(5_000)]})
NONE = Changes(ALL.slice(0, 0), None)


def opened(file):
    return StateCache(file, [ROWS])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a file with all rows."""
    file = tmp_path_factory.mktemp("whole") / "states.duckdb"
    cache = opened(file)
    cache.load("dwd.rows", [ALL], {"0": 1})
    cache.close()
    return file.read_bytes()


def flipped(whole, chance):
    content = bytearray(whole)
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return content


def cases(whole):
    chance = random.Random(30)
    return [*(flipped(whole, chance) for _ in range(12)), *(whole[: len(whole) * n // 5] for n in range(5))]


def rows_of(cache):
    return cache.rows("dwd.rows", None).sort_by("id")


def read(cache):
    """The rows of a file with all of them, None where it has none; or the error."""
    try:
        if cache.position("dwd.rows") is None:
            return None
        cache.commit({"dwd.rows": NONE}, {"dwd.rows": {"0": 1}})
        return rows_of(cache)
    except DamagedCacheError as error:
        return error


def test_damage_is_named_or_was_of_no_use_and_the_next_file_is_whole(tmp_path, whole):
    file, found = tmp_path / "states.duckdb", []
    for content in cases(whole):
        file.write_bytes(content)
        cache = opened(file)
        found.append(read(cache))
        assert cache.is_damaged is isinstance(found[-1], DamagedCacheError)
        cache.close()
        again = opened(file)
        assert not list(tmp_path.glob("states-*")), "no other process has the file"
        again.load("dwd.rows", [ALL], {"0": 1})
        rows = rows_of(again)
        assert rows.equals(ALL.cast(rows.schema))
        again.close()
        assert file.exists()
    errors = [one for one in found if isinstance(one, DamagedCacheError)]
    assert all(one.equals(rows) for one in found if isinstance(one, pa.Table))
    assert {(str(one).splitlines()[0], one.retryable) for one in errors} == {
        ("SH500 the cache states.duckdb is damaged, and is made again from the tables", True)
    }
    assert len(errors) > 5
    assert found.count(None) > 2


def test_a_file_that_another_process_has_open_is_no_damage(tmp_path, whole, monkeypatch):
    def locked(*_, **__):
        monkeypatch.undo()
        raise duckdb.IOException('IO Error: Could not set lock on file "x": Conflicting lock is held')

    file = tmp_path / "states.duckdb"
    file.write_bytes(whole)
    monkeypatch.setattr(duckdb, "connect", locked)
    cache = opened(file)
    assert cache.position("dwd.rows") is None
    cache.close()
    assert file.read_bytes() == whole


def test_an_error_of_a_query_is_no_damage(tmp_path):
    cache = opened(tmp_path / "states.duckdb")
    with pytest.raises(duckdb.CatalogException):
        cache.rows("dwd.rows", None)
    assert not cache.is_damaged
    cache.close()
