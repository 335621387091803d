"""Connections in streamhouse.yaml, and what flows may read of them."""

import pytest

from streamhouse.capture.database import password_of
from streamhouse.capture.postgres import CapturedPostgres
from streamhouse.errors import DefinitionErrors, EnvironmentProblem, FileFormatError
from streamhouse.ingest.tables.postgres_types import declarable, fits
from streamhouse.model.connection import Connection
from streamhouse.project.check import check_project
from streamhouse.project.project import Project
from streamhouse.project.settings import load_settings

SHOP = "connections:\n  shop: {{kind: postgres, host: db, database: shop, user: me, password: {0}}}\n"
CANARY = "canary-pass"


@pytest.mark.parametrize(
    "password",
    [
        CANARY,
        f"{{environment: A, file: {CANARY}}}",
        "{}",
        f"[{CANARY}]",
        f"{{environment: {CANARY}}}",
        f"{{file: [{CANARY}]}}",
    ],
)
def test_a_password_is_named_and_never_written(tmp_path, password):
    (tmp_path / "streamhouse.yaml").write_text(SHOP.format(password))
    with pytest.raises((FileFormatError, DefinitionErrors)) as refused:
        load_settings(tmp_path, {})
    assert "streamhouse.yaml:2:" in str(refused.value)
    assert CANARY not in str(refused.value)
    assert "{environment: NAME}" in str(refused.value)


def test_a_password_comes_from_its_place(tmp_path, monkeypatch):
    (tmp_path / "secret").write_text(f"{CANARY}\n")
    monkeypatch.setenv("SHOP", CANARY)
    for place in ("{environment: SHOP}", "{file: secret}"):
        (tmp_path / "streamhouse.yaml").write_text(SHOP.format(place))
        connection = load_settings(tmp_path, {}).connections["shop"]
        assert password_of("shop", connection, tmp_path) == CANARY
        assert CANARY not in repr(connection)
    for place, what in (("{environment: NOT_THERE}", "NOT_THERE is not set"), ("{file: no}", "no cannot be read")):
        (tmp_path / "streamhouse.yaml").write_text(SHOP.format(place))
        with pytest.raises(EnvironmentProblem, match=what):
            password_of("shop", load_settings(tmp_path, {}).connections["shop"], tmp_path)


def test_texts_are_masked():
    connection = Connection(kind="postgres", host="db", database="shop", user="me")
    assert CapturedPostgres("shop", connection, CANARY).masked(f"a {CANARY} b") == "a *** b"
    assert CapturedPostgres("shop", connection, "").masked("a b") == "a b"


def test_an_unknown_connection_is_an_error_with_its_place(tmp_path):
    (tmp_path / "streamhouse.yaml").write_text(SHOP.format("{file: secret}"))
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "shop.yaml").write_text(
        "flow: shop\nsources:\n"
        "  orders: {cdc: {postgres: {connection: shopp, table: public.o}, primary_key: [id], columns: {id: int}}}\n"
        "steps:\n  - {use: ingest_as_is, reads: {rows: orders}, writes: ods.orders}\n"
    )
    errors = [str(error) for error in check_project(Project.at(tmp_path)).errors]
    assert any("flows/shop.yaml:3:" in one and "did you mean 'shop'?" in one for one in errors), errors


@pytest.mark.parametrize(
    ("type_", "category", "declared", "is_fit"),
    [
        ("int4", "N", "bigint", True),
        ("int4", "N", "string", False),
        ("numeric", "N", "decimal(38,10)", True),
        ("mood", "E", "string", True),
        ("_int4", "A", "array<int>", True),
        ("_numeric", "A", "array<string>", False),
        ("point", "G", "string", False),
        ("bit", "V", "binary", False),
        ("timestamptz", "D", "timestamp_ntz", False),
    ],
)
def test_types(type_, category, declared, is_fit):
    assert fits(declared, declarable(type_, category)) is is_fit
