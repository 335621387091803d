"""The embedded services of a project: a Fluss of three small JVMs on this machine's loopback interface."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from streamhouse.errors import PortTakenError
from streamhouse.install.disk import require_room, writing_to
from streamhouse.install.jars import SERVER_JARS, fetch
from streamhouse.install.java import find_java
from streamhouse.install.only_one import held
from streamhouse.install.stage import OnStage, Stage, silent
from streamhouse.services.cluster import Cluster, Ports
from streamhouse.services.layout import ServicesFolder
from streamhouse.services.ports import free_again, free_ports, require_free
from streamhouse.services.startup import PortLostError, start, stop
from streamhouse.services.state import ServiceState, last_ports, load, save
from streamhouse.services.termination import sigterm_unwinds

_PORT_TRIES = 3


@dataclass(frozen=True)
class Endpoints:
    """Where the services of a project answer; `fluss` is `host:port`."""

    fluss: str


@dataclass(frozen=True)
class ServiceStatus:
    """One service as it is now; `log` may not exist."""

    name: str
    alive: bool
    pid: int
    port: int
    log: Path


@dataclass(frozen=True)
class Status:
    """All services as they are now; `endpoints` is None when they cannot be used."""

    endpoints: Endpoints | None
    services: tuple[ServiceStatus, ...]


class Services:
    """The services of the project at `root`, whichever process started them."""

    def __init__(
        self,
        root: Path,
        *,
        port: int | None = None,
        ivy_settings: Path | None = None,
        least_free_bytes: int = 2**30,
    ) -> None:
        """Touches nothing yet.

        Args:
            root: Folder of the project.
            port: Where clients reach Fluss; None: where they did last, or any free port.
            ivy_settings: See `jars.fetch`.
            least_free_bytes: With less room than this on the disk, nothing is started.
        """
        self.folder = ServicesFolder.of(root)
        self._port = port
        self._ivy_settings = ivy_settings
        self._least_free_bytes = least_free_bytes

    def up(self, progress: OnStage = silent) -> Endpoints:
        """Start what does not run, and wait until it takes requests. Tables and rows of before are there again.

        Services that run are left as they are, also when they listen on another port than the one asked for.
        Where only some of the servers live, these are stopped and all start again.

        Raises:
            JavaMissingError: no Java 17 or later.
            JarDownloadError: the server's jar could not be fetched.
            PortTakenError: the port asked for is in use.
            DiskFullError: too little room.
            ServiceStartError: a server ended, or did not answer in time.
        """
        return self.ensure(progress)[0]

    def down(self, progress: OnStage = silent) -> bool:
        """Stop all services in order; whether there was one to stop."""
        if not self.folder.base.is_dir():
            return False
        with self._alone(progress):
            state = load(self.folder.state)
            if state is None:
                return False
            was_alive = any(service.process.alive for service in state.services)
            self._stop(state, progress)
            return was_alive

    def status(self) -> Status:
        """What runs. Touches nothing and waits for nobody."""
        state = load(self.folder.state)
        if state is None:
            return Status(None, ())
        services = tuple(ServiceStatus(s.name, s.process.alive, s.process.pid, s.port, s.log) for s in state.services)
        return Status(Endpoints(state.fluss) if state.alive else None, services)

    def ensure(self, progress: OnStage) -> tuple[Endpoints, ServiceState | None]:
        """See `up`; the second value is what this call started, None when all ran already."""
        with writing_to(self.folder.base):
            self.folder.base.mkdir(parents=True, exist_ok=True)
            with self._alone(progress):
                state = load(self.folder.state)
                if state is not None and state.alive:
                    return Endpoints(state.fluss), None
                if state is not None:
                    stop(state, progress)
                started = self._start(orderly=state is None, progress=progress)
                return Endpoints(started.fluss), started

    def stop_own(self, started: ServiceState, progress: OnStage) -> None:
        """Stop exactly what `ensure` started; nothing when others run by now."""
        with self._alone(progress):
            if load(self.folder.state) == started:
                self._stop(started, progress)

    @contextmanager
    def _alone(self, progress: OnStage) -> Iterator[None]:
        waiting = Stage("waiting for another process that starts or stops services")
        with held(self.folder.lock, waiting, progress):
            yield

    def _start(self, *, orderly: bool, progress: OnStage) -> ServiceState:
        if self._port is not None:
            require_free(self._port)
        require_room(self.folder.base, self._least_free_bytes)
        java = find_java()
        jars = fetch(SERVER_JARS, settings=self._ivy_settings, progress=progress)
        last = last_ports(self.folder.ports)
        for left in reversed(range(_PORT_TRIES)):
            ports = self._ports(last)
            last = None  # one that is taken at its next start was not free after all
            save(self.folder.ports, ports)
            try:
                return start(Cluster(self.folder, java, jars, ports), orderly=orderly, progress=progress)
            except PortLostError as error:
                if self._port is not None:
                    require_free(self._port)
                if not left:
                    raise PortTakenError(f"no port stays free: {error}", hint="try again") from error
                orderly = False
        raise AssertionError("unreachable")

    def _ports(self, last: Ports | None) -> Ports:
        zookeeper, coordinator, tablet = (
            free_again([last.zookeeper, last.coordinator, last.tablet]) if last else free_ports(3)
        )
        return Ports(zookeeper=zookeeper, coordinator=self._port or coordinator, tablet=tablet)

    def _stop(self, state: ServiceState, progress: OnStage) -> None:
        if stop(state, progress):
            self.folder.state.unlink(missing_ok=True)
        else:  # the next start must know that dead servers are still registered in ZooKeeper
            save(self.folder.state, ServiceState(fluss=state.fluss, services=()))


@contextmanager
def running(root: Path, progress: OnStage = silent, *, ivy_settings: Path | None = None) -> Iterator[Endpoints]:
    """The services of the project at `root`, for the length of a `with` block.

    Starts what does not run and, however the block ends (also by Ctrl-C or SIGTERM), stops what this
    call started: services that ran before stay, and so do those that somebody has started anew since.

    Raises:
        EnvironmentProblem: see `Services.up`.
    """
    services = Services(root, ivy_settings=ivy_settings)
    with sigterm_unwinds():
        endpoints, started = services.ensure(progress)
        try:
            yield endpoints
        finally:
            if started is not None:
                services.stop_own(started, progress)
