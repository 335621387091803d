"""What a database sends again after a restart is dropped, and nothing else."""

import json
from itertools import dropwhile
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.capture.binlog import MARIADB, CapturedBinlog
from streamhouse.capture.journal import cut_torn, has_begun, new_group, next_segment, set_begun, written_from
from streamhouse.capture.postgres import CapturedPostgres
from streamhouse.capture.repeats import Repeats, place_of
from streamhouse.errors import CaptureFailedError
from streamhouse.ingest.journal import Group, segments
from streamhouse.model.connection import Connection


class Place(NamedTuple):
    transaction: int
    lsn: int

    @property
    def text(self):
        return f'"txId":{self.transaction},"lsn":{self.lsn},'.encode()


POSTGRES = CapturedPostgres("shop", Connection(kind="postgres", host="db", database="d", user="me"), "").place
BINLOG = CapturedBinlog("shop", Connection(kind="mariadb", host="db", user="me"), "", MARIADB).place


def event(place, **row):
    source = {"schema": "public", "table": "t", "txId": place.transaction, "lsn": place.lsn, "xmin": None}
    return json.dumps({"before": None, "after": row, "source": source, "op": "c"}, separators=(",", ":")).encode()


def test_the_place_is_that_of_the_source_and_not_of_a_row_that_has_such_columns():
    assert place_of(event(Place(7, 24), txId=1, lsn=2), POSTGRES) == Place(7, 24).text
    assert place_of(b'{"type":"COMPLETED"}', POSTGRES) is None
    of_binlog = (
        b'{"after":{"file":"a","pos":1,"row":2},"source":{"file":"bin.000002","pos":70,"row":1,"thread":9},"op":"c"}'
    )
    assert place_of(of_binlog, BINLOG) == b'"file":"bin.000002","pos":70,'


def binlog_event(pos, row, **more):
    source = {"db": "shop", "table": "t", "file": "bin.000002", "pos": pos, "row": row, "thread": 9}
    return json.dumps({"source": source, **more}, separators=(",", ":")).encode()


@pytest.mark.parametrize("more", [{"op": "t"}, {"databaseName": "shop", "ddl": "ALTER TABLE t ADD COLUMN x int"}])
def test_a_statement_is_recognized_whatever_row_it_has(tmp_path, more):
    """MariaDB's engine gives it the row of the event before it, and 0 when it begins with the statement."""
    update = [binlog_event(50, row, op="u") for row in range(3)]
    next_segment(tmp_path).write_bytes(b"\n".join([*update, binlog_event(70, 2, **more), binlog_event(90, 0, op="c")]))
    repeats = Repeats(BINLOG, lambda place: written_from(tmp_path, BINLOG, place))
    again = [binlog_event(70, 0, **more), binlog_event(90, 0, op="c"), binlog_event(99, 0, op="c")]
    assert [repeats.has(one) for one in again] == [True, True, False]


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2))
def test_rows_of_one_statement_are_each_written_once(tmp_path_factory, first, second, empty):
    """The process died in the middle of them, and again in the middle of the repetition."""
    folder = tmp_path_factory.mktemp("group")
    sent = [binlog_event(50, row, op="u") for row in range(5)]
    for end in (first, second, 5):
        new = dropwhile(Repeats(BINLOG, lambda place: written_from(folder, BINLOG, place)).has, sent[:end])
        next_segment(folder).write_bytes(b"".join(one + b"\n" for one in new))
        for _ in range(empty):  # a start that wrote nothing
            next_segment(folder)
    assert [line for file in segments(folder) for line in file.read_bytes().splitlines()] == sent


@st.composite
def histories(draw):
    """Events in commit order; those of one transaction rise, and some share a place."""
    places = []
    for transaction in range(draw(st.integers(1, 6))):
        for lsn in sorted(draw(st.lists(st.integers(1, 40), min_size=1, max_size=4, unique=True))):
            places += [Place(transaction, lsn)] * draw(st.integers(1, 2))
    written = draw(st.integers(0, len(places)))
    again = draw(st.sampled_from([at for at in range(written + 1) if starts_transaction(places, at)]))
    return places, written, again


def starts_transaction(places, at):
    return at in (0, len(places)) or places[at].transaction != places[at - 1].transaction


@given(histories())
def test_each_event_is_written_once(history):
    places, written, again = history
    journal = [one.text for one in places[:written]]
    repeats = Repeats(POSTGRES, lambda place: journal[journal.index(place) :] if place in journal else [])
    new = False
    for place in places[again:]:
        new = new or not repeats.has(event(place))
        if new:
            journal.append(place.text)
    assert journal == [one.text for one in places]


def test_another_order_is_an_error():
    repeats = Repeats(POSTGRES, lambda _: [Place(1, 1).text, Place(1, 2).text])
    assert repeats.has(event(Place(1, 1)))
    with pytest.raises(CaptureFailedError, match="another order"):
        repeats.has(event(Place(1, 3)))


def test_places_are_found_over_segments(tmp_path):
    places = [Place(1, 1), Place(2, 5), Place(2, 5), Place(3, 9)]
    for some in (places[:2], places[2:3], places[3:], []):
        next_segment(tmp_path).write_bytes(b"".join(event(one) + b"\n\n" for one in some))
    texts = [one.text for one in places]
    assert written_from(tmp_path, POSTGRES, Place(2, 5).text) == texts[1:]
    assert written_from(tmp_path, POSTGRES, Place(3, 9).text) == texts[3:]
    assert written_from(tmp_path, POSTGRES, Place(4, 1).text) == []


def test_a_torn_line_is_cut(tmp_path):
    cut_torn(tmp_path)
    file = next_segment(tmp_path)
    for text, left in (
        (b"", b""),
        (b"{}\n", b"{}\n"),
        (b"{}\nb", b"{}\n"),
        (b"x" * 200_000, b""),
        (b"{}\n" + b"x" * 200_000, b"{}\n"),
    ):
        file.write_bytes(text)
        cut_torn(tmp_path)
        assert file.read_bytes() == left


def test_a_group_is_told_apart_from_one_before(tmp_path):
    first = new_group(tmp_path, "shop", ["public.b", "public.a"])
    second = new_group(tmp_path, "shop", ["public.c"])
    one, other = Group.of(first), Group.of(second)
    assert one is not None
    assert other is not None
    assert one.tables == ("public.a", "public.b")
    assert one.slot != other.slot
    assert int(second.name) > int(first.name)
    assert not has_begun(first)
    set_begun(first)
    assert has_begun(first)
