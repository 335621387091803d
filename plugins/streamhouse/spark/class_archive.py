"""An archive of Spark's classes, so that its JVM need not read, check and link them again at each start.

Application class-data sharing (JEP 310, JEP 350). The archive holds good for one Java, one installed Spark and one
path to its jars, so it is made once for each of these, when Spark is first started here, by a process that does for
some seconds what flows do. It saves a third of the processor time until the first answer. Where it cannot be made,
or no longer fits, Spark starts as it would without.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from streamhouse.errors import StreamhouseError
from streamhouse.install.disk import writing_to
from streamhouse.install.only_one import locked
from streamhouse.install.stage import Stage

LIMIT_S = 600
"""An archive that takes longer to make is done without."""
_AT_EXIT = "-XX:ArchiveClassesAtExit"
_OPTIONS = "SPARK_SUBMIT_OPTS"  # what Spark's launcher gives to the driver's JVM
_WAITING = Stage("waiting for another process that prepares Spark's classes")


def archive(folder: Path, exercise: str, say: Callable[[str], None] = lambda _: None) -> list[str]:
    """Options of the JVM that use the archive in `folder`, which is made first where it is absent.

    Two processes that lack it make it once. What could not be made is not tried again.

    Args:
        folder: For this Java and this Spark; made where it is absent.
        exercise: Module whose function `exercise` does what flows do; its process writes the archive.
        say: Is called with a message that the archive is being made, which takes some twenty seconds.

    Returns:
        Nothing where there is no archive.
    """
    file, refused = folder / "classes.jsa", folder / "classes.refused"

    def is_settled() -> bool:
        return file.exists() or refused.exists()

    if _is_making():
        return []
    try:
        with writing_to(folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # what is in it, Spark's Java process runs
            if not is_settled():
                with locked(folder / ".lock", _WAITING, lambda stage: say(stage.text)):
                    if not is_settled():
                        say("preparing Spark's classes, once")
                        _make(file, refused, exercise)
    except StreamhouseError:
        return []
    # A JVM that refuses it says so on standard output, where answers go.
    return [f"-XX:SharedArchiveFile={file}", "-Xlog:disable", "-Xlog:all=error:stderr"] if file.exists() else []


def _is_making() -> bool:
    return _AT_EXIT in os.environ.get(_OPTIONS, "")


def _make(file: Path, refused: Path, exercise: str) -> None:
    unfinished = file.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    # It lives for seconds: the quick compiler is enough.
    options = f"{os.environ.get(_OPTIONS, '')} {_AT_EXIT}={unfinished} -XX:TieredStopAtLevel=1 -Xlog:disable"
    with tempfile.TemporaryDirectory(prefix="streamhouse-") as scratch, Path(scratch, "log").open("w+") as log:
        try:
            done = subprocess.run(
                [sys.executable, "-c", f"from {exercise} import exercise; exercise()"],
                cwd=scratch,
                env={**os.environ, _OPTIONS: options, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                timeout=LIMIT_S,
                check=False,
            )
            outcome = f"exit {done.returncode}"
        except subprocess.TimeoutExpired:
            outcome = f"not within {LIMIT_S} s"
        if unfinished.exists():
            unfinished.replace(file)
        else:
            log.seek(0)
            refused.write_text(f"{outcome}\n{log.read()}", encoding="utf-8")
