"""Archives of classes, so that a JVM need not read, check and link them again at each start.

Application class-data sharing (JEP 310, JEP 350). An archive fits one Java and one class path. For each of these, one
process does for some seconds what later ones do, and its JVM writes the archive. A JVM ignores an archive that does not
fit. Where no archive can be made, JVMs start without one.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from streamhouse.errors import StreamhouseError
from streamhouse.install.disk import writing_to
from streamhouse.install.java import JavaInstallation
from streamhouse.install.only_one import locked
from streamhouse.install.stage import OnStage, Stage

LIMIT_S = 600
"""Work that takes longer is ended, and there are no archives."""
AT_EXIT = "-XX:ArchiveClassesAtExit"


@dataclass(frozen=True)
class Exercise:
    """Work in a process of its own whose JVMs write archives when they end.

    Attributes:
        of: Whose classes, for a person, such as `Spark's classes`.
        code: Python code; its working directory is empty and goes afterwards.
        environment: What its environment has beside ours, by the folder to which its JVMs write.
    """

    of: str
    code: str
    environment: Callable[[Path], Mapping[str, str]]


def archives(folder: Path, names: Sequence[str], exercise: Exercise, progress: OnStage) -> dict[str, list[str]]:
    """Name → options of a JVM that uses the archive `NAME.jsa` in `folder`.

    Archives that are absent are made first. Two processes that lack them make them once. What could not be made is
    not tried again: the file `classes.refused` in `folder` says why.

    Args:
        folder: For one Java and one class path, see `key_of`; made where it is absent.
        names: Of all archives that the exercise makes.
        exercise: Makes them, in some seconds.
        progress: Is called with a message before it begins.

    Returns:
        For each name, no options where there are no archives.
    """
    files = {name: folder / f"{name}.jsa" for name in names}
    refused = folder / "classes.refused"

    def is_settled() -> bool:
        return refused.exists() or all(file.exists() for file in files.values())

    waiting = Stage(f"waiting for another process that prepares {exercise.of}")
    try:
        with writing_to(folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # what is in it, our Java processes run
            if not is_settled():
                with locked(folder / ".lock", waiting, progress):
                    if not is_settled():
                        progress(Stage(f"preparing {exercise.of}, once"))
                        _make(files.values(), refused, exercise)
    except StreamhouseError:
        return {name: [] for name in names}
    return {name: _options(file) for name, file in files.items()}


def key_of(java: JavaInstallation, inputs: Iterable[str], files: Iterable[Path]) -> str:
    """A name for the folder of the archives of one Java and one class path.

    Args:
        java: The installation; one that is installed again at its place has another key.
        inputs: What else decides what is on the class path.
        files: As `java`: their paths and the times of their last change count.
    """
    parts = list(inputs)
    for file in (*files, java.home / "lib" / "modules"):
        parts += [str(file), str(file.stat().st_mtime_ns if file.exists() else None)]
    return sha256("\n".join(parts).encode()).hexdigest()[:16]


def _options(file: Path) -> list[str]:
    # A JVM that refuses an archive says so on standard output, where answers go.
    return [f"-XX:SharedArchiveFile={file}", "-Xlog:disable", "-Xlog:all=error:stderr"] if file.exists() else []


def _make(files: Iterable[Path], refused: Path, exercise: Exercise) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="streamhouse-") as scratch,
        tempfile.TemporaryDirectory(prefix="unfinished-", dir=refused.parent) as unfinished,
        Path(scratch, "log").open("w+") as log,
    ):
        outcome = _run(exercise, Path(scratch), Path(unfinished), log.fileno())
        made = [Path(unfinished, file.name) for file in files]
        if outcome is None and all(one.exists() for one in made):
            for one in made:
                one.replace(refused.parent / one.name)
        else:
            log.seek(0)
            refused.write_text(f"{outcome or 'no archive'}\n{log.read()}", encoding="utf-8")


def _run(exercise: Exercise, scratch: Path, unfinished: Path, log: int) -> str | None:
    """Why it failed."""
    here = scratch / "here"
    here.mkdir()
    python_path = os.pathsep.join(place for place in sys.path if place)
    try:
        done = subprocess.run(
            [sys.executable, "-c", exercise.code],
            cwd=here,
            env={**os.environ, "PYTHONPATH": python_path, **exercise.environment(unfinished)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not within {LIMIT_S} s"
    return f"exit {done.returncode}" if done.returncode else None
