"""How waiting looks: a bar on a terminal, else one line for each new stage; on standard error."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

if TYPE_CHECKING:
    from streamhouse.install.stage import Stage


class StageView:
    """Shows `Stage`s; use it as a context manager."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._bar: Any = None
        self._task: Any = None
        self._text = ""

    def __enter__(self) -> Self:
        if self._stream.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                TimeElapsedColumn(),
                console=Console(file=self._stream),
                transient=True,
            )
            self._task = self._bar.add_task("", total=None)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        """Take note of what is being waited for, of which no part is known to be done."""
        from streamhouse.install.stage import Stage

        self.show(Stage(text))

    def show(self, stage: "Stage") -> None:
        """Take note of what is being waited for."""
        if self._bar is not None:
            total = None if stage.fraction is None else 1.0
            self._bar.update(self._task, description=stage.text, total=total, completed=stage.fraction or 0.0)
        elif stage.text != self._text:
            self._text = stage.text
            self._stream.write(f"{stage.text}\n")
            self._stream.flush()
