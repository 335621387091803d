"""Our arm: the flow as `streamhouse run` carries it."""

import sys
import threading
import time
from pathlib import Path
from typing import Any

from method.serve import OPERATIONS, private_stdout, serve, wait_until
from method.workload import BOARD
from streamhouse.engine.execution import FlowExecution
from streamhouse.engine.surroundings import Beat
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, opened, plan_of
from streamhouse.state.records import EpochRecord


class Ours:
    """Answers for one open project."""

    def __init__(self, open_: Open) -> None:
        self._open = open_
        self._runner: FlowExecution | None = None
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._records: list[EpochRecord] = []
        self._began_ms = 0.0

    def begin(self, chain: str, trigger_ms: int | None) -> None:  # noqa: ARG002  for peers
        """See `Arm.begin`. The flow's freshness decides how often it looks."""
        ready = threading.Event()

        def take(runner: FlowExecution) -> None:
            self._runner = runner
            ready.set()

        self._records = []
        self._began_ms = time.time() * 1000
        self._failure = None
        self._thread = threading.Thread(target=self._carry, args=(chain,), kwargs={"once": False, "take": take})
        self._thread.start()
        ready.wait()
        wait_until(lambda: bool(self._records) or self._failure is not None)

    def end(self) -> list[dict[str, Any]]:
        """See `Arm.end`."""
        assert self._runner is not None
        assert self._thread is not None
        self._runner.stop()
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        return [
            {"layer": layer, "first": _row(record.start), "end": _row(record.end), "visible_ms": ms}
            for record in self._records
            for layer, ms in record.layer_visible_ms.items()
        ]

    def zero_ms(self, per_second: int) -> float:
        """See `Arm.zero_ms`."""
        # An epoch that was logged before the last stop, and run after it, belongs to an earlier pace.
        records = [record for record in self._records if record.at_ms >= self._began_ms]
        return min(record.at_ms - _row(record.end) * 1000 / per_second for record in records)

    def drain(self, chain: str, way: str) -> float:  # noqa: ARG002  for peers
        """See `Arm.drain`."""
        began = time.monotonic()
        self._failure = None
        self._carry(chain, once=True, take=lambda _: None)
        if self._failure is not None:
            raise self._failure
        return time.monotonic() - began

    def ods_rows(self, chain: str) -> int:
        """See `Arm.ods_rows`."""
        table = plan_of(self._open.project, chain).tables[f"ods.{chain}"]
        return int(self._open.stores[Tier.HOT].read_state(table, columns=("event_id",)).num_rows)

    def board(self, chain: str) -> dict[str, list[int]]:
        """See `Arm.board`."""
        table = plan_of(self._open.project, chain).tables[f"ads.{chain}"]
        found: dict[str, list[int]] = self._open.stores[Tier.HOT].read_state(table, columns=BOARD).to_pydict()
        return found

    def _carry(self, chain: str, *, once: bool, take: Any) -> None:
        plan = plan_of(self._open.project, chain)
        meter = _Keeping(plan, self._records, once=once)
        try:
            carry(self._open, plan, meter, once=once, on_execution=take)
        except BaseException as error:  # noqa: BLE001  told by `end`
            self._failure = error


class _Keeping(Meter):
    """Keeps what the runner records of epochs that brought rows."""

    def __init__(self, plan: FlowPlan, records: list[EpochRecord], *, once: bool) -> None:
        super().__init__(plan, lambda _: None, once=once)
        self._records = records

    def beat(self, beat: Beat) -> None:
        super().beat(beat)
        if _row(beat.record.end) > _row(beat.record.start):
            self._records.append(beat.record)


def _row(positions: dict[str, dict[str, int]]) -> int:
    """Rows of a replay, or events of all files of a journal, up to a position."""
    return sum(positions.get("events", {}).values())


def main() -> None:
    """Serve the project that the command line names."""
    replies = private_stdout()
    with opened(Project.at(Path(sys.argv[1]))) as open_:
        ours = Ours(open_)
        operations = {name: getattr(ours, name) for name in OPERATIONS}
        serve(operations, replies)


if __name__ == "__main__":
    main()
