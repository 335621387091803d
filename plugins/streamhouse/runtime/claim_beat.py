"""The right to be the one process of a name, such as a runner or a capture, and the heartbeat that keeps it."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from streamhouse.errors import LeaseLostError, StreamhouseError
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.state.runners import Claim, Life
from streamhouse.state.store import StateStore

_log = logging.getLogger(__name__)


@dataclass
class ClaimBeat:
    """Says five times in each lifetime of a claim, from a thread, that its process lives.

    A state store that does not answer is a warning only: what the process carries says so itself if it must.

    Attributes:
        state: Where it is said.
        claim: The right that it keeps.
        tell: Is called with what the process does, in words for a person, when that changes.
        life: Of the process.
        stage: What it does, as it was last recorded.
        lost: Set when another process took its place: this one must end.
        over: Set it to end the thread.
    """

    state: StateStore
    claim: Claim
    tell: Callable[[str], None]
    life: Life = Life.STARTING
    stage: str = "starting"
    lost: LeaseLostError | None = None
    over: threading.Event = field(default_factory=threading.Event)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def say(self, text: str, life: Life | None = None) -> None:
        """Tell and record what the process does, if that or its life (None: as before) has changed."""
        if text != self.stage or (life or self.life) is not self.life:
            self.stage, self.life = text, life or self.life
            self.tell(text)
            self._beat()

    def lives(self, life: Life, stage: str | None = None) -> None:
        """Record where the process is in its life, and tell no person; `stage` None: as before."""
        self.life, self.stage = life, stage or self.stage
        self._beat()

    def retired(self) -> bool:
        """Whether nothing is to be carried, and from now on nothing is taken up.

        Raises:
            LeaseLostError: another process took its place.
        """
        with self._guard:  # a beat meanwhile would say that it is
            if not self.state.runners.retire(self.claim):
                return False
            self.life, self.stage = Life.CLOSING, "closing"
        return True

    def run(self) -> None:
        """Beat until it is over or the claim is lost."""
        while not self.over.wait(self.claim.ttl.total_seconds() / 5) and self.lost is None:
            self._beat()

    def _beat(self) -> None:
        try:
            with self._guard:
                self.state.runners.beat(self.claim, self.life, self.stage)
        except LeaseLostError as error:
            self.lost = error
        except StreamhouseError as error:
            _log.warning("%s", error)


def why_failed(error: Exception) -> str:
    """An error as it is recorded of the process that it ends.

    Example:
        >>> why_failed(KeyError("slot"))
        "KeyError: 'slot'"
    """
    return str(error) if isinstance(error, StreamhouseError) else f"{type(error).__name__}: {error}"


@contextmanager
def beating_as(
    state: StateStore, name: str, ttl: timedelta, *, log: str | None, tell: Callable[[str], None]
) -> Iterator[ClaimBeat]:
    """A block in which this process is the one of a name. Its end is recorded, and why it failed, if it did.

    Args:
        state: Where that is recorded.
        name: Of the runner, or of the capture with its prefix.
        ttl: So long after its last beat another process may take its place.
        log: Where this process' output goes, for people who look for it; None: to who started it.
        tell: See `ClaimBeat`.

    Raises:
        RunnerHeldError: another living process has the name.
    """
    claim = state.runners.claim(name, this_owner(), ttl, alive=is_alive, log=log)
    beating = ClaimBeat(state, claim, tell)
    thread = threading.Thread(target=beating.run, name="heartbeat", daemon=True)
    thread.start()
    error: str | None = None
    try:
        yield beating
    except Exception as raised:
        error = why_failed(raised)
        raise
    finally:
        beating.over.set()
        thread.join()
        with suppress(StreamhouseError):
            state.runners.end(claim, error)
