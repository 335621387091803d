"""A process that tiers and keeps up every table of a project, again and again, and dies where it is told.

    python -m tests.keeping ROOT

It says `ready` when everything is open and waits for one line, the point; then it says `round` after each round.
"""

import importlib
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from streamhouse.errors import StreamhouseError
from streamhouse.jobs import tier as tier_module
from streamhouse.jobs import upkeep as upkeep_module
from streamhouse.jobs.tier import tier_flows
from streamhouse.jobs.upkeep import keep_up
from streamhouse.project.project import Project
from streamhouse.runtime.open import opened

READY, ROUND = "ready", "round"
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
        found, calls = getattr(owner, name), []

        def wrapped(*args, **kwargs):
            calls.append(1)
            if len(calls) == self.nth:
                if not self.after_ms:
                    die()
                threading.Timer(self.after_ms / 1000, die).start()
            return found(*args, **kwargs)

        setattr(owner, name, wrapped)


class Keeper:
    """Such a process, as a test has it; it starts at once and waits for `go`.

    Args:
        project: Its folder is where the process writes `keeper.log`.
    """

    def __init__(self, project):
        self._log = (project.root / "keeper.log").open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.keeping", str(project.root)],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def go(self, point=None):
        assert self._process.stdout.readline().strip() == READY, self.log()
        self._process.stdin.write(f"{point or ''}\n")
        self._process.stdin.flush()

    def rounds(self, count):
        for _ in range(count):
            assert self._process.stdout.readline().strip() == ROUND, self.log()

    def assert_dies(self):
        assert self._process.wait(300) == -signal.SIGKILL, self.log()

    def kill(self):
        assert self._process.poll() is None, self.log()
        self._process.kill()
        self._process.wait()

    def log(self):
        return Path(self._log.name).read_text()[-3000:]

    def close(self):
        self._process.kill()
        self._process.wait()
        self._log.close()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def tell(line, to=sys.stdout) -> None:
    to.write(f"{line}\n")
    to.flush()


def main() -> None:
    project = Project.at(Path(sys.argv[1]))
    with opened(project) as open_:

        @contextmanager
        def as_it_is(*_, **__):
            yield open_

        tier_module.opened = upkeep_module.opened = as_it_is  # else each round would start Spark anew
        tell(READY)
        point = sys.stdin.readline()
        if not point:
            return  # the test is gone
        if point.strip():
            Point.parse(point).install()
        full = False
        while True:
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
