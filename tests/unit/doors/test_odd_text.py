"""A NUL, half a character or a command of a terminal, anywhere: an error with its place, beside all others."""

import itertools
import os
import socket

import pytest

from streamhouse.errors import EnvironmentProblem, SourceError, StreamhouseError
from streamhouse.ingest.folders import data_path
from streamhouse.ingest.journal import journal_folder
from streamhouse.ingest.options import stored_types
from streamhouse.ingest.permitted import value_of
from streamhouse.ingest.schema_registry import RegistryClient
from streamhouse.ingest.secret_place import secret_at
from streamhouse.model.connection import SecretPlace
from streamhouse.model.schema_registry import SchemaRegistry
from streamhouse.model.types import duration_of
from streamhouse.project.check import check_project
from streamhouse.project.project import Project
from streamhouse.project.settings import load_settings, settings_of_environment

pytestmark = pytest.mark.proof

ACTION = """\
/* ---
action: {name}
step: ingest
inputs: {{rows: {{id: int}}}}
--- */
SELECT {what} FROM rows
"""
SOURCES = {
    "path": 'files: {path: "%s", format: csv, columns: {id: int}}',
    "pattern": 'files: {path: "d/%s*.csv", columns: {id: int}}',
    "column": 'files: {path: "d/*.csv", columns: {"%s": int}}',
    "type": 'files: {path: "d/*.csv", columns: {id: "%s"}}',
    "option": 'files: {"%s": "d/*.csv"}',
    "kind": '"%s": {path: "d/*.csv"}',
    "changes": 'cdc: {path: "%s", primary_key: [id], columns: {id: int}}',
    "connection": 'cdc: {postgres: "%s", connection: "%s"}',
    "topic": 'kafka: {servers: "a:1", topic: "%s", columns: {id: int}}',
    "servers": 'kafka: {servers: "%s:1", topic: t, columns: {id: int}}',
    "property": 'kafka: {servers: "a:1", topic: t, columns: {id: int}, properties: {"%s": "%s"}}',
    "secret": 'kafka: {servers: "a:1", topic: t, columns: {id: int}, secrets: {"%s": "%s"}}',
    "registry": 'kafka: {servers: "a:1", topic: t, format: avro, registry: "%s", columns: {id: int}}',
    "package": 'replay: {package: "%s", table: "%s"}',
    "policy": 'files: {path: "d/*.csv", columns: {id: int}, on_bad_rows: "%s"}',
}
TEXTS = {
    "NUL": r"a\0b",
    "surrogate": r"a\uD800b",
    "escape": r"a\x1b[31mb",
    "long": "x" * 5000,
    "deep": "/".join(["x"] * 3000),
    "home": "~nobody-here/x",
    "url": "file:///etc/passwd",
    "store": "s3a://bucket/x.csv",
    "jar": "jar:file:/x.jar!/y",
    "ftp": "ftp://host/x",
    "device": "/dev/zero",
    "process": "/proc/self/environ",
    "outside": "/etc/passwd",
    "dots": "../../etc/passwd",
}


@pytest.mark.parametrize(("what", "text"), list(itertools.product(SOURCES, TEXTS)))
def test_no_text_of_a_source_hides_what_else_is_wrong(tmp_path, what, text):
    for folder in ("flows", "actions", "d"):
        (tmp_path / folder).mkdir()
    (tmp_path / "actions" / "ok.sql").write_text(ACTION.format(name="ok", what="id"))
    (tmp_path / "actions" / "wrong.sql").write_text(ACTION.format(name="wrong", what="no_such_column"))
    source = SOURCES[what].replace("%s", TEXTS[text])
    flow = f"flow: f\nsources: {{rows: {{{source}}}}}\nsteps: [{{use: ok, reads: {{rows: rows}}, writes: ods.x}}]\n"
    (tmp_path / "flows" / "f.yaml").write_text(flow)
    errors = [str(error) for error in check_project(Project.at(tmp_path)).errors]
    assert any("no_such_column" in error for error in errors)
    may_be = what in ("topic", "column") or text in ("deep", "long", "escape")
    assert may_be or any("flows/f.yaml" in error for error in errors)
    for error in errors:
        assert not {"\0", "\x1b"} & set(error)
        error.encode()


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5000, "/".join(["x"] * 3000), "loop", "loop/x"])
def test_what_is_no_path_is_an_error(tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(SourceError):
        data_path(tmp_path, name)


@pytest.mark.parametrize("place", ["secrets/shop", "secrets/link", "/outside/shop"])
def test_no_source_reads_the_secret_of_a_connection(tmp_path, place):
    project, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (project / "secrets", outside):
        folder.mkdir(parents=True)
        (folder / "shop").write_text("hush")
    (project / "secrets" / "link").symlink_to("shop")
    file = f"{outside}/shop" if place.startswith("/") else "secrets/shop"
    (project / "streamhouse.yaml").write_text(
        f"data_folders: [{outside}]\n"
        f"connections: {{shop: {{kind: postgres, host: db, database: d, user: u, password: {{file: {file}}}}}}}\n"
    )
    with pytest.raises(SourceError, match="has a secret of a connection"):
        data_path(project, file if place.startswith("/") else place)


def test_a_message_has_no_command_of_a_terminal():
    error = StreamhouseError("a\x1b[31m\r\x9b\udc80b\nc", hint="\x07")
    assert str(error) == "SH000 a\\x1b[31m\\r\\x9b\\udc80b\nc\n  hint: \\x07"


def test_a_file_whose_name_is_no_utf8_is_an_error_of_its_own(tmp_path):
    (tmp_path / "flows").mkdir()
    name = os.fsencode(tmp_path / "flows") + b"/\xff.yaml"
    with open(name, "w") as file:  # noqa: PTH123  pathlib takes no bytes
        file.write("flow: [")
    errors = [str(error) for error in check_project(Project.at(tmp_path)).errors]
    assert errors
    for error in errors:
        error.encode()


@pytest.mark.parametrize("folder", ["flows", "actions"])
@pytest.mark.parametrize("what", ["outside", "device", "pipe", "loop", "nowhere"])
def test_a_definition_is_a_file_of_the_project(tmp_path, folder, what):
    project = tmp_path / "project"
    for one in ("flows", "actions"):
        (project / one).mkdir(parents=True)
    (tmp_path / "canary.txt").write_text("canary: hush")
    file = project / folder / ("x.yaml" if folder == "flows" else "x.sql")
    if what == "pipe":
        os.mkfifo(file)
    else:
        places = {"outside": tmp_path / "canary.txt", "device": "/dev/zero", "loop": file, "nowhere": "none"}
        file.symlink_to(places[what])
    (error,) = check_project(Project.at(project)).errors
    assert f"{folder}/{file.name}:1:1: SH101 the file cannot be read: " in str(error)
    assert "canary" not in str(error)


def test_a_folder_that_is_a_link_and_links_within_are_taken(tmp_path):
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    (elsewhere / "..2026").mkdir(parents=True)
    project.mkdir()
    (project / "actions").symlink_to(elsewhere)
    (elsewhere / "..2026" / "a.sql").write_text(ACTION.format(name="a", what="id"))
    (elsewhere / "..data").symlink_to("..2026")
    (elsewhere / "a.sql").symlink_to("..data/a.sql")
    (project / "flows").mkdir()
    assert not check_project(Project.at(project)).errors


@pytest.mark.parametrize("variable", [*settings_of_environment(), "STREAMHOUSE_SPARK_CONF"])
@pytest.mark.parametrize("value", ["\udcff", "a\x1b[31mb", "x" * 5000, "\u2028"])
def test_no_value_of_a_variable_is_a_fault_of_ours(tmp_path, variable, value):
    error = error_of(tmp_path, {variable: value})
    assert error is not None or value != "\udcff"
    assert error is None or error.code != "SH000"
    assert not {"\x1b", "\udcff"} & set(str(error))


def error_of(root, environment):
    try:
        load_settings(root, environment)
    except StreamhouseError as error:
        return error
    return None


def test_a_secret_that_is_no_text_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("STREAMHOUSE_SECRET_X", "\udcff")
    with pytest.raises(SourceError, match="no text in UTF-8"):
        value_of("STREAMHOUSE_SECRET_X", "sasl.password", ["a:1"], tmp_path, None)
    with pytest.raises(EnvironmentProblem, match="no text in UTF-8"):
        secret_at(SecretPlace(environment="STREAMHOUSE_SECRET_X"), "the password", tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff")
    with pytest.raises(EnvironmentProblem, match="cannot be read"):
        secret_at(SecretPlace(file="binary"), "the password", tmp_path)


@pytest.mark.parametrize("token", ["a\nInjected: b", "\u20ac"])
def test_a_token_that_no_header_has_is_refused(tmp_path, token):
    (tmp_path / "token").write_text(token)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        place = SchemaRegistry(kind="schema_registry", url=url, token=SecretPlace(file="token"))
        with pytest.raises(EnvironmentProblem, match="no header of HTTP") as refused:
            RegistryClient("schemas", place, tmp_path).subjects()
    assert token not in str(refused.value)


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "", ".", "..", "a/b", "a\n", "x" * 5000, "a\0"])
def test_the_name_of_a_connection_leads_nowhere_else(tmp_path, name):
    with pytest.raises(SourceError, match="no name of a connection"):
        journal_folder(tmp_path, name)
    assert journal_folder(tmp_path, "shop_1").is_relative_to(tmp_path / ".streamhouse" / "capture")


@pytest.mark.parametrize("type_", ["decimal(99999999999999999999,2)", "array<decimal(2,99999999999999999999)>"])
def test_a_decimal_of_endless_digits_is_refused(type_):
    with pytest.raises(ValueError, match=r"column 'a': '.*': a decimal has at most 38 digits"):
        stored_types({"a": type_})


@pytest.mark.parametrize("text", ["１s", "٣d", "30s\u200b"])  # noqa: RUF001  digits of other scripts are the subject
def test_a_duration_has_digits_that_people_read(text):
    with pytest.raises(ValueError, match="is no duration"):
        duration_of(text)
