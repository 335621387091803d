"""Parquet as Spark 4.1 reads it, or refused; tests/integration/spark/test_files_as_spark.py asks Spark itself."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.files import open_files

UTC_TIME = pa.timestamp("us", "UTC")


def read(tmp_path, values, kind, *, name="v", tolerant=False, **options):
    rows = values if isinstance(values, pa.Table) else pa.table({name: values})
    pq.write_table(rows, tmp_path / "a.parquet", **options)
    source = {"path": "a.parquet", "columns": {"v": kind}}
    source |= {"on_bad_rows": {"action": "dead_letter"}} if tolerant else {}
    opened = open_files(source, tmp_path)
    return opened.read({}, opened.available()).column("v").to_pylist()


@pytest.mark.parametrize("tolerant", [False, True])
@pytest.mark.parametrize(
    "at",
    [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1582, 10, 10, 1, tzinfo=UTC),
        datetime(1677, 9, 21, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(2262, 4, 12, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    ],
)
def test_a_time_of_twelve_bytes_in_every_year(tmp_path, at, tolerant):
    values = pa.array([at, None], UTC_TIME)
    options = {"use_deprecated_int96_timestamps": True, "tolerant": tolerant}
    assert read(tmp_path, values, "timestamp", **options) == [at, None]
    assert read(tmp_path, values, "timestamp_ntz", **options) == [at.replace(tzinfo=None), None]
    nested = pa.array([[at], None], pa.list_(UTC_TIME))
    rows = pa.table({"n": [1, 2], "v": nested})
    assert read(tmp_path, rows, "array<timestamp>", row_group_size=1, **options) == [[at], None]


@pytest.mark.parametrize(
    ("values", "kind", "found"),
    [
        (pa.array([255], pa.uint8()), "smallint", [255]),
        (pa.array([2**32 - 1], pa.uint32()), "bigint", [2**32 - 1]),
        (pa.array([2**64 - 1], pa.uint64()), "decimal(20,0)", [Decimal(2**64 - 1)]),
        (pa.array([-1], pa.int32()), "decimal(12,2)", [Decimal("-1.00")]),
        (pa.array([2**31 - 1], pa.int32()), "double", [2147483647.0]),
        (pa.array([1.5], pa.float32()), "double", [1.5]),
        (pa.array([Decimal("1.50")], pa.decimal128(5, 2)), "decimal(38,3)", [Decimal("1.500")]),
        (pa.array(["a"]).dictionary_encode(), "string", ["a"]),
        (pa.array([date(1, 1, 1)]), "date", [date(1, 1, 1)]),
        (pa.array([date(2020, 1, 1)]), "timestamp_ntz", [datetime(2020, 1, 1)]),
        (pa.array([1], pa.timestamp("ms", "UTC")), "timestamp", [datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=UTC)]),
        (pa.array([1], pa.timestamp("us")), "timestamp", [datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)]),
        (pa.array([1000], pa.timestamp("ns")), "timestamp", [datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)]),
        (pa.array([[1], None, []], pa.list_(pa.int32())), "array<bigint>", [[1], None, []]),
        (pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int32())), "map<string,bigint>", [[("a", 1)], None]),
        (pa.array([[(7, "x")]], pa.map_(pa.int64(), pa.string())), "map<bigint,string>", [[(7, "x")]]),
        (
            pa.array([{"B": "x", "a": 1}, None]),
            "struct<a:bigint,b:string,c:int>",
            [{"a": 1, "b": "x", "c": None}, None],
        ),
        (pa.array([[{"a": 1}], None]), "array<struct<A:bigint>>", [[{"A": 1}], None]),
        (pa.nulls(2), "decimal(5,2)", [None, None]),
    ],
)
@pytest.mark.parametrize("tolerant", [False, True])
def test_values(tmp_path, values, kind, found, tolerant):
    assert read(tmp_path, values, kind, tolerant=tolerant) == found
    assert read(tmp_path, values, kind, name="V", tolerant=tolerant, store_decimal_as_integer=True) == found


@pytest.mark.parametrize(
    ("values", "kind", "why"),
    [
        (pa.array([1.1], pa.float64()), "float", "is double and no float"),
        (pa.array([1.005], pa.float64()), "decimal(5,2)", "is double and no decimal"),
        (pa.array([Decimal("1.00")], pa.decimal128(5, 2)), "int", "and no int"),
        (pa.array([Decimal("1.10")], pa.decimal128(5, 2)), "double", "and no double"),
        (pa.array([1], pa.int64()), "timestamp", "is bigint and no timestamp"),
        (pa.array([1], pa.int32()), "date", "is int and no date"),
        (pa.array([1], pa.timestamp("ms")), "bigint", "is timestamp and no bigint"),
        (pa.array([1], UTC_TIME), "date", "is timestamp and no date"),
        (pa.array([1], UTC_TIME), "string", "is timestamp and no string"),
        (pa.array([True]), "int", "is boolean and no int"),
        (pa.array([2]), "boolean", "is bigint and no boolean"),
        (pa.array([2]), "string", "is bigint and no string"),
        (pa.array([1], pa.timestamp("ns")), "timestamp", "would lose data"),
        (pa.array([1], pa.duration("us")), "bigint", "has no Spark SQL type"),
        (pa.array([[1]]), "bigint", "and no bigint"),
        (pa.array([{"x": 1}]), "struct<a:int>", "none of the fields"),
        (pa.array([{"a": 1, "A": 2}]), "struct<a:int>", "several times"),
    ],
)
@pytest.mark.parametrize("tolerant", [False, True])
def test_what_would_lose_something_is_refused(tmp_path, values, kind, why, tolerant):
    with pytest.raises(SourceError, match=why) as refused:
        read(tmp_path, values, kind, tolerant=tolerant)
    assert str(refused.value).startswith("a.parquet:1:1: SH212")
    assert refused.value.hint


def test_names_that_differ_by_their_case(tmp_path):
    rows = pa.table({"V": [1], "v": [2]})
    with pytest.raises(SourceError, match="has column 'v' several times: V, v"):
        read(tmp_path, rows, "bigint")


def test_a_column_of_another_type_does_not_stop_those_that_are_read(tmp_path):
    rows = pa.table({"d": pa.array([1], pa.duration("us")), "v": [7]})
    assert read(tmp_path, rows, "bigint") == [7]
    with pytest.raises(SourceError, match="has no Spark SQL type"):
        open_files({"path": "a.parquet"}, tmp_path).columns()


@pytest.mark.parametrize(
    "written",
    [
        {"org.apache.spark.version": "2.4.8"},
        {"org.apache.spark.version": "4.1.4", "org.apache.spark.legacyDateTime": ""},
    ],
)
def test_days_by_the_julian_calendar_are_refused(tmp_path, written):
    for values, kind in (
        (pa.array([date(1500, 1, 1)]), "date"),
        (pa.array([[{"at": datetime(1850, 1, 1, tzinfo=UTC)}]]), "array<struct<at:timestamp>>"),
    ):
        rows = pa.table({"v": values}).replace_schema_metadata(written)
        with pytest.raises(SourceError, match="Julian calendar"):
            read(tmp_path, rows, kind)
    rows = pa.table({"v": pa.array([date(2020, 1, 1)])}).replace_schema_metadata(written)
    assert read(tmp_path, rows, "date") == [date(2020, 1, 1)]
    rows = pa.table({"v": pa.array([date(1500, 1, 1)])}).replace_schema_metadata({"org.apache.spark.version": "4.1.4"})
    assert read(tmp_path, rows, "date") == [date(1500, 1, 1)]


def test_files_without_rows_and_files_that_are_cut_off(tmp_path):
    assert read(tmp_path, pa.array([], pa.int64()), "bigint") == []
    pq.write_table(pa.table({"v": list(range(1000))}), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    for size in (3, 8, len(whole) // 2, len(whole) - 1):
        (tmp_path / "b.parquet").write_bytes(whole[:size])
        with pytest.raises(
            SourceError, match=r"b\.parquet:1:1: SH212 b\.parquet is no readable Parquet file"
        ) as refused:
            open_files({"path": "b.parquet", "columns": {"v": "bigint"}}, tmp_path).available()
        assert refused.value.hint


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pa.array([0, 5_000_000], pa.date32()), "date"),
        (pa.array([-800_000, 0], pa.date32()), "date"),
        (pa.array([0, 300_000_000_000_000_000], pa.timestamp("us")), "timestamp"),
        (pa.array([0, -70_000_000_000_000], pa.timestamp("ms")), "timestamp_ntz"),
        (pa.array([[], [5_000_000]], pa.list_(pa.date32())), "array<date>"),
        (pa.array([[], [("k", 5_000_000)]], pa.map_(pa.string(), pa.date32())), "map<string,date>"),
        (pa.array([None, {"d": 5_000_000}], pa.struct([("d", pa.date32())])), "struct<d:date>"),
    ],
)
def test_years_that_nobody_can_show_are_refused(tmp_path, values, kind):
    row = 1 if values.equals(pa.array([-800_000, 0], pa.date32())) else 2
    with pytest.raises(SourceError, match=rf"a\.parquet:{row}:1: SH212 row {row} .*outside of the years 1 to 9999"):
        read(tmp_path, values, kind)
    source = {"path": "a.parquet", "columns": {"v": kind}, "on_bad_rows": {"action": "dead_letter"}}
    opened = open_files(source, tmp_path)
    assert len(opened.bad_rows({}, opened.available())) == 1


@pytest.mark.parametrize(
    ("good", "bad", "kind"),
    [
        (pa.array([1, 2, 3], pa.int64()), pa.array([300], pa.int64()), "tinyint"),
        (pa.array(["1", "2", "3"]), pa.array(["x"]), "int"),
        (pa.array([1.0, 2.0, 3.0]), pa.array([float("nan")]), "int"),
        (pa.array([1000, 2000, 3000], pa.timestamp("ns")), pa.array([1], pa.timestamp("ns")), "timestamp"),
        (pa.array([Decimal("1.00")] * 3), pa.array([Decimal("9.99")]), "decimal(3,1)"),
    ],
)
@pytest.mark.parametrize("groups", [1, 2, 100])
def test_the_error_has_the_row_of_the_value(tmp_path, good, bad, kind, groups):
    values = pa.concat_arrays([good, good, bad.cast(good.type), good])
    with pytest.raises(SourceError, match=r"^a\.parquet:7:1: SH212 .*row 7 does not fit: ") as refused:
        read(tmp_path, values, kind, row_group_size=groups)
    assert refused.value.hint
    opened = open_files({"path": "a.parquet", "columns": {"v": kind}}, tmp_path)
    with pytest.raises(SourceError, match=r"^a\.parquet:7:1: "):
        opened.read({"a.parquet": 5}, {"a.parquet": 8})


@pytest.mark.parametrize("tolerant", [False, True])
def test_a_declared_column_that_a_file_lacks_is_null_and_told_once(tmp_path, tolerant):
    pq.write_table(pa.table({"a": [1, 2], "x": [3, 4]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"A": [5], "count": [6]}), tmp_path / "2.parquet")
    options = {"path": "*.parquet", "columns": {"a": "bigint", "count": "int", "s": "struct<b:int>"}}
    options |= {"on_bad_rows": {"action": "dead_letter"}} if tolerant else {}
    source = open_files(options, tmp_path)
    end = source.available()
    assert source.read({}, end).to_pydict() == {"a": [1, 2, 5], "count": [None, None, 6], "s": [None] * 3}
    assert source.read({}, end, ("count",)).to_pydict() == {"count": [None, None, 6]}
    assert list(source.lacking({}, end)) == [
        "1.parquet lacks the columns count, s: they are NULL in its rows",
        "2.parquet lacks the column s: it is NULL in its rows",
    ]
    assert list(source.lacking({"1.parquet": 1, "2.parquet": 1}, end)) == []


@pytest.mark.parametrize("tolerant", [False, True])
@pytest.mark.parametrize(
    ("columns", "why", "hint"),
    [
        ({"b": "int", "c": "int"}, "the file has none of the columns: it has amount, day", "declare the columns"),
        ({"amuont": "int"}, "the file has none of the columns: it has amount, day", "did you mean 'amount'"),
        ({"day": "int", "amuont": "int"}, "a column is absent: the file has no 'amuont'", "did you mean 'amount'"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, columns, why, hint, tolerant):
    pq.write_table(pa.table({"amount": [1], "day": [2]}), tmp_path / "a.parquet")
    options = {"path": "a.parquet", "columns": columns}
    options |= {"on_bad_rows": {"action": "dead_letter"}} if tolerant else {}
    with pytest.raises(SourceError, match=why) as refused:
        open_files(options, tmp_path).available()
    assert hint in str(refused.value.hint)
    assert str(refused.value).startswith("a.parquet:1:1: SH212")
