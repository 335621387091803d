"""What the epochs of a `delta` step take: which of its two ways costs less is measured, not assumed.

The answer is the same either way, so an estimate that is wrong costs time and nothing else.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from time import perf_counter

_WORTH = 1.5
"""By this factor computing all must be cheaper: its time varies less with what has changed than the other one's."""
_FADES = 0.8
"""What is not tried keeps so much of its estimate: the first run of a way is slow, as Spark plans and compiles."""
_UNMEASURED = 2_000
"""Rows that a query over all reads in about the time in which the changes of one input are followed."""
_FIXED_ALL, _FIXED_CHANGES = 500_000, 10_000
"""Rows that take about the time that each way takes without any (`benchmarks/delta.py`)."""


@dataclass
class _Way:
    """One of the two ways.

    Attributes:
        fixed: Rows that take the time that it takes without any.
        seconds: That it took; None: not measured.
        rows: Of how many rows.
    """

    fixed: int
    seconds: float | None = None
    rows: int = 0

    def estimate_s(self, rows: int) -> float | None:
        """Seconds for so many rows; None: not measured."""
        return None if self.seconds is None else self.seconds * (self.fixed + rows) / (self.fixed + self.rows)

    @contextmanager
    def measured(self, rows: int) -> Iterator[None]:
        """Measures what runs in it; half of the estimate is from before."""
        begun = perf_counter()
        yield
        took, known = perf_counter() - begun, self.estimate_s(rows)
        self.seconds, self.rows = took if known is None else (known + took) / 2, rows


class DeltaPace:
    """Of one step, in this process. A step has one epoch at a time."""

    def __init__(self) -> None:
        self._all = _Way(_FIXED_ALL)
        self._changes = _Way(_FIXED_CHANGES)

    def prefers_all(self, rows: int, changed: int, inputs: int) -> bool:
        """Whether an epoch had better compute all.

        Args:
            rows: Of all inputs.
            changed: Of these, those that changed.
            inputs: How many inputs changed.
        """
        all_s, follow_s = self._all.estimate_s(rows), self._changes.estimate_s(changed)
        if all_s is None or follow_s is None or self._changes.seconds is None:
            return rows < max(inputs * _UNMEASURED, 2 * changed)
        found = follow_s > _WORTH * all_s
        if found:
            self._changes.seconds *= _FADES
        return found

    def computing_all(self, rows: int) -> AbstractContextManager[None]:
        """Measures what runs in it, over so many rows of all inputs."""
        return self._all.measured(rows)

    def following(self, changed: int) -> AbstractContextManager[None]:
        """Measures what runs in it, of so many changed rows."""
        return self._changes.measured(changed)
