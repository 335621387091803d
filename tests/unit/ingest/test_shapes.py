"""What arrives in a source, as the trigger looks at it: real files, as somebody else writes them."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.ingest.cdc import open_cdc
from streamhouse.ingest.debezium_schema import messages_of
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.shapes import planned_shape, source_shape
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource
from streamhouse.model.table import Column
from streamhouse.upstream.shape_diff import compare
from tests.tables import each


def planned(root, kind, **options):
    source = Source(name="rows", kind=kind, options=options)
    columns = open_source(source, root).columns()
    return PlannedSource(name="rows", kind=kind, options=options, columns=columns, primary_key=source.primary_key)


def told(before, after):
    return sorted(str(event).removeprefix("f:rows: ") for event in compare(before, after))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def connect(row, *fields, op="c", before=None):
    part = [{"field": name, "type": kind, "optional": True, **more} for name, kind, more in fields]
    schema = {"type": "struct", "fields": [{"field": "after", "type": "struct", "fields": part}]}
    return json.dumps({"schema": schema, "payload": {"op": op, "before": before, "after": row}})


def test_csv_that_gets_and_loses_columns(tmp_path):
    write(tmp_path / "data/1.csv", "id,price,note\n1,2.5,a\n")
    source = planned(tmp_path, "files", path="data/*.csv")
    pinned = planned_shape("f:rows", source)
    assert compare(pinned, source_shape("f:rows", source, tmp_path)) == ()
    write(tmp_path / "data/2.csv", "id,price,tax\n1,2,0.5\n")
    assert told(pinned, source_shape("f:rows", source, tmp_path)) == [
        "add_column tax double",
        "drop_column note string",
    ]
    write(tmp_path / "data/3.csv", "id,price,note\nx,2,a\n")
    assert told(pinned, source_shape("f:rows", source, tmp_path)) == ["change_type id bigint → string"]


def test_declared_columns_and_a_field_nobody_declared(tmp_path):
    write(tmp_path / "data/1.json", '{"id": 1}\n')
    source = planned(tmp_path, "files", path="data/*.json", columns={"id": "bigint"})
    pinned = planned_shape("f:rows", source)
    write(tmp_path / "data/2.json", '{"id": 1, "tax": 2}\n')
    assert told(pinned, source_shape("f:rows", source, tmp_path)) == [
        "unknown_field tax bigint (in 1 of the rows looked at)"
    ]


def test_json_that_leaves_a_column_out_for_long(tmp_path):
    write(tmp_path / "data/1.json", '{"id": 1, "note": "a"}\n')
    source = planned(tmp_path, "files", path="data/*.json")
    pinned = planned_shape("f:rows", source)
    for number in (2, 3):
        write(tmp_path / f"data/{number}.json", '{"id": 2}\n')
        assert told(pinned, source_shape("f:rows", source, tmp_path)) == []
    write(tmp_path / "data/4.json", '{"id": 2}\n')
    assert told(pinned, source_shape("f:rows", source, tmp_path)) == ["drop_column note string"]


def test_a_declared_column_that_a_csv_lacks(tmp_path):
    write(tmp_path / "data/1.csv", "id,note\n1,a\n")
    source = planned(tmp_path, "files", path="data/*.csv", columns={"id": "bigint", "note": "string"})
    pinned = source_shape("f:rows", source, tmp_path)
    write(tmp_path / "data/2.csv", "id\n1\n")
    assert told(pinned, source_shape("f:rows", source, tmp_path)) == ["drop_column note string"]


def test_parquet_tells_types(tmp_path):
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"id": pa.array([1], pa.int32())}), tmp_path / "data/1.parquet")
    source = planned(tmp_path, "files", path="data/*.parquet")
    pinned = planned_shape("f:rows", source)
    for kind, expected in ((pa.int64(), "widen_type id int → bigint"), (pa.int16(), "narrow_type id int → smallint")):
        pq.write_table(pa.table({"id": pa.array([1], kind)}), tmp_path / "data/2.parquet")
        assert told(pinned, source_shape("f:rows", source, tmp_path)) == [expected]


def test_shards_that_disagree(tmp_path):
    for shard, kind in (("a", pa.int32()), ("b", pa.int32())):
        (tmp_path / shard).mkdir()
        pq.write_table(pa.table({"id": pa.array([1], kind)}), tmp_path / shard / "1.parquet")
    source = planned(tmp_path, "files", path="*/*.parquet")
    pinned = planned_shape("f:rows", source)
    pq.write_table(pa.table({"id": pa.array([1], pa.decimal128(12, 2))}), tmp_path / "b" / "2.parquet")
    assert told(pinned, source_shape("f:rows", source, tmp_path)) == [
        "shards_disagree id int → decimal(12,2) (shards have decimal(12,2), int)"
    ]


@pytest.fixture
def changes(tmp_path):
    write(tmp_path / "c/1.json", connect({"id": 1, "n": 2}, ("id", "int64", {}), ("n", "int32", {})) + "\n")
    return planned(tmp_path, "cdc", path="c/*.json", primary_key=["id"], columns={"id": "bigint", "n": "int"})


def test_schema_parts_of_change_events(tmp_path, changes):
    pinned = source_shape("f:rows", changes, tmp_path)
    assert [(c.name, c.type) for c in pinned.columns] == [("id", "bigint"), ("n", "int")]
    fields = (
        ("id", "int64", {}),
        ("n", "int64", {}),
        ("tax", "bytes", {"name": "org.apache.kafka.connect.data.Decimal",
                          "parameters": {"scale": "2", "connect.decimal.precision": "12"}}),
        ("at", "int64", {"name": "io.debezium.time.MicroTimestamp", "optional": False}),
    )  # fmt: skip
    write(tmp_path / "c/2.json", connect({"id": 2, "n": 2, "tax": None, "at": 1}, *fields) + "\n")
    assert told(pinned, source_shape("f:rows", changes, tmp_path)) == [
        "unknown_field at timestamp_ntz (in 1 of the rows looked at)",
        "unknown_field tax decimal(12,2) (in 1 of the rows looked at)",
        "widen_type n int → bigint",
    ]


def test_rows_without_a_schema_part(tmp_path):
    write(tmp_path / "c/1.json", '{"op":"c","before":null,"after":{"id":1,"n":2}}\n')
    source = planned(tmp_path, "cdc", path="c/*.json", primary_key=["id"], columns={"id": "bigint", "n": "int"})
    pinned = source_shape("f:rows", source, tmp_path)
    write(tmp_path / "c/2.json", '{"op":"c","before":null,"after":{"id":1,"n":2,"x":"a"}}\n')
    assert told(pinned, source_shape("f:rows", source, tmp_path)) == [
        "unknown_field x string (in 1 of the rows looked at)"
    ]


def test_ddl_messages_rename_truncate_and_change_the_key(tmp_path, changes):
    pinned = source_shape("f:rows", changes, tmp_path)
    ddl = json.dumps(
        {
            "payload": {
                "source": {"table": "rows"},
                "ddl": "ALTER TABLE rows RENAME COLUMN n TO amount",
                "tableChanges": [{"type": "ALTER", "table": {"primaryKeyColumnNames": ["id"]}}],
            }
        }
    )
    row = connect({"id": 3, "amount": 4}, ("id", "int64", {}), ("amount", "int32", {}))
    write(tmp_path / "c/2.json", f"{ddl}\n{row}\n")
    found = source_shape("f:rows", changes, tmp_path)
    assert ("amount", "n") in found.renames
    assert told(pinned, found)[0] == "rename_column n → amount (int)"
    truncated = json.dumps({"payload": {"op": "t", "before": None, "after": None}})
    write(tmp_path / "c/3.json", f"{truncated}\n{row}\n")
    assert any(one.startswith("truncate_table") for one in told(pinned, source_shape("f:rows", changes, tmp_path)))
    moved = json.dumps(
        {"ddl": "ALTER TABLE rows …", "tableChanges": [{"table": {"primaryKeyColumnNames": ["id", "n"]}}]}
    )
    row = connect({"id": 3, "n": 4}, ("id", "int64", {}), ("n", "int32", {}))
    write(tmp_path / "c/4.json", f"{moved}\n{row}\n")
    assert told(pinned, source_shape("f:rows", changes, tmp_path)) == ["change_key ((id) → (id, n))"]


def test_ddl_messages_are_no_rows(tmp_path, changes):
    ddl = json.dumps({"ddl": "ALTER TABLE rows ADD x int", "tableChanges": []})
    write(tmp_path / "c/2.json", f"{ddl}\n{connect({'id': 7, 'n': 1}, ('id', 'int64', {}), ('n', 'int32', {}))}\n")
    source = open_source(changes, tmp_path)
    assert source.read({}, source.available()).to_pylist() == [{"id": 1, "n": 2}, {"id": 7, "n": 1}]


def test_a_plan_with_more_columns_than_are_declared_reads_them(tmp_path, changes):
    more = changes.model_copy(update={"columns": (*changes.columns, Column(name="tax", type="int"))})
    row = connect({"id": 2, "n": 2, "tax": 9}, ("id", "int64", {}), ("n", "int32", {}), ("tax", "int32", {}))
    write(tmp_path / "c/2.json", row + "\n")
    source = open_source(more, tmp_path)
    rows = sorted(source.read({}, source.available()).to_pylist(), key=lambda row: row["id"])
    assert rows == [{"id": 1, "n": 2, "tax": None}, {"id": 2, "n": 2, "tax": 9}]
    assert open_cdc(changes.options, tmp_path).columns() == changes.columns


def test_nothing_is_there(tmp_path, changes):
    (tmp_path / "c/1.json").unlink()
    assert source_shape("f:rows", changes, tmp_path) is None


DECIMAL = "org.apache.kafka.connect.data.Decimal"
GOOD = connect({"id": 1}, ("id", "int64", {}))


@each(
    "line",
    [
        connect({"id": 1}, ("id", "bytes", {"name": DECIMAL, "parameters": "x"})),
        connect({"id": 1}, ("id", "bytes", {"name": DECIMAL, "parameters": {"scale": {}}})),
        connect({"id": 1}, ("id", "bytes", {"name": DECIMAL, "parameters": {"scale": "two"}})),
        connect({"id": 1}, ("id", "array", {"items": "int32"})),
        connect({"id": 1}, ("id", "map", {"keys": [1], "values": {}})),
        json.dumps({"schema": {"fields": [{"field": []}]}, "payload": {"op": "c", "after": None}}),
        json.dumps({"ddl": 1, "tableChanges": 5}),
        json.dumps({"ddl": "", "tableChanges": [{"table": {"primaryKeyColumnNames": 7}}]}),
        json.dumps({"schema": "x", "payload": {"op": "c", "after": 7}}),
    ],
)
def test_malformed_messages_say_nothing_of_the_table(line):
    """The trigger passes them over; they are bad rows where they are read."""
    found = messages_of([GOOD.encode(), line.encode()])
    assert [(one.name, one.type) for one in found.columns] == [("id", "bigint")]
    assert found.counts["id"] == 1
