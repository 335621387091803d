import os
import subprocess
import sys

import pytest

from streamhouse.errors import DefinitionErrors, SourceError
from streamhouse.model.flow import Source
from streamhouse.model.table import Column
from streamhouse.project.cache.source_columns import ColumnCache


@pytest.fixture
def cache(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("id,name\n1,x\n")
    return ColumnCache(tmp_path, tmp_path / ".streamhouse" / "cache")


def files(path="data/*.csv", **options):
    return {"rows": Source(name="rows", kind="files", options={"path": path, **options})}


def test_columns_are_discovered_and_kept(cache):
    columns = (Column(name="id", type="bigint"), Column(name="name", type="string"))
    assert cache.of(files()) == {"rows": columns}
    assert len(list(cache.folder.glob("*.json"))) == 1
    assert cache.of(files()) == {"rows": columns}
    assert len(list(cache.folder.iterdir())) == 1


@pytest.mark.parametrize("path", ["data/*.csv", "data/a.csv"])
def test_a_changed_file_is_looked_at_again(cache, path):
    cache.of(files(path))
    (cache.root / "data" / "a.csv").write_text("id,name,city\n1,x,y\n")
    assert [c.name for c in cache.of(files(path))["rows"]] == ["id", "name", "city"]


def test_other_options_are_another_source(cache):
    cache.of(files())
    found = cache.of(files(columns={"id": "int"}))
    assert found == {"rows": (Column(name="id", type="int"),)}


def test_a_damaged_entry_is_made_anew(cache):
    first = cache.of(files())
    (entry,) = cache.folder.iterdir()
    whole = entry.read_bytes()
    name = whole.index(first["rows"][0].name.encode())
    flipped = bytearray(whole)
    flipped[name] ^= 1  # another name of a column, in JSON that is as good as before
    for content in (b"[{", b"", whole[: len(whole) // 2], bytes(flipped), whole.partition(b"\n")[2]):
        entry.write_bytes(content)
        assert cache.of(files()) == first
        assert entry.read_bytes() == whole


def test_a_cache_that_cannot_be_written_is_no_error(cache):
    cache.folder.parent.touch()
    assert list(cache.of(files())) == ["rows"]


def test_every_broken_source_is_told(cache):
    sources = {
        "a": Source(name="a", kind="fils", options={}),
        "b": Source(name="b", kind="files", options={"path": "nothing/*.csv"}),
        "c": files()["rows"],
    }
    with pytest.raises(DefinitionErrors) as refused:
        cache.of(sources)
    assert len(refused.value.errors) == 2
    with pytest.raises(SourceError):
        cache.of({"a": sources["a"]})
    assert not cache.folder.exists() or len(list(cache.folder.iterdir())) == 1


def test_the_second_time_needs_no_pyarrow(cache):
    cache.of(files())
    program = (
        "import sys; from pathlib import Path\n"
        "from streamhouse.model.flow import Source\n"
        "from streamhouse.project.cache.source_columns import ColumnCache\n"
        "cache = ColumnCache(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "cache.of({'rows': Source(name='rows', kind='files', options={'path': 'data/*.csv'})})\n"
        "print('pyarrow' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(cache.root), str(cache.folder)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert done.stdout == "False\n"
