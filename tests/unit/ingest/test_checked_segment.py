"""A damaged byte anywhere in a segment of a journal is an error with its place, and never other rows."""

import json

import pytest

from streamhouse.capture.journal import SegmentFile, cut_torn, next_segment, written_from
from streamhouse.capture.postgres import _PLACE as PLACE
from streamhouse.errors import SourceError
from streamhouse.ingest.checked_lines import with_checksum, without_checksum
from streamhouse.ingest.checked_segment import forget_all
from streamhouse.ingest.journal import TableJournal
from streamhouse.ingest.kinds import open_source
from streamhouse.model.flow import Source
from tests.journals import Journal

OPTIONS = {
    "postgres": {"connection": "shop", "table": "public.orders"},
    "primary_key": ["id"],
    "columns": {"id": "bigint", "note": "string"},
}


def line(op, id_, note=None, table="orders"):
    source = {"connector": "postgresql", "schema": "public", "table": table, "txId": id_, "lsn": id_, "xmin": None}
    row = None if op == "d" else {"id": id_, "note": note}
    value = {"before": {"id": id_} if op == "d" else None, "after": row, "source": source, "op": op}
    return json.dumps({"key": {"id": id_}, "value": value, "headers": []}, separators=(",", ":"))


EVENTS = [
    line("c", 1, "a"),
    line("c", 2, "b"),
    line("c", 7, "x", "others"),
    line("c", 8, "y", "others"),
    line("u", 1, "c"),
    line("d", 2),
]


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path)


def opened(root):
    """As a new process opens it."""
    forget_all()
    return open_source(Source(name="orders", kind="cdc", options=OPTIONS), root)


def rows(root):
    source = opened(root)
    return sorted((row["id"], row["note"]) for row in source.state(source.available()).to_pylist())


def flipped(whole, at, bit):
    return whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]


def test_no_flipped_bit_of_a_segment_changes_a_row_or_a_position(journal):
    file = journal(*EVENTS)
    journal()
    whole = file.read_bytes()
    assert rows(journal.root) == [(1, "c")]
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]
    places = [(at, at % 8) for at in range(0, len(whole), 3)] + [(at, bit) for at in ends for bit in range(8)]
    for at, bit in places:
        file.write_bytes(flipped(whole, at, bit))
        number = whole[:at].count(b"\n") + 1
        for table in ("public.orders", "public.others"):
            forget_all()
            with pytest.raises(SourceError, match=rf"^shop/\d+/00000001\.jsonl:{number}:1: SH212 a line of the jour"):
                TableJournal(journal.root, "shop", table).lines(f"{journal.group.name}/{file.name}").count()
    file.write_bytes(whole)
    assert rows(journal.root) == [(1, "c")]


def test_damage_after_the_lines_were_compared_is_found_where_a_line_is_read(journal):
    file = journal(*EVENTS)
    journal()
    source = opened(journal.root)
    end = source.available()
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"note":"c"', b'"note":"C"'))
    with pytest.raises(SourceError, match=r"00000001\.jsonl:5:1: SH212 a line of the journal is damaged") as damaged:
        source.state(end)
    assert "streamhouse capture reset" in damaged.value.hint
    file.write_bytes(whole)
    assert source.state(end).num_rows == 1


def test_segments_of_an_earlier_version_are_read(tmp_path):
    journal = Journal(tmp_path, has_checksums=False)
    journal(*EVENTS, "")
    new = journal()
    SegmentFile(new).append([line("u", 1, "new").encode()])
    assert rows(tmp_path) == [(1, "new")]
    with new.open("a") as file:
        file.write(line("u", 1, "other") + "\n")
    with pytest.raises(SourceError, match=r"00000002\.jsonl:2:1: SH212 .* it has no checksum"):
        rows(tmp_path)


def test_a_line_that_is_being_written_is_not_looked_at(journal):
    file = journal(*EVENTS[:1])
    whole = with_checksum(EVENTS[4].encode())
    there = file.read_bytes()
    for size in range(len(whole) + 1):
        file.write_bytes(there + whole[:size])
        assert rows(journal.root) == [(1, "a")]
    cut_torn(journal.group)
    assert file.read_bytes() == there


def test_a_capture_takes_no_damaged_event_for_one_that_is_missing(journal):
    file = journal(*EVENTS)
    place = b'"txId":1,"lsn":1,'
    forget_all()
    assert len(written_from(journal.group, PLACE, place)) == len(EVENTS)
    file.write_bytes(file.read_bytes().replace(place, b'"txId":1,"lsn":3,'))
    forget_all()
    with pytest.raises(SourceError, match=r"00000001\.jsonl:1:1: SH212 "):
        written_from(journal.group, PLACE, place)


def test_the_end_of_the_last_line_is_not_taken_for_a_write_that_did_not_end(journal):
    file = journal(*EVENTS)
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + b"\x0b")
    forget_all()
    with pytest.raises(SourceError, match=r"00000001\.jsonl:6:1: SH212 .* does not end where its checksum ends"):
        cut_torn(journal.group)
    assert len(file.read_bytes()) == len(whole)


def test_a_segment_that_is_written_has_a_checksum_for_each_line(journal):
    file = next_segment(journal.group)
    segment = SegmentFile(file)
    assert segment.append([EVENTS[0].encode(), EVENTS[1].encode()]) == file.stat().st_size
    segment.append([EVENTS[4].encode()])
    segment.close()
    with pytest.raises(ValueError, match="closed"):
        segment.append([b"{}"])
    assert [without_checksum(one).decode() for one in file.read_bytes().splitlines()] == [*EVENTS[:2], EVENTS[4]]
