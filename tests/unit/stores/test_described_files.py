"""Files of a cold table from an older copy, without the checksums beside them, are not those of the metadata."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.errors import StoreError
from streamhouse.stores.iceberg.described import (
    _agree,
    _footer,
    difference,
    refuse_other_files,
    refuse_other_manifests,
)

PATHS, POSITIONS = 2147483546, 2147483545


def numbered(name: str, kind: pa.DataType, number: int) -> pa.Field:
    return pa.field(name, kind, metadata={b"PARQUET:field_id": str(number).encode()})


ROWS = pa.schema([numbered("k", pa.int64(), 1), numbered("n", pa.int32(), 2), numbered("s", pa.string(), 3)])
DELETES = pa.schema([numbered("file_path", pa.string(), PATHS), numbered("pos", pa.int64(), POSITIONS)])


def described(place: Path, bounds: dict[int, tuple[bytes, bytes]], *, deletes: bool = False) -> Any:
    """What a manifest says of a file as it is now."""
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat

    return DataFile.from_args(
        content=DataFileContent.POSITION_DELETES if deletes else DataFileContent.DATA,
        file_path=str(place),
        file_format=FileFormat.PARQUET,
        partition=None,
        record_count=pq.read_metadata(place).num_rows,
        file_size_in_bytes=place.stat().st_size,
        lower_bounds={number: least for number, (least, _) in bounds.items()},
        upper_bounds={number: largest for number, (_, largest) in bounds.items()},
    )


def whole(value: int, size: int = 8) -> bytes:
    return value.to_bytes(size, "little", signed=True)


def written(place: Path, schema: pa.Schema, *columns: list[Any]) -> Path:
    pq.write_table(pa.table(list(columns), schema=schema), place, row_group_size=2)
    return place


def test_the_file_that_was_written_is_right(tmp_path: Path) -> None:
    place = written(tmp_path / "a.parquet", ROWS, [3, -1, 2], [None, 7, 5], ["x", None, "y"])
    bounds = {1: (whole(-1), whole(3)), 2: (whole(5, 4), whole(7, 4)), 3: (b"x", b"y")}
    refuse_other_files("dwd.t", [described(place, bounds), described(place, {})])


def test_another_file_of_the_same_size_and_number_of_rows_is_seen(tmp_path: Path) -> None:
    place = written(tmp_path / "a.parquet", ROWS, [1, 2], [1, 2], ["x", "y"])
    said = described(place, {1: (whole(1), whole(2))})
    size = place.stat().st_size
    written(place, ROWS, [1, 3], [1, 2], ["x", "y"])
    assert place.stat().st_size == size
    with pytest.raises(StoreError, match=r"dwd\.t in the cold tier is damaged: .*a\.parquet: its values"):
        refuse_other_files("dwd.t", [said])


def test_deletes_of_another_data_file_are_seen(tmp_path: Path) -> None:
    place = written(tmp_path / "d.parquet", DELETES, ["/data/b.parquet"] * 2, [0, 1])
    said = described(place, {PATHS: (b"/data/b.parquet",) * 2, POSITIONS: (whole(0), whole(1))}, deletes=True)
    assert difference(said) is None
    size = place.stat().st_size
    written(place, DELETES, ["/data/c.parquet"] * 2, [0, 1])
    assert place.stat().st_size == size
    assert difference(said) == "its values lie between other bounds than its manifest says"


def test_other_sizes_and_counts_are_seen(tmp_path: Path) -> None:
    from pyiceberg.manifest import ManifestFile

    place = written(tmp_path / "a.parquet", ROWS, [1, 2], [1, 2], ["x", "y"])
    said = described(place, {})
    written(place, ROWS, [1], [1], ["x"])
    assert "bytes, its manifest says" in (difference(said) or "")
    manifest = ManifestFile.from_args(manifest_path=f"file:{place}", manifest_length=3)
    with pytest.raises(StoreError, match=r"a\.parquet: it has .* bytes, the list of manifests says 3"):
        refuse_other_manifests("dwd.t", [manifest])


def test_files_of_an_object_store_are_not_looked_at() -> None:
    from pyiceberg.manifest import DataFile, DataFileContent

    assert difference(DataFile.from_args(content=DataFileContent.DATA, file_path="s3://bucket/a.parquet")) is None


ODD = pa.schema(
    [
        numbered("nested", pa.struct([numbered("a", pa.int64(), 11), numbered("b", pa.int64(), 12)]), 1),
        numbered("nested.a", pa.int64(), 2),
        numbered("list", pa.list_(numbered("element", pa.int32(), 13)), 3),
        numbered("at", pa.timestamp("us", tz="UTC"), 4),
        numbered("millis", pa.timestamp("ms"), 5),
        numbered("price", pa.decimal128(7, 2), 6),
        numbered("x", pa.float64(), 7),
        numbered("none", pa.int32(), 8),
        numbered("day", pa.date32(), 9),
    ]
)


def odd_rows(number: int) -> list[list[Any]]:
    nested = [{"a": 100, "b": 200}] * 2
    before_1970 = [datetime(1960, 1, 1, tzinfo=UTC), None]
    return [
        nested,
        [number, 7],
        [[1, 2], None],
        before_1970,
        [5, 6],
        [Decimal("-1.10"), None],
        [float("nan"), -0.0],
        [None, None],
        [date(1969, 12, 30), date(1970, 1, 2)],
    ]


def test_only_bounds_that_are_exact_are_compared(tmp_path: Path) -> None:
    place = written(tmp_path / "a.parquet", ODD, *odd_rows(3))
    micros = round(datetime(1960, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
    bounds = {
        2: (whole(3, 4), whole(7, 4)),  # a column that was an int
        4: (whole(micros), whole(micros)),
        9: (whole(-2, 4), whole(1, 4)),
    }
    inexact = dict.fromkeys((1, 3, 5, 6, 7, 8, 11, 12, 13), (b"other", b"others"))
    assert difference(described(place, {**bounds, **inexact})) is None
    for number in bounds:
        assert difference(described(place, {**bounds, number: (whole(0), whole(9))})) is not None, number


def test_files_without_rows_or_numbers_are_right(tmp_path: Path) -> None:
    bounds = {1: (whole(1), whole(2))}
    empty = written(tmp_path / "e.parquet", ROWS, [], [], [])
    foreign = written(tmp_path / "f.parquet", pa.schema([("k", pa.int64())]), [5])
    assert [difference(described(place, bounds)) for place in (empty, foreign)] == [None, None]


@pytest.mark.parametrize(
    ("found", "said", "agrees"),
    [
        ((b"/data/b", b"/data/b"), (b"/data/bcd", b"/data/bcd"), False),
        ((b"/data/b", b"/data/c"), (b"/data/bcd", b"/data/bcd"), True),  # the file cuts both off
        ((b"/data/bcd", b"/data/xyz"), (b"/data/bcd", b"/data/bcd"), False),
        ((b"/data/a", b"/data/xyz"), (b"/data/bcd", b"/data/bcd"), False),
        ((b"/data/a", b"/data/xyz"), (b"/data/", b"/data0"), True),  # the manifest cuts both off
    ],
)
def test_a_path_may_be_cut_off(found: tuple[bytes, bytes], said: tuple[bytes, bytes], agrees: bool) -> None:
    assert _agree(found, said) is agrees


def test_what_pyiceberg_wrote_is_right(tmp_path: Path) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("c", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path / "cold"))
    catalog.create_namespace("dwd")
    rows = pa.table(
        {
            "k": pa.array([3, -1, None], pa.int64()),
            "n": pa.array([7, None, 2**31 - 1], pa.int32()),
            "day": [date(1969, 12, 30), None, date(2024, 2, 29)],
            "at": pa.array([-1, None, 10**15], pa.timestamp("us", tz="UTC")),
            "ntz": pa.array([-1, None, 10**15], pa.timestamp("us")),
            "price": [Decimal("-1.10"), None, Decimal("7.00")],
            "x": [float("nan"), -0.0, None],
            "s": ["long" * 30, "ü" * 20, None],
            "none": pa.array([None] * 3, pa.int32()),
        }
    )
    table = catalog.create_table("dwd.t", schema=rows.schema)
    table.append(rows)
    table.append(rows.slice(0, 1))
    found = [task.file for task in table.scan().plan_files()]
    assert [difference(one) for one in found] == [None, None]
    numbers = {field.field_id for field in table.schema().fields[:5]}
    for one in found:
        assert set(_footer(Path(one.file_path.removeprefix("file://"))).bounds) >= numbers & set(one.lower_bounds)
