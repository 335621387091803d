"""Paths of a folder that was moved: in values, and in the files of a real Iceberg table."""

import io
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest

from streamhouse.stores.iceberg import relocate as iceberg_relocate
from streamhouse.stores.iceberg.relocate import relocate
from streamhouse.stores.relocation import Relocation

TO = Relocation(Path("/old/shop"), Path("/new/place"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("/old/shop/cold/t", "/new/place/cold/t"),
        ("file:/old/shop/cold/t", "file:/new/place/cold/t"),
        ("file:///old/shop/cold/t", "file:///new/place/cold/t"),
        ("/old/shop", "/new/place"),
        ("/old/shopping/cold", "/old/shopping/cold"),  # a name that begins alike
        ("see /old/shop/cold", "see /old/shop/cold"),  # text, not a path
        (b"/old/shop/x", b"/new/place/x"),
        (b"\xff/old/shop/x", b"\xff/old/shop/x"),
        ({"a": ["/old/shop/x", 1, None]}, {"a": ["/new/place/x", 1, None]}),
    ],
)
def test_what_begins_with_the_old_folder_gets_the_new_one(before, after):
    assert TO.value(before) == after


def moved_table(tmp_path: Path) -> tuple[Path, Path, Path]:
    """The folder of a table with two commits before it was moved and now, and the place of its metadata in it."""
    from pyiceberg.catalog.sql import SqlCatalog

    old, new = tmp_path / "old", tmp_path / "elsewhere" / "new"
    (old / "cold").mkdir(parents=True)
    catalog = SqlCatalog("c", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(old / "cold"))
    catalog.create_namespace("dwd")
    rows = pa.table({"id": [1, 2, 3]})
    table = catalog.create_table("dwd.t", schema=rows.schema)
    table.append(rows)
    table.append(rows)
    at = Path(table.metadata_location.removeprefix("file://")).relative_to(old)
    new.parent.mkdir()
    old.rename(new)
    return old, new, at


def test_an_iceberg_table_is_read_where_it_was_moved_to(tmp_path):
    from pyiceberg.table import StaticTable

    old, new, at = moved_table(tmp_path)
    assert relocate(new / "cold", Relocation(old, new)) > 0
    found = StaticTable.from_metadata(str(new / at)).scan().to_arrow()
    assert sorted(found["id"].to_pylist()) == [1, 1, 2, 2, 3, 3]
    assert relocate(new / "cold", Relocation(old, new)) == 0, "done again it finds nothing to do"
    assert not list(new.rglob("*.new"))


@pytest.mark.parametrize("is_partitioned", [False, True], ids=["whole", "partitioned"])
def test_values_of_rows_that_begin_with_the_old_folder_stay(tmp_path, is_partitioned):
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.table import StaticTable

    old, new = tmp_path / "old", tmp_path / "new"
    (old / "cold").mkdir(parents=True)
    catalog = SqlCatalog("c", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(old / "cold"))
    catalog.create_namespace("dwd")
    rows = pa.table({"id": [1, 2], "place": [f"{old}/a", f"{old}/b"]})
    table = catalog.create_table("dwd.t", schema=rows.schema)
    if is_partitioned:
        with table.update_spec() as spec:
            spec.add_identity("place")
    table.append(rows)
    at = Path(table.metadata_location.removeprefix("file://")).relative_to(old)
    old.rename(new)
    relocate(new / "cold", Relocation(old, new))
    moved = StaticTable.from_metadata(str(new / at))
    assert sorted(moved.scan().to_arrow()["place"].to_pylist()) == [f"{old}/a", f"{old}/b"]
    assert moved.scan(row_filter=f"place = '{old}/b'").to_arrow()["id"].to_pylist() == [2]
    assert moved.scan(row_filter=f"place = '{new}/b'").to_arrow()["id"].to_pylist() == []


@pytest.mark.parametrize("killed_at", range(4))
def test_sizes_are_right_when_a_kill_came_between_a_file_and_the_one_that_names_it(tmp_path, monkeypatch, killed_at):
    from pyiceberg.table import StaticTable

    old, new, at = moved_table(tmp_path)
    replace, done = iceberg_relocate._replace, []

    def killed(file, unfinished):
        if len(done) == killed_at:
            raise KeyboardInterrupt
        done.append(file)
        replace(file, unfinished)

    monkeypatch.setattr(iceberg_relocate, "_replace", killed)
    with pytest.raises(KeyboardInterrupt):
        relocate(new / "cold", Relocation(old, new))
    monkeypatch.setattr(iceberg_relocate, "_replace", replace)
    relocate(new / "cold", Relocation(old, new))
    table = StaticTable.from_metadata(str(new / at))
    lists = [Path(one.manifest_list.removeprefix("file://")) for one in table.metadata.snapshots]
    named = [record for file in lists for record in fastavro.reader(io.BytesIO(file.read_bytes()))]
    assert len(named) == 3
    for record in named:
        assert record["manifest_length"] == Path(record["manifest_path"].removeprefix("file://")).stat().st_size
