"""Epochs that begin while Spark still plans the batch that stands for them."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

_ALONE_S = 0.1  # an epoch that takes longer has more to do than to plan a batch takes


class EpochsAhead:
    """Begins an epoch as soon as its end is logged, while Spark plans a batch that has no rows.

    Spark calls for the batch some 14 ms later, and then waits for the epoch. If it never does, it calls for the same
    batch after its next start, as after a crash; what was done then is known (design D5).
    """

    def __init__(self, run: Callable[[int], None]) -> None:
        self._run = run
        self._thread = ThreadPoolExecutor(1, "epoch")
        self._next: int | None = None  # Spark counts on; of its first batch nobody knows
        self._begun: Future[None] | None = None

    def logged(self, *, alone: bool = False) -> None:
        """The end of the next batch is in the log.

        Args:
            alone: Nothing waits behind it: let Spark plan its batch afterwards, for the two take each other's time.
        """
        if self._next is not None:
            self._begun = self._thread.submit(self._run, self._next)
            if alone:
                wait([self._begun], _ALONE_S)

    def call(self, batch: int) -> None:
        """Returns when the epoch of a batch has ended; raises what it raised."""
        begun, self._begun = self._begun, None
        if begun is None:
            self._run(batch)
        else:
            assert batch == self._next, "Spark counts its batches"
            begun.result()
        self._next = batch + 1

    def close(self) -> None:
        """Wait for an epoch that has begun."""
        self._thread.shutdown()
