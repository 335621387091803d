import json
import random
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import RowsLostError, SourceError, StreamhouseError
from streamhouse.ingest.files import open_files
from streamhouse.stores.arrow import arrow_schema


def drain(source, max_rows, position=None):
    position, parts = position or {}, []
    while (end := source.advance(position, max_rows)) != position:
        part = source.read(position, end)
        assert len(part) == source.rows_between(position, end) <= max_rows
        parts.append(part)
        position = end
    return position, [row for part in parts for row in part.to_pylist()]


@pytest.fixture
def orders(tmp_path):
    """Three CSV files with 3, 2 and 0 rows."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "orders_1.csv").write_text("id,amount\n1,1.50\n2,2.50\n3,\n")
    (folder / "orders_2.csv").write_text("id,amount\n4,4.50\n5,5.50\n")
    (folder / "orders_3.csv").write_text("id,amount\n")
    return tmp_path


def test_bounded_advance_splits_within_a_file_and_new_files_are_picked_up(orders):
    source = open_files({"path": "data/orders*.csv"}, orders)
    assert source.available() == {"data/orders_1.csv": 3, "data/orders_2.csv": 2, "data/orders_3.csv": 0}
    assert source.advance({}, 2) == {"data/orders_1.csv": 2}
    assert source.advance({"data/orders_1.csv": 2}, 2) == {"data/orders_1.csv": 3, "data/orders_2.csv": 1}
    position, rows = drain(source, 2)
    assert [row["id"] for row in rows] == [1, 2, 3, 4, 5]
    (orders / "data" / "orders_0.csv").write_text("id,amount\n9,9\n")
    assert source.available()["data/orders_0.csv"] == 1
    assert drain(source, 2, position)[1] == [{"id": 9, "amount": 9.0}]


def test_a_new_process_continues_from_a_position(orders):
    first, _ = drain(open_files({"path": "data/orders_1.csv"}, orders), 10)
    _, rows = drain(open_files({"path": "data/orders*.csv"}, orders), 10, first)
    assert [row["id"] for row in rows] == [4, 5]


@given(sizes=st.lists(st.integers(0, 6), min_size=1, max_size=5), max_rows=st.integers(1, 8))
def test_any_split_gives_each_row_once(tmp_path_factory, sizes, max_rows):
    folder = tmp_path_factory.mktemp("files")
    numbers = iter(range(100))
    for index, size in enumerate(sizes):
        lines = "".join(json.dumps({"n": next(numbers)}) + "\n" for _ in range(size))
        (folder / f"{index}.json").write_text(lines)
    source = open_files({"path": "*.json", "columns": {"n": "bigint"}}, folder)
    _, rows = drain(source, max_rows)
    assert [row["n"] for row in rows] == list(range(sum(sizes)))


def test_declared_types(tmp_path):
    columns = {
        "id": "int",
        "price": "decimal(12,2)",
        "day": "date",
        "at": "timestamp",
        "local": "timestamp_ntz",
        "name": "string",
        "ok": "boolean",
    }
    header = ",".join([*reversed(columns), "extra"])
    (tmp_path / "a.csv").write_text(
        f"{header}\n"
        'true,"a,\\"b\\"",2017-01-01 10:00:00,2017-01-01T11:53:26.5+02:00,2017-01-01,3.50,1,x\n'
        "false,,2017-01-01,2017-01-01 11:53:26,2017-01-02,4,2,\n"
        ",,,,,,3,\n"
    )
    source = open_files({"path": "a.csv", "columns": columns}, tmp_path)
    rows = source.read({}, source.available())
    assert rows.schema == arrow_schema(source.columns())
    assert [tuple(row.values()) for row in rows.to_pylist()] == [
        (
            1,
            Decimal("3.50"),
            date(2017, 1, 1),
            datetime(2017, 1, 1, 9, 53, 26, 500_000, tzinfo=UTC),
            datetime(2017, 1, 1, 10),
            'a,"b"',
            True,
        ),
        (
            2,
            Decimal("4.00"),
            date(2017, 1, 2),
            datetime(2017, 1, 1, 11, 53, 26, tzinfo=UTC),
            datetime(2017, 1, 1),
            None,
            False,
        ),
        (3, None, None, None, None, None, None),
    ]


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_inferred_types_are_those_of_the_first_file(tmp_path, suffix):
    rows = {"n": [1], "x": [1.5], "s": ["a"], "t": [datetime(2017, 1, 1, 11)], "none": pa.nulls(1)}
    first, second = tmp_path / f"1.{suffix}", tmp_path / f"2.{suffix}"
    if suffix == "csv":
        first.write_text("n,x,s,t,none\n1,1.5,a,2017-01-01 11:00:00,\n")
        second.write_text("n,x,s,t,none\n2,2,7,2017-01-01 11:00:00,7\n")
    elif suffix == "json":
        first.write_text('{"n":1,"x":1.5,"s":"a","t":"2017-01-01T11:00:00","none":null}\n')
        second.write_text('{"n":2,"x":2,"s":"7","t":"2017-01-01T11:00:00Z","none":"7"}\n')
    else:
        pq.write_table(pa.table(rows), first)
        pq.write_table(pa.table(rows | {"n": [2], "x": [2.0], "s": ["7"], "none": ["7"]}), second)
    source = open_files({"path": f"*.{suffix}"}, tmp_path)
    types = {column.name: column.type for column in source.columns()}
    assert types == {"n": "bigint", "x": "double", "s": "string", "t": "timestamp", "none": "string"}
    at = datetime(2017, 1, 1, 11, tzinfo=UTC)
    assert [tuple(row.values()) for row in source.read({}, source.available()).to_pylist()] == [
        (1, 1.5, "a", at, None),
        (2, 2.0, "7", at, "7"),
    ]


def test_only_the_asked_columns(orders):
    source = open_files({"path": "data/*.csv"}, orders)
    assert source.read({}, {"data/orders_1.csv": 1}, ("amount",)).to_pylist() == [{"amount": 1.5}]
    assert source.read({}, {}).schema == arrow_schema(source.columns())


def test_files_of_others_are_passed_over(orders):
    (orders / "data" / "_orders.csv").write_text("half")
    (orders / "data" / ".orders.csv").write_text("half")
    (orders / "data" / "orders_4.csv").touch()
    (orders / "data" / "orders_5.csv").mkdir()
    assert len(open_files({"path": "data/*.csv"}, orders).available()) == 3


def test_no_file_yet(tmp_path):
    typed = open_files({"path": "*.csv", "columns": {"a": "bigint"}}, tmp_path)
    assert typed.available() == {}
    assert typed.advance({}, 10) == {}
    with pytest.raises(SourceError, match=r"no file matches '\*\.csv'"):
        open_files({"path": "*.csv"}, tmp_path).columns()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "id,n\n1,2\n2,3,4\n", "a.csv:3:1: SH212 the row has 3 values, and the first line names 2"),
        ("a.csv", "id,n\n1,2\n2,x\n", "a.csv:3:1: SH212 column 'n' is no bigint: 'x'"),
        ("a.csv", "id\n1\n", "a.csv:1:1: SH212 the file has none of the columns: the first line names id"),
        ("a.csv", "id,n,at\n1,2,zz\n", "a.csv:2:1: SH212 column 'at' is no timestamp: 'zz'"),
        ("a.json", '{"n": 1}\n\n{"n":\n', "a.json:3:1: SH212 the line cannot be read: it is no JSON: a value is miss"),
        ("a.json", '{"n": 1}\n{"n": "x"}\n', "a.json:2:1: SH212 column 'n' is no bigint: 'x'"),
        ("a.parquet", "no parquet", "a.parquet:1:1: SH212 a.parquet is no readable Parquet file"),
    ],
)
def test_a_malformed_file_is_told_with_its_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    columns = {"n": "bigint"} | ({"at": "timestamp"} if "zz" in text else {})
    source = open_files({"path": name, "columns": columns}, tmp_path)
    with pytest.raises(SourceError) as refused:
        source.available()
    assert str(refused.value).startswith(message)


def test_a_malformed_first_file_cannot_be_inferred(tmp_path):
    (tmp_path / "a.json").write_text('{"n": 1}\n{"n": \n')
    with pytest.raises(SourceError, match=r"a\.json:2:1: SH212 the line cannot be read"):
        open_files({"path": "a.json"}, tmp_path).columns()


def test_a_file_that_changed_after_it_was_seen(orders):
    source = open_files({"path": "data/*.csv"}, orders)
    source.available()
    with (orders / "data" / "orders_2.csv").open("a") as file:
        file.write("6,6.50\n")
    with pytest.raises(SourceError, match=r"data/orders_2.csv:1:1: SH212 the file changed from \d+ to \d+ bytes"):
        source.available()


@pytest.mark.parametrize("change", [lambda f: f.unlink(), lambda f: f.write_text("id,amount\n1,1\n")])
def test_rows_that_are_gone_are_an_error_and_not_a_smaller_result(orders, change):
    end = open_files({"path": "data/*.csv"}, orders).available()
    change(orders / "data" / "orders_1.csv")
    with pytest.raises(RowsLostError) as refused:
        open_files({"path": "data/*.csv", "columns": {"id": "bigint"}}, orders).read({}, end)
    assert isinstance(refused.value, StreamhouseError)
    assert "data/orders_1.csv" in refused.value.message


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_that_a_file_lacks_are_null_where_nobody_declared_them(tmp_path, kind):
    def write(name, rows):
        if kind == "parquet":
            pq.write_table(pa.table(rows), tmp_path / f"{name}.parquet")
        else:
            (tmp_path / f"{name}.csv").write_text(
                "\n".join([",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))])
            )

    write("a", {"id": [1, 2], "note": [7, 8]})
    write("b", {"id": [3]})
    source = open_files({"path": f"*.{kind}"}, tmp_path)
    end = source.available()
    assert source.read({}, end).to_pydict() == {"id": [1, 2, 3], "note": [7, 8, None]}
    assert source.read({f"a.{kind}": 2}, end, ("note",)).to_pydict() == {"note": [None]}


NAMES = [
    "in/2024-9-30/prices.csv",
    "in/2024-10-01-b/prices.csv",
    "in/2024-10-01/prices.csv",
    "in/B/1.csv",
    "in/a/part-007.csv",
    "in/a/part-8.csv",
    "in/a/part-0009.csv",
    "in/a/part-10-2.csv",
    "in/a/part-10.csv",
    "in/a/part-18446744073709551617.csv",
    "in/a/prices2.csv",
    "in/a/prices10.csv",
    "in/a/prices.csv",
]


@pytest.mark.parametrize("tolerant", [False, True])
def test_files_are_read_in_one_order_where_numbers_count_as_numbers(tmp_path, tolerant):
    chance = random.Random(3)
    options = {"path": "in/**/*.csv", "columns": {"name": "string"}}
    options |= {"on_bad_rows": {"action": "dead_letter"}} if tolerant else {}
    for name in chance.sample(NAMES, len(NAMES)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"name\n{name}\n")
    source = open_files(options, tmp_path)
    assert list(source.available()) == NAMES
    at_once = source.read({}, source.available()).column("name").to_pylist()
    one_by_one = [row["name"] for row in drain(source, 1)[1]]
    assert at_once == one_by_one == NAMES


def test_files_that_come_one_by_one_are_read_as_those_that_are_all_there(tmp_path):
    source = open_files({"path": "*.csv", "columns": {"n": "int"}}, tmp_path)
    position, rows = {}, []
    for number in range(8, 12):
        (tmp_path / f"prices-{number}.csv").write_text(f"n\n{number}\n")
        position, new = drain(source, 10, position)
        rows += [row["n"] for row in new]
    assert rows == source.read({}, position).column("n").to_pylist() == [8, 9, 10, 11]
