"""Results for other programs come back as they were."""

import csv
import io
import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.cli.formats import FORMATS, format_of, objects, write
from streamhouse.cli.output import CommandOutput
from streamhouse.errors import QueryRefusedError
from streamhouse.stores.arrow_values import python_rows

ROWS = pa.table(
    {
        "id": pa.array([1, 2, None], pa.int64()),
        "s": pa.array(['a "b"\nc', "", None], pa.string()),
        "d": pa.array([Decimal("1.50"), None, Decimal("-2.00")], pa.decimal128(12, 2)),
        "at": pa.array([datetime(2026, 1, 31, 12, tzinfo=UTC), None, None], pa.timestamp("us", tz="UTC")),
        "day": pa.array([date(2026, 1, 31), None, None]),
        "tags": pa.array([["x", None], [], None], pa.list_(pa.string())),
        "m": pa.array([[("k", 1)], None, None], pa.map_(pa.string(), pa.int32())),
        "raw": pa.array([b"\x00\xff", b"", None], pa.binary()),
        "ok": pa.array([True, None, False]),
    }
)


@pytest.fixture
def written(tmp_path):
    def make(form, rows=ROWS):
        target = tmp_path / f"result.{form}"
        write(rows, form, target)
        assert list(tmp_path.iterdir()) == [target]
        return target

    return make


def test_parquet_and_arrow_keep_everything(written):
    assert pq.read_table(written("parquet")).equals(ROWS)


def test_arrow_is_a_stream(written):
    with pa.ipc.open_stream(written("arrow").read_bytes()) as stream:
        assert stream.read_all().equals(ROWS)


def test_csv_tells_null_from_nothing(written):
    text = written("csv").read_text()
    first, second, third = list(csv.DictReader(io.StringIO(text)))
    assert first == {
        "id": "1", "s": 'a "b"\nc', "d": "1.50", "at": "2026-01-31 12:00:00.000000Z", "day": "2026-01-31",
        "tags": '["x", null]', "m": '[["k", 1]]', "raw": "00ff", "ok": "true",
    }  # fmt: skip
    assert (second["s"], third["s"]) == ("", "")
    assert '\n2,"",' in text
    assert "\n,,-2.00" in text


def test_json_has_a_row_on_each_line(written):
    found = [json.loads(line) for line in written("json").read_text().splitlines()]
    assert found[0]["d"] == "1.50"
    assert found[0]["at"] == "2026-01-31T12:00:00+00:00"
    assert found[0]["raw"] == "00ff"
    assert found[2] == dict.fromkeys(ROWS.column_names) | {"d": "-2.00", "ok": False}


@pytest.mark.parametrize("form", [one for one in FORMATS if one != "table"])
def test_nothing_found_is_written_too(written, form):
    assert written(form, ROWS.slice(0, 0)).exists()


def test_a_file_that_could_not_be_written_is_not_there(tmp_path):
    union = pa.table({"u": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])})
    with pytest.raises(pa.ArrowNotImplementedError):
        write(union, "parquet", tmp_path / "x.parquet")
    assert list(tmp_path.iterdir()) == []


NO_UTF8 = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xff")])
STRANGE = {
    "nan": (pa.array([math.nan]), "NaN"),
    "infinite": (pa.array([[math.inf, -math.inf, 0.5]]), ["Infinity", "-Infinity", 0.5]),
    "late": (pa.array([2**62], pa.timestamp("us", tz="UTC")), "+148108-07-06 14:00:27.387904"),
    "before Christ": (pa.array([-719_163 * 86_400_000_000 - 1], pa.timestamp("us")), "0000-12-30 23:59:59.999999"),
    "last": (pa.array([2_932_896], pa.date32()), "9999-12-31"),
    "after the last": (pa.array([2_932_897], pa.date32()), "+10000-01-01"),
    "long ago": (pa.array([-(2**30)], pa.date32()), "-2937836-09-26"),
    "nested": (pa.array([{"d": [2**30]}], pa.struct({"d": pa.list_(pa.date32())})), {"d": ["+2941775-04-07"]}),
    "map": (pa.array([[(1, 2**30)]], pa.map_(pa.int32(), pa.date32())), [[1, "+2941775-04-07"]]),
    "no text": (NO_UTF8, "a\ufffd"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_values_that_python_or_json_lack_are_text(written, name):
    values, expected = STRANGE[name]
    rows = pa.table({"x": values})

    def strict(constant):
        raise AssertionError(f"{constant} is no JSON")

    assert json.loads(written("json", rows).read_text(), parse_constant=strict) == {"x": expected}
    stream = io.StringIO()
    CommandOutput(as_json=True, stream=stream).document({"rows": objects(rows)})
    assert json.loads(stream.getvalue(), parse_constant=strict) == {"rows": [{"x": expected}]}
    CommandOutput(as_json=False, stream=stream).table(("x",), python_rows(rows))


def test_no_column_hides_another_in_json(tmp_path):
    rows = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["id", "id"])
    with pytest.raises(QueryRefusedError, match="two columns 'id'"):
        write(rows, "json", tmp_path / "x.json")
    with pytest.raises(QueryRefusedError, match="two columns 'id'"):
        objects(rows)


def test_the_end_of_a_name_says_the_format():
    assert format_of(Path("a/b.PARQUET")) == "parquet"
    assert format_of(Path("rows.jsonl")) == "json"
    assert format_of(Path("rows.txt")) is None
