"""A process that tiers and keeps up every table of a project, again and again, and dies at a given point.

    python -m tests.keeping ROOT

It says `ready` when everything is open and waits for one line, the point; then it says `round` after each round.
The file `rounds` of the project has one byte for each round that any such process began.
"""

import importlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from streamhouse.errors import StreamhouseError
from streamhouse.jobs import tier as tier_module
from streamhouse.jobs import upkeep as upkeep_module
from streamhouse.jobs.tier import tier_flows
from streamhouse.jobs.upkeep import keep_up
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, opened
from tests.patience import PATIENCE_S

READY, ROUND = "ready", "round"
BEGUN = "rounds"
REPOSITORY = Path(__file__).parents[1]


@dataclass(frozen=True)
class Point:
    """Where a process ends as by `kill -9`: so long after the `nth` call of a function or method began.

    Attributes:
        function: `package.module:name` or `package.module:Class.name`.
        after_ms: Past the beginning of the call, which goes on meanwhile; 0: before it does anything.
    """

    function: str
    nth: int = 1
    after_ms: float = 0

    def __str__(self) -> str:
        return f"{self.function} {self.nth} {self.after_ms}"

    @classmethod
    def parse(cls, text: str) -> "Point":
        function, nth, after_ms = text.split()
        return cls(function, int(nth), float(after_ms))

    def install(self) -> None:
        """Wrap the function."""
        module, _, path = self.function.partition(":")
        *owners, name = path.split(".")
        owner = importlib.import_module(module)
        for one in owners:
            owner = getattr(owner, one)
        found = getattr(owner, name)
        calls: list[int] = []

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            calls.append(1)
            if len(calls) == self.nth:
                if not self.after_ms:
                    die()
                threading.Timer(self.after_ms / 1000, die).start()
            return found(*args, **kwargs)

        setattr(owner, name, wrapped)


def rounds_begun(root: Path) -> int:
    """How many rounds all such processes of a project began."""
    try:
        return (root / BEGUN).stat().st_size
    except FileNotFoundError:
        return 0


class Keeper:
    """Such a process, as a test has it; it starts at once and waits for `go`.

    Args:
        project: Its folder is where the process writes `keeper.log`.
    """

    def __init__(self, project: Project) -> None:
        self._log = (project.root / "keeper.log").open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.keeping", str(project.root)],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def _assert_says(self, line: str) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline().strip() == line, self.log()

    def go(self, point: Point | None = None) -> None:
        self._assert_says(READY)
        assert self._process.stdin is not None
        self._process.stdin.write(f"{point or ''}\n")
        self._process.stdin.flush()

    def rounds(self, count: int) -> None:
        for _ in range(count):
            self._assert_says(ROUND)

    def assert_dies(self) -> None:
        assert self._process.wait(PATIENCE_S) == -signal.SIGKILL, self.log()

    def kill(self) -> None:
        assert self._process.poll() is None, self.log()
        self._process.kill()
        self._process.wait()

    def log(self) -> str:
        return Path(self._log.name).read_text()[-3000:]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._log.close()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def tell(line: str, to: IO[str] = sys.stdout) -> None:
    to.write(f"{line}\n")
    to.flush()


def main() -> None:
    project = Project.at(Path(sys.argv[1]))
    with opened(project) as open_:

        @contextmanager
        def as_it_is(*_: object, **__: object) -> Iterator[Open]:
            yield open_

        for module in (tier_module, upkeep_module):
            vars(module)["opened"] = as_it_is  # else each round would start Spark again
        tell(READY)
        point = sys.stdin.readline()
        if not point:
            return  # the test is gone
        if point.strip():
            Point.parse(point).install()
        full = False
        while True:
            with (project.root / BEGUN).open("ab") as begun:
                begun.write(b".")
            for work in (lambda: tier_flows(project), lambda full=full: keep_up(project, full=full)):
                try:
                    work()
                except StreamhouseError as error:
                    if not error.retryable:
                        raise
                    tell(f"again: {error.message}", sys.stderr)
            full = not full
            tell(ROUND)


if __name__ == "__main__":
    main()
