"""A runner carries the segments of one flow under one lease (design D10)."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.engine.lease import leased
from streamhouse.engine.stream import Beat, SegmentStream, Surroundings
from streamhouse.errors import LeaseLostError, StreamhouseError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Tier
from streamhouse.state.records import Owner, RunnerState
from streamhouse.state.store import StateStore
from streamhouse.stores.base import Store
from streamhouse.stores.places import Places

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Runner:
    """Runs one flow until told to stop, or until what waits is drained. For one call of `run`."""

    def __init__(
        self,
        plan: FlowPlan,
        spark: "SparkSession",
        stores: Mapping[Tier, Store],
        places: Places,
        state: StateStore,
        owner: Owner,
        *,
        alive: Callable[[Owner], bool],
        checkpoints: Path,
        cache: Path,
        on_beat: Callable[[Beat], None] = lambda _: None,
    ) -> None:
        self._plan = plan
        self._spark = spark
        self._stores = stores
        self._places = places
        self._state = state
        self._owner = owner
        self._alive = alive
        self._checkpoints = checkpoints
        self._cache = cache
        self._on_beat = on_beat
        self._stop = threading.Event()
        self._streams: list[SegmentStream] = []
        self._lost: LeaseLostError | None = None

    def stop(self) -> None:
        """Ask the runner to end after the epochs in hand. Safe from any thread or signal handler."""
        self._stop.set()
        for stream in self._streams:
            stream.ring()

    def run(self, *, once: bool) -> None:
        """Carry the flow; return when it was asked to stop or, with `once`, when what waited at the start is done.

        With `once` segments run one after the other, so that each drains what those before it wrote; else
        side by side.

        Raises:
            LeaseHeldError: another runner carries the flow.
            LeaseLostError: a newer runner took it over meanwhile.
            StreamhouseError: an epoch failed for good; the flow's state says so too.
        """
        with leased(self._state, self._plan.flow, self._owner, alive=self._alive, on_lost=self._lose) as lease:
            around = Surroundings(
                plan=self._plan,
                spark=self._spark,
                stores=self._stores,
                places=self._places,
                state=self._state,
                lease=lease,
                checkpoints=self._checkpoints,
                cache=self._cache,
                stop=self._stop,
                on_beat=self._on_beat,
            )
            try:
                with ExitStack() as stack:
                    # All of them first: a flow that cannot go on as a whole does not begin.
                    self._streams = [SegmentStream(around, segment) for segment in self._plan.segments]
                    self._carry([stack.enter_context(stream.opened()) for stream in self._streams], once=once)
                if self._lost is not None:
                    raise self._lost
            except StreamhouseError as error:
                if not isinstance(error, LeaseLostError):
                    self._state.set_runner_state(lease, RunnerState.FAILED, str(error))
                raise
            finally:
                self._stop.set()

    def _lose(self, error: LeaseLostError) -> None:
        self._lost = error
        self.stop()

    def _carry(self, streams: list[SegmentStream], *, once: bool) -> None:
        if once or len(streams) == 1:
            for stream in streams:
                if not self._stop.is_set():
                    stream.run(once=once)
            return
        with ThreadPoolExecutor(len(streams), thread_name_prefix=self._plan.flow) as pool:
            running = [pool.submit(stream.run, once=False) for stream in streams]
            try:
                done, _ = wait(running, return_when=FIRST_EXCEPTION)
            finally:
                self.stop()  # one that fails takes the others with it
        for future in (*done, *running):
            future.result()
