"""A process that tiers and keeps up every table of a project, again and again, and dies where it is told.

    python -m tests.keeping ROOT

It says `ready` when everything is open and waits for one line, the point; then it says `round` after each round.
"""

import importlib
import os
import signal
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
