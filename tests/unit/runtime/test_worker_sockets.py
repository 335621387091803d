"""The folder in which Spark and its Python workers meet."""

import stat
from pathlib import Path

from streamhouse.runtime.session import worker_sockets


def test_the_folder_is_ours_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", "/tmp")
    settings = worker_sockets()
    assert settings["spark.python.unix.domain.socket.enabled"] == "true"
    folder = Path(settings["spark.python.unix.domain.socket.dir"])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_path_too_long_for_a_socket_leaves_tcp(tmp_path):
    deep = tmp_path / ("x" * 80)
    deep.mkdir()
    assert worker_sockets(deep) == {}


def test_without_a_folder_it_stays_at_tcp(tmp_path):
    assert worker_sockets(tmp_path / "absent") == {}
