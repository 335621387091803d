"""Which code runs: a value that changes when a result of it may."""

import importlib.util
import os
import sys
from functools import cache
from hashlib import blake2b
from pathlib import Path

import streamhouse

# What turns definitions into plans, besides Streamhouse and Python.
_LIBRARIES = ("sqlglot", "sqlglotc", "pydantic", "pydantic_core", "pyyaml", "pytimeparse2")


def code_identity(*, refresh: bool = False) -> bytes | None:
    """A hash over Streamhouse's files and the versions of its dependencies; None: unknown.

    It is unknown when a file changed after this process began: nobody knows which of the two it loaded.

    Args:
        refresh: Look at the files again, instead of remembering what they were at the first call.
    """
    return _identity() if refresh else _remembered()


@cache
def _remembered() -> bytes | None:
    return _identity()


def _identity() -> bytes | None:
    hasher = blake2b(sys.version.encode(), digest_size=20)
    try:
        places = [*_modules(Path(streamhouse.__file__).parent), *_libraries()]
    except OSError:  # not installed as files
        return None
    for path, status in places:
        if max(status.st_mtime_ns, status.st_ctime_ns) > streamhouse.LOADED_NS:
            return None
        hasher.update(f"{path} {status.st_size} {status.st_mtime_ns} {status.st_ino}\n".encode())
    return hasher.digest()


def _modules(folder: Path) -> list[tuple[str, os.stat_result]]:
    found: list[tuple[str, os.stat_result]] = []
    pending = [os.fspath(folder)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    pending.append(entry.path)
                elif entry.name.endswith(".py"):
                    found.append((entry.path, entry.stat()))
    return sorted(found, key=lambda each: each[0])


def _libraries() -> list[tuple[str, os.stat_result]]:
    """The folders in which installers keep the versions of libraries; importlib.metadata would take 20 ms."""
    spec = importlib.util.find_spec("sqlglot")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("sqlglot")
    installed = Path(spec.origin).parent.parent
    names = [n for n in os.listdir(installed) if n.endswith(".dist-info")]  # noqa: PTH208
    wanted = sorted(n for n in names if n.partition("-")[0].lower().replace("-", "_") in _LIBRARIES)
    return [(str(installed / n), (installed / n).stat()) for n in wanted]
