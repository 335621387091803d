"""Fields that no column names, and the file of a row, as columns: none is lost, whatever part of a source is read."""

import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import SourceError
from streamhouse.ingest.files import open_files
from streamhouse.ingest.kafka import open_kafka
from streamhouse.ingest.shapes import planned_shape, source_shape
from streamhouse.model.plan import PlannedSource
from streamhouse.model.table import Column
from streamhouse.upstream.shape_diff import compare
from tests.malformed import Message
from tests.tables import each

REST = {"metadata": {"rest": "other_fields"}}
BOTH = {"metadata": {"rest": "other_fields", "origin": "file"}}


def rows(root, path, **options):
    source = open_files({"path": path, **options}, root)
    return source.read({}, source.available()).to_pylist()


def write(root, name, text):
    (root / name).write_text(text)


def test_json_keeps_what_no_column_names_as_it_is_written(tmp_path):
    lines = [
        '{"id": 1, "city": "Oslo", "tags": ["a", {"b":  2}], "price": 1.50}',
        '{"id": 2}',
        '{"city": null, "id": 3, "ID": 4}',
        '{"id": 4, "twice": 1, "twice": 2, "qu\\"ote": "é"}',
    ]
    write(tmp_path, "a.jsonl", "\n".join(lines))
    found = rows(tmp_path, "a.jsonl", columns={"id": "int"}, **REST)
    assert [row["id"] for row in found] == [1, 2, 3, 4]
    assert [row["rest"] for row in found] == [
        '{"city": "Oslo", "tags": ["a", {"b":  2}], "price": 1.50}',
        None,
        '{"city": null, "ID": 4}',
        '{"twice": 2, "qu\\"ote": "é"}',
    ]


def test_csv_keeps_other_values_as_texts(tmp_path):
    write(tmp_path, "a.csv", 'Id,city,note,n\n1,Oslo,"say \\"hi\\", twice",007\n2,,-,\n3,-,-,-\n')
    found = rows(tmp_path, "a.csv", columns={"id": "int"}, null_value="-", **REST)
    assert found == [
        {"id": 1, "rest": '{"city": "Oslo", "note": "say \\"hi\\", twice", "n": "007"}'},
        {"id": 2, "rest": None},
        {"id": 3, "rest": None},
    ]


def test_csv_with_line_ends_in_quotes_keeps_them(tmp_path):
    write(tmp_path, "a.csv", 'id,note\n1,"one\ntwo"\n')
    found = rows(tmp_path, "a.csv", columns={"id": "int"}, multi_line=True, **REST)
    assert [json.loads(row["rest"]) for row in found] == [{"note": "one\ntwo"}]


@each("kind", ["csv", "json", "parquet"])
def test_each_row_has_the_name_of_its_file(tmp_path, kind):
    for name, ids in (("2", [1, 2]), ("10", [3])):
        if kind == "parquet":
            pq.write_table(pa.table({"id": pa.array(ids, pa.int32())}), tmp_path / f"{name}.parquet")
        else:
            lines = ["id", *map(str, ids)] if kind == "csv" else [json.dumps({"id": one}) for one in ids]
            write(tmp_path, f"{name}.{kind}", "\n".join(lines))
    origin = {"metadata": {"origin": "file"}}
    expected = [(1, f"2.{kind}"), (2, f"2.{kind}"), (3, f"10.{kind}")]
    for more in ({}, {"columns": {"id": "int"}}, {"columns": {"id": "int"}, "on_bad_rows": "dead_letter"}):
        source = open_files({"path": f"*.{kind}", **origin, **more}, tmp_path)
        end = source.available()
        assert [(row["id"], row["origin"]) for row in source.read({}, end).to_pylist()] == expected
        assert [row["origin"] for row in source.read({}, end, ("origin",)).to_pylist()] == [
            file for _, file in expected
        ]
        assert {column.name: column.nullable for column in source.columns()}["origin"] is False


NAMES = st.sampled_from(["id", "a", "b", "c"])


@given(
    lines=st.lists(st.dictionaries(NAMES, st.one_of(st.integers(0, 9), st.text(max_size=3), st.none())), max_size=6),
    cut=st.integers(0, 6),
    tolerant=st.booleans(),
)
def test_no_field_is_lost_and_none_is_there_twice(tmp_path_factory, lines, cut, tolerant):
    root = tmp_path_factory.mktemp("rows")
    write(root, "a.jsonl", "\n".join(json.dumps({"id": 0, **line, "b": "x"}) for line in lines))
    more = {"on_bad_rows": "dead_letter"} if tolerant else {}
    columns = {"b": "string", "id": "string"}
    source = open_files({"path": "*.jsonl", "columns": columns, **BOTH, **more}, root)
    end = source.available()
    middle = {name: min(cut, count) for name, count in end.items()}
    parts = [source.read({}, middle), source.read(middle, end)]
    found = [row for part in parts for row in part.to_pylist()]
    for line, row in zip(lines, found, strict=True):
        rest = {name: value for name, value in line.items() if name not in ("b", "id")}
        assert json.loads(row["rest"] or "{}") == rest
        assert row["origin"] == "a.jsonl"


@each(
    ("name", "text", "mended"),
    [
        ("a.jsonl", '{"id": 1, "x": 1}\n{"id": "no", "x": 2}', '{"id": 2, "x": 2}'),
        ("a.csv", "id,x\n1,1\nno,2", "2,2"),
    ],
)
def test_a_row_that_is_read_again_has_its_fields_and_its_file(tmp_path, name, text, mended):
    write(tmp_path, name, text)
    options = {"path": name, "columns": {"id": "int"}, "on_bad_rows": "dead_letter", **BOTH}
    source = open_files(options, tmp_path)
    [bad] = source.bad_rows({}, source.available())
    letter = replace(bad.letter, raw=mended.encode())
    again = source.read_again([letter], None).rows.to_pylist()
    assert [(row["id"], json.loads(row["rest"]), row["origin"]) for row in again] in (
        [(2, {"x": 2}, name)],
        [(2, {"x": "2"}, name)],
    )


def test_a_column_that_a_plan_took_over_is_no_other_field(tmp_path):
    write(tmp_path, "a.jsonl", '{"id": 1, "city": "Oslo", "zip": 7}')
    columns = (Column(name="id", type="int"), Column(name="rest", type="string"), Column(name="city", type="string"))
    options = {"path": "a.jsonl", "columns": {"id": "int"}, **REST}
    source = open_files(options, tmp_path, columns=columns, optional=("city",))
    expected = {"id": 1, "rest": '{"zip": 7}', "city": "Oslo"}
    assert source.read({}, source.available()).to_pylist() == [expected]
    for name, value in expected.items():  # whatever a reader wants
        assert source.read({}, source.available(), (name,)).to_pylist() == [{name: value}]


@each("declared", [{}, {"columns": {"id": "bigint"}}])
def test_metadata_is_no_column_that_a_file_drops(tmp_path, declared):
    write(tmp_path, "a.jsonl", '{"id": 1}')
    options = {"path": "*.jsonl", **declared, **BOTH}
    columns = open_files(options, tmp_path).columns()
    plan = PlannedSource(name="rows", kind="files", options=options, columns=columns)
    assert list(compare(planned_shape("f:rows", plan), source_shape("f:rows", plan, tmp_path))) == []


def test_columns_that_are_inferred_leave_nothing_else(tmp_path):
    write(tmp_path, "a.jsonl", '{"id": 1, "city": "Oslo"}')
    source = open_files({"path": "*.jsonl", **REST}, tmp_path)
    write(tmp_path, "b.jsonl", '{"id": 2, "zip": 7}')
    assert source.read({}, source.available()).to_pylist() == [
        {"id": 1, "city": "Oslo", "rest": None},
        {"id": 2, "city": None, "rest": '{"zip": 7}'},
    ]


def test_a_file_without_any_of_the_columns_is_refused_all_the_same(tmp_path):
    write(tmp_path, "a.jsonl", '{"x": 1}')
    source = open_files({"path": "a.jsonl", "columns": {"id": "int"}, **REST}, tmp_path)
    with pytest.raises(SourceError, match="the file has none of the columns"):
        source.available()


REFUSED = [
    ({"path": "*.csv", "columns": {"id": "int"}, "metadata": {"id": "file"}}, "metadata names 'id'"),
    ({"path": "*.parquet", **REST}, "other_fields are of csv and json"),
    ({"path": "*.csv", "header": False, "columns": {"id": "int"}, **REST}, "other_fields need names"),
    ({"path": "*.jsonl", "columns": {"id": "int"}, "not_null": ["rest"], **REST}, "not_null names 'rest'"),
    ({"path": "*.csv", "metadata": {"a": "line"}}, "metadata"),
]


@each(("options", "text"), REFUSED)
def test_options_that_cannot_be_met_are_refused(tmp_path, options, text):
    with pytest.raises(SourceError, match=text):
        open_files(options, tmp_path)


def test_inferred_columns_that_have_the_name_of_metadata_are_refused(tmp_path):
    write(tmp_path, "a.csv", "id,rest\n1,2\n")
    with pytest.raises(SourceError, match="metadata names 'rest', and the files have such a column"):
        open_files({"path": "a.csv", **REST}, tmp_path).columns()


TOPIC = {"servers": "localhost:1", "topic": "orders", "columns": {"id": "int"}}


def test_messages_of_a_topic_keep_other_fields():
    source = open_kafka({**TOPIC, "key": {"columns": {"k": "int"}}, "on_bad_rows": "dead_letter", **REST})
    messages = [Message(1, b'{"id": 1, "city": "Oslo", "k": 3}', b'{"k": 5}'), Message(2, b'{"id": 2}', b'{"k": 6}')]
    assert source._parted(messages, lambda _: False).rows.to_pylist() == [
        {"id": 1, "k": 5, "rest": '{"city": "Oslo", "k": 3}'},
        {"id": 2, "k": 6, "rest": None},
    ]


def test_a_reader_of_other_fields_alone_gets_the_same():
    source = open_kafka({**TOPIC, **REST})
    wanted = tuple(column for column in source.columns() if column.name == "rest")
    assert source._rows([Message(1, b'{"id": 1, "city": "Oslo"}')], wanted).to_pylist() == [
        {"rest": '{"city": "Oslo"}'}
    ]


@each(
    ("options", "text"),
    [
        ({"format": "avro", "registry": "r"}, "other_fields are of format: json"),
        ({"not_null": ["rest"]}, "not_null names 'rest'"),
    ],
)
def test_topics_that_have_no_other_fields_are_refused(options, text):
    with pytest.raises(SourceError, match=text):
        open_kafka({**TOPIC, **REST, **options})
