"""A journal that is shortened says the same to each reader as one that is not, whatever dies meanwhile."""

import json
import shutil

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from streamhouse.capture.fold import Ending
from streamhouse.capture.journal import new_group, next_segment, set_begun
from streamhouse.capture.postgres_commits import Commits
from streamhouse.capture.readers import JournalReader
from streamhouse.capture.shorten import Shortening, droppable, remove_leftovers
from streamhouse.errors import RowsLostError, SourceError
from streamhouse.ingest.checked_lines import with_checksum, without_checksum
from streamhouse.ingest.debezium_schema import truncation_id
from streamhouse.ingest.journal import TableJournal, journal_folder, segments
from streamhouse.ingest.journal_base import files_of
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.truncations import Truncations
from streamhouse.model.flow import Source
from streamhouse.upstream.observe import _keyed_lost
from tests.journals import TABLES, Journal
from tests.killed_writes import killed_after

NOT_SENT = "__debezium_unavailable_value"
OPTIONS = {
    "postgres": {"connection": "shop", "table": "public.orders"},
    "primary_key": ["id"],
    "columns": {"id": "bigint", "note": "string", "n": "bigint"},
}


def line(op, id_, after=None, table="orders", key=("id",), **more):
    source = {"connector": "postgresql", "schema": "public", "table": table, "txId": 1, "lsn": 1}
    row = {"id": id_, **after} if after is not None else None
    value = {"before": {"id": id_} if op == "d" else None, "after": row, "source": source, "op": op, **more}
    shown = None if op == "t" or not key else dict.fromkeys(key, id_)
    return json.dumps({"key": shown, "value": value, "headers": []}, separators=(",", ":"), ensure_ascii=False)


def opened(root, kept=()):
    source = open_source(Source(name="orders", kind="cdc", options=OPTIONS), root)
    decided = Truncations("asked", _Decided(kept))
    source._wanted = source._wanted.__class__(**{**vars(source._wanted), "truncations": decided})
    return source


class _Decided(dict):
    """All removals are followed, but for those of some ids; of each a person has decided."""

    def __init__(self, kept):
        super().__init__()
        self._kept = kept

    def get(self, id_, _=None):
        return "kept" if id_ in self._kept else "removed"


def journals_in(root):
    return {table: TableJournal(root, "shop", table) for table in TABLES}


def shorten(root, group, readers, settled=10**6, is_removed=lambda _: True, is_over=lambda: False):
    """As a capture does it; whether something was replaced."""
    remove_leftovers(group)
    journals = journals_in(root)
    free = droppable(segments(group), settled, readers, journals)
    if free:
        Shortening(group, journals, lambda _: is_removed, is_over).replace(free)
    return bool(free)


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path)


def reader(position, table="public.orders", truncations=None):
    return JournalReader("flow a", table, position, truncations or Truncations("asked"))


def rows(source, at):
    return sorted(tuple(row.values()) for row in source.state(at).to_pylist())


def changes(source, start, end):
    found = source.changes(start, end)
    deletes = found.deletes.to_pylist() if found.deletes is not None else []
    # A row that is not there may be removed twice: what counts is what is there before and after.
    before = sorted(tuple(row.values()) for row in found.before.to_pylist())
    there = {row[0] for row in before}
    removed = sorted(row["id"] for row in deletes if row["id"] in there)
    return sorted(tuple(row.values()) for row in found.upserts.to_pylist()), removed, before


class Shortened(RuleBasedStateMachine):
    """Two journals with the same events, of which one is shortened."""

    def __init__(self):
        super().__init__()
        self.patch = pytest.MonkeyPatch()

    @initialize()
    def begin(self):
        self.root = _FOLDERS.mktemp("journal").resolve()
        folder = journal_folder(self.root / "short", "shop")
        folder.mkdir(parents=True)
        self.group = new_group(folder, "shop", TABLES)
        set_begun(self.group)
        whole = journal_folder(self.root / "whole", "shop")
        shutil.copytree(folder, whole)
        self.whole = whole / self.group.name
        self.number = self.count = 0
        self.alive, self.readers, self.kept = set(), {}, set()
        self.roll()

    @rule()
    def roll(self):
        self.number += 1
        assert next_segment(self.group).name == f"{self.number:08}.jsonl"
        next_segment(self.whole)

    def add(self, text):
        for folder in (self.group, self.whole):
            with (folder / f"{self.number:08}.jsonl").open("ab") as file:
                file.write(with_checksum(text.encode()) + b"\n")

    @rule(id_=st.integers(0, 5), is_long=st.booleans(), table=st.sampled_from(["orders", "orders", "others"]))
    def write(self, id_, is_long, table):
        self.count += 1
        op = "u" if id_ in self.alive else "c"
        note = NOT_SENT if is_long and op == "u" else f"né{self.count}"
        self.add(line(op, id_, {"note": note, "n": self.count}, table if op == "c" else "orders"))
        if table == "orders":
            self.alive.add(id_)

    @precondition(lambda self: self.alive)
    @rule(data=st.data())
    def delete(self, data):
        id_ = data.draw(st.sampled_from(sorted(self.alive)))
        self.add(line("d", id_))
        self.alive.remove(id_)

    @precondition(lambda self: self.alive)
    @rule(data=st.data(), new=st.integers(6, 9), is_split=st.booleans())
    def move(self, data, new, is_split):
        """A changed key: a delete, and a row that has no long value."""
        id_ = data.draw(st.sampled_from(sorted(self.alive)))
        if new in self.alive:
            return
        self.add(line("d", id_))
        if is_split:
            self.roll()
            self.shorten(10**6, False)
        self.count += 1
        self.add(line("c", new, {"note": NOT_SENT, "n": self.count}))
        self.alive = self.alive - {id_} | {new}

    @rule()
    def truncate(self):
        self.count += 1
        self.add(line("t", 0, ts_ms=self.count))
        self.alive = set()

    @rule(name=st.integers(0, 3))
    def begin_reader(self, name):
        self.readers.setdefault(name, {})

    @rule(name=st.integers(0, 3))
    def remove_reader(self, name):
        self.readers.pop(name, None)

    @rule(name=st.integers(0, 3), most=st.integers(1, 20))
    def read(self, name, most):
        """A process that is new: nothing is in its memory."""
        if name not in self.readers:
            return
        short, whole = opened(self.root / "short"), opened(self.root / "whole")
        start = self.readers[name]
        end = short.advance(start, most)
        assert short.rows_between(start, end) == whole.rows_between(start, end)
        assert changes(short, start, end)[1:] == changes(whole, start, end)[1:]
        assert rows(short, end) == rows(whole, end)
        if start:
            assert changes(short, start, end) == changes(whole, start, end)
        self.readers[name] = end

    @rule(settled=st.integers(0, 12), is_counted=st.booleans())
    def shorten(self, settled, is_counted):
        readers = [reader(position) for position in self.readers.values()]
        count = settled if is_counted else 10**6
        shorten(self.root / "short", self.group, readers, count)

    @rule(calls=st.integers(0, 30))
    def shorten_killed(self, calls):
        readers = [reader(position) for position in self.readers.values()]
        with killed_after(self.patch, calls):
            shorten(self.root / "short", self.group, readers)

    @invariant()
    def says_the_same(self):
        short, whole = opened(self.root / "short"), opened(self.root / "whole")
        assert counted(short.available()) == counted(whole.available())
        assert rows(short, short.available()) == rows(whole, whole.available())
        for count in (1, 3, 200):
            assert short._journal.newest(count)[-count:] == whole._journal.newest(count)[-count:]
        assert removals(short) == removals(whole)

    def teardown(self):
        self.patch.undo()


def counted(position):
    return {name: count for name, count in position.items() if count}


def removals(source):
    return [one for one in source._journal.newest(1) if b'"op":"t"' in one]


@pytest.fixture(scope="module", autouse=True)
def _folders(tmp_path_factory):
    global _FOLDERS  # a state machine gets no fixtures
    _FOLDERS = tmp_path_factory


TestShortened = Shortened.TestCase
TestShortened.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)


def test_a_reader_before_the_base_gets_an_error_and_not_fewer_rows(journal):
    journal(line("c", 1, {"note": "a"}), line("c", 2, {"note": "b"}), line("d", 1))
    journal(line("u", 2, {"note": "c"}))
    source = opened(journal.root)
    old, end = source.advance({}, 2), source.available()
    assert shorten(journal.root, journal.group, [])
    assert rows(source, end) == [(2, "c", None)]
    for ask in (source.state, lambda at: source.advance(at, 1), lambda at: source.changes(at, end)):
        with pytest.raises(RowsLostError, match="begins after the position of this reader") as refused:
            ask(old)
        assert "give the source another name" in refused.value.hint
    assert _keyed_lost("orders", source, [{}, end]) is None
    assert "begins after" in _keyed_lost("orders", source, [old]).detail


def test_changes_as_rows_begin_with_the_rows_of_the_base(journal):
    journal(line("c", 1, {"note": "a"}), line("c", 2, {"note": "b"}), line("u", 2, {"note": "c"}), line("d", 1))
    journal(line("u", 2, {"note": "d"}), line("d", 2))
    options = {**OPTIONS, "mode": "append", "metadata": {"op": "op", "change": "number"}}

    def told():
        source = open_source(Source(name="orders", kind="cdc", options=options), journal.root)
        found = source.read({}, source.available()).to_pylist()
        numbers = [one["change"] for one in found]
        assert numbers == sorted(set(numbers))
        return [(one["op"], one["id"], one["note"]) for one in found]

    later = [("u", 2, "d"), ("d", 2, None)]
    assert told() == [("c", 1, "a"), ("c", 2, "b"), ("u", 2, "c"), ("d", 1, None), *later]
    assert shorten(journal.root, journal.group, [])
    assert told() == [("r", 2, "c"), *later]


def test_a_new_reader_takes_the_base_in_one_epoch(journal):
    journal(*(line("c", n, {"note": "a"}) for n in range(9)))
    journal()
    shorten(journal.root, journal.group, [])
    source = opened(journal.root)
    end = source.advance({}, 1)
    assert end == counted(source.available())
    assert source.changes({}, end).upserts.num_rows == 9


def test_what_is_read_and_what_the_database_may_send_again_stays(journal):
    for n in range(4):
        journal(line("c", n, {"note": "a"}))
    first, second, *_ = [f"{journal.group.name}/{file.name}" for file in segments(journal.group)]
    assert not shorten(journal.root, journal.group, [reader(None)])
    assert not shorten(journal.root, journal.group, [reader({})])
    assert not shorten(journal.root, journal.group, [], settled=0)
    assert shorten(journal.root, journal.group, [reader({first: 1}), reader({}, "public.others")], settled=2)
    assert [file.name for file in segments(journal.group)] == ["00000002.jsonl", "00000003.jsonl", "00000004.jsonl"]
    assert shorten(journal.root, journal.group, [reader({first: 1, second: 1})])
    assert len(segments(journal.group)) == 2


def test_a_changed_key_whose_halves_the_base_separates_has_its_long_value(journal):
    journal(line("c", 1, {"note": "long"}), line("c", 3, {"note": "other"}), line("d", 1))
    shorten(journal.root, journal.group, [], settled=1)  # nothing: the last segment stays
    journal()
    for _ in range(2):  # also through a second base
        assert shorten(journal.root, journal.group, [])
        journal(line("u", 3, {"note": "other"}, table="others"))
        journal()
    journal(line("c", 2, {"note": NOT_SENT}))
    source = opened(journal.root)
    assert rows(source, source.available()) == [(2, "long", None), (3, "other", None)]


def test_rows_that_a_flow_keeps_over_a_removal_of_all_rows_stay(journal):
    journal(line("c", 1, {"note": "a"}), line("c", 2, {"note": "b"}), line("t", 0), line("c", 1, {"note": "c"}))
    journal()
    (removal,) = source_ids(journal.root)
    shorten(journal.root, journal.group, [], is_removed=lambda id_: id_ != removal)
    end = opened(journal.root).available()
    assert rows(opened(journal.root), end) == [(1, "c", None)]
    assert rows(opened(journal.root, kept=[removal]), end) == [(1, "c", None), (2, "b", None)]


def source_ids(root):
    source = opened(root)
    return [truncation_id(json.loads(one)["value"]) for one in removals(source)]


@pytest.mark.parametrize("key", [(), ("id", "n")])
def test_events_that_have_no_key_or_another_one_stay_as_they_are(journal, key):
    journal(line("c", 1, {"note": "a"}), line("u", 1, {"note": "b"}), line("u", 1, {"note": "c"}, key=key))
    journal(line("u", 1, {"note": NOT_SENT}, key=key), line("d", 1, key=key))
    journal()
    short = opened(journal.root)
    shorten(journal.root, journal.group, [])
    assert rows(short, short.available()) == []
    assert short._journal.base().rows == 4


def test_a_damaged_base_is_an_error(journal):
    journal(line("c", 1, {"note": "a"}))
    journal()
    shorten(journal.root, journal.group, [])
    base = files_of(journal.group).base
    whole = base.read_bytes()
    for damaged in (b"", whole[:-1], whole.split(b"\n", 1)[0] + b"\n", b"{}\n" + whole):
        base.write_bytes(damaged)
        with pytest.raises(SourceError, match="base"):
            opened(journal.root).available()


def test_no_flipped_bit_of_a_base_changes_a_row(journal):
    """A table whose lines are whole is read. Each line of the other one has its checksum."""
    journal(line("c", 1, {"note": "a", "n": 7}), line("c", 2, {"note": "b"}), line("c", 5, {"note": "x"}, "others"))
    journal(line("u", 1, {"note": NOT_SENT, "n": 8}), line("d", 2))
    journal()
    shorten(journal.root, journal.group, [])
    there = opened(journal.root)
    end, expected = there.available(), rows(there, there.available())
    base = files_of(journal.group).base
    whole = base.read_bytes()
    read = []
    for at in range(0, len(whole), 7):
        base.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        source = opened(journal.root)
        try:
            found = source.available(), rows(source, end), source._journal.newest(200)
        except SourceError as error:
            assert "base" in error.message  # noqa: PT017  most of them are errors, and one that is none is compared
            continue
        assert found[:2] == (end, expected)
        assert found[2] == there._journal.newest(200)
        read.append(at)
    others_at = whole.rindex(b"\n", 0, whole.index(b'"table":"others"')) + 1
    assert min(read) >= others_at, "only lines of another table are not looked at"


@pytest.mark.parametrize("damaged", [b'{"kex":', b'{"key":x', b'["key",', b'{"key":\xff'])
def test_a_damaged_event_of_an_earlier_version_is_an_error_with_its_place(tmp_path, damaged):
    journal = Journal(tmp_path, has_checksums=False)
    others = line("c", 7, {"note": "x"}, "others")
    file = journal(line("c", 1, {"note": "a"}), others, others, line("c", 2, {"note": "b"}))
    journal(line("u", 2, {"note": NOT_SENT}))
    journal()
    *first, last = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(first) + damaged + last[len(damaged) :])
    with pytest.raises(SourceError, match=r"00000001\.jsonl:4:1: SH212 an event of the journal is damaged"):
        shorten(journal.root, journal.group, [])
    source = opened(journal.root)
    there = source.available()
    start = {name: count for name, count in there.items() if name.endswith("1.jsonl")}
    with pytest.raises(SourceError, match=r"shop/\d+/00000001\.jsonl:4:1: SH212 "):
        source.changes(start, there, before=False)


def test_a_damaged_event_of_a_base_is_named_with_its_line(journal):
    journal(line("c", 1, {"note": "a"}), line("c", 2, {"note": "b"}))
    journal()
    shorten(journal.root, journal.group, [])
    base = files_of(journal.group).base
    base.write_bytes(base.read_bytes().replace(b'"note":"b"', b'"note":"B"'))
    with pytest.raises(SourceError, match=r"\.base\.jsonl:3:1: SH212 the base of the journal is damaged") as damaged:
        rows(opened(journal.root), opened(journal.root).available())
    assert "streamhouse capture reset" in damaged.value.hint


def test_a_base_of_an_earlier_version_is_read_and_gets_checksums(journal):
    journal(line("c", 1, {"note": "a"}), line("c", 2, {"note": "b"}))
    journal()
    shorten(journal.root, journal.group, [])
    base = files_of(journal.group).base
    base.write_bytes(b"".join(one[: -len(b" 01234567")] + b"\n" for one in base.read_bytes().splitlines()))
    end = opened(journal.root).available()
    assert rows(opened(journal.root), end) == [(1, "a", None), (2, "b", None)]
    journal(*(line("u", n % 2 + 1, {"note": "c"}) for n in range(9)))
    journal()
    assert shorten(journal.root, journal.group, [])
    base = files_of(journal.group).base
    assert all(without_checksum(one) for one in base.read_bytes().splitlines())
    assert rows(opened(journal.root), opened(journal.root).available()) == [(1, "c", None), (2, "c", None)]


def test_a_base_that_does_not_name_the_table_is_an_error(journal):
    journal(line("c", 1, {"note": "a"}))
    journal()
    shorten(journal.root, journal.group, [])
    base = files_of(journal.group).base
    header, *others = base.read_bytes().splitlines()
    header = with_checksum(without_checksum(header).replace(b"public.orders", b"public.ordered"))
    base.write_bytes(b"".join(one + b"\n" for one in (header, *others)))
    with pytest.raises(SourceError, match=r"is damaged: it does not name public\.orders"):
        opened(journal.root).available()


def test_a_capture_that_ends_replaces_nothing(journal):
    journal(line("c", 1, {"note": "a"}))
    journal()
    with pytest.raises(Ending):
        shorten(journal.root, journal.group, [], is_over=lambda: True)
    assert files_of(journal.group).base is None


def commits(*events):
    """Lines of transactions: number, the commit before it."""
    source = {"schema": "public", "table": "orders", "snapshot": "false"}
    found = [
        {**source, "sequence": json.dumps([before and str(before), "9"]), "txId": number, "lsn": 9}
        for number, before in events
    ]
    return [json.dumps({"key": {}, "value": {"source": one, "op": "c"}}) for one in found]


def test_a_transaction_that_is_not_confirmed_settles_nothing_before_it(journal):
    journal(*commits((1, None), (2, 10)))
    journal(*commits((2, 10), (3, 20)))  # the second is in two segments
    journal(*commits((3, 20), (3, 20)))
    journal(*commits((3, 20)))
    there = segments(journal.group)
    assert Commits().settled(there, 20) == 0
    assert Commits().settled(there, 21) == 1
    assert Commits().settled(there, 10**9) == 1
    with there[-1].open("ab") as file:
        file.write(b"".join(with_checksum(one.encode()) + b"\n" for one in commits((4, 30))))
    assert Commits().settled(there, 30) == 1
    assert Commits().settled(there, 31) == 3
