"""Each server has an archive of its own classes, which the servers of one process make."""

from pathlib import Path

import pytest

from streamhouse.install.class_archive import key_of
from streamhouse.install.java import JavaInstallation
from streamhouse.install.stage import silent
from streamhouse.services.class_archive import class_options
from streamhouse.services.cluster import STOP_ORDER

JAVA = JavaInstallation(Path("/jdk"), 17)


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("STREAMHOUSE_CACHE", str(tmp_path))
    return tmp_path


def test_each_server_uses_its_own(cache):
    folder = cache / "fluss" / key_of(JAVA, (), [Path("/x.jar")])
    folder.mkdir(parents=True)
    for name in STOP_ORDER:
        (folder / f"{name}.jsa").touch()
    options = class_options(JAVA, [Path("/x.jar")], silent)
    assert {name: first for name, (first, *_) in options.items()} == {
        name: f"-XX:SharedArchiveFile={folder / name}.jsa" for name in STOP_ORDER
    }


def test_the_servers_that_make_them_use_none(monkeypatch, cache):
    monkeypatch.setenv("STREAMHOUSE_ARCHIVE_CLASSES_TO", "/to")
    options = class_options(JAVA, [Path("/x.jar")], silent)
    assert {name: first for name, (first, *_) in options.items()} == {
        name: f"-XX:ArchiveClassesAtExit=/to/{name}.jsa" for name in STOP_ORDER
    }
    assert list(cache.iterdir()) == []
