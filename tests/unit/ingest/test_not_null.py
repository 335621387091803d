"""Columns that every row of a source has: a row without one is refused with its place, or a dead letter."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.cdc import open_cdc
from streamhouse.ingest.files import open_files
from streamhouse.ingest.kafka_options import KafkaOptions

COLUMNS = {"id": "bigint not null", "name": "string NOT  NULL", "n": "int"}
ROWS = [{"id": 1, "name": "a", "n": 1}, {"id": 2, "name": None, "n": None}, {"id": 3, "name": "c", "n": None}]


def write(root, kind):
    file = root / f"rows.{kind}"
    if kind == "csv":
        file.write_text("id,name,n\n1,a,1\n2,,\n3,c,\n")
    elif kind == "json":
        file.write_text("".join(json.dumps({k: v for k, v in row.items() if v is not None}) + "\n" for row in ROWS))
    else:
        pq.write_table(pa.Table.from_pylist(ROWS), file)
    return {"path": file.name}


@pytest.mark.parametrize(("kind", "line"), [("csv", 3), ("json", 2), ("parquet", 2)])
def test_a_row_without_a_value_is_refused_with_its_place(tmp_path, kind, line):
    source = open_files({**write(tmp_path, kind), "columns": COLUMNS}, tmp_path)
    assert [(c.name, c.type, c.nullable) for c in source.columns()] == [
        ("id", "bigint", False),
        ("name", "string", False),
        ("n", "int", True),
    ]
    with pytest.raises(SourceError, match="column 'name' has no value, and it is declared as not null") as refused:
        source.read({}, {f"rows.{kind}": 3})
    assert refused.value.at == Location(f"rows.{kind}", line)
    assert "COALESCE" in (refused.value.hint or "")


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_or_it_is_a_dead_letter_and_the_others_are_read(tmp_path, kind):
    options = {**write(tmp_path, kind), "columns": COLUMNS, "on_bad_rows": {"action": "dead_letter"}}
    split = open_files(options, tmp_path).read_split({}, {f"rows.{kind}": 3})
    assert split.rows.column("id").to_pylist() == [1, 3]
    assert [bad.reason for bad in split.bad] == ["null"]
    again = open_files(options, tmp_path).read_again([bad.letter for bad in split.bad], None)
    assert [bad.reason for bad in again.bad] == ["null"]


def test_columns_that_nobody_declared(tmp_path):
    source = open_files({**write(tmp_path, "csv"), "not_null": ["id"]}, tmp_path)
    assert [c.name for c in source.columns() if not c.nullable] == ["id"]
    with pytest.raises(SourceError, match="not_null names 'key', which the source does not have"):
        open_files({**write(tmp_path, "csv"), "not_null": ["key"]}, tmp_path).columns()


def test_a_name_that_is_no_column(tmp_path):
    with pytest.raises(SourceError, match="not_null names 'key', which is not among the columns"):
        open_files({**write(tmp_path, "csv"), "columns": COLUMNS, "not_null": ["key"]}, tmp_path)


def test_a_file_that_lacks_the_column(tmp_path):
    (tmp_path / "a.json").write_text('{"id": 1}\n')
    source = open_files({"path": "*.json", "columns": {"id": "bigint", "name": "string not null"}}, tmp_path)
    with pytest.raises(SourceError, match="column 'name' has no value"):
        source.read({}, {"a.json": 1})


def test_changes_by_key(tmp_path):
    events = [{"op": "c", "after": {"id": 1, "city": "Oslo"}}, {"op": "u", "after": {"id": 1, "city": None}}]
    (tmp_path / "rows.json").write_text("".join(json.dumps(event) + "\n" for event in events))
    options = {"path": "rows.json", "primary_key": ["id"], "columns": {"id": "bigint", "city": "string not null"}}
    source = open_cdc(options, tmp_path)
    assert [c.nullable for c in source.columns()] == [False, False]
    with pytest.raises(SourceError, match="column 'city' has no value, and it is declared as not null") as refused:
        source.read({}, {"rows.json": 2})
    assert refused.value.at == Location("rows.json", 2)
    tolerant = open_cdc({**options, "on_bad_rows": {"action": "dead_letter"}}, tmp_path)
    assert [bad.reason for bad in tolerant.bad_rows({}, {"rows.json": 2})] == ["null"]


def test_messages_always_have_a_partition_and_an_offset():
    options = KafkaOptions(
        servers="broker:9092",
        topic="orders",
        columns={"id": "bigint not null", "note": "string"},
        metadata={"at": "timestamp", "part": "partition", "place": "offset"},
    )
    assert [c.name for c in options.all_columns if not c.nullable] == ["id", "part", "place"]
