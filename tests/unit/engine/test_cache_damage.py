"""A cache of states whose file is damaged: the rows are right, or the cache says so and is made again."""

import random
from datetime import timedelta
from types import SimpleNamespace

import duckdb
import pyarrow as pa
import pytest

from streamhouse.engine.cache_damage import DamagedCacheError
from streamhouse.engine.needs import Need
from streamhouse.engine.segment_states import SegmentStates
from streamhouse.engine.states import CachedRows, StateCache
from streamhouse.model.table import Column, Table, Tiers
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


class StoredRows:
    """An input that has all rows, and counts how often they are read as a whole."""

    def __init__(self):
        self.reads = 0

    def parts(self, at, columns):
        self.reads += 1
        yield ALL.select(list(columns))


def states_over(file, stored):
    """The states of a segment whose one step reads the rows as a whole."""
    table = Table(name="dwd.rows", columns=ROWS.columns, primary_key=ROWS.key, tiers=Tiers(hot=timedelta(hours=1)))
    frames = SimpleNamespace(
        spark=SimpleNamespace(version="4"), extended=lambda rows, computed: rows, frame=lambda rows: rows
    )
    needs = {"dwd.rows": Need(table, table.columns, state=True)}
    return SegmentStates(file, needs, {"dwd.rows": stored}, frames)


def test_the_next_attempt_of_an_epoch_has_all_rows_again(tmp_path):
    file, stored, at = tmp_path / "states.duckdb", StoredRows(), {"dwd.rows": {"0": 1}}
    first = states_over(file, stored)
    first.stand_at(at)
    first.close()
    states = states_over(file, stored)
    states.stand_at(at)
    assert stored.reads == 1, "the second process has the rows from the file"
    content = bytearray(file.read_bytes())
    for place in range(3 * 4096, len(content), 512):
        content[place] ^= 1
    file.write_bytes(content)
    with pytest.raises(DamagedCacheError):
        states.rows("dwd.rows", None)
    states.stand_at(at)
    rows = states.rows("dwd.rows", None).sort_by("id")
    assert (stored.reads, rows.equals(ALL.cast(rows.schema))) == (2, True)
    states.close()
    again = states_over(file, stored)
    again.stand_at(at)
    assert stored.reads == 2, "the new file is as good as the one before"
    again.close()
