"""How a run looks while it goes: a live bar on a terminal, else a line every few seconds."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from streamhouse.cli.output import duration_text

if TYPE_CHECKING:
    from streamhouse.runtime.progress import Progress

LINE_EVERY_S = 5.0


class ProgressView:
    """Shows `Progress` on standard error; use it as a context manager.

    Elsewhere than on a terminal, a line is written when the stage changes and at most every
    `LINE_EVERY_S` seconds in between, so that a log stays readable.
    """

    def __init__(self, flow: str, stream: TextIO | None = None) -> None:
        self._flow = flow
        self._stream = stream or sys.stderr
        self._bar: Any = None
        self._task: Any = None
        self._last_line = float("-inf")
        self._last: Progress | None = None
        self._stage = ""

    def __enter__(self) -> Self:
        if self._stream.isatty():
            self._bar, self._task = _live_bar(self._flow, self._stream)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self._last is not None:
            self._line(self._last)  # how far it came, however it ended

    def show(self, progress: "Progress") -> None:
        """Take note of how far the run is; cheap enough to call after each epoch."""
        self._last = progress
        if self._bar is not None:
            self._bar.update(
                self._task,
                completed=progress.rows,
                total=progress.total_rows,
                facts=facts_text(progress),
                stage=progress.stage,
            )
            return
        now = time.monotonic()
        if progress.stage != self._stage or now - self._last_line >= LINE_EVERY_S:
            self._stage = progress.stage
            self._last_line = now
            self._line(progress)
            self._last = None

    def _line(self, progress: "Progress") -> None:
        facts = facts_text(progress)
        self._stream.write(f"{self._flow}: {progress.stage}{f'  {facts}' if facts else ''}\n")
        self._stream.flush()


def facts_text(progress: "Progress") -> str:
    """Rows, rate, epoch and freshness of each layer in one line; empty before the first epoch."""
    if progress.epoch < 0:
        return ""
    total = f"/{progress.total_rows:,}" if progress.total_rows is not None else ""
    parts = [f"{progress.rows:,}{total} rows", f"{progress.rows_per_second:,.0f} rows/s", f"epoch {progress.epoch}"]
    parts += [f"{layer.value} {duration_text(lag)}" for layer, lag in progress.freshness_ms.items()]
    return "  ".join(parts)


def _live_bar(flow: str, stream: TextIO) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[stage]}", style="dim", markup=False),
        TextColumn("{task.fields[facts]}", markup=False),
        TimeElapsedColumn(),
        console=Console(file=stream),
        refresh_per_second=4,
        transient=True,
    )
    return bar, bar.add_task(flow, total=None, facts="", stage="starting")
