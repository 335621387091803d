"""The near side of an arm: starts its process and asks it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from method.answering import Answering

T = TypeVar("T")
OURS, STOCK, TUNED = "ours", "stock", "tuned"


@dataclass(frozen=True)
class Seen:
    """Source rows `[first, end)` became visible in a layer at `visible_ms`."""

    layer: str
    first: int
    end: int
    visible_ms: float


class Arm(Answering):
    """One process that runs a chain, ours or a peer's; `name` is `ours`, `stock` or `tuned`."""

    def __init__(self, name: str, root: Path, fluss: str) -> None:
        super().__init__(name, "method.ours" if name == OURS else "method.peer", root, fluss)

    def begin(self, chain: str, trigger_ms: int | None = None) -> None:
        """Run a chain, from where it was, and return when new events are in ADS.

        `trigger_ms` is for peers; 0: as fast as they can.
        """
        self.ask("begin", chain=chain, trigger_ms=trigger_ms)

    def end(self) -> list[Seen]:
        """Stop the chain, and tell what became visible since `begin`."""
        return [Seen(**seen) for seen in self.ask("end")]

    def zero_ms(self, per_second: int) -> float:
        """When event 0 would have happened at the pace since the last `begin`, epoch milliseconds."""
        return float(self.ask("zero_ms", per_second=per_second))

    def drain(self, chain: str, way: str = "") -> float:
        """Run a chain until what waits is in every layer; seconds. `way` is for peers, see `peer.py`."""
        return float(self.ask("drain", chain=chain, way=way))

    def ods_rows(self, chain: str) -> int:
        """Rows of the chain's ODS."""
        return int(self.ask("ods_rows", chain=chain))

    def board(self, chain: str) -> dict[str, list[int]]:
        """The chain's last layer, by column; see `workload.wrong_stores`."""
        found: dict[str, list[int]] = self.ask("board", chain=chain)
        return found


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
