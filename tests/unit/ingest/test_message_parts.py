"""Keys and headers of messages as columns: one that cannot be read is a bad row, like a value."""

import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.kafka import open_kafka
from tests.malformed import Message
from tests.tables import each

VALUE = b'{"id": 1}'


def source(**options):
    given = {"servers": "localhost:1", "topic": "orders", "columns": {"id": "int"}, "on_bad_rows": "dead_letter"}
    return open_kafka({**given, **options})


def parted(found, *messages):
    return found._parted(messages, lambda _: False)


KEY = {"key": {"columns": {"n": "int not null"}}}
HEADER = {"headers": {"h": "trace"}}
TEXT = {"metadata": {"k": "key"}}
CASES = [
    ("key no JSON", KEY, b"{", [], "malformed", "its key: it is no JSON"),
    ("key no object", KEY, b"7", [], "malformed", "its key: it is no JSON object"),
    ("field of another type", KEY, b'{"n": "x"}', [], "type", "its key: column 'n'"),
    ("key no UTF-8", KEY, b'{"n": "\xff"}', [], "encoding", "its key: it is no UTF-8"),
    ("header no UTF-8", HEADER, b"k", [("trace", b"\xff")], "encoding", "its header 'trace' is no UTF-8"),
    ("key as text no UTF-8", TEXT, b"\xff", [], "encoding", "its key is no UTF-8"),
]


@each(("options", "key", "headers", "reason", "text"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_part_that_cannot_be_read(options, key, headers, reason, text):
    found = source(**options)
    good = Message(1, VALUE, b'{"n": 1}', [("trace", b"t")])
    bad = Message(2, VALUE, key, headers)
    split = parted(found, good, bad, good)
    assert split.rows.num_rows == 2
    [one] = split.bad
    assert (one.letter.position, one.reason, one.letter.raw) == ("orders/3/2", reason, VALUE)
    assert text in one.message
    # The dead letter has all of the message, so reading it again says the same.
    assert found.read_again([one.letter], None).bad == (one,)
    with pytest.raises(SourceError, match="partition 3, offset 2 of orders is malformed"):
        found._rows([good, bad], found._columns)


def test_a_dead_letter_has_key_and_headers_of_its_message():
    narrow = source(columns={"id": "tinyint"}, **KEY, **HEADER, metadata={"all": "headers", "raw": "key_bytes"})
    headers = [("trace", b"a"), ("trace", b"b"), ("none", None)]
    [bad] = parted(narrow, Message(2, b'{"id": 1000}', b'{"n": 1}', headers)).bad
    mended = source(**KEY, **HEADER, metadata={"all": "headers", "raw": "key_bytes"}).read_again([bad.letter], None)
    assert mended.rows.to_pylist() == [
        {
            "id": 1000,
            "n": 1,
            "h": "b",
            "raw": b'{"n": 1}',
            "all": [{"name": name, "value": value} for name, value in headers],
        }
    ]


def test_a_message_without_key_lacks_what_each_row_has():
    [bad] = parted(source(**KEY), Message(1, VALUE, None)).bad
    assert (bad.reason, bad.message) == ("null", "column 'n' has no value, and it is declared as not null")


def test_columns_of_the_value_are_read_where_only_those_of_the_key_are_wanted():
    found = source(key={"columns": {"n": "int"}})
    keyed = [Message(1, VALUE, b'{"n": 5}'), Message(2, VALUE, None), Message(3, VALUE, b'{"n": 6}')]
    assert parted(found, *keyed).rows.to_pylist() == [{"id": 1, "n": 5}, {"id": 1, "n": None}, {"id": 1, "n": 6}]
