"""How a run looks while it goes: a live bar on a terminal, else a line every few seconds."""

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from streamhouse.cli.output import duration_text, rate_text

if TYPE_CHECKING:
    from streamhouse.jobs.progress import RunProgress

LINE_EVERY_S = 5.0


class ProgressView:
    """Shows `RunProgress` on standard error; use it as a context manager.

    Elsewhere than on a terminal, a line is written when the stage changes, after the first epoch, and at most
    every `LINE_EVERY_S` seconds in between, so that a log stays readable.
    """

    def __init__(self, *flows: str, stream: TextIO | None = None) -> None:
        self._flows = flows
        self._stream = stream or sys.stderr
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}
        self._last_line = dict.fromkeys(flows, float("-inf"))
        self._unsaid: dict[str, RunProgress] = {}
        self._news: dict[str, tuple[str, bool]] = {}  # flow → stage, and that no epoch has ended, at the last message

    def __enter__(self) -> Self:
        if self._stream.isatty():
            self._bar, self._tasks = _live_bars(self._flows, self._stream)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        for flow, progress in self._unsaid.items():
            self._line(flow, progress)  # how far it came, however it ended

    def show(self, flow: str, progress: "RunProgress") -> None:
        """Take note of how far the run of a flow is; cheap enough to call after each epoch."""
        if self._bar is not None:
            self._bar.update(
                self._tasks[flow],
                completed=progress.rows,
                total=progress.total_rows,
                facts=facts_text(progress),
                stage=progress.stage,
            )
            return
        now, news = time.monotonic(), (progress.stage, progress.epoch < 0)
        if news != self._news.get(flow) or now - self._last_line[flow] >= LINE_EVERY_S:
            self._news[flow] = news
            self._last_line[flow] = now
            self._unsaid.pop(flow, None)
            self._line(flow, progress)
        else:
            self._unsaid[flow] = progress

    def _line(self, flow: str, progress: "RunProgress") -> None:
        facts = facts_text(progress)
        self._stream.write(f"{flow}: {progress.stage}{f'  {facts}' if facts else ''}\n")
        self._stream.flush()


def facts_text(progress: "RunProgress") -> str:
    """Rows, rate, epoch and freshness of each layer in one line; empty before the first epoch."""
    if progress.epoch < 0:
        return ""
    total = f"/{progress.total_rows:,}" if progress.total_rows is not None else ""
    parts = [
        f"{progress.rows:,}{total} rows",
        f"{rate_text(progress.rows_per_second)} rows/s",
        f"epoch {progress.epoch}",
    ]
    parts += [f"{layer.value} {duration_text(lag)}" for layer, lag in progress.freshness_ms.items()]
    return "  ".join(parts)


def _live_bars(flows: Sequence[str], stream: TextIO) -> tuple[Any, dict[str, Any]]:
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
    return bar, {flow: bar.add_task(flow, total=None, facts="", stage="starting") for flow in flows}
