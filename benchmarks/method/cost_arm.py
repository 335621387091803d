"""An arm of `epoch_cost.py`: a flow whose rows come some at once, and what each of its epochs cost."""

import os
import sys
import threading
import time
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from method.machine import cpu_seconds, tree
from method.ours import Ours
from method.serve import private_stdout, serve
from streamhouse.engine.ahead import EpochsAhead
from streamhouse.engine.checkpoint import Checkpoint
from streamhouse.engine.epoch import EpochRun
from streamhouse.engine.frames import Frames
from streamhouse.engine.segment import SegmentExecution
from streamhouse.engine.source import EpochOffsets
from streamhouse.ingest.replay import Replay
from streamhouse.model.types import Position
from streamhouse.project.project import Project
from streamhouse.runtime.open import opened
from streamhouse.state.store import StateStore
from streamhouse.stores.fluss.store import FlussStore

_OPENED: list[Replay] = []


def rows_at_once(rows: int) -> None:
    """Let a replay's rows come `rows` at once instead of one by one, and note each replay that is asked."""
    available = Replay.available

    def in_groups(self: Replay) -> Position:
        if self not in _OPENED:
            _OPENED.append(self)
        at = available(self)["row"]
        return {"row": at - at % rows}

    Replay.available = in_groups  # type: ignore[method-assign]
    if hasattr(Replay, "due_s"):
        due_s = Replay.due_s

        def whole_groups(self: Replay, start: Position) -> float | None:
            row = start.get("row", 0)
            found: float | None = due_s(self, {"row": row - row % rows + rows - 1})
            return found

        Replay.due_s = whole_groups  # type: ignore[method-assign]


_STAGES: list[tuple[str, float, float]] = []
_TIMED = (
    (Checkpoint, "end_of"),
    (StateStore, "unfinished"),
    (StateStore, "begin_epoch"),
    (StateStore, "finish_epoch"),
    (FlussStore, "note"),
    (FlussStore, "write"),
    (FlussStore, "read_changes"),
    (FlussStore, "end"),
    (Frames, "collect"),
    (EpochRun, "_read_range"),
    (EpochRun, "all"),
    (SegmentExecution, "settle"),
    (EpochsAhead, "logged"),
    (EpochsAhead, "call"),
    (EpochOffsets, "newest"),
)


def time_stages() -> None:
    """Note when the parts of each epoch begin and end."""
    for of, name in _TIMED:
        setattr(of, name, _timed(getattr(of, name), f"{of.__name__}.{name}"))


def _timed(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    def timed(self: Any, *given: Any, **named: Any) -> Any:
        what = (
            f"{name} {label}" if given and (label := getattr(given[0], "name", getattr(given[0], "id", ""))) else name
        )
        began = time.monotonic()
        try:
            return call(self, *given, **named)
        finally:
            _STAGES.append((what, began, time.monotonic()))

    return timed


def _stages(began: Sequence[float]) -> dict[str, list[tuple[float, float]]]:
    """Part of an epoch → ms from when its rows were seen to its begin and end, for each epoch."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for name, start, end in _STAGES.copy():
        at = bisect(began, end)
        if at:
            found[name].append(((start - began[at - 1]) * 1000, (end - began[at - 1]) * 1000))
    return found


class CostArm:
    """Answers for one open project."""

    def __init__(self, ours: Ours, rows: int) -> None:
        self._ours = ours
        self._rows = rows

    def begin(self, chain: str) -> None:
        """Carry a flow, and return when its first epoch is done."""
        _OPENED.clear()
        self._ours.begin(chain, None)

    def window(self, seconds: float, per_second: int) -> dict[str, Any]:
        """Epochs of the next `seconds`: how many, lags of each layer in ms, processor ms of each thread."""
        ran = len(self._ours._records)
        _STAGES.clear()
        threads, cpu_s = _threads_ms(), cpu_seconds([os.getpid()])
        time.sleep(seconds)
        now, cpu_s = _threads_ms(), cpu_seconds([os.getpid()]) - cpu_s
        records = self._ours._records[ran:]
        [replay] = [one for one in _OPENED if one._began is not None][-1:]
        assert replay._began is not None
        first, began_s = replay._began
        zero_ms = (time.time() - time.monotonic() + began_s) * 1000

        def came_ms(row: int) -> float:
            return zero_ms + (row - row % self._rows + self._rows - first) * 1000 / per_second

        lags: dict[str, list[float]] = defaultdict(list)
        for record in records:
            start, end = (at.get("events", {}).get("row", 0) for at in (record.start, record.end))
            for row in range(start, end, self._rows):
                lags["seen"].append(record.at_ms - came_ms(row))
                for layer, ms in record.layer_visible_ms.items():
                    lags[layer].append(ms - came_ms(row))
        spent = {name: ms - threads.get(name, 0.0) for name, ms in now.items()}
        seen = [(record.at_ms + 0.5) / 1000 - time.time() + time.monotonic() for record in records]
        return {"epochs": len(records), "cpu_ms": cpu_s * 1000, "lags": lags, "threads": spent, "stages": _stages(seen)}

    def end(self) -> None:
        """Stop the flow."""
        self._ours.end()

    def board(self, chain: str) -> dict[str, list[int]]:
        """See `Arm.board`."""
        return self._ours.board(chain)


def _threads_ms() -> dict[str, float]:
    """Kind of thread → its processor ms so far, over all processes of this one's tree."""
    here = {thread.native_id: thread.name for thread in threading.enumerate()}
    spent: dict[str, float] = defaultdict(float)
    for process in tree([os.getpid()]):
        own = process.pid == os.getpid()
        for task in Path(f"/proc/{process.pid}/task").glob("*"):
            try:
                name = here.get(int(task.name), "native") if own else (task / "comm").read_text().strip()
                nanos = int((task / "schedstat").read_text().split()[0])
            except OSError:
                continue
            who = "driver" if own else "jvm"
            spent[f"{who} {name.rstrip('0123456789').rstrip('-_#')}"] += nanos / 1e6
    return dict(spent)


def main() -> None:
    """Serve the project that the command line names."""
    replies = private_stdout()
    rows = int(os.environ["ROWS_AT_ONCE"])
    rows_at_once(rows)
    if "TIME_STAGES" in os.environ:
        time_stages()
    with opened(Project.at(Path(sys.argv[1]))) as open_:
        arm = CostArm(Ours(open_), rows)
        serve({name: getattr(arm, name) for name in ("begin", "window", "end", "board")}, replies)


if __name__ == "__main__":
    main()
