"""The near side of an arm: starts its process and asks it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import psutil

from method.machine import cpu_seconds, tree

BENCHMARKS = Path(__file__).parents[1]
T = TypeVar("T")
OURS, STOCK, TUNED = "ours", "stock", "tuned"


@dataclass(frozen=True)
class Seen:
    """Source rows `[first, end)` became visible in a layer at `visible_ms`."""

    layer: str
    first: int
    end: int
    visible_ms: float


class Arm:
    """One process that runs a chain, ours or a peer's.

    Args:
        name: `ours`, `stock` or `tuned`.
        root: The project, whose Fluss is up.
        fluss: Where it answers.
    """

    def __init__(self, name: str, root: Path, fluss: str) -> None:
        self.name = name
        module = "method.ours" if name == OURS else "method.peer"
        path = [str(root), str(BENCHMARKS), str(BENCHMARKS.parent / "plugins"), os.environ.get("PYTHONPATH", "")]
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

    def begin(self, chain: str, trigger_ms: int | None = None) -> None:
        """Run a chain, from where it was, and return when new events are in ADS.

        `trigger_ms` is for peers; 0: as fast as they can.
        """
        self._ask("begin", chain=chain, trigger_ms=trigger_ms)

    def end(self) -> list[Seen]:
        """Stop the chain, and tell what became visible since `begin`."""
        return [Seen(**seen) for seen in self._ask("end")]

    def zero_ms(self, per_second: int) -> float:
        """When event 0 would have happened at the pace since the last `begin`, epoch milliseconds."""
        return float(self._ask("zero_ms", per_second=per_second))

    def drain(self, chain: str, way: str = "") -> float:
        """Run a chain until what waits is in every layer; seconds. `way` is for peers, see `peer.py`."""
        return float(self._ask("drain", chain=chain, way=way))

    def ods_rows(self, chain: str) -> int:
        """Rows of the chain's ODS."""
        return int(self._ask("ods_rows", chain=chain))

    def board(self, chain: str) -> dict[str, list[int]]:
        """The chain's last layer, by column; see `workload.wrong_stores`."""
        found: dict[str, list[int]] = self._ask("board", chain=chain)
        return found

    def _ask(self, operation: str, **request: Any) -> Any:
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
            raise RuntimeError(f"arm {self.name}: {answer['error']}")
        return answer["result"]


@contextmanager
def arms(root: Path, fluss: str, names: Sequence[str] = (OURS, STOCK, TUNED)) -> Iterator[dict[str, Arm]]:
    """Start arms; they end with the block."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(Arm(name, root, fluss)) for name in names}


def in_turn(names: Sequence[T], rounds: int) -> Iterator[T]:
    """Every name once in each round; each round begins one further, so that none always comes first."""
    for n in range(rounds):
        shift = n % len(names)
        yield from (*names[shift:], *names[:shift])
