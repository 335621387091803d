"""Where the embedded services of a project keep what."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ServicesFolder:
    """The folders and files of one project's services, all below `base`; `make` creates the folders."""

    base: Path

    @classmethod
    def of(cls, root: Path) -> "ServicesFolder":
        """Those of the project at `root`. Absolute: servers write these paths into their data."""
        return cls(root.resolve() / ".streamhouse" / "services")

    @property
    def zookeeper(self) -> Path:
        """What ZooKeeper keeps: which tables exist, and where their snapshots are."""
        return self.base / "zookeeper"

    @property
    def data(self) -> Path:
        """The tablet server's logs of rows and its key-value stores."""
        return self.base / "data"

    @property
    def remote(self) -> Path:
        """Snapshots of primary-key tables and older log segments; clients read here, too."""
        return self.base / "remote"

    @property
    def conf(self) -> Path:
        """Written again at every start."""
        return self.base / "conf"

    @property
    def logs(self) -> Path:
        """One file for each service, and `.1` of the run before."""
        return self.base / "logs"

    @property
    def scratch(self) -> Path:
        """Temporary files of the JVMs; emptied at every start."""
        return self.base / "tmp"

    @property
    def state(self) -> Path:
        """The file that lists the processes that run; absent: none runs, and the last ones ended in order."""
        return self.base / "services.json"

    @property
    def ports(self) -> Path:
        """Where the servers listened last: they come back there, so that clients find them again."""
        return self.base / "ports.json"

    @property
    def moved(self) -> Path:
        """Where the project was before it was moved; absent: nothing is left to rewrite."""
        return self.base / "moved.json"

    @property
    def lock(self) -> Path:
        """The lock of the process that starts or stops services."""
        return self.base / "lock"

    def log(self, service: str) -> Path:
        """The log of one service."""
        return self.logs / f"{service}.log"

    def make(self) -> None:
        """Create the folders that are missing."""
        self.base.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (self.zookeeper, self.data, self.remote, self.conf, self.logs, self.scratch):
            folder.mkdir(parents=True, exist_ok=True)
