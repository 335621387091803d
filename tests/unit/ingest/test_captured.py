"""A table of a database, read from the journal of its capture."""

import json

import pytest

from streamhouse.capture.journal import new_group, next_segment, set_begun
from streamhouse.errors import RowsLostError, SourceError
from streamhouse.ingest.base import ForgetfulSource, KeyedSource
from streamhouse.ingest.checked_lines import with_checksum
from streamhouse.ingest.journal import journal_folder
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.shapes import source_shape
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource
from streamhouse.model.table import Column
from tests.journals import Journal

NOT_SENT = "__debezium_unavailable_value"
OPTIONS = {
    "postgres": {"connection": "shop", "table": "public.orders"},
    "primary_key": ["id"],
    "columns": {"id": "bigint", "note": "string", "placed_at": "timestamp"},
}


def line(op, id_, after=None, table="orders", **more):
    source = {"connector": "postgresql", "schema": "public", "table": table, "txId": 1, "lsn": 1}
    before = {"id": id_} if op == "d" else None
    row = {"id": id_, **after} if after is not None else None
    value = {"before": before, "after": row, "source": source, "op": op, **more}
    key = None if op == "t" else {"id": id_}
    return json.dumps({"key": key, "value": value, "headers": []}, separators=(",", ":"), ensure_ascii=False)


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path)


def opened(root, **more):
    return open_source(Source(name="orders", kind="cdc", options=OPTIONS | more), root)


def rows(source):
    return sorted((row["id"], row["note"]) for row in source.state(source.available()).to_pylist())


def test_positions_count_the_events_of_the_table_alone(journal, tmp_path):
    journal(line("r", 1, {"note": "a"}), line("r", 9, {}, table="others"), line("c", 2, {"note": "é"}))
    file = journal("", line("d", 1), line("c", 8, {}, table="others"))
    source = opened(tmp_path)
    assert isinstance(source, KeyedSource)
    assert isinstance(source, ForgetfulSource)
    end = source.available()
    assert list(end.values()) == [2, 1]
    assert rows(source) == [(2, "é")]
    with file.open("ab") as more:
        more.write(with_checksum(line("u", 2, {"note": "b"}).encode()))
    assert source.available() == end  # the line is not whole
    with file.open("ab") as more:
        more.write(b"\n")
    changes = source.changes(end, source.available())
    assert [row["note"] for row in changes.upserts.to_pylist()] == ["b"]
    assert [row["note"] for row in changes.before.to_pylist()] == ["é"]


def test_nothing_is_seen_before_the_snapshot_is_whole(journal, tmp_path):
    journal(line("r", 1, {"note": "a"}))
    (journal.group / "begun").unlink()
    assert opened(tmp_path).available() == {}


def test_a_row_that_looks_like_another_table_is_none_of_it(journal, tmp_path):
    journal(line("c", 1, {"note": "x", "schema": "public", "table": "orders", "txId": 5}, table="others"))
    assert rows(opened(tmp_path)) == []


def test_numbers_are_microseconds_and_a_null_is_a_null(journal, tmp_path):
    journal(line("c", 1, {"note": None, "placed_at": "2024-01-02T01:04:05.5Z"}), line("c", 2, {"placed_at": 1_500_000}))
    source = opened(tmp_path)
    found = {row["id"]: row["placed_at"] for row in source.state(source.available()).to_pylist()}
    assert found[1].isoformat() == "2024-01-02T01:04:05.500000+00:00"
    assert found[2].isoformat() == "1970-01-01T00:00:01.500000+00:00"


def test_a_long_value_that_was_not_sent_is_the_one_before(journal, tmp_path):
    journal(line("r", 1, {"note": "long"}), line("c", 10, {"note": "other"}), line("u", 1, {"note": NOT_SENT}))
    journal(line("u", 1, {"note": NOT_SENT}), line("d", 1), line("c", 2, {"note": NOT_SENT}))
    journal(line("u", 2, {"note": NOT_SENT}), line("c", 1, {"note": "new"}))
    source = opened(tmp_path)
    assert rows(source) == [(1, "new"), (2, "long"), (10, "other")]
    end = source.available()
    last = sorted(end)[-1]
    (row,) = opened(tmp_path).changes({**end, last: 0}, {**end, last: 1}, before=False).upserts.to_pylist()
    assert row["note"] == "long"


def test_a_long_value_that_was_never_sent_is_an_error(journal, tmp_path):
    journal(line("c", 1, {"note": "a"}), line("d", 1), line("u", 1, {"note": NOT_SENT}))
    source = opened(tmp_path)
    with pytest.raises(SourceError, match="did not send the value"):
        source.state(source.available())


def test_a_segment_that_is_gone_is_told(journal, tmp_path):
    file = journal(line("c", 1, {"note": "a"}))
    source = opened(tmp_path)
    end = source.available()
    file.unlink()
    with pytest.raises(RowsLostError, match="gone"):
        source.state(end)


def test_new_fields_and_removals_of_all_rows_reach_the_trigger(journal, tmp_path):
    journal(line("t", 0), *(line("c", n, {"note": "a"}) for n in range(500)))
    journal(line("c", 1, {"note": "a", "tax": 5}))
    columns = tuple(Column(name=n, type=t) for n, t in OPTIONS["columns"].items())
    source = PlannedSource(name="orders", kind="cdc", options=OPTIONS, columns=columns, primary_key=("id",))
    shape = source_shape("orders", source, tmp_path)
    assert [column.name for column, _ in shape.unknown] == ["tax"]
    assert len(shape.truncated) == 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "*.jsonl"}, "either 'path' .* or 'postgres'"),
        ({"time_unit": "ms"}, "'time_unit' is for files"),
        ({"postgres": {"connection": "shop", "table": "orders"}}, "table"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path, options, message):
    with pytest.raises(SourceError, match=message):
        opened(tmp_path, **options)


OF_MARIADB = {"mariadb": {"connection": "shop", "table": "shop.orders"}} | {
    name: OPTIONS[name] for name in ("primary_key", "columns")
}


def of_mariadb(op, id_, after=None, database="shop", table="orders", **more):
    source = {"connector": "mariadb", "db": database, "sequence": None, "ts_us": 1, "table": table, "server_id": 1}
    row = {"id": id_, **after} if after is not None else None
    value = {"before": {"id": id_} if op == "d" else None, "after": row, "source": source, "op": op, **more}
    return json.dumps({"key": {"id": id_}, "value": value, "headers": []}, separators=(",", ":"))


def test_a_table_of_mariadb_is_told_from_one_of_the_same_name_in_another_database(tmp_path):
    folder = journal_folder(tmp_path, "shop")
    folder.mkdir(parents=True)
    group = new_group(folder, "shop", ["other.orders", "shop.orders"])
    set_begun(group)
    lines = [
        of_mariadb("r", 1, {"note": "a"}),
        of_mariadb("r", 1, {"note": "b"}, database="other"),
        of_mariadb("c", 2, {"note": '"db":"other","sequence":'}),
        of_mariadb("c", 3, {"note": "z", "placed_at": "1970-01-01T00:00:00Z"}),
        of_mariadb("c", 4, {"note": "1970-01-01T00:00:00Z", "placed_at": "1970-01-01T00:00:01Z"}),
    ]
    next_segment(group).write_text("".join(f"{one}\n" for one in lines))
    source = open_source(Source(name="orders", kind="cdc", options=OF_MARIADB), tmp_path)
    assert list(source.available().values()) == [4]
    assert rows(source) == [(1, "a"), (2, '"db":"other","sequence":'), (3, "z"), (4, "1970-01-01T00:00:00Z")]
    times = {row["id"]: row["placed_at"] for row in source.state(source.available()).to_pylist()}
    assert times[3] is None  # the zero of a TIMESTAMP
    assert times[4] is not None
