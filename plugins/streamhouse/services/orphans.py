"""Processes of a project that nobody needs any more: what a process started that was killed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from os import environ
from pathlib import Path

from streamhouse.services.process import Process

STARTED_BY = "STREAMHOUSE_STARTED_BY"
"""Environment variable of a process that must not outlive another one: `pid:began_s:folder`."""


def started_by(owner: Process, folder: Path) -> str:
    """The value of `STARTED_BY` for what `owner` starts for the project whose state is in `folder`."""
    return f"{owner.pid}:{owner.began_s!r}:{folder}"


@contextmanager
def marked(folder: Path) -> Iterator[None]:
    """What this process starts within the block must not outlive it."""
    before = environ.get(STARTED_BY)
    environ[STARTED_BY] = started_by(Process.this(), folder)
    try:
        yield
    finally:
        if before is None:
            environ.pop(STARTED_BY, None)
        else:
            environ[STARTED_BY] = before


def children_of(owner: Process, folder: Path) -> list[Process]:
    """Living processes that `owner` started for the project, and theirs; `owner` itself may be dead."""
    return [process for process, mark in _marks() if mark == started_by(owner, folder)]


def orphans(folder: Path) -> list[Process]:
    """Living processes of the project whose starter is dead."""
    found = []
    for process, mark in _marks():
        pid, began, of = mark.split(":", 2)
        if of == str(folder) and not Process(pid=int(pid), began_s=float(began)).alive:
            found.append(process)
    return found


def servers_below(base: Path) -> list[Process]:
    """Living servers, and tools of them, that keep their scratch files below `base`, also those that others started."""
    import psutil

    mark = f"-Djava.io.tmpdir={base}/"
    found = []
    for one in psutil.process_iter(["cmdline"]):
        if any(word.startswith(mark) for word in one.info["cmdline"] or ()):
            process = Process.of(one.pid)
            if process is not None and process.alive:
                found.append(process)
    return found


def _marks() -> Iterator[tuple[Process, str]]:
    import psutil

    ours = Process.this()
    for one in psutil.process_iter():
        with suppress(psutil.Error):  # it ended meanwhile, or belongs to another user
            mark = _environment(one).get(STARTED_BY)
            if mark is not None and mark.count(":") >= 2 and one.pid != ours.pid:
                process = Process.of(one.pid)
                if process is not None and process.alive:
                    yield process, mark


def _environment(process: "object") -> Mapping[str, str]:
    return process.environ()  # type: ignore[attr-defined, no-any-return]
