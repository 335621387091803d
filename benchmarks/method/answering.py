"""The near side of a process that answers JSON requests; `serve` is the far side."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import psutil

from method.machine import cpu_seconds, tree

BENCHMARKS = Path(__file__).parents[1]


class OperationFailedError(RuntimeError):
    """What was asked for failed; the process still answers."""


class Answering:
    """A Python module that runs in a process of its own and does what it is asked.

    Args:
        name: What messages and the log file call it.
        module: It is started as `python -m module root fluss name`.
        root: The project, whose Fluss is up.
        fluss: Where it answers.
        plugins: The sources of Streamhouse that it runs.
    """

    def __init__(
        self, name: str, module: str, root: Path, fluss: str, plugins: Path = BENCHMARKS.parent / "plugins"
    ) -> None:
        self.name = name
        path = [str(root), str(BENCHMARKS), str(plugins), os.environ.get("PYTHONPATH", "")]
        self._log = (root / f"{name}.log").open("w")
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(root), fluss, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        family = tree([self._process.pid])
        assert self._process.stdin is not None
        self._process.stdin.close()
        for process in psutil.wait_procs(family, timeout=30)[1]:
            process.kill()
        self._process.wait()
        self._log.close()

    @property
    def pid(self) -> int:
        """Of its root process."""
        return self._process.pid

    def cpu_s(self) -> float:
        """Processor seconds of its tree so far."""
        return cpu_seconds([self.pid])

    def ask(self, operation: str, **request: Any) -> Any:
        """Have it do one thing, and return what it answers.

        Raises:
            OperationFailedError: the operation raised; the message holds the traceback.
            RuntimeError: the process ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"operation": operation, **request}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            told = Path(self._log.name).read_text()[-4000:]
            raise RuntimeError(f"arm {self.name} ended with {self._process.wait()}: {told}")
        answer = json.loads(line)
        if "error" in answer:
            raise OperationFailedError(f"arm {self.name}: {answer['error']}")
        return answer["result"]
