"""Files of JSON that are one list, or one object, over any number of lines; each item is a row with its place."""

import json

import pytest

from streamhouse.errors import RowsLostError, SourceError
from streamhouse.ingest.files import open_files
from streamhouse.ingest.formats import infer_columns
from streamhouse.ingest.json_rows import UnreadableRecordError, json_rows
from streamhouse.ingest.records import json_records
from streamhouse.model.table import Column
from tests.tables import each

TWO = [{"n": 1, "note": 'a "b", [c]'}, {"n": 2, "note": "it's {so}"}]
COLUMNS = {"n": "int", "note": "string"}
DEAD = {"action": "dead_letter"}


def source_of(folder, text, **options):
    (folder / "a.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    return open_files({"path": "a.json", "columns": COLUMNS, **options}, folder)


def rows(source):
    return source.read({}, source.available()).to_pylist()


@each(
    "text",
    [
        json.dumps(TWO),
        json.dumps(TWO) + "\n",
        json.dumps(TWO, indent=2),
        json.dumps(TWO, indent=2).replace("\n", "\r\n"),
        json.dumps(TWO, indent=2).replace("\n", "\r") + "\r\r",
        "\ufeff" + json.dumps(TWO, indent="\t"),
        "\n\n  " + json.dumps(TWO) + "  \n\n",
        "\n".join(json.dumps([one]) for one in TWO),
        json.dumps(TWO[0]) + "\n" + json.dumps(TWO[1:]),
        json.dumps(TWO[:1]) + "\n[]\n" + json.dumps(TWO[1]),
        "[" + json.dumps(TWO[0]) + "\n,\n" + json.dumps(TWO[1]) + "\n]",
        """[{'n': 1, 'note': 'a "b", [c]'},\n {"n": 2, "note": 'it\\'s {so}'}]""",
    ],
)
def test_each_item_is_a_row(tmp_path, text):
    assert rows(source_of(tmp_path, text)) == TWO
    assert rows(source_of(tmp_path, text, on_bad_rows=DEAD)) == TWO


@each("text", ["[]", "[ ]\n", "[\n]\n", "\ufeff[]"])
def test_an_empty_list_has_no_rows(tmp_path, text):
    assert rows(source_of(tmp_path, text)) == []


def test_one_object_over_lines_is_a_row(tmp_path):
    text = json.dumps({"n": 1, "note": {"x": [1, 2]}}, indent=2)
    assert rows(source_of(tmp_path, text)) == [{"n": 1, "note": '{\n    "x": [\n      1,\n      2\n    ]\n  }'}]


def test_a_list_is_taken_in_parts(tmp_path):
    source = source_of(tmp_path, json.dumps([{"n": n} for n in range(5)]))
    assert source.available() == {"a.json": 5}
    half = source.advance({}, 3)
    assert half == {"a.json": 3}
    assert [row["n"] for row in source.read(half, source.available()).to_pylist()] == [3, 4]
    with pytest.raises(RowsLostError):
        source.read({}, {"a.json": 6})


def test_columns_are_found(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(TWO, indent=2))
    found = infer_columns(tmp_path / "a.json", "json", "a.json")
    assert {column.name: column.type for column in found} == {"n": "bigint", "note": "string"}


@each(
    ("text", "place", "cause"),
    [
        ('[{"n": 1}, {"n": "x"}]', "a.json:1:12", "column 'n' is no int"),
        ('[\n  {"n": 1},\n  {"n": "x"}\n]', "a.json:3:3", "column 'n' is no int"),
        ('[\r\n  {"n": 1},\r\n  {"n": }\r\n]', "a.json:3:3", "it is no JSON"),
        ('[{"n": 1}, 5]', "a.json:1:12", "no JSON object, but 5"),
        ('[{"n": 1}, null]', "a.json:1:12", "no JSON object, but null"),
        ('[[{"n": 1}]]', "a.json:1:2", "an array"),
        ('[{"n": 1},]', "a.json:1:1", "it is no JSON"),
        ('[{"n": 1},, {"n": 2}]', "a.json:1:1", "it is no JSON"),
        ('[{"n": 1}', "a.json:1:1", "it is no JSON"),
        ('[{"n": 1}}', "a.json:1:1", "it is no JSON"),
        ('[{"n": 1}] [{"n": 2}]', "a.json:1:1", "an array"),
        ('[\n{"n": 1}\n]\n[\n{"n": 2}\n]\n', "a.json:1:1", "it is no JSON"),
        ('{\n"n": 1\n}\n{\n"n": 2\n}\n', "a.json:1:1", "it is no JSON"),
        ('{"n": 1,\n"note": "x\ny"}\n', "a.json:1:1", "it is no JSON"),
        ('{"n": 1,\n"note": "x}\n', "a.json:1:1", "it is no JSON"),
        ('{"n": 1}{"n": 2}\n', "a.json:1:1", "something follows"),
    ],
)
def test_refused_with_its_place(tmp_path, text, place, cause):
    source = source_of(tmp_path, text)
    with pytest.raises(SourceError) as refused:
        rows(source)
    assert str(refused.value).startswith(f"{place}: ")
    assert cause in str(refused.value)
    assert refused.value.hint


def test_bad_items_have_places_of_their_own(tmp_path):
    source = source_of(tmp_path, '[{"n": "x"}, {"n": 1}, {"n": "y"}]\n{"n": "z"}\n', on_bad_rows=DEAD)
    end = source.available()
    assert end == {"a.json": 4}
    found = source.read_split({}, end)
    assert [row["n"] for row in found.rows.to_pylist()] == [1]
    assert [(bad.letter.position, bad.letter.raw) for bad in found.bad] == [
        ("a.json:1:2", b'{"n": "x"}'),
        ("a.json:1:24", b'{"n": "y"}'),
        ("a.json:2", b'{"n": "z"}'),
    ]
    assert source.read_split({}, end, without={"a.json:1:14"}).rows.num_rows == 0


def test_lines_without_lists_have_the_places_they_had(tmp_path):
    source = source_of(tmp_path, '{"n": 1}\n{"n": "x"}\n', on_bad_rows=DEAD)
    [bad] = source.read_split({}, source.available()).bad
    assert bad.letter.position == "a.json:2"


def test_what_is_added_moves_no_place(tmp_path):
    """Dead letters bear the place: a letter that was read again would be read twice."""
    text = '{"n": 1}\n{"n": "x"}\n'
    before = source_of(tmp_path, text, on_bad_rows=DEAD)
    [bad] = before.read_split({}, before.available()).bad
    after = source_of(tmp_path, text + '[{"n": 3}, {"n": "y"}]\n', on_bad_rows=DEAD)
    found = after.read_split({}, after.available())
    assert [one.letter.position for one in found.bad] == [bad.letter.position, "a.json:3:12"]


@each(("begin", "end"), [("", ""), ("", "\n"), ("\ufeff", ""), ("\ufeff", "\n")])
def test_a_column_counts_characters(tmp_path, begin, end):
    source = source_of(tmp_path, begin + '[{"n": 1, "note": "éé"}, {"n": "x"}' + end + "]")
    with pytest.raises(SourceError, match=r"^a\.json:1:26: "):
        rows(source)


@each("end", [b"\n", b"\r"])
def test_a_text_with_a_line_end_is_refused(end):
    """Spark refuses it in a message of a topic, too; a blank is no line end."""
    record = b'{"v": "x' + end + b'y"}'
    with pytest.raises(UnreadableRecordError):
        json_rows([record], (Column(name="v", type="string"),))
    with_breaks = b'{"v":' + end + b'"xy"}'
    assert json_rows([with_breaks], (Column(name="v", type="string"),)).to_pylist() == [{"v": "xy"}]


class Counted(bytes):
    """Bytes that count how many of them are taken out."""

    taken = 0

    def __getitem__(self, key):
        found = super().__getitem__(key)
        Counted.taken += len(found) if isinstance(found, bytes) else 1
        return found


def test_each_byte_of_a_list_is_looked_at_a_few_times(monkeypatch):
    monkeypatch.setattr(Counted, "taken", 0)
    text = Counted(b"[\n" + b", ".join([b'{"a": 1}'] * 2000) + b"\n]")
    assert len(json_records(text).texts) == 2000
    assert Counted.taken < 8 * len(text)


def test_a_list_that_nothing_closes_is_lines():
    text = b"[" + b'{"a": "' + b"x" * 400 + b'", "b": [1, 2]},\n' * 2000
    assert json_records(text).lines[:2] == [1, 2]
