"""Places in the binlog of MariaDB, and what connections and flows may say of it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.capture.binlog import MARIADB, CapturedBinlog
from streamhouse.capture.binlog_place import HISTORY, BinlogPlace, cut_later, is_before, remove
from streamhouse.capture.database import Slot
from streamhouse.errors import DefinitionErrors, FileFormatError
from streamhouse.ingest.journal import Group
from streamhouse.ingest.tables.binlog_types import declarable, fits
from streamhouse.model.connection import Connection
from streamhouse.project.check import check_project
from streamhouse.project.project import Project
from streamhouse.project.settings import load_settings

GROUP = Group(identity="0123456789abcdef", tables=("shop.orders",), slot="s")


def offset(file, pos, **more):
    return {"file": f"bin.{file:06}", "pos": pos, "gtids": "0-1-5", "server_id": 1, "ts_sec": 7, **more}


def database(password=""):
    return CapturedBinlog("shop", Connection(kind="mariadb", host="db", user="me"), password, MARIADB)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(4, 9), st.integers(0, 3)), min_size=1))
def test_the_place_only_rises_and_is_never_within_a_transaction(tmp_path_factory, seen):
    folder = tmp_path_factory.mktemp("group")
    (folder / HISTORY).write_text("{}\n")
    shop = database()
    for file, pos, event in seen:
        shop.keep(folder, lambda at=(file, pos, event): offset(at[0], at[1], event=at[2], row=2))
    place = BinlogPlace.read(folder)
    assert place is not None
    assert place.order == max(seen)
    assert place.offset() == {"file": place.file, "pos": place.pos, "gtids": "0-1-5", "server_id": 1}


def test_statements_that_come_again_are_cut_from_the_schema_history(tmp_path):
    places = [{"file": "bin.000001", "pos": 99, "snapshot": "INITIAL"}]
    places += [{"file": f"bin.{file:06}", "pos": pos, "event": event} for file, pos, event in ((1, 50, 0), (2, 7, 0))]
    places += [{"file": "bin.000002", "pos": 7, "event": 1}, {"file": "bin.000010", "pos": 4}]
    history = tmp_path / HISTORY
    lines = [json.dumps({"position": one, "ddl": "é"}) for one in places]
    history.write_text("".join(f"{one}\n" for one in lines))
    for place, count in (
        (BinlogPlace(file="bin.000010", pos=9), 5),
        (BinlogPlace(file="bin.000002", pos=7, events=3), 3),
    ):
        cut_later(history, place)
        assert history.read_text().splitlines() == lines[:count]
    assert [file.name for file in tmp_path.iterdir()] == [HISTORY]


def test_a_snapshot_has_no_place(tmp_path):
    for one in ({}, offset(1, 4, snapshot="INITIAL")):
        database().keep(tmp_path, lambda one=one: one)
    assert BinlogPlace.read(tmp_path) is None
    (tmp_path / "place.json").write_text('{"file": "bin.0000')  # a torn one is none
    assert BinlogPlace.read(tmp_path) is None
    remove(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("slot", "lives", "said"),
    [
        (Slot("reserved", 1 << 29), False, None),
        (Slot("reserved", 2 << 30), True, "2048 MiB of the binlog are not read yet"),
        (Slot("unreserved", 5), True, None),
        (Slot("unreserved", 5), False, "start the capture"),
        (Slot("unreserved", 0), False, None),
        (Slot("lost", 0), True, "has removed the part"),
    ],
)
def test_warnings(slot, lives, said):
    found = database().warning("s", slot, lives=lives, warn_at=1 << 30)
    assert (found is None) if said is None else (said in (found or ""))


def test_gtids_of_another_history_are_told_apart():
    assert is_before("0-1-5", "0-2-7,1-1-1")  # the server changed, and the history is the same
    assert not is_before("0-1-5,1-1-1", "0-1-5")


def test_engine_settings_and_masks():
    connection = Connection(kind="mariadb", host="db", user="me", tls="verify-full")
    settings = CapturedBinlog("shop", connection, "pass", MARIADB).settings(GROUP, Path("group"), begun=True)
    assert settings["database.port"] == "3306"
    assert settings["database.ssl.mode"] == "verify-full"
    assert settings["table.include.list"] == "shop\\.orders"
    assert settings["schema.history.internal.file.filename"] == f"group/{HISTORY}"
    assert database("pass").masked("a pass b") == "a *** b"


@pytest.mark.parametrize(
    ("type_", "whole", "declared", "is_fit"),
    [
        ("bigint", "bigint(20) unsigned", "decimal(20,0)", True),
        ("bigint", "bigint(20) unsigned", "bigint", True),
        ("tinyint", "tinyint(1)", "boolean", False),
        ("bit", "bit(1)", "boolean", True),
        ("bit", "bit(8)", "boolean", False),
        ("enum", "enum('a')", "string", True),
        ("timestamp", "timestamp", "timestamp_ntz", False),
        ("datetime", "datetime(6)", "timestamp_ntz", True),
        ("geometry", "geometry", "string", False),
        ("text", "text /*M!100301 COMPRESSED*/", "string", False),
    ],
)
def test_types(type_, whole, declared, is_fit):
    assert fits(declared, declarable(type_, whole)) is is_fit


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{kind: mariadb, host: db, user: me, database: shop}", "has no 'database'"),
        ("{kind: postgres, host: db, user: me}", "needs 'database'"),
    ],
)
def test_a_database_is_named_where_there_is_one(tmp_path, line, said):
    (tmp_path / "streamhouse.yaml").write_text(f"connections:\n  shop: {line}\n")
    with pytest.raises((FileFormatError, DefinitionErrors), match=said) as refused:
        load_settings(tmp_path, {})
    assert "streamhouse.yaml:2:" in str(refused.value)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("mysql: {connection: shop, table: shop.o}", "the connection 'shop' is of kind mariadb, and not mysql"),
        ("mariadb: {connection: shopp, table: shop.o}", "did you mean 'shop'?"),
        (
            "mariadb: {connection: shop, table: shop.o}, path: a.json",
            "either 'path' (files), 'kafka' or 'postgres', 'mariadb'",
        ),
        ("mariadb: {connection: shop, table: o}", "table"),
    ],
)
def test_what_a_flow_reads_is_of_the_connection(tmp_path, source, said):
    (tmp_path / "streamhouse.yaml").write_text("connections:\n  shop: {kind: mariadb, host: db, user: me}\n")
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "shop.yaml").write_text(
        f"flow: shop\nsources:\n  orders: {{cdc: {{{source}, primary_key: [id], columns: {{id: int}}}}}}\n"
        "steps:\n  - {use: ingest_as_is, reads: {rows: orders}, writes: ods.orders}\n"
    )
    errors = [str(error) for error in check_project(Project.at(tmp_path)).errors]
    assert any("flows/shop.yaml:3:" in one and said in one for one in errors), errors
