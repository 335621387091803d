"""The journal of a topic: what was read can be read again, whatever the topic and the process do meanwhile."""

import itertools
import json
import os
import shutil
from dataclasses import replace

import pytest

from streamhouse.errors import RowsLostError, SourceError
from streamhouse.ingest import topic_journal
from streamhouse.ingest.cdc_topic import CdcTopic
from streamhouse.ingest.checked_lines import without_checksum
from streamhouse.ingest.checked_segment import forget_all
from streamhouse.ingest.kafka_topic import TopicBounds
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.shapes import source_shape
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource

COLUMNS = {"id": "bigint", "name": "string"}


class Sent:
    """A message of a topic in memory."""

    def __init__(self, partition, offset, value, key, time_ms):
        self._partition, self._offset, self._value, self._key = partition, offset, value, key
        self._time_ms = time_ms

    def value(self):
        return self._value

    def key(self):
        return self._key

    def partition(self):
        return self._partition

    def offset(self):
        return self._offset

    def timestamp(self):
        return 1, self._time_ms

    def headers(self):
        return None


class Topic:
    """What the journal asks of a topic."""

    name = "shop.customers"

    def __init__(self, partitions=1, *, compacted=False):
        self.there = {str(number): [] for number in range(partitions)}
        self.begin = dict.fromkeys(self.there, 0)
        self.end = dict.fromkeys(self.there, 0)
        self.id, self.compacted, self.asked, self.questions = "first", compacted, [], []
        self.now_ms = 1_000

    def send(self, op, row, partition=0, key=None):
        before, after = (row, None) if op == "d" else (None, row)
        self.put(json.dumps({"op": op, "before": before, "after": after}).encode(), partition, key)

    def put(self, value, partition=0, key=None):
        name = str(partition)
        self.there[name].append(Sent(partition, self.end[name], value, key, self.now_ms))
        self.end[name] += 1

    def is_compacted(self):
        self.questions.append("cleanup.policy")
        return self.compacted

    def offsets_since(self, time_ms):
        self.questions.append("times")
        first = {p: [m.offset() for m in sent if m.timestamp()[1] >= time_ms] for p, sent in self.there.items()}
        return {partition: min(offsets) for partition, offsets in first.items() if offsets}

    def deletes_kept_ms(self):
        return 60_000

    def bounds(self):
        self.questions.append("bounds")
        return TopicBounds(self.id, dict(self.begin), dict(self.end))

    def messages(self, ranges):
        self.asked.append(ranges)
        return [m for p, (first, end) in ranges.items() for m in self.there[str(p)] if first <= m.offset() < end]


@pytest.fixture
def topic():
    return Topic()


@pytest.fixture
def opened(tmp_path, topic):
    return lambda **options: open_at(tmp_path, topic, **options)


def options(messages="changes", table=None, start="earliest", **more):
    place = {"servers": "localhost:1", "topic": Topic.name, "messages": messages, "start": start}
    return {
        "kafka": place if table is None else {**place, "table": table},
        "primary_key": ["id"],
        "columns": COLUMNS,
        **more,
    }


def open_at(root, topic, **given):
    found = open_source(Source(name="customers", kind="cdc", options=options(**given)), root)
    assert isinstance(found, CdcTopic)
    found._topic = topic
    found._clock = itertools.count().__next__  # each look is a second later
    return found


def rows(source, at=None):
    return sorted(source.state(source.available() if at is None else at).to_pylist(), key=lambda row: row["id"])


def named(**names):
    return [{"id": int(number[1:]), "name": name} for number, name in names.items()]


def test_inserts_updates_and_deletes(opened, topic):
    topic.send("r", {"id": 1, "name": "a"})
    topic.send("c", {"id": 2, "name": "b"})
    source = opened()
    first = source.available()
    assert rows(source, first) == named(n1="a", n2="b")
    topic.send("u", {"id": 1, "name": "A"})
    topic.send("d", {"id": 2})
    topic.put(None, key=b'{"id": 2}')
    end = source.advance(first, 100)
    assert end == first, "nothing is taken over but by asking what is there"
    end = source.available()
    changes = source.changes(first, source.advance(first, 100))
    assert changes.upserts.to_pylist() == named(n1="A")
    assert changes.deletes.to_pylist() == [{"id": 2}]
    assert rows(source, end) == named(n1="A")


def test_a_range_is_the_same_after_kafka_removed_it(opened, topic):
    topic.send("c", {"id": 1, "name": "a"})
    topic.send("u", {"id": 1, "name": "b"})
    source = opened()
    end = source.available()
    topic.there["0"].clear()
    topic.begin["0"] = 2
    topic.send("u", {"id": 1, "name": "c"})
    again = opened()
    assert rows(again, end) == named(n1="b")
    assert rows(again) == named(n1="c")
    assert again.changes(end, again.available()).before.to_pylist() == named(n1="b")


def test_what_a_write_left_behind_is_repaired(opened, topic, tmp_path):
    topic.send("c", {"id": 1, "name": "a"})
    topic.send("c", {"id": 2, "name": "b"})
    source = opened()
    end = source.available()
    [segment] = (tmp_path / ".streamhouse" / "topics").rglob("*.jsonl")
    whole = segment.read_bytes()
    for torn in (whole[:-1], whole[:-9], whole[: whole.index(b"\n") + 5], b""):
        segment.write_bytes(torn)
        again = opened()
        assert rows(again) == named(n1="a", n2="b")
        assert again.available() == end
        assert segment.read_bytes() == whole


def test_messages_that_are_not_there_are_passed_once(opened, topic):
    """Ends of transactions have offsets, too."""
    topic.send("c", {"id": 1, "name": "a"})
    topic.end["0"] += 2
    source = opened()
    source.available()
    source.available()
    assert topic.asked == [{0: (0, 3)}]
    topic.send("c", {"id": 2, "name": "b"})
    assert rows(opened()) == named(n1="a", n2="b")
    assert topic.asked == [{0: (0, 3)}, {0: (3, 4)}]


def test_segments_follow_each_other(opened, topic, monkeypatch):
    monkeypatch.setattr(topic_journal, "SEGMENT_BYTES", 100)
    monkeypatch.setattr(topic_journal, "MOST_MESSAGES", 2)
    for number in range(7):
        topic.send("c", {"id": number, "name": "x"})
    source, read, at = opened(), [], {}
    for _ in range(4):
        source.available()
        end = opened().advance(at, 100)
        read += source.changes(at, end).upserts["id"].to_pylist()
        at = end
    assert read == list(range(7))
    assert len(source.available()) == 5
    assert topic.asked == [{0: (0, 2)}, {0: (2, 4)}, {0: (4, 6)}, {0: (6, 7)}]


def test_another_process_that_writes_is_not_disturbed(opened, topic, tmp_path):
    topic.send("c", {"id": 1, "name": "a"})
    source = opened()
    folder = tmp_path / ".streamhouse" / "topics" / Topic.name
    folder.mkdir(parents=True)
    with topic_journal.only_writer(folder / "lock") as alone:
        assert alone
        assert source.available() == {}
    assert rows(source) == named(n1="a")


def test_rows_that_are_gone_are_told_when_the_journal_is_read(opened, topic, tmp_path):
    topic.send("c", {"id": 1, "name": "a"})
    source = opened()
    end = source.available()
    topic.end["0"], topic.begin["0"] = 9, 5
    assert source.available() == end
    assert source.advance({}, 10) == end
    with pytest.raises(RowsLostError, match="partition 0, begins at 5; 1 was to be read") as lost:
        source.advance(end, 10)
    before = source.identity()
    [remedy] = [one for one in lost.value.hint.split() if one.startswith(".streamhouse")]
    folder = tmp_path / remedy.rstrip(":")
    shutil.rmtree(folder)
    assert opened().identity() not in ("", before)


def test_a_topic_that_was_made_again_is_another_source(opened, topic):
    topic.send("c", {"id": 1, "name": "a"})
    source = opened()
    first, end = source.identity(), source.available()
    topic.id = "second"
    topic.there["0"].clear()
    topic.end["0"] = 0
    topic.send("c", {"id": 5, "name": "e"})
    assert source.identity() != first
    assert not source.available().keys() & end.keys()
    assert rows(source) == named(n5="e")


def test_a_compacted_topic_is_a_table(tmp_path):
    topic = Topic(compacted=True)
    topic.put(b'{"name": "a"}', key=b"1")
    topic.put(b'{"name": "b"}', key=b"2")
    source = open_at(tmp_path, topic, messages="rows")
    end = source.available()
    del topic.there["0"][0]
    topic.put(b'{"name": "A"}', key=b"1")
    topic.put(None, key=b"2")
    assert rows(source) == named(n1="A")
    assert rows(source, end) == named(n1="a", n2="b")
    [pulled] = tmp_path.rglob("pulled")
    topic.put(b'{"name": "B"}', key=b"1")
    os.utime(pulled, (0, 0))
    there = source.available()
    with pytest.raises(RowsLostError, match=r"Kafka keeps deletes of shop\.customers for 60000 ms"):
        source.advance(there, 10)


def test_a_compacted_topic_of_several_tables_is_refused(tmp_path):
    topic = Topic(compacted=True)
    with pytest.raises(SourceError, match="it has several tables"):
        open_at(tmp_path, topic, table="public.customers").available()


def test_a_message_that_is_wrong_is_named_by_its_offset(opened, topic):
    topic.send("c", {"id": 1, "name": "a"})
    topic.put(b"{", key=b"k")
    topic.send("c", {"id": 2, "name": "b"})
    source = opened()
    end = source.available()
    with pytest.raises(SourceError, match=r"partition 0, offset 1 of shop\.customers: the line is no JSON"):
        source.changes({}, end)
    tolerant = opened(on_bad_rows="dead_letter")
    assert rows(tolerant, end) == named(n1="a", n2="b")
    [bad] = tolerant.bad_rows({}, end)
    assert (bad.reason, bad.letter.raw) == ("malformed", b"{")
    context = json.loads(bad.letter.context)
    assert context == {"topic": "shop.customers", "partition": 0, "offset": 1, "timestamp": 1000, "key": "aw=="}


def test_a_truncation_of_a_topic_with_partitions_has_no_order(tmp_path):
    topic = Topic(2)
    topic.send("c", {"id": 1, "name": "a"}, partition=1)
    topic.put(b'{"op": "t"}')
    given = PlannedSource(
        name="customers",
        kind="cdc",
        options=options(),
        columns=[{"name": name, "type": type_} for name, type_ in COLUMNS.items()],
    )
    source = open_source(given, tmp_path)
    source._topic = topic
    source._wanted = source._wanted.__class__(
        **{**vars(source._wanted), "truncations": source._wanted.truncations.__class__("kept")}
    )
    assert rows(source) == named(n1="a")
    removed = source._wanted.truncations.__class__
    shape = source_shape("customers", given, tmp_path)
    source._wanted = source._wanted.__class__(
        **{**vars(source._wanted), "truncations": removed("asked", {shape.truncated: "removed"})}
    )
    source._states.clear()
    with pytest.raises(SourceError, match="its topic has several partitions"):
        source.changes({}, source.available(), before=False)


def test_the_trigger_sees_a_new_column_before_its_row_is_read(opened, topic, tmp_path):
    topic.send("c", {"id": 1, "name": "a"})
    source = opened()
    before = source.available()
    topic.send("c", {"id": 2, "name": "b", "tax": 7})
    planned = PlannedSource(name="customers", kind="cdc", options=options(), columns=source.columns())
    assert source_shape("customers", planned, tmp_path).unknown == ()
    assert source.advance(before, 100) == before
    source.available()
    assert [column.name for column, _ in source_shape("customers", planned, tmp_path).unknown] == ["tax"]


def test_the_journal_is_only_for_us(opened, topic, tmp_path):
    topic.send("c", {"id": 1, "name": "a"})
    opened().available()
    for path in (tmp_path / ".streamhouse" / "topics").rglob("*"):
        assert not path.stat().st_mode & 0o077, path


def test_columns_are_looked_up_without_kafka(opened, topic):
    assert [column.name for column in opened().columns()] == list(COLUMNS)
    assert topic.asked == []


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"messages": "row"}, "option 'kafka.messages' of cdc"),
        ({"messages": "rows", "table": "a.b"}, "'table' is for messages: changes"),
        ({"path": "a.jsonl"}, "say where the changes are"),
    ],
)
def test_options_that_are_wrong(tmp_path, given, text):
    with pytest.raises(SourceError, match=text):
        open_at(tmp_path, Topic(), **given)


def test_kafka_is_asked_at_most_once_a_second(opened, topic):
    source, now = opened(), [0.0]
    source._clock = lambda: now[0]
    topic.send("c", {"id": 1, "name": "a"})
    first = source.available()
    topic.send("c", {"id": 2, "name": "b"})
    source.identity()
    now[0] = 0.9
    assert source.available() == first
    assert topic.questions == ["bounds", "cleanup.policy"]
    now[0] = 1.0
    assert source.available() != first
    assert topic.questions == ["bounds", "cleanup.policy", "bounds"]


def test_kafka_is_asked_at_once_where_more_messages_wait(opened, topic, monkeypatch):
    monkeypatch.setattr(topic_journal, "MOST_MESSAGES", 1)
    source = opened()
    source._clock = lambda: 0.0
    for number in range(3):
        topic.send("c", {"id": number, "name": "a"})
    for _ in range(4):
        end = source.available()
    assert rows(source, end) == named(n0="a", n1="a", n2="a")


def test_what_a_group_is_of_is_read_once(opened, topic, tmp_path, monkeypatch):
    topic.send("c", {"id": 1, "name": "a"})
    source = opened()
    source.available()
    [file] = tmp_path.rglob("group.json")
    noted, reads = file.read_text(), []
    read = type(file).read_bytes
    monkeypatch.setattr(type(file), "read_bytes", lambda path: reads.append(path.name) or read(path))
    source.identity()
    source.identity()
    assert reads.count("group.json") <= 1
    other = file.with_suffix(".new")
    other.write_text(noted.replace('"first"', '"second"'))
    other.replace(file)
    assert source._journal.group()[1].topic_id == "second"


def test_a_write_that_left_no_whole_line_begins_where_the_segment_before_ends(opened, topic, tmp_path, monkeypatch):
    monkeypatch.setattr(topic_journal, "SEGMENT_BYTES", 100)
    topic.send("c", {"id": 1, "name": "a"})
    topic.send("c", {"id": 2, "name": "b"})
    source = opened()
    source.available()
    last = sorted((tmp_path / ".streamhouse" / "topics").rglob("*.jsonl"))[-1]
    whole = last.read_bytes()
    last.write_bytes(whole[:3])
    again = opened()
    assert rows(again) == named(n1="a", n2="b")
    assert topic.asked == [{0: (0, 2)}]
    assert last.read_bytes() == whole


def test_a_message_that_its_schema_does_not_read_has_the_reason_of_that(opened, topic):
    def as_json(data):
        if data.startswith(b"\0"):
            raise UnreadableError("schema", "the registry has no schema 9")
        return data

    topic.send("c", {"id": 1, "name": "a"})
    topic.put(b"\0\0\0\0\x09\x02")
    topic.put(b"\0\0\0\0\x09\n")  # a value with a line end is stored in another form
    topic.put(None, key=b"\0\0\0\0\x09\x02")
    for more in ({}, {"on_bad_rows": "dead_letter"}):
        source = opened(**more)
        source._journal._wanted = replace(source._journal._wanted, as_json=as_json, compacted=True)
        end = source.available()
        if more:
            bad = source.bad_rows({}, end)
            assert [one.reason for one in bad] == ["schema"] * len(bad)
            assert {one.message for one in bad} == {"the registry has no schema 9"}
            assert [json.loads(one.letter.context)["offset"] for one in bad][:2] == [1, 2]
        else:
            with pytest.raises(SourceError, match=r"offset 1 of .* cannot be read: the registry has no") as refused:
                source.changes({}, end)
            assert "dead_letter" in refused.value.hint


class TestStart:
    """A source that does not begin with the oldest message."""

    @pytest.fixture
    def topic(self):
        found = Topic(partitions=3)
        for number in range(3):
            found.now_ms = 1_000 * number
            found.send("c", {"id": number, "name": "a"}, partition=0)
            found.send("c", {"id": 10 + number, "name": "a"}, partition=1)
        return found

    @pytest.mark.parametrize(
        ("start", "ids"),
        [
            ("earliest", [0, 1, 2, 10, 11, 12]),
            ("1970-01-01T00:00:01Z", [1, 2, 11, 12]),
            ("1970-01-01T00:00:01.5Z", [2, 12]),
            ("2026-03-01T00:00:00Z", []),
            ({"offsets": {0: 2}}, [2, 10, 11, 12]),
            ({"offsets": {0: 3, 1: 1, 7: 0}}, [11, 12]),
        ],
    )
    def test_begins_with_the_messages_from_there(self, start, ids, opened):
        assert [row["id"] for row in rows(opened(start=start))] == ids

    def test_what_comes_later_is_read_though_nothing_was_there(self, opened, topic):
        source = opened(start="1970-01-01T00:00:09Z")
        assert rows(source) == []
        topic.now_ms = 5_000
        topic.send("c", {"id": 20, "name": "too early"}, partition=2)
        assert rows(source) == []
        topic.now_ms = 9_000
        topic.send("c", {"id": 21, "name": "b"}, partition=2)
        topic.now_ms = 1_000
        topic.send("c", {"id": 22, "name": "behind one that counts"}, partition=2)
        assert [row["id"] for row in rows(source)] == [21, 22]
        assert [row["id"] for row in rows(opened(start="1970-01-01T00:00:09Z"))] == [21, 22], "in another process"

    def test_each_place_has_a_journal_of_its_own(self, opened, tmp_path):
        sources = [opened(start=start) for start in ("earliest", "1970-01-01T00:00:01Z", {"offsets": {0: 1}})]
        assert [len(rows(source)) for source in sources] == [6, 4, 5]
        assert [len(rows(source)) for source in sources] == [6, 4, 5]
        assert len({source.identity() for source in sources}) == 3

    def test_what_retention_removed_before_the_first_look_is_not_asked_for(self, opened, topic):
        topic.begin["0"] = 2
        topic.there["0"] = topic.there["0"][2:]
        assert [row["id"] for row in rows(opened(start={"offsets": {0: 1, 1: 2}}))] == [2, 12]

    def test_the_time_is_asked_until_each_partition_was_read(self, opened, topic):
        source = opened(start="1970-01-01T00:00:01Z")
        source.available()
        topic.send("c", {"id": 30, "name": "a"}, partition=2)
        source.available()
        asked = topic.questions.count("times")
        source.available()
        assert topic.questions.count("times") == asked

    def test_latest_is_refused(self, opened):
        with pytest.raises(SourceError, match="another place each time"):
            opened(start="latest")


def test_no_flipped_bit_of_a_segment_changes_a_row_or_a_position(opened, topic, tmp_path):
    for op, id_, name in (("c", 1, "a"), ("c", 2, "b"), ("u", 1, "c"), ("d", 2, None)):
        topic.send(op, {"id": id_, "name": name})
    end = opened().available()
    [segment] = (tmp_path / ".streamhouse" / "topics").rglob("*.jsonl")
    whole = segment.read_bytes()
    places = [(at, at % 8) for at in range(0, len(whole), 3)]
    places += [(at, bit) for at, byte in enumerate(whole) if byte == ord("\n") for bit in range(8)]
    for at, bit in places:
        segment.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
        forget_all()
        number = whole[:at].count(b"\n") + 1
        with pytest.raises(SourceError, match=rf"/00000001\.jsonl:{number}:1: SH212 a line of the journal is damaged"):
            opened().available()
        with pytest.raises(SourceError, match=rf"/00000001\.jsonl:{number}:1: SH212 a line of the journal is damaged"):
            opened().state(end)
    segment.write_bytes(whole)
    assert rows(opened(), end) == named(n1="c")


def test_a_segment_of_an_earlier_version_is_read_and_goes_on_with_checksums(opened, topic, tmp_path):
    topic.send("c", {"id": 1, "name": "a"})
    topic.send("c", {"id": 2, "name": "b"})
    end = opened().available()
    [segment] = (tmp_path / ".streamhouse" / "topics").rglob("*.jsonl")
    whole = segment.read_bytes()
    earlier = b"\n".join(map(without_checksum, whole.splitlines()))
    for ending in (b"\n", b""):  # a process of that version may have died before the end of the last line
        segment.write_bytes(earlier + ending)
        forget_all()
        assert opened().available() == end
        assert rows(opened(), end) == named(n1="a", n2="b")
    assert segment.read_bytes().splitlines()[-1] == whole.splitlines()[-1]
    topic.send("u", {"id": 2, "name": "c"})
    assert rows(opened()) == named(n1="a", n2="c")
    assert without_checksum(segment.read_bytes().splitlines()[-1])
