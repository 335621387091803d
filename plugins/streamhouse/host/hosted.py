"""One flow in a runner: it runs in a thread of its own, and how it ends concerns no other flow."""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from streamhouse.engine.execution import FlowExecution
from streamhouse.engine.lease import leased
from streamhouse.errors import BlockedError, LeaseHeldError, LeaseLostError, StreamhouseError, UnknownFlowError
from streamhouse.jobs.progress import RunProgress
from streamhouse.jobs.run import Meter, carry
from streamhouse.project.edits import to_run
from streamhouse.runtime.open import Open
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.state.records import RunnerState
from streamhouse.state.runners import WantedFlow

_log = logging.getLogger(__name__)


@dataclass
class HostedFlow:
    """A flow from when it was taken up to its end.

    Attributes:
        wanted: What it was taken up for.
        error: Why it failed; read when it is over. None: it did not.
        runs_elsewhere: Read when it is over: another process carries it.
    """

    open: Open
    wanted: WantedFlow
    on_progress: Callable[[RunProgress], None] = lambda _: None
    error: str | None = None
    runs_elsewhere: bool = False
    is_applied: bool = False  # its plan is in the state store
    _execution: FlowExecution | None = None
    _is_stopping: bool = False
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        # A daemon: a Spark that is gone may leave it waiting forever, and the process must end all the same.
        self._thread = threading.Thread(target=self._carry, name=f"flow-{self.wanted.flow}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end after the epochs in hand; again does nothing."""
        with self._guard:
            self._is_stopping = True
            if self._execution is not None:
                self._execution.stop()

    @property
    def is_stopping(self) -> bool:
        """Whether it was asked to end."""
        return self._is_stopping

    @property
    def is_over(self) -> bool:
        """Whether it has ended, however."""
        return not self._thread.is_alive()

    def ended_within(self, seconds: float | None) -> bool:
        """Wait for its end, at most so long (None: until it comes); whether it came."""
        self._thread.join(seconds)
        return self.is_over

    def _carry(self) -> None:
        flow = self.wanted.flow
        try:
            wanted = to_run(self.open.project, flow)
            carry(
                self.open,
                wanted.plan,
                Meter(wanted.plan, self.on_progress, once=False),
                once=False,
                follow=True,
                wanted=wanted,
                on_execution=self._take,
            )
        except (LeaseHeldError, LeaseLostError) as error:
            _log.warning("%s: %s", flow, error)
            self.runs_elsewhere = True
        except BlockedError as error:
            if not self._is_stopping:  # else: what waits for a person, waits on
                self._fail(str(error), error)
        except StreamhouseError as error:
            self._fail(str(error), error)
        except Exception as error:  # noqa: BLE001  whatever it is, it is this flow's alone
            _log.exception("%s", flow)
            cause = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            text = f"internal error: {cause}"
            self._fail(str(StreamhouseError(text, hint="the runner's log has the full trace")), error)

    def _take(self, execution: FlowExecution) -> None:
        with self._guard:
            self._execution = execution
            self.is_applied = True
            if self._is_stopping:
                execution.stop()

    def _fail(self, text: str, error: Exception) -> None:
        """Say it where people look for a flow's state, also where it failed before it had a lease."""
        self.error = text
        _log.error("%s: %s", self.wanted.flow, text)
        if isinstance(error, UnknownFlowError):
            return
        state, flow = self.open.state, self.wanted.flow
        with suppress(StreamhouseError):
            if state.progress(flow, alive=is_alive).error == text:
                return
            with leased(state, flow, this_owner(), alive=is_alive) as guard:
                state.set_runner_state(guard.lease, RunnerState.FAILED, text)
