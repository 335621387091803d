"""What a runner writes while it goes: lines with their time, few enough to keep for months."""

import logging
import sys
import time
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from streamhouse.cli.progress import facts_text
from streamhouse.secret import masked

if TYPE_CHECKING:
    from streamhouse.jobs.progress import RunProgress

FACTS_EVERY_S = 60.0


class RunnerLog:
    """Use it as a context manager; its methods may be called from any thread."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._stage: dict[str, str] = {}
        self._reported_at: dict[str, float] = {}
        self._handler = logging.StreamHandler(self._stream)

    def __enter__(self) -> Self:
        self._handler.setFormatter(_Lines())
        logger = logging.getLogger("streamhouse.jobs")
        logger.addHandler(self._handler)
        logger.setLevel(logging.INFO)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        logging.getLogger("streamhouse.jobs").removeHandler(self._handler)

    @property
    def is_terminal(self) -> bool:
        """Whether a person watches."""
        return self._stream.isatty()

    def say(self, text: str) -> None:
        """Write what the runner does."""
        self._stream.write(f"{_now()} {masked(text)}\n")
        self._stream.flush()

    def progress(self, flow: str, progress: "RunProgress") -> None:
        """Write when the stage of a flow changes, and how far it is now and then."""
        now = time.monotonic()
        if progress.stage == self._stage.get(flow) and now - self._reported_at[flow] < FACTS_EVERY_S:
            return
        self._stage[flow], self._reported_at[flow] = progress.stage, now
        facts = facts_text(progress)
        self.say(f"{flow}: {progress.stage}{f'  {facts}' if facts else ''}")


class _Lines(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(stamp)s %(levelname)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        record.stamp = _now()
        return masked(super().format(record))  # an exception of a library may have a URL with its password in it


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}Z"
