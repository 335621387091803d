"""A topic's journal that is shortened says the same to each reader as one that is not, whatever dies meanwhile."""

import json
import shutil
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from streamhouse.errors import RowsLostError, SourceError
from streamhouse.ingest import topic_journal
from streamhouse.ingest.bad_rows import Letter
from streamhouse.ingest.checked_lines import without_checksum
from streamhouse.ingest.debezium import removals_in
from streamhouse.ingest.journal_base import files_of, remove_replaced
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.replays import Replays, without_replays
from streamhouse.ingest.topic_shorten import shorten
from streamhouse.ingest.truncations import Truncations
from streamhouse.model.plan import PlannedSource
from streamhouse.upstream.observe import _keyed_lost
from tests.killed_writes import killed_after
from tests.unit.ingest.test_topic_journal import COLUMNS, Topic, named, options

HEARTBEATS = [b'{"ts_ms": 1}' + b" " * 60] * 2
DEAD = {"action": "dead_letter", "table": "ods.t__dead_letters"}


class _Decided(dict):
    """All removals are followed, but for those of some ids; of each a person has decided."""

    def __init__(self, kept):
        super().__init__()
        self._kept = kept

    def get(self, id_, _=None):
        return "kept" if id_ in self._kept else "removed"


def opened(root, topic, kept=(), **given):
    """A source as a process opens it that is new: nothing is in its memory."""
    types = given.get("columns", COLUMNS)
    columns = [{"name": name, "type": type_} for name, type_ in types.items()]
    source = open_source(PlannedSource(name="t", kind="cdc", options=options(**given), columns=columns), root)
    source._topic = topic
    source._clock = iter(range(10**9)).__next__
    decided = Truncations("asked", _Decided(kept))
    source._wanted = source._wanted.__class__(**{**vars(source._wanted), "truncations": decided})
    return source


def shortened(sources, positions=()):
    """As upkeep does it; whether something was replaced."""
    journal = sources[0].journal
    remove_replaced(journal.group()[0])
    free = journal.names()[:-1]
    for at in positions:
        held = [name for name in free if at.get(name, 0) < journal.lines(name).count()]
        free = free[: free.index(held[0])] if held else free
    return bool(free) and shorten(sources, free)


def rows(source, at):
    return sorted((tuple(row.values()) for row in source.state(at).to_pylist()), key=str)


def changes(source, start, end):
    found = source.changes(start, end)
    deletes = [tuple(row.values()) for row in found.deletes.to_pylist()] if found.deletes is not None else []
    before = sorted((tuple(row.values()) for row in found.before.to_pylist()), key=str)
    key = [list(COLUMNS).index(name) for name in source.primary_key]
    there = {tuple(row[at] for at in key) for row in before}
    upserts = sorted((tuple(row.values()) for row in found.upserts.to_pylist()), key=str)
    # A row that is not there may be removed twice: what counts is what is there before and after.
    return upserts, sorted(set(deletes) & there, key=str), before


def letters(source, end):
    return sorted(
        (one.letter.position.partition("/")[2], one.letter.raw, one.letter.context, one.reason)
        for one in source.bad_rows({}, end)
    )


class Shortened(RuleBasedStateMachine):
    """Two journals of a topic, of which one is shortened."""

    def __init__(self):
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(topic_journal, "SEGMENT_BYTES", 250)

    @initialize(
        tolerant=st.booleans(), two_views=st.booleans(), compacted=st.booleans(), partitions=st.sampled_from([1, 2])
    )
    def begin(self, tolerant, two_views, compacted, partitions):
        self.root = _FOLDERS.mktemp("topic").resolve()
        self.topic = Topic(partitions, compacted=compacted)
        self.tolerant = tolerant
        self.views = [["id"], ["name"]] if two_views else [["id"]]
        self.count, self.readers, self.kept = 0, {}, set()
        self.both = [self.root / "short", self.root / "whole"]
        self.pull()

    def sources(self, root):
        more = {"on_bad_rows": DEAD} if self.tolerant else {}
        return [opened(root, self.topic, self.kept, primary_key=key, **more) for key in self.views]

    def pull(self):
        for root in self.both:
            self.sources(root)[0].available()

    def whole(self, at):
        """The position in the other journal."""
        [group] = {name.partition("/")[0] for name in self.sources(self.both[1])[0].journal.names()}
        return {n if n.startswith(".") else f"{group}/{n.partition('/')[2]}": taken for n, taken in at.items()}

    @rule(id_=st.integers(0, 4), name=st.sampled_from("abc"), op=st.sampled_from("cur"))
    def write(self, id_, name, op):
        self.topic.send(op, {"id": id_, "name": name}, id_ % len(self.topic.there), b'{"id":%d}' % id_)
        self.pull()

    @rule(id_=st.integers(0, 4), name=st.sampled_from("abc"), has_tombstone=st.booleans())
    def delete(self, id_, name, has_tombstone):
        partition = id_ % len(self.topic.there)
        self.topic.send("d", {"id": id_, "name": name}, partition, b'{"id":%d}' % id_)
        if has_tombstone:
            self.topic.put(None, partition, b'{"id":%d,"name":"%b"}' % (id_, name.encode()))
        self.pull()

    @rule(id_=st.integers(0, 4), new=st.integers(0, 4), name=st.sampled_from("abc"))
    def move(self, id_, new, name):
        """A changed key in one event."""
        event = {"op": "u", "before": {"id": id_, "name": name}, "after": {"id": new, "name": name}}
        self.topic.put(json.dumps(event).encode(), 0, b"{}")
        self.pull()

    @rule(is_kept=st.booleans())
    def truncate(self, is_kept):
        if len(self.topic.there) > 1:
            return
        self.count += 1
        event = {"op": "t", "ts_ms": self.count}
        [(_, id_)] = removals_in([json.dumps(event).encode()], self.sources(self.both[1])[0]._wanted)
        if is_kept:
            self.kept.add(id_)
        self.topic.put(json.dumps(event).encode())
        self.pull()

    @precondition(lambda self: self.tolerant)
    @rule(id_=st.integers(0, 4))
    def write_badly(self, id_):
        self.topic.put(b'{"op": "c", "after": {"id": %d, "name": "a" x}}' % id_, 0)
        self.pull()

    @precondition(lambda self: self.tolerant)
    @rule(data=st.data())
    def replay(self, data):
        """A person mends dead letters, and asks to read them again."""
        found = [s.bad_rows({}, without_replays(s.available())) for s in (self.sources(r)[0] for r in self.both)]
        if not found[0]:
            return
        at = data.draw(st.integers(0, len(found[0]) - 1))
        position = sorted(one.letter.position for one in found[0])[at]
        for root, bad in zip(self.both, found, strict=True):
            [letter] = [one.letter for one in bad if one.letter.position.endswith(position.partition("/")[2])]
            mended = Letter(letter.position, letter.raw.replace(b" x}", b"}"), letter.context)
            Replays(root, "ods.t__dead_letters").add([mended])

    @rule(name=st.integers(0, 3))
    def begin_reader(self, name):
        self.readers.setdefault(name, {})

    @rule(name=st.integers(0, 3))
    def remove_reader(self, name):
        self.readers.pop(name, None)

    @rule(name=st.integers(0, 3), most=st.integers(1, 20))
    def read(self, name, most):
        if name not in self.readers:
            return
        start = self.readers[name]
        for short, whole in zip(*map(self.sources, self.both), strict=True):
            end = short.advance(start, most)
            a, b = self.whole(start), self.whole(end)
            assert short.rows_between(start, end) == whole.rows_between(a, b)
            assert rows(short, end) == rows(whole, b)
            assert changes(short, start, end)[1:] == changes(whole, a, b)[1:]
            if without_replays(start):
                assert changes(short, start, end) == changes(whole, a, b)
        self.readers[name] = end

    @rule()
    def shorten(self):
        shortened(self.sources(self.both[0]), self.readers.values())

    @rule(calls=st.integers(0, 12))
    def shorten_killed(self, calls):
        sources = self.sources(self.both[0])
        with killed_after(self.patch, calls):
            shortened(sources, self.readers.values())

    @invariant()
    def says_the_same(self):
        for short, whole in zip(*map(self.sources, self.both), strict=True):
            at = short.available()
            assert self.whole(at) == whole.available()
            assert rows(short, at) == rows(whole, self.whole(at))
            assert letters(short, without_replays(at)) == letters(whole, without_replays(self.whole(at)))

    def teardown(self):
        self.patch.undo()


@pytest.fixture(scope="module", autouse=True)
def _folders(tmp_path_factory):
    global _FOLDERS  # a state machine gets no fixtures
    _FOLDERS = tmp_path_factory


TestShortened = Shortened.TestCase
TestShortened.settings = settings(max_examples=5, stateful_step_count=15, deadline=None)


@pytest.fixture
def topic(monkeypatch):
    monkeypatch.setattr(topic_journal, "SEGMENT_BYTES", 100)
    return Topic()


@pytest.fixture
def three(topic, tmp_path):
    """The source of a topic whose journal has three closed segments."""
    source = opened(tmp_path, topic)
    for op, row in (("c", "a"), ("u", "b"), ("u", "c")):
        topic.send(op, {"id": 1, "name": row})
        source.available()
    return source


def files(source):
    return sorted(file.name for file in source.journal.group()[0].glob("*.jsonl*"))


def test_what_a_reader_has_yet_to_read_stays(three):
    first, second, third, _ = three.journal.names()
    assert not shortened([three], [{}])
    assert not shortened([three], [three.available(), {first: 1}])
    assert shortened([three], [{first: 2, second: 1}])
    assert files(three) == ["00000001.base.jsonl", "00000002.jsonl", "00000003.jsonl", "00000004.jsonl"]
    assert shortened([three], [{first: 2, second: 2, third: 2}])
    assert files(three) == ["00000003.base.jsonl", "00000004.jsonl"]


def test_the_base_is_as_small_as_the_table(three, topic, tmp_path):
    end = three.available()
    shortened([three])
    base = three.journal.base()
    assert (base.rows, len(base.covers)) == (1, 3)
    topic.there["0"].clear()
    topic.begin["0"] = 3
    assert rows(opened(tmp_path, topic), end) == [(1, "c")]
    topic.send("d", {"id": 1})
    opened(tmp_path, topic).available()
    assert shortened([opened(tmp_path, topic)])
    assert opened(tmp_path, topic).journal.base().rows == 0
    topic.send("c", {"id": 2, "name": "d"})
    source = opened(tmp_path, topic)
    assert rows(source, source.available()) == [(2, "d")]
    assert files(source) == ["00000004.base.jsonl", "00000005.jsonl", "00000006.jsonl"]


def test_a_reader_before_the_base_gets_an_error_and_not_fewer_rows(three, topic, tmp_path):
    old, end = three.advance({}, 3), three.available()
    shortened([three])
    source = opened(tmp_path, topic)
    for ask in (source.state, lambda at: source.advance(at, 1), lambda at: source.changes(at, end)):
        with pytest.raises(RowsLostError, match=r"the topic shop\.customers begins after the position of this reader"):
            ask(old)
    assert _keyed_lost("customers", source, [{}, end]) is None
    assert "begins after" in _keyed_lost("customers", source, [old]).detail


def test_a_new_reader_takes_the_base_in_one_epoch(three, topic, tmp_path):
    shortened([three])
    source = opened(tmp_path, topic)
    end = source.advance({}, 1)
    assert end == three.journal.base().covers
    assert source.changes({}, end).upserts.to_pylist() == [{"id": 1, "name": "c"}]


@pytest.mark.parametrize(
    "more", [{"primary_key": ["name"]}, {"columns": {**COLUMNS, "id": "string"}}, {"table": "a.b"}]
)
def test_a_new_reader_that_tells_rows_apart_otherwise_is_refused(three, topic, tmp_path, more):
    shortened([three])
    source = opened(tmp_path, topic, **more)
    with pytest.raises(RowsLostError, match="only as sources with another primary_key, table, messages or") as refused:
        source.advance({}, 1)
    assert "start: {offsets: {0: 0}}" in refused.value.hint
    assert "only as sources with another" in _keyed_lost("customers", source, [{}]).detail
    mine = opened(tmp_path, topic, start={"offsets": {0: 0}}, **more)  # as the hint says
    mine.available()
    assert mine.journal.folder != three.journal.folder
    assert mine.advance({}, 100)
    assert "begins" not in str(_keyed_lost("customers", mine, [{}]))


def test_two_that_tell_rows_apart_otherwise_share_a_base(three, topic, tmp_path):
    by_name = opened(tmp_path, topic, primary_key=["name"])
    end = three.available()
    assert shortened([three, by_name])
    assert rows(opened(tmp_path, topic), end) == [(1, "c")]
    assert rows(opened(tmp_path, topic, primary_key=["name"]), end) == [(1, "a"), (1, "b"), (1, "c")]


def sent(source, *events):
    """Events or raw messages, each of which ends a segment."""
    for one in events:
        source._topic.put(one if isinstance(one, bytes) else json.dumps({**one, "source": "x" * 60}).encode())
        source.available()


def test_a_row_that_one_has_deleted_and_another_has_not(topic, tmp_path):
    by_id, by_name = (lambda: opened(tmp_path, topic)), (lambda: opened(tmp_path, topic, primary_key=["name"]))
    sent(by_id(), {"op": "c", "after": {"id": 1, "name": "a"}}, {"op": "d", "before": {"id": 1, "name": "b"}})
    sent(by_id(), *HEARTBEATS)
    for _ in range(2):  # also through a second base
        assert shortened([by_id(), by_name()])
        end = by_id().available()
        assert rows(by_id(), end) == []
        assert rows(by_name(), end) == [(1, "a")]
        sent(by_id(), *HEARTBEATS * 6)


def test_dead_letters_of_the_base_keep_their_positions_and_undo_nothing(topic, tmp_path):
    def fresh():
        return opened(tmp_path, topic, on_bad_rows=DEAD)

    bad = [b'{"op": "c", "after": {"id": %d, "name": "late" x}, "source": "some more text"}' % one for one in range(4)]
    sent(fresh(), *bad, {"op": "d", "before": {"id": 1}}, {"op": "c", "after": {"id": 2, "name": "new"}})
    sent(fresh(), {"op": "c", "after": {"id": 3}}, {"op": "d", "before": {"id": 3}}, {"op": "c", "after": {"id": 9}})
    before = fresh().bad_rows({}, fresh().available())
    assert len(before) == 4
    for _ in range(2):
        assert shortened([fresh()])
        assert fresh().bad_rows({}, fresh().available()) == before
        sent(fresh(), *[{"op": "c", "after": {"id": 9, "name": "x" * 200}}] * 9)
    mended = [replace(one.letter, raw=one.letter.raw.replace(b" x}", b"}")) for one in before]
    Replays(tmp_path, "ods.t__dead_letters").add(mended)
    source = fresh()
    start = without_replays(source.available())
    end = source.advance(start, 10)
    assert source.changes(start, end).upserts.to_pylist() == named(n0="late")
    assert rows(fresh(), end)[:2] == [(0, "late"), (2, "new")]


def test_rows_that_one_keeps_over_a_removal_of_all_rows_stay(topic, tmp_path):
    source = opened(tmp_path, topic)
    one, two, three = ({"op": "c", "after": {"id": number, "name": "a"}} for number in (1, 2, 1))
    sent(source, one, two, {"op": "t"}, three, {"op": "d", "before": {"id": 2}}, two, one)
    [line] = [one.raw(0, one.count()) for one in map(source.journal.lines, source.journal.names()[2:3])]
    [(_, id_)] = removals_in(source.journal.events(line), source._wanted)
    keeps = opened(tmp_path, topic, kept=[id_])
    end = keeps.available()
    assert shortened([opened(tmp_path, topic), keeps])
    assert keeps.journal.base().rows == 7, "nothing behind the removal was folded"
    assert rows(opened(tmp_path, topic), end) == rows(opened(tmp_path, topic, kept=[id_]), end) == [(1, "a"), (2, "a")]
    assert keeps.journal.base().header.removed == ()


def test_a_new_reader_that_keeps_rows_which_others_removed_is_refused(topic, tmp_path):
    source = opened(tmp_path, topic)
    for event in ({"op": "c", "after": {"id": 1, "name": "a"}}, {"op": "t"}, {"op": "c", "after": {"id": 2}}):
        topic.put(json.dumps({**event, "source": "x" * 50}).encode())
        source.available()
    shortened([source])
    base = opened(tmp_path, topic).journal.base()
    assert base.rows == 2, "the removal itself stays: who begins has to decide about it"
    assert rows(opened(tmp_path, topic), source.available()) == [(2, None)]
    keeps = opened(tmp_path, topic, kept=base.header.removed)
    with pytest.raises(RowsLostError, match="only without the rows before the table was truncated"):
        keeps.advance({}, 1)


def test_an_error_in_the_base_names_partition_and_offset(topic, tmp_path):
    source = opened(tmp_path, topic)
    for name in ("1", "x"):
        topic.send("c", {"id": len(name), "name": "1"})
        topic.send("c", {"id": ord(name), "name": name})
        source.available()
    shortened([source])
    other = opened(tmp_path, topic, columns={"id": "bigint", "name": "int"})
    with pytest.raises(SourceError, match=r"partition 0, offset 3 of shop\.customers"):
        other.state(source.available())


@pytest.mark.parametrize("is_second", [False, True])
def test_a_kill_between_any_two_steps_loses_nothing(topic, tmp_path, monkeypatch, is_second):
    for calls in range(10):
        root = tmp_path / str(calls)
        for name in "ab":
            topic.send("u", {"id": calls, "name": name})
            opened(root, topic).available()
        if is_second:
            shortened([opened(root, topic)])
            sent(opened(root, topic), *HEARTBEATS * 3)
        there = rows(opened(root, topic), opened(root, topic).available())
        with killed_after(monkeypatch, calls):
            shortened([opened(root, topic)])
        source = opened(root, topic)
        assert rows(source, source.available()) == there
        shortened([opened(root, topic)])
        assert [name for name in files(source) if name.endswith((".new", ".db"))] == []
        assert len(files(source)) == 2, "what was left is removed"
        assert rows(opened(root, topic), opened(root, topic).available()) == there


def test_a_damaged_base_is_an_error(three, topic, tmp_path):
    shortened([three])
    base = files_of(three.journal.group()[0]).base
    whole = base.read_bytes()
    for damaged in (b"", whole[:-2], whole.split(b"\n", 1)[0] + b"\n", b"{}\n" + whole):
        base.write_bytes(damaged)
        with pytest.raises(SourceError, match="the base of the journal is damaged"):
            opened(tmp_path, topic).available()


@pytest.fixture
def kept_deletes(topic, tmp_path):
    """A base with a dead letter, a delete behind it and rows; the source; and its end."""
    source = opened(tmp_path, topic, on_bad_rows=DEAD)
    bad = {"op": "c", "after": {"id": "x", "name": "late"}}
    sent(source, bad, {"op": "c", "after": {"id": 1, "name": "a"}}, {"op": "d", "before": {"id": 2}}, *HEARTBEATS)
    source.bad_rows({}, source.available())
    assert shortened([opened(tmp_path, topic, on_bad_rows=DEAD)])
    return files_of(source.journal.group()[0]).base, source.available()


def test_no_flipped_bit_of_a_base_changes_a_row_or_a_dead_letter(kept_deletes, topic, tmp_path):
    base, end = kept_deletes
    whole = base.read_bytes()
    for at in range(0, len(whole), 7):
        base.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        source = opened(tmp_path, topic, on_bad_rows=DEAD)
        with pytest.raises(SourceError, match="the base of the journal is damaged"):
            source.available(), source.state(end)
        with pytest.raises(SourceError, match="the base of the journal is damaged"):
            opened(tmp_path, topic, on_bad_rows=DEAD).bad_rows({}, end)
    base.write_bytes(whole.replace(b'"name":"a"', b'"name":"b"').replace(b'"name": "a"', b'"name": "b"'))
    with pytest.raises(SourceError, match=r"is damaged: line 3: its checksum is that of another line"):
        opened(tmp_path, topic, on_bad_rows=DEAD).state(end)


def test_a_base_of_an_earlier_version_is_read(kept_deletes, topic, tmp_path):
    base, end = kept_deletes
    source = opened(tmp_path, topic, on_bad_rows=DEAD)
    before = rows(source, end), source.bad_rows({}, end)
    base.write_bytes(b"".join(one[: -len(b" 01234567")] + b"\n" for one in base.read_bytes().splitlines()))
    source = opened(tmp_path, topic, on_bad_rows=DEAD)
    assert (rows(source, end), source.bad_rows({}, end)) == before
    sent(source, *[{"op": "u", "after": {"id": 1, "name": "c" * 200}}] * 9)
    assert shortened([opened(tmp_path, topic, on_bad_rows=DEAD)])
    base = files_of(source.journal.group()[0]).base
    assert all(without_checksum(one) for one in base.read_bytes().splitlines())


def deletes(source):
    """The ids of rows of which a base has a delete."""
    found = [json.loads(one) for one in source.journal.base().lines.read(0, source.journal.base().rows) if one]
    return [one["before"]["id"] for one in found if one.get("op") == "d"]


def removed(*ids):
    return [one for id_ in ids for one in ({"op": "c", "after": {"id": id_}}, {"op": "d", "before": {"id": id_}})]


def test_a_source_without_a_dead_letter_has_no_deletes_in_its_base(topic, tmp_path):
    source = opened(tmp_path, topic, on_bad_rows=DEAD)
    sent(source, *removed(1, 2, 3), {"op": "c", "after": {"id": 4}}, *HEARTBEATS)
    assert source.bad_rows({}, source.available()) == []
    assert shortened([opened(tmp_path, topic, on_bad_rows=DEAD)])
    source = opened(tmp_path, topic, on_bad_rows=DEAD)
    assert (deletes(source), rows(source, source.available())) == ([], [(4, None)])


def test_deletes_stay_behind_the_first_dead_letter_alone(topic, tmp_path):
    def fresh(**more):
        return opened(tmp_path, topic, on_bad_rows=DEAD, **more)

    sent(fresh(), *removed(1, 2), {"op": "c", "after": {"id": 3, "name": 7}}, *removed(4, 3), *HEARTBEATS)
    end = fresh().available()
    [bad] = fresh().bad_rows({}, end)
    for _ in range(2):  # also through a second base
        assert shortened([fresh()])
        assert deletes(fresh()) == [4, 3]
        assert fresh().bad_rows({}, fresh().available()) == [bad]
        sent(fresh(), *[{"op": "u", "after": {"id": 9, "name": "x" * 200}}] * 9)
    Replays(tmp_path, "ods.t__dead_letters").add([replace(bad.letter, raw=bad.letter.raw.replace(b"7", b'"late"'))])
    assert [row[0] for row in rows(fresh(), fresh().available())] == [9], "a later delete counts"


def test_a_dead_letter_that_new_columns_can_read_undoes_no_later_delete(topic, tmp_path):
    """Its message is no bad row of the columns with which the base is made."""

    def fresh(type_):
        return opened(tmp_path, topic, on_bad_rows=DEAD, columns={"id": "bigint", "name": type_})

    sent(fresh("int"), {"op": "c", "after": {"id": 1, "name": "seven"}}, {"op": "d", "before": {"id": 1}}, *HEARTBEATS)
    [bad] = fresh("int").bad_rows({}, fresh("int").available())
    assert shortened([fresh("string")])
    assert deletes(fresh("string")) == [1]
    Replays(tmp_path, "ods.t__dead_letters").add([bad.letter])
    assert rows(fresh("string"), fresh("string").available()) == []


@pytest.mark.parametrize("how", ["earlier version", "made again", "removed", "read again"])
def test_deletes_stay_where_dead_letters_may_come_before_all_lines(topic, tmp_path, how):
    def fresh():
        return opened(tmp_path, topic, on_bad_rows=DEAD)

    if how in ("made again", "removed"):
        sent(fresh(), {"op": "c", "after": {"id": 1, "name": 7}})
        fresh().bad_rows({}, fresh().available())
    if how == "removed":
        shutil.rmtree(fresh().journal.group()[0])
    if how == "made again":
        topic.id, topic.there, topic.begin, topic.end = "second", {"0": []}, {"0": 0}, {"0": 0}
    sent(fresh(), *removed(1), *HEARTBEATS)
    if how == "earlier version":
        (fresh().journal.group()[0] / "letters").rmdir()
    if how == "read again":
        Replays(tmp_path, "ods.t__dead_letters").add([Letter("1/00000001.jsonl:1", b"{}")])
    assert shortened([fresh()])
    assert deletes(fresh()) == [1]


def test_a_write_that_left_no_whole_line_behind_a_base_goes_on_where_the_topic_was_read(three, topic, tmp_path):
    end = three.available()
    shortened([three])
    last = three.journal.group()[0] / "00000004.jsonl"
    whole = last.read_bytes()
    asked = len(topic.asked)
    for torn in (b"", whole[:5]):
        last.write_bytes(torn)
        assert opened(tmp_path, topic).available() == end
        assert last.read_bytes() == whole
    topic.send("c", {"id": 2, "name": "d"})
    source = opened(tmp_path, topic)
    assert rows(source, source.available()) == [(1, "c"), (2, "d")]
    assert topic.asked[asked:] == [{0: (3, 4)}]


def test_a_process_that_ends_replaces_nothing(three):
    assert not shorten([three], three.journal.names()[:-1], lambda: True)
    assert three.journal.base() is None
