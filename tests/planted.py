"""Faults of three kinds in each shortcut through Spark: wrong rows, an exception, a class that is missing."""

from collections.abc import Callable
from typing import Any

import pytest

from streamhouse.spark import carrier, driver_task, log_files, placeholder, session_copy, stream_source
from streamhouse.spark.shortcuts import Shortcut

KINDS = ("wrong", "raises", "missing class")

_PLACES: dict[Shortcut, tuple[type, str]] = {
    Shortcut.CARRIER: (carrier.Carrier, "rows"),
    Shortcut.SESSION_COPY: (session_copy.ClonedSessions, "copied"),
    Shortcut.STANDING_QUERIES: (placeholder.Place, "put"),
    Shortcut.DRIVER_TASKS: (driver_task.DriverTask, "rows"),
    Shortcut.STREAM_SOURCE: (stream_source._Batches, "call"),
}


def _other_settings(session: Any) -> Any:
    session.conf.set("spark.sql.ansi.enabled", "false")
    return session


_WRONG: dict[Shortcut, Callable[[Any], Any]] = {
    Shortcut.CARRIER: lambda right: lambda *a: right(*a).slice(1),
    Shortcut.SESSION_COPY: lambda right: lambda *a: _other_settings(right(*a)),
    Shortcut.STANDING_QUERIES: lambda right: lambda *a: None,  # the rows of the epoch before
    Shortcut.DRIVER_TASKS: lambda right: lambda *a: right(*a).slice(0, 1),
    Shortcut.STREAM_SOURCE: lambda right: lambda self, rows, batch: right(self, rows, batch + 1),
}
_FILE_SYSTEMS = {
    "wrong": "org.apache.hadoop.fs.LocalFileSystem",  # with checksums
    "raises": "java.lang.String",  # no file system
    "missing class": "org.example.NoSuchFileSystem",
}


def _raises(*_: Any) -> Any:
    raise RuntimeError("planted")


def _missing(*_: Any) -> Any:
    from pyspark.sql import SparkSession

    session: Any = SparkSession.getActiveSession() or SparkSession._instantiatedSession
    return session._jvm.org.apache.spark.sql.NoSuchClass(1)


def plant(monkeypatch: pytest.MonkeyPatch, shortcut: Shortcut, kind: str) -> None:
    """Let a shortcut do what it should not, until the patch is undone."""
    if shortcut is Shortcut.LOG_FILES:
        monkeypatch.setitem(log_files.LOCAL_LOGS, "fs.file.impl", _FILE_SYSTEMS[kind])
        return
    owner, name = _PLACES[shortcut]
    planted = {"wrong": _WRONG[shortcut](getattr(owner, name)), "raises": _raises, "missing class": _missing}
    monkeypatch.setattr(owner, name, planted[kind])
