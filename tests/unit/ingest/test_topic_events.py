"""Messages of a topic as change events, and as lines of its journal."""

import json

import pytest

from streamhouse.ingest.topic_events import TopicEvents, ends_in, event_of, line_of, mark_of, place_of
from tests.malformed import Message
from tests.tables import each

CHANGES = TopicEvents("changes", {"id": "bigint"})
COMPACTED = TopicEvents("changes", {"id": "bigint"}, compacted=True)
OF_ORDERS = TopicEvents("changes", {"id": "bigint"}, "public.orders")
ROWS = TopicEvents("rows", {"id": "bigint"})
NAMED = TopicEvents("rows", {"id": "string"})
KEY_SCHEMA = {"type": "struct", "fields": [{"field": "id", "type": "int64"}], "optional": False}


def event(wanted, value, key=None):
    found = event_of(line_of(Message(7, value, key)), wanted)
    return found if not found else json.loads(found)


def of(table, op="c"):
    schema, _, name = table.partition(".")
    return json.dumps({"op": op, "source": {"schema": schema, "table": name}, "after": {"id": 1}}).encode()


KEYED = b'{"id": 1}'
WRAPPED = json.dumps({"schema": KEY_SCHEMA, "payload": {"id": 1}}).encode()
REMOVED = {"op": "d", "before": {"id": 1}}


@each(
    ("wanted", "value", "key", "expected"),
    [
        (CHANGES, b'{"op": "c", "after": {"id": 1}}', KEYED, {"op": "c", "after": {"id": 1}}),
        (CHANGES, b'{\n"op": "c"}', KEYED, {"op": "c"}),
        (CHANGES, None, KEYED, REMOVED),
        (CHANGES, None, None, b""),
        (CHANGES, None, b'{"other": 1}', b""),
        (COMPACTED, None, b'{"other": 1}', {"op": "d", "before": {"other": 1}}),
        (CHANGES, b'{"ts_ms": 1}', b"k", b""),
        (CHANGES, b'{"status": "BEGIN", "id": "5", "event_count": null}', b"k", b""),
        (CHANGES, b'{"payload": {"ts_ms": 1}, "schema": {}}', b"k", b""),
        (CHANGES, b'{"id": 1}', b"k", {"id": 1}),
        (OF_ORDERS, of("public.orders"), b"k", json.loads(of("public.orders"))),
        (OF_ORDERS, of("public.others"), b"k", b""),
        (OF_ORDERS, b'{"op": "c", "after": {"id": 1}}', b"k", {"op": "c", "after": {"id": 1}}),
        (OF_ORDERS, b'{"ddl": "ALTER TABLE x"}', b"k", b""),
        (OF_ORDERS, None, KEYED, b""),
        (ROWS, b' {"name": "a"} ', KEYED, {"op": "u", "after": {"id": 1, "name": "a"}}),
        (ROWS, b'{"id": 2}', KEYED, {"op": "u", "after": {"id": 2}}),
        (ROWS, b"{}", b"5", {"op": "u", "after": {"id": 5}}),
        (ROWS, b'{"id": 2}', None, {"op": "u", "after": {"id": 2}}),
        (ROWS, b'{"id": 2}', b"k", {"op": "u", "after": {"id": 2}}),
        (ROWS, None, b"k", {"op": "d", "before": None}),
        (ROWS, None, b"5", {"op": "d", "before": {"id": 5}}),
        (ROWS, None, KEYED, REMOVED),
        (ROWS, None, None, {"op": "d", "before": None}),
        (NAMED, None, b"c17", {"op": "d", "before": {"id": "c17"}}),
        (NAMED, None, b"17", {"op": "d", "before": {"id": "17"}}),
        (NAMED, None, b'"c17"', {"op": "d", "before": {"id": "c17"}}),
        (NAMED, None, b'a"b', {"op": "d", "before": {"id": 'a"b'}}),
    ],
)
def test_events(wanted, value, key, expected):
    assert event(wanted, value, key) == expected


def test_a_key_with_a_schema_part_keeps_it():
    found = event(CHANGES, None, WRAPPED)
    assert found["payload"] == REMOVED
    assert found["schema"]["fields"] == [{**KEY_SCHEMA, "field": "before"}]


GOES_ON = [
    b'{"id": 1},"x": 2',
    b'{"id": 1} ,"after": {"id": 2}',
    b'{"id": 1},"op":"d","before":{"id":1}',
    b'{"a": {"b": 1}},"x": 2',
]


@pytest.mark.parametrize("value", GOES_ON)
def test_a_row_that_goes_on_behind_its_end_is_no_event(value):
    """What follows the row would be parts of the event: such a message was a delete, or another row."""
    assert event_of(line_of(Message(7, value, b"k")), ROWS) == value


def test_a_row_with_objects_within_it_is_one():
    value = {"id": 2, "a": {"b": 1}, "c": [{"d": 2}, {"d": 3}], "text": "}, {"}
    assert event(ROWS, json.dumps(value).encode()) == {"op": "u", "after": value}


@pytest.mark.parametrize("value", [b"{", b"[1]", b"7", b"", b"\xff"])
@pytest.mark.parametrize("wanted", [CHANGES, OF_ORDERS, ROWS])
def test_what_is_no_event_stays_wrong(wanted, value):
    found = event_of(line_of(Message(7, value, b"k")), wanted)
    assert found not in (b"", b"null"), "these would pass as tombstones"


def test_a_line_says_where_its_message_was():
    place = place_of(line_of(Message(7, b'{"at":[9,9]}', b"k")))
    assert (place.partition, place.offset, place.time_ms, place.key) == (3, 7, 1_000, "aw==")
    assert place_of(mark_of({"0": 5})) is None
    assert event_of(mark_of({"0": 5}), CHANGES) == b""
    lines = [mark_of({"0": 5, "3": 2}), line_of(Message(7, b"{}")), b""]
    assert ends_in(lines) == {"0": 5, "3": 8}


EXACT = TopicEvents("rows", {"id": "decimal(30,2)"})
DIGITS = "12345678901234567890.10"


@pytest.mark.parametrize("payload", [f'{{"id": {DIGITS}}}', f'{{"payload": 1, "id" :{DIGITS} }}', DIGITS])
def test_a_key_with_a_schema_part_keeps_its_digits(payload):
    """A key with other digits is another row, which would be written or removed."""
    key = f'{{"schema": {json.dumps(KEY_SCHEMA)}, "payload": {payload}}}'.encode()
    assert f'"id":{DIGITS}' in event_of(line_of(Message(7, b'{"n": 1}', key)), EXACT).decode().replace(" ", "")
    removal = event_of(line_of(Message(7, None, key)), EXACT).decode().replace(" ", "")
    assert f'"id":{DIGITS}' in removal
    assert json.loads(removal)


def test_a_number_in_a_key_does_not_become_infinity():
    key = f'{{"payload": {{"id": 1e400}}, "schema": {json.dumps(KEY_SCHEMA)}}}'.encode()
    for value in (None, b'{"n": 1}'):
        found = event_of(line_of(Message(7, value, key)), EXACT)
        assert b"1e400" in found
        assert b"Infinity" not in found
