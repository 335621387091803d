"""Keeps Airflow's processes: starts them, starts again what dies, and leaves none behind."""

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from streamhouse.errors import ServiceStartError
from streamhouse.services.process import Process, spawn

_GRACE_S = 12.0
_LOOK_EVERY_S = 0.1
_DEATHS_MAX = 5
_DEATHS_WITHIN_S = 300.0


@dataclass
class Component:
    """One process of Airflow, the leader of a session of its own, so that its children are known by that.

    Attributes:
        name: As `airflow NAME` knows it.
        command: Its program and arguments.
        log: Gets its output.
    """

    name: str
    command: Sequence[str]
    log: Path
    process: Process | None = None
    deaths: list[float] = field(default_factory=list)


class Components:
    """Airflow's processes, which live and end together; used by one thread."""

    def __init__(self, components: Sequence[Component], folder: Path, environment: Mapping[str, str]) -> None:
        """Start nothing yet.

        Args:
            components: In the order in which they start.
            folder: Their working directory; a list of pids is kept there.
            environment: All of their environment variables.
        """
        self._components = components
        self._folder = folder
        self._environment = environment
        self._pids = folder / "pids"

    def clear(self) -> bool:
        """End what a parent that was killed left behind; whether there was anything."""
        found = False
        with suppress(OSError, ValueError):
            for line in self._pids.read_text().splitlines():
                process = Process.model_validate_json(line)
                if process.alive or _session(process.pid) - {process.pid}:
                    found = True
                    _end([process])
            self._pids.unlink()
        return found

    def start(self) -> None:
        """Start all of them."""
        for component in self._components:
            self._start(component)

    def check(self, say: Callable[[str], None]) -> None:
        """Start again what has died.

        Raises:
            ServiceStartError: one dies again and again.
        """
        for component in self._components:
            if component.process is None or component.process.alive:
                continue
            now = time.monotonic()
            component.deaths = [at for at in component.deaths if now - at < _DEATHS_WITHIN_S] + [now]
            if len(component.deaths) > _DEATHS_MAX:
                problem = f"ended {len(component.deaths)} times in {_DEATHS_WITHIN_S:.0f} s"
                raise ServiceStartError(
                    f"Airflow's {component.name} {problem}:\n{last_lines(component.log)}",
                    hint=f"its log: {component.log}",
                )
            say(f"Airflow's {component.name} has ended; starting it again (log: {component.log})")
            _end([component.process])  # its children
            self._start(component)

    def stop(self) -> None:
        """Ask all to end at once, wait, then kill what is left of them, children too."""
        _end([c.process for c in self._components if c.process is not None])
        for component in self._components:
            component.process = None
        self._pids.unlink(missing_ok=True)

    def _start(self, component: Component) -> None:
        component.process = spawn(
            component.command, log=component.log, folder=self._folder, environment=self._environment
        )
        alive = [c.process.model_dump_json() for c in self._components if c.process is not None]
        self._pids.write_text("\n".join(alive) + "\n")


def last_lines(log: Path, count: int = 8) -> str:
    """The end of a log, for a message."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(f"  {line}" for line in lines[-count:])


def _end(leaders: Sequence[Process]) -> None:
    for leader in leaders:
        if leader.alive:
            with suppress(ProcessLookupError, PermissionError):
                # To the group, as Ctrl-C in a terminal would: Airflow's parents do not pass a SIGTERM on.
                os.killpg(leader.pid, signal.SIGINT)
    until = time.monotonic() + _GRACE_S
    while time.monotonic() < until and any(leader.alive or _session(leader.pid) for leader in leaders):
        time.sleep(_LOOK_EVERY_S)
    for leader in leaders:
        for pid in _session(leader.pid):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    for leader in leaders:
        leader.ended_within(_GRACE_S)


def _session(leader: int) -> set[int]:
    """The processes of a leader's session that run; zombies do not."""
    import psutil

    found = set()
    for process in psutil.process_iter():
        with suppress(ProcessLookupError, PermissionError, psutil.Error):
            if os.getsid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                found.add(process.pid)
    return found
