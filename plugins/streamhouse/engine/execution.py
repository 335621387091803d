"""The execution of one flow: its segments under one lease, by a plan that may change on the way (design D8, D10)."""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from streamhouse.engine.lease import LeaseGuard, leased
from streamhouse.engine.observed import refuse_loss
from streamhouse.engine.patience import PATIENCE
from streamhouse.engine.stream import SegmentStream
from streamhouse.engine.surroundings import Beat, Surroundings
from streamhouse.engine.unreadable_flows import plans_beside
from streamhouse.errors import LeaseLostError, StateConflictError, StreamhouseError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Position, Tier
from streamhouse.model.version import table_name
from streamhouse.spark.shortcuts import shortcuts_of
from streamhouse.state.records import Lease, Owner, RunnerState
from streamhouse.state.store import StateStore
from streamhouse.stores.base import Store
from streamhouse.stores.places import Places

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EVENTS = 1_000  # of a flow, among which an event that was already recorded is looked for
_TURN_LOOK_S = 0.1  # between two looks whether the plan is changed
_NO_BOUNDS: Mapping[str, Position] = MappingProxyType({})


class Steward(Protocol):
    """Changes the plan of a flow while it is executed."""

    def between(self, execution: "FlowExecution") -> None:
        """No stream runs: before the first, and after `FlowExecution.turn` ended them. May set `FlowExecution.plan`."""

    def beside(self, execution: "FlowExecution") -> None:
        """The streams run, until `FlowExecution.wait` says that they are to stop. Called in a thread of its own."""

    def before_epoch(self, execution: "FlowExecution", segment: str) -> None:
        """Rows wait, and an epoch that reads them is about to begin; return when it may.

        Called in the thread of the segment's stream while `beside` runs; to return late holds up this segment alone.
        When `FlowExecution.is_ending`, return at once.
        """

    def rows_lost(self, execution: "FlowExecution", segment: str) -> None:
        """A segment needs rows that are gone: return when it is known whether it pauses until a person decides.

        Called in the thread of the segment's stream while `beside` runs.
        When `FlowExecution.is_ending`, return at once.
        """


class FlowExecution:
    """Runs one flow until `stop` is called, or until all waiting rows are processed. For one call of `run`."""

    def __init__(
        self,
        plan: FlowPlan,
        spark: "SparkSession",
        stores: Mapping[Tier, Store],
        places: Callable[[FlowPlan], Places],
        state: StateStore,
        owner: Owner,
        *,
        alive: Callable[[Owner], bool],
        checkpoints: Path,
        cache: Path,
        on_beat: Callable[[Beat], None] = lambda _: None,
        patience: timedelta = PATIENCE,
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.plan = plan  # over the names that stores hold
        self.waiting: frozenset[str] = frozenset()  # ids of steps, as people know them, that must not read on
        self._spark = spark
        self._stores = stores
        self._places = places
        self._state = state
        self._owner = owner
        self._alive = alive
        self._checkpoints = checkpoints
        self._cache = cache
        self._on_beat = on_beat
        self._patience = patience
        self._on_wait = on_wait
        self.beat_at = time.monotonic()  # when the last epoch ended, or this began
        self._stop = threading.Event()
        self._bell: SimpleQueue[None] = SimpleQueue()  # unlike an event, a signal handler may ring it at any moment
        self._halt = threading.Event()  # ends the streams in hand, for a turn or for good
        self._turning = False
        self._beside: Steward | None = None  # while its thread runs
        self._streams: list[SegmentStream] = []
        self._lost: LeaseLostError | None = None
        self._lease_guard: LeaseGuard  # while it runs

    @property
    def lease(self) -> Lease:
        """Of the flow, while it runs."""
        return self._lease_guard.lease

    @property
    def paused(self) -> frozenset[str]:
        """Segments that must not read on for now: those of steps that wait until a person decides."""
        return self.segments_of(self.waiting)

    def segments_of(self, steps: Collection[str]) -> frozenset[str]:
        """Segments with one of these steps, whose ids are as people know them."""
        return frozenset(s.name for s in self.plan.segments if any(table_name(one.id) in steps for one in s.steps))

    def stop(self) -> None:
        """Ask the execution to end after the epochs in hand. Safe from any thread or signal handler."""
        self._stop.set()
        self._bell.put(None)
        self._end_streams()

    @property
    def is_ending(self) -> bool:
        """Whether the streams in hand are to end, for good or for a turn."""
        return self._halt.is_set()

    @property
    def is_stuck(self) -> bool:
        """Whether a segment waits for a person because rows that it needs are gone; its epoch may be half done."""
        return any(stream.is_stuck for stream in self._streams)

    def wait(self, seconds: float) -> bool:
        """Whether the execution is asked to end, now or within so long."""
        return self._stop.wait(seconds)

    def rest(self, seconds: float) -> bool:
        """Like `wait`, for the steward's thread: somebody who wants it back calls `wake`."""
        with suppress(Empty):
            self._bell.get(timeout=seconds)
        return self._stop.is_set()

    def wake(self) -> None:
        """End a `rest`, the one in hand or the next."""
        self._bell.put(None)

    def run(self, *, once: bool, bounds: Mapping[str, Position] = _NO_BOUNDS, steward: Steward | None = None) -> None:
        """Carry the flow; return when it was asked to stop or, with `once`, when what waited at the start is done.

        With `once` segments run one after the other, so that each drains what those before it wrote; else
        side by side.

        Args:
            once: Drain, then return.
            bounds: Source or foreign table → where a drain stops; absent: at its end.
            steward: Changes the plan on the way; with `once` only before the first epoch.

        Raises:
            LeaseHeldError: another process executes the flow.
            LeaseLostError: a newer process took it over meanwhile.
            StateConflictError: the tables hold epochs that the state store does not know.
            StreamhouseError: an epoch failed for good; the flow's state says so too.
        """
        with leased(self._state, self.plan.flow, self._owner, alive=self._alive, on_lost=self._lose) as guard:
            self._lease_guard = guard
            try:
                self._refuse_loss()
                self._tell_refused_shortcuts()
                if steward is not None:
                    steward.between(self)
                with self._accompanied(None if once else steward):
                    self._tour(once=once, bounds=bounds)
                    while self._turning and not self._stop.is_set():
                        assert steward is not None, "nobody else asks for a turn"
                        self._halt.clear()
                        steward.between(self)
                        self._turning = False  # only now may its other thread act again
                        self._tour(once=once, bounds=bounds)
                if self._lost is not None:
                    raise self._lost
            except LeaseLostError:
                raise
            except StreamhouseError as error:
                loss = self._loss_behind(error)
                self._state.set_runner_state(self.lease, RunnerState.FAILED, str(loss or error))
                if loss is not None:
                    raise loss from error
                raise
            finally:
                self._stop.set()

    def _tell_refused_shortcuts(self) -> None:
        """An event for each shortcut that does not do what Spark's public way does; one, as long as that stays so."""
        flow = self.plan.flow
        known_texts = {event.text for event in self._state.events(flow, limit=_EVENTS) if event.kind == "shortcut"}
        for shortcut, reason in shortcuts_of(self._spark).refused.items():
            text = f"shortcut {shortcut} is off, Spark's public way is taken instead: {reason}"
            if text not in known_texts:
                self._state.append_event(flow, "shortcut", text)

    def stand(self, steward: Steward) -> None:
        """Let a steward change the plan of a flow that nobody carries, and run nothing else.

        Raises:
            LeaseHeldError: another process executes the flow.
            StreamhouseError: it could not be changed.
        """
        with leased(self._state, self.plan.flow, self._owner, alive=self._alive, on_lost=self._lose) as guard:
            self._lease_guard = guard
            self._refuse_loss()
            steward.between(self)

    def turn(self) -> None:
        """After the epochs in hand, end the streams, let the steward change the plan, go on. From `Steward.beside`.

        Returns when the steward has changed it, or when the execution is to end: what it does between two plans and
        what it does beside the streams would get into each other's way.
        """
        self._turning = True
        self._end_streams()
        while self._turning and not self.wait(_TURN_LOOK_S):
            pass

    @contextmanager
    def between_epochs(self) -> Iterator[bool]:
        """No epoch runs meanwhile; gives whether none is half done. From `Steward.beside`."""
        with ExitStack() as stack:
            whole = [stack.enter_context(stream.between_epochs()) for stream in self._streams]
            yield all(whole)

    @contextmanager
    def prepared(self, plan: FlowPlan) -> Iterator[Callable[[], None]]:
        """Make everything ready to go on with another plan of the same segments and inputs, while epochs run.

        Gives what takes the plan over: call it, or never, `between_epochs`.

        Raises:
            SchemaConflictError, TypeMismatchError: see `SegmentStream.prepared`.
        """
        with ExitStack() as unused:
            ready = []
            for stream in self._streams:
                ready.append((stream, stream.prepared(plan)))
                unused.callback(ready[-1][1].runner.close)

            def take() -> None:
                self.plan = plan
                for stream, one in ready:
                    stream.take(one)
                unused.pop_all()

            yield take

    def drain(self, bounds: Mapping[str, Position] = _NO_BOUNDS) -> None:
        """Run the segments until what waits, or up to `bounds`, is done. From `Steward.between`.

        An epoch that is half done is completed first. Paused segments are not run.
        """
        self._tour(once=True, bounds=bounds)

    def _end_streams(self) -> None:
        self._halt.set()
        for stream in self._streams:
            stream.ring()

    @contextmanager
    def _accompanied(self, steward: Steward | None) -> Iterator[None]:
        if steward is None:
            yield
            return
        thread = threading.Thread(target=steward.beside, args=(self,), name=f"{self.plan.flow}/steward", daemon=True)
        self._beside = steward
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            self._bell.put(None)
            self._beside = None
            thread.join()

    def _tour(self, *, once: bool, bounds: Mapping[str, Position]) -> None:
        """The streams of one plan, from their start to their end."""
        if self._stop.is_set():
            return
        around = self._surroundings()
        with ExitStack() as stack:
            # All of them first: a flow that cannot go on as a whole does not begin.
            streams = [SegmentStream(around, segment) for segment in self.plan.segments]
            opened = [stack.enter_context(stream.opened()) for stream in streams]
            self._streams = opened
            try:
                self._carry(opened, once=once, bounds=bounds)
            finally:
                self._streams = []

    def _refuse_loss(self) -> None:
        """Before anything is written, changed or dropped by what the state store says."""
        every = plans_beside(self.plan, self._state)
        refuse_loss(self.plan, self._stores, self._state, self._checkpoints, every)

    def _loss_behind(self, error: StreamhouseError) -> StateConflictError | None:
        """What was lost while the flow ran, and made it fail; None: nothing, or a store does not answer."""
        if error.retryable or isinstance(error, StateConflictError):
            return None
        try:
            self._refuse_loss()
        except StateConflictError as loss:
            return loss
        except StreamhouseError:
            return None
        return None

    def _surroundings(self) -> Surroundings:
        return Surroundings(
            plan=self.plan,
            spark=self._spark,
            stores=self._stores,
            places=self._places(self.plan),
            state=self._state,
            lease=self._lease_guard,
            checkpoints=self._checkpoints,
            cache=self._cache,
            stop=self._halt,
            is_paused=lambda segment: segment in self.paused,
            before_epoch=self._before_epoch,
            rows_lost=self._rows_lost,
            on_beat=self._beat,
            patience=self._patience,
            on_wait=self._on_wait,
        )

    def _beat(self, beat: Beat) -> None:
        self.beat_at = time.monotonic()
        self._on_beat(beat)

    def _before_epoch(self, segment: str) -> None:
        if self._beside is not None and not self._turning:  # else its thread waits for the end of this drain
            self._beside.before_epoch(self, segment)

    def _rows_lost(self, segment: str) -> None:
        if self._beside is not None:
            self._beside.rows_lost(self, segment)

    def _lose(self, error: LeaseLostError) -> None:
        self._lost = error
        self.stop()

    def _carry(self, streams: list[SegmentStream], *, once: bool, bounds: Mapping[str, Position]) -> None:
        if once or len(streams) == 1:
            for stream in streams:
                if not self._halt.is_set() and not (once and stream.name in self.paused):
                    stream.run(once=once, bounds=bounds)
            return
        with ThreadPoolExecutor(len(streams), thread_name_prefix=self.plan.flow) as pool:
            running = [pool.submit(stream.run, once=False) for stream in streams]
            try:
                done, _ = wait(running, return_when=FIRST_EXCEPTION)
            finally:
                self._end_streams()  # one that fails takes the others with it
        for future in (*done, *running):
            future.result()
