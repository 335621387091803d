"""Start the servers of a cluster and wait until they take requests; stop them in order."""

import subprocess
import time
from collections.abc import Collection
from pathlib import Path

from streamhouse.errors import DiskFullError, ServiceStartError
from streamhouse.install.stage import OnStage, Stage
from streamhouse.services.cluster import COORDINATOR, STOP_ORDER, TABLET, ZOOKEEPER, Cluster
from streamhouse.services.layout import ServicesFolder
from streamhouse.services.orphans import servers_below
from streamhouse.services.ports import answers
from streamhouse.services.process import spawn
from streamhouse.services.readiness import what_is_missing
from streamhouse.services.record import Service, ServiceState, save
from streamhouse.services.relocate import finish, pending
from streamhouse.services.server_log import last_words
from streamhouse.services.termination import uninterrupted
from streamhouse.services.watermarks import keep_whole_logs

_TIMEOUT_S = 120.0
_LOOK_EVERY_S = 0.05
_CALM_ROUNDS = 3  # a table that has been found once may be missing a moment later
_GRACE_S = {TABLET: 30.0, COORDINATOR: 10.0, ZOOKEEPER: 10.0}
# A server that misses another one cannot end in order, however long it tries; no rows are lost by killing it.
_BROKEN_GRACE_S = 3.0
# Servers register under these names for as long as their session lives, which outlasts kill -9 by
# its timeout; a server that finds its own name taken waits, and gives up after a minute.
_REGISTRATIONS = ("/fluss/tabletservers/ids/0", "/fluss/coordinators/active")


class PortLostError(Exception):
    """A port that was free when it was chosen has been taken since; start again on others."""


def start(cluster: Cluster, users: ServiceState, *, orderly: bool, progress: OnStage) -> ServiceState:
    """Start the three servers at once, record each in `services.json` as it starts, wait until all answer.

    Args:
        cluster: None of its servers may run.
        users: Who needs them; nothing else of it counts.
        orderly: The last servers were stopped in order. If not, their registrations are removed
            from ZooKeeper before the others start, which takes two seconds more.
        progress: Is called with what is waited for.

    Raises:
        ServiceStartError: a server ended, or did not answer in time. None is left running.
        DiskFullError: a server ended because it could not write.
        PortLostError: a server ended because another process has its port.
    """
    begun = _Start(cluster, users, progress)
    try:
        return begun.run(orderly=orderly)
    except BaseException:  # also Ctrl-C: nothing that was started may stay
        stop(begun.state, cluster.folder, progress)
        raise


def stop(state: ServiceState, folder: ServicesFolder, progress: OnStage) -> bool:
    """Stop what lives of the recorded servers, each before those that it talks to, and those that nothing records.

    The coordinator is asked to end as soon as the tablet server takes no more requests, and both wait at the same time.

    Returns:
        Whether all of them lived and ended without being killed.

    Raises:
        BaseException: it was interrupted, such as by a second Ctrl-C. What still lived was killed then.
    """
    try:
        return _stop_in_order(state, folder, progress)
    except BaseException:
        _kill(state, folder)
        raise


def _stop_in_order(state: ServiceState, folder: ServicesFolder, progress: OnStage) -> bool:
    orderly = state.alive
    grace_s = _GRACE_S if orderly else dict.fromkeys(STOP_ORDER, _BROKEN_GRACE_S)
    by_name = {service.name: service for service in state.services}
    fluss = [by_name[name] for name in (TABLET, COORDINATOR) if name in by_name]
    for service in fluss:
        progress(Stage(f"stopping {service.name}"))
        service.process.ask_to_end()
        # From then on it needs ZooKeeper alone, and waits two seconds for its network threads.
        orderly &= _refuses_within(service, grace_s[service.name]) or service.process.end_within(0)
    for service in fluss:
        orderly &= service.process.end_within(grace_s[service.name])
    if ZOOKEEPER in by_name:
        progress(Stage(f"stopping {ZOOKEEPER}"))
        orderly &= by_name[ZOOKEEPER].process.stop(grace_s[ZOOKEEPER])
    for unrecorded in servers_below(folder.base):  # a start was interrupted before it could record them
        unrecorded.stop(_BROKEN_GRACE_S)
        orderly = False
    return orderly


def _refuses_within(service: Service, seconds: float) -> bool:
    """Wait until a server accepts no more connections, at most `seconds`; whether it ended or refuses them by then."""
    until = time.monotonic() + seconds
    while service.process.alive and answers(service.port):
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK_EVERY_S)
    return True


def _kill(state: ServiceState, folder: ServicesFolder) -> None:
    """End the servers at once; no rows are lost by it."""
    with uninterrupted():
        for process in {*(service.process for service in state.services), *servers_below(folder.base)}:
            process.stop(0)


class _Start:
    def __init__(self, cluster: Cluster, users: ServiceState, progress: OnStage) -> None:
        here = {"fluss": f"localhost:{cluster.ports.coordinator}", "services": (), "complete": False}
        self.state = users.model_copy(update=here)
        self._cluster = cluster
        self._progress = progress
        self._until = time.monotonic() + _TIMEOUT_S

    def _clear(self) -> None:
        self._progress(Stage("clearing what the last servers left", 0.1))
        self._await({ZOOKEEPER})
        self._forget_registrations()

    def run(self, *, orderly: bool) -> ServiceState:
        self._cluster.prepare()
        self._spawn(ZOOKEEPER)
        if not orderly:
            self._clear()
        if (to := pending(self._cluster.folder)) is not None:
            self._progress(Stage("rewriting the paths of a project that was moved", 0.2))
            self._await({ZOOKEEPER})
            finish(self._cluster.folder, self._cluster.ports.zookeeper, to)
        keep_whole_logs(self._cluster.folder.data)
        self._spawn(COORDINATOR)
        self._spawn(TABLET)
        self._progress(Stage("starting Fluss", 0.3))
        self._await({ZOOKEEPER, COORDINATOR, TABLET})
        self._progress(Stage("starting Fluss", 0.8))
        self._await_tables()
        self._record(self.state.model_copy(update={"complete": True}))
        self._progress(Stage("Fluss is up", 1.0))
        return self.state

    def _spawn(self, name: str) -> None:
        folder = self._cluster.folder
        with uninterrupted():  # until it is recorded nothing says that it runs
            process = spawn(
                self._cluster.command(name),
                log=folder.log(name),
                folder=folder.base,
                environment=self._cluster.environment(),
            )
            service = Service(name=name, process=process, port=self._cluster.ports.of(name), log=folder.log(name))
            self._record(self.state.model_copy(update={"services": (*self.state.services, service)}))

    def _record(self, state: ServiceState) -> None:
        self.state = state  # first: should saving fail, what runs is still known here
        save(self._cluster.folder.state, state)

    def _await(self, names: Collection[str]) -> None:
        waiting = set(names)
        while waiting:
            self._check()
            waiting -= {name for name in waiting if answers(self._cluster.ports.of(name))}
            time.sleep(_LOOK_EVERY_S)

    def _await_tables(self) -> None:
        rounds = 0
        while rounds < _CALM_ROUNDS:
            missing = what_is_missing(self.state.fluss, self._cluster.ports.tablet)
            rounds = 0 if missing else rounds + 1
            self._check(missing)
            time.sleep(_LOOK_EVERY_S)

    def _check(self, missing: str | None = None) -> None:
        for service in self.state.services:
            if not service.process.alive:
                raise _why_it_ended(service.name, service.log)
        if time.monotonic() > self._until:
            last = missing or last_words(self._cluster.folder.log(TABLET))
            raise ServiceStartError(
                f"Fluss does not take requests after {_TIMEOUT_S:.0f} s: {last}",
                hint=f"its logs: {self._cluster.folder.logs}",
            )

    def _forget_registrations(self) -> None:
        commands = "".join(f"delete {node}\n" for node in _REGISTRATIONS)
        log = self._cluster.folder.logs / "clearing.log"
        with log.open("wb") as output:
            # Its exit code says nothing, and a node that is not there is well. Should it fail,
            # the servers wait for the old sessions to end: slower, but right.
            subprocess.run(
                self._cluster.zookeeper_shell(),
                input=f"{commands}quit\n".encode(),
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._cluster.environment(),
                cwd=self._cluster.folder.base,
                timeout=_TIMEOUT_S,
                check=False,
            )


def _why_it_ended(name: str, log: Path) -> Exception:
    words = last_words(log)
    if "Address already in use" in words or "BindException" in words:
        return PortLostError(words)
    if "No space left on device" in words or "Disk quota exceeded" in words:
        return DiskFullError(f"the {name} server ended: {words}", hint=f"make room at {log.parent.parent}")
    return ServiceStartError(f"the {name} server ended at its start: {words}", hint=f"its log: {log}")
