"""Reads of held states that are too many for the process: the same rows, in files that end with their use."""

import os
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.engine.spill import Bound, Spilled
from streamhouse.engine.states import CachedRows, StateCache
from streamhouse.errors import DiskFullError
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes

COLUMNS = (Column(name="id", type="bigint"), Column(name="word", type="string"))
HELD = CachedRows("dwd.words", COLUMNS, ("id",))
ROWS = 1000


def words(first: int, last: int, word: str = "w") -> pa.Table:
    return pa.table(
        {"id": range(first, last), "word": [f"{word}{n}" for n in range(first, last)]}, schema=arrow_schema(COLUMNS)
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "states" / "s.duckdb"


def opened(file: Path, bound: Bound | None = None) -> StateCache:
    cache = StateCache(file, [HELD], bound)
    cache.load("dwd.words", [words(0, ROWS)], {"0": 1})
    return cache


def read(found: pa.Table | Spilled) -> pa.Table:
    return (pq.read_table(found.file) if isinstance(found, Spilled) else found).sort_by("id")


@pytest.mark.parametrize("bound", [Bound(rows=ROWS // 2), Bound(bytes=8 * ROWS)])
def test_more_rows_than_the_bound_come_as_a_file_of_the_same_rows(file: Path, bound: Bound) -> None:
    changes = Changes(words(5, 8, "x"), words(9, 10).select(["id"]))
    wanted = pa.table({"key": pa.array([*range(3, ROWS)], pa.int64())})
    here, there = opened(file), opened(file.with_name("t.duckdb"), bound)
    for ask in (
        lambda cache: cache.rows("dwd.words", None),
        lambda cache: cache.rows("dwd.words", Changes(words(ROWS, ROWS + 9))),
        lambda cache: cache.rows_with_keys("dwd.words", None, wanted, {"key": "id"}),
        lambda cache: cache.rows_with_keys("dwd.words", changes, wanted, {"key": "id"}),
    ):
        kept, spilled = ask(here), ask(there)
        assert isinstance(kept, pa.Table)
        assert isinstance(spilled, Spilled)
        assert read(spilled).equals(read(kept))
    here.close()
    there.close()


def test_rows_up_to_the_bound_stay_in_the_process(file: Path) -> None:
    cache = opened(file, Bound(rows=ROWS))
    assert isinstance(cache.rows("dwd.words", None), pa.Table)
    assert isinstance(cache.rows("dwd.words", Changes(words(ROWS, ROWS + 1))), Spilled)
    wanted = pa.table({"key": pa.array([1, 2], pa.int64())})
    assert isinstance(cache.rows_with_keys("dwd.words", None, wanted, {"key": "id"}), pa.Table)
    cache.close()


def test_files_go_when_they_are_removed_and_when_the_cache_is_closed(file: Path) -> None:
    cache = opened(file, Bound(rows=0))
    first, second = cache.rows("dwd.words", None), cache.rows("dwd.words", None)
    assert isinstance(first, Spilled)
    assert isinstance(second, Spilled)
    first.remove()
    first.remove()  # as often as one likes
    assert not first.file.exists()
    assert second.file.exists()
    cache.close()
    assert not second.file.parent.exists()


def test_what_a_process_left_that_died_goes_at_the_next_start(file: Path) -> None:
    left = file.with_suffix(".spilled") / "0.parquet"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half a file")
    cache = opened(file, Bound(rows=0))
    assert not left.exists()
    found = cache.rows("dwd.words", None)
    assert read(found).num_rows == ROWS
    cache.close()


def test_a_process_with_a_file_of_its_own_leaves_the_files_of_the_other(file: Path) -> None:
    import subprocess
    import sys

    cache = opened(file, Bound(rows=0))
    found = cache.rows("dwd.words", None)
    assert isinstance(found, Spilled)
    code = (
        "from pathlib import Path; import pyarrow as pa; from streamhouse.engine.states import *\n"
        f"c = StateCache(Path({str(file)!r}), [CachedRows('dwd.words', ())])\n"
        "print(c._private is not None); c.close()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr
    assert found.file.exists()
    cache.close()


def test_threads_get_files_of_their_own(file: Path) -> None:
    cache = opened(file, Bound(rows=0))
    found: list[pa.Table | Spilled] = []
    threads = [Thread(target=lambda: found.append(cache.rows("dwd.words", None))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one.file for one in found if isinstance(one, Spilled)}) == 6
    assert all(read(one).num_rows == ROWS for one in found)
    cache.close()


@pytest.mark.skipif(not Path("/dev/full").exists() or os.name != "posix", reason="needs a disk that is full")
def test_a_full_disk_is_told(file: Path) -> None:
    cache = opened(file, Bound(rows=0))
    folder = file.with_suffix(".spilled")
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.parquet").symlink_to("/dev/full")
    with pytest.raises(DiskFullError):
        cache.rows("dwd.words", None)
    cache.close()
