"""A pipe, a socket or a device in place of a file that a project names is refused, and nothing waits for it."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from streamhouse.errors import EnvironmentProblem, FileFormatError, Location, SourceError, StreamhouseError
from streamhouse.ingest.authorities import with_authorities
from streamhouse.ingest.cdc import open_cdc
from streamhouse.ingest.files import open_files
from streamhouse.ingest.folders import project_file
from streamhouse.ingest.listing import list_files
from streamhouse.ingest.project_file import written_settings
from streamhouse.ingest.secret_place import secret_at
from streamhouse.model.connection import Connection, SecretPlace
from streamhouse.project.settings import load_settings
from streamhouse.registry.files import read_files
from streamhouse.registry.regular_file import NO_REGULAR_FILE, open_regular
from tests.waits import at_most

AT = Location("flows/a.yaml", 2, 11)


def make_socket(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(place))  # a whole path may be too long for one


def make_link_to_pipe(place: Path) -> None:
    os.mkfifo(place.with_name("pipe"))
    place.symlink_to("pipe")


MAKE: dict[str, Callable[[Path], None]] = {"pipe": os.mkfifo, "socket": make_socket, "link": make_link_to_pipe}


@pytest.fixture(params=MAKE)
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    def made(name: str) -> str:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        MAKE[request.param](tmp_path / name)
        return name

    monkeypatch.chdir(tmp_path)
    return made


def test_a_source_that_names_it_is_refused_at_its_place(tmp_path: Path, make: Callable[[str], str]) -> None:
    make("data/in.csv")
    with at_most(), pytest.raises(SourceError, match=r"flows/a.yaml:2:11: .*'data/in.csv' is no regular file"):
        open_files({"path": "data/in.csv", "columns": {"id": "int"}}, tmp_path, at=AT)


def test_a_pattern_that_finds_it_is_refused(tmp_path: Path, make: Callable[[str], str]) -> None:
    make("data/in.csv")
    with at_most(), pytest.raises(SourceError, match=r"'data/in\.csv' is no regular file"):
        list_files("data/*.csv", tmp_path)
    place = r"^flows/a.yaml:2:11: .*'data/in\.csv' is no regular file"
    for columns in ({}, {"columns": {"id": "int"}}):
        with at_most(), pytest.raises(SourceError, match=place):
            open_files({"path": "data/*.csv", **columns}, tmp_path, at=AT).columns()
    with at_most(), pytest.raises(SourceError, match=place):
        open_cdc({"path": "data/*.csv", "columns": {"id": "int"}, "primary_key": ["id"]}, tmp_path, at=AT)


def test_folders_that_a_pattern_finds_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "data" / "folder.csv").mkdir(parents=True)
    (tmp_path / "data" / "empty.csv").touch()
    (tmp_path / "data" / "a.csv").write_text("id\n")
    assert list_files("data/*.csv", tmp_path) == ["data/a.csv"]


def test_settings_secrets_certificates_and_flows_are_refused(tmp_path: Path, make: Callable[[str], str]) -> None:
    connection = Connection(
        kind="postgres", host="h", database="d", user="u", password=SecretPlace(file="x"), tls="verify-full", ca="c"
    )
    refused: dict[str, tuple[type[StreamhouseError], Callable[[], object]]] = {
        "secret": (EnvironmentProblem, lambda: secret_at(SecretPlace(file="secret"), "the password", tmp_path)),
        "c": (EnvironmentProblem, lambda: with_authorities("shop", connection, tmp_path)),
        "streamhouse.yaml": (FileFormatError, lambda: load_settings(tmp_path)),
        "key.pem": (SourceError, lambda: project_file(tmp_path, "key.pem", AT)),
    }
    for name, (kind, ask) in refused.items():
        (tmp_path / "pipe").unlink(missing_ok=True)
        make(name)
        with at_most(), pytest.raises(kind, match=r"regular file|no file"):
            ask()
    with at_most():
        assert written_settings(tmp_path, "data_folders") is None
    (tmp_path / "pipe").unlink(missing_ok=True)
    make("flows/a.yaml")
    with at_most():
        assert [one.cause for one in read_files(tmp_path).flows] == [NO_REGULAR_FILE]


def test_a_device_is_no_regular_file() -> None:
    with at_most(), pytest.raises(OSError, match=NO_REGULAR_FILE):
        open_regular("/dev/zero")
