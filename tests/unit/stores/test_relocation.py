"""Paths of a folder that was moved: in values, and in the files of a real Iceberg table."""

from pathlib import Path

import pyarrow as pa
import pytest

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


def test_an_iceberg_table_is_read_where_it_was_moved_to(tmp_path):
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.table import StaticTable

    old, new = tmp_path / "old", tmp_path / "new"
    (old / "cold").mkdir(parents=True)
    catalog = SqlCatalog("c", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(old / "cold"))
    catalog.create_namespace("dwd")
    rows = pa.table({"id": [1, 2, 3]})
    table = catalog.create_table("dwd.t", schema=rows.schema)
    table.append(rows)
    table.append(rows)
    at = Path(table.metadata_location.removeprefix("file://")).relative_to(old)
    old.rename(new)

    assert relocate(new / "cold", Relocation(old, new)) > 0
    found = StaticTable.from_metadata(str(new / at)).scan().to_arrow()
    assert sorted(found["id"].to_pylist()) == [1, 1, 2, 2, 3, 3]
    assert relocate(new / "cold", Relocation(old, new)) == 0, "done again it finds nothing to do"
    assert not list(new.rglob("*.relocated"))
