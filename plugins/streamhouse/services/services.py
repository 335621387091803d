"""The embedded services of a project: a Fluss of three small JVMs on this machine's loopback interface."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from streamhouse.errors import PortTakenError
from streamhouse.install.disk import require_room, writing_to
from streamhouse.install.jars import SERVER_JARS, fetch
from streamhouse.install.java import find_java
from streamhouse.install.only_one import locked
from streamhouse.install.stage import OnStage, Stage, silent
from streamhouse.services.class_archive import class_options
from streamhouse.services.cluster import Cluster, Ports
from streamhouse.services.guardian import begin, done, watch
from streamhouse.services.layout import ServicesFolder
from streamhouse.services.orphans import orphans, servers_below
from streamhouse.services.ports import free_again, free_ports, require_free
from streamhouse.services.process import Process
from streamhouse.services.record import ServiceState, last_ports, load, save
from streamhouse.services.startup import PortLostError, start, stop
from streamhouse.services.termination import sigterm_unwinds

_PORT_TRIES = 3
_GRACE_S = 10.0


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
class ServicesStatus:
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
        """Start what does not run, and wait until it takes requests. It stays until `down`, also if none needs it.

        Tables and rows of before are there again. Services that run are left as they are, also when they listen on
        another port than the one asked for. Where only some of the servers live, these are stopped and all start again.

        Raises:
            JavaMissingError: no Java 17 or later.
            JarDownloadError: the server's jar could not be fetched.
            PortTakenError: the port asked for is in use.
            DiskFullError: too little room.
            ServiceStartError: a server ended, or did not answer in time.
        """
        with self._accounted():
            return self._ensure(progress, lambda state: state.model_copy(update={"pinned": True}))

    def down(self, progress: OnStage = silent) -> bool:
        """Stop all services in order, and what others left behind; whether there was something to stop."""
        if not self.folder.base.is_dir():
            return False
        with self._alone(progress):
            state, left = load(self.folder.state), self.orphans()
            was_alive = bool(left) or (state is not None and any(one.process.alive for one in state.services))
            if state is not None:
                self._stop(state, progress)
            for process in left:
                process.stop(_GRACE_S)
            return was_alive

    def status(self) -> ServicesStatus:
        """What runs. Touches nothing and waits for no other process."""
        state = load(self.folder.state)
        if state is None:
            return ServicesStatus(None, ())
        services = tuple(ServiceStatus(s.name, s.process.alive, s.process.pid, s.port, s.log) for s in state.services)
        return ServicesStatus(Endpoints(state.fluss) if state.alive else None, services)

    def orphans(self) -> tuple[Process, ...]:
        """Processes that somebody started for this project and that no process needs any more; `down` ends them."""
        state = load(self.folder.state)
        needed = {one.process for one in state.services} if state is not None and state.is_needed else set()
        found = {*servers_below(self.folder.base), *orphans(self.folder.base.parent)}
        return tuple(sorted(found - needed, key=lambda one: one.pid))

    def use(self, progress: OnStage) -> Endpoints:
        """As `up`, until this process calls `leave` as often as this, or dies. The last user stops the services.

        Services that a killed process left are taken over: they stop with this user.

        Raises:
            EnvironmentProblem: see `up`.
        """
        with self._accounted():
            endpoints = self._ensure(progress, lambda state: state.with_user(Process.this()))
            begin(self._root)  # until `leave`
        return endpoints

    def again(self, progress: OnStage) -> Endpoints:
        """Start what has died since `use`, for the same users.

        Raises:
            EnvironmentProblem: see `up`.
        """
        ours = Process.this()

        def claimed(state: ServiceState) -> ServiceState:
            return state if any(user.pid == ours.pid for user in state.living_users) else state.with_user(ours)

        return self._ensure(progress, claimed)

    def leave(self, progress: OnStage) -> None:
        """This process needs the services no more: they stop when no other process needs them."""
        with self._alone(progress):
            state = load(self.folder.state)
            if state is not None:
                self._keep_or_stop(state.without_user(Process.this()), progress)
        done(self._root)

    def stop_unneeded(self, progress: OnStage) -> None:
        """Stop the services when all who needed them are dead, or when their start was cut off."""
        with self._alone(progress):  # so no other process starts them now
            state = load(self.folder.state)
            if state is None:
                for unrecorded in servers_below(self.folder.base):
                    unrecorded.stop(_GRACE_S)
            elif not state.is_needed or not state.complete:
                self._stop(state, progress)

    @property
    def _root(self) -> Path:
        return self.folder.base.parent.parent

    @contextmanager
    def _accounted(self) -> Iterator[None]:
        """Within the block the guardian ends what is left, should this process end in any way."""
        watch(self._root)
        begin(self._root)
        try:
            yield
        except Exception:  # nothing is left of a start that failed
            done(self._root)
            raise
        done(self._root)  # an interrupt goes past it: whether all is ended, the guardian looks

    def _ensure(self, progress: OnStage, claimed: Callable[[ServiceState], ServiceState]) -> Endpoints:
        with writing_to(self.folder.base):
            self.folder.base.mkdir(parents=True, exist_ok=True)
            with self._alone(progress):
                state = load(self.folder.state)
                if state is not None and state.alive:
                    save(self.folder.state, claimed(state))
                    return Endpoints(state.fluss)
                needed = state or ServiceState(fluss="", services=(), pinned=False)
                if state is not None:
                    stop(state, self.folder, progress)
                users = claimed(needed)
                started = self._start(users, orderly=state is None, progress=progress)
                return Endpoints(started.fluss)

    def _keep_or_stop(self, state: ServiceState, progress: OnStage) -> None:
        if state.is_needed:
            save(self.folder.state, state)
        else:
            self._stop(state, progress)

    @contextmanager
    def _alone(self, progress: OnStage) -> Iterator[None]:
        waiting = Stage("waiting for another process that starts or stops services")
        with locked(self.folder.lock, waiting, progress):
            yield

    def _start(self, users: ServiceState, *, orderly: bool, progress: OnStage) -> ServiceState:
        if self._port is not None:
            require_free(self._port)
        require_room(self.folder.base, self._least_free_bytes)
        java = find_java()
        jars = fetch(SERVER_JARS, settings=self._ivy_settings, progress=progress)
        classes = class_options(java, jars, progress)
        last = last_ports(self.folder.ports)
        for left in reversed(range(_PORT_TRIES)):
            ports = self._ports(last)
            last = None  # one that is taken at its next start was not free after all
            save(self.folder.ports, ports)
            try:
                cluster = Cluster(self.folder, java, jars, ports, classes)
                return start(cluster, users, orderly=orderly, progress=progress)
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
        if stop(state, self.folder, progress):
            self.folder.state.unlink(missing_ok=True)
        else:  # the next start must know that dead servers are still registered in ZooKeeper
            save(self.folder.state, ServiceState(fluss=state.fluss, services=(), pinned=False))


@contextmanager
def running(root: Path, progress: OnStage = silent, *, ivy_settings: Path | None = None) -> Iterator[Endpoints]:
    """The services of the project at `root`, for the length of a `with` block.

    Starts what does not run. However the block ends, also by Ctrl-C, SIGTERM or the death of this process, the
    services stop with the last process that needs them, except those that `services up` started.

    Raises:
        EnvironmentProblem: see `Services.up`.
    """
    services = Services(root, ivy_settings=ivy_settings)
    with sigterm_unwinds():
        endpoints = services.use(progress)
        try:
            yield endpoints
        finally:
            services.leave(progress)
