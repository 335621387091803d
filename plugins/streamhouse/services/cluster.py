"""The three small JVMs that make a Fluss of one machine: command lines, settings, memory."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from streamhouse.doors.variables import PREFIX
from streamhouse.install.java import LATE_SECOND_COMPILER, JavaInstallation
from streamhouse.model.types import Frozen
from streamhouse.secret import names_secret
from streamhouse.services.layout import ServicesFolder
from streamhouse.services.ports import LOOPBACK

ZOOKEEPER, COORDINATOR, TABLET = "zookeeper", "coordinator", "tablet"
STOP_ORDER = (TABLET, COORDINATOR, ZOOKEEPER)
TABLET_ID = "0"

_QUICK_COMPILER = "-XX:TieredStopAtLevel=1"
_SHADED = "org.apache.fluss.shaded.zookeeper3.org.apache.zookeeper"
# A server that lost its session registers again, so a short timeout would be safe, but a laptop that pauses
# for seconds should not notice at all. What kill -9 leaves behind is removed at the next start instead.
_TICK_MS = 1000
_SESSION_S = 20
_SETTINGS = {
    "default.bucket.number": "1",
    "default.replication.factor": "1",
    "zookeeper.client.session-timeout": f"{_SESSION_S}s",
    "zookeeper.client.connection-timeout": "15s",
    "zookeeper.client.retry-wait": "200ms",
    "zookeeper.client.max-retry-attempts": "20",
    "netty.server.num-network-threads": "2",
    "netty.server.num-worker-threads": "4",
    # At its end a tablet server waits for another to take its buckets over; there is none.
    "tablet-server.controlled-shutdown.max-retries": "1",
    "tablet-server.controlled-shutdown.retry-interval": "100ms",
    "server.background.threads": "4",
    "server.io-pool.size": "4",
    "coordinator.io-pool.size": "2",
    "server.buffer.memory-size": "32mb",
    "log.segment.file-size": "64mb",
    "log.index.file-size": "1mb",
    # A restart replays each key-value store from its last snapshot; snapshots hold only what changed.
    "kv.snapshot.interval": "30s",
    "kv.rocksdb.writebuffer.size": "4mb",
    "kv.rocksdb.block.cache-size": "8mb",
    "remote.log.index-file-cache-size": "64mb",
}
_LOGGING = {
    "defaultLogLevel": "warn",
    "showDateTime": "true",
    "dateTimeFormat": "yyyy-MM-dd HH:mm:ss.SSS",
    "showThreadName": "false",
    "log.org.apache.fluss.server.ServerBase": "info",
    "log.org.apache.fluss.server.coordinator.CoordinatorServer": "info",
    "log.org.apache.fluss.server.tablet.TabletServer": "info",
    "log.org.apache.fluss.rpc.netty.server.NettyServer": "info",
    "log.org.apache.fluss.server.zk.ZooKeeperClient": "info",
    # It looks for log4j, which is not there on purpose, and for a folder of plugins that nobody made.
    "log.org.apache.fluss.server.utils.LogShutdownUtil": "off",
    "log.org.apache.fluss.plugin.PluginConfig": "error",
}

_ENVIRONMENT = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "JAVA_TOOL_OPTIONS", "HOSTNAME"}
)
_MAY_HOLD_SECRETS = ("STREAMHOUSE_STATE", "STREAMHOUSE_COLD_CATALOG", "STREAMHOUSE_SPARK_CONF")


class Ports(Frozen):
    """Ports of the loopback interface; clients are given that of the coordinator."""

    zookeeper: int
    coordinator: int
    tablet: int

    def of(self, service: str) -> int:
        """The port of one service."""
        return int(getattr(self, service))


@dataclass(frozen=True)
class Cluster:
    """How to start the servers of one project with one Java, on given ports.

    Attributes:
        jars: Their class path.
        class_options: Service → options of its JVM that use or write an archive of its classes.
    """

    folder: ServicesFolder
    java: JavaInstallation
    jars: Sequence[Path]
    ports: Ports
    class_options: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def prepare(self) -> None:
        """Create folders, empty the scratch folder, put old logs aside and write settings files."""
        shutil.rmtree(self.folder.scratch, ignore_errors=True)
        self.folder.make()
        for service in STOP_ORDER:
            log = self.folder.log(service)
            if log.exists():
                log.replace(log.with_name(f"{log.name}.1"))
        (self.folder.conf / "zoo.cfg").write_text(self._zookeeper_settings(), encoding="ascii")
        text = "".join(f"{key}: {value}\n" for key, value in _SETTINGS.items())
        (self.folder.conf / "server.yaml").write_text(text, encoding="ascii")

    def command(self, service: str) -> list[str]:
        """The command line of one service."""
        classes = self.class_options.get(service, ())
        if service == ZOOKEEPER:
            fast, main = ("-Dzookeeper.preAllocSize=4096", _QUICK_COMPILER), f"{_SHADED}.server.quorum.QuorumPeerMain"
            return self._java("96m", (*fast, *classes), main, str(self.folder.conf / "zoo.cfg"))
        if service == COORDINATOR:
            main = "org.apache.fluss.server.coordinator.CoordinatorServer"
            return self._java("256m", (_QUICK_COMPILER, *classes), main, *self._server(self.ports.coordinator))
        main = "org.apache.fluss.server.tablet.TabletServer"
        server_id = f"-Dtablet-server.id={TABLET_ID}"
        return self._java("1g", (*LATE_SECOND_COMPILER, *classes), main, *self._server(self.ports.tablet), server_id)

    def zookeeper_shell(self) -> list[str]:
        """A command that reads ZooKeeper commands from its standard input."""
        # Its port is open before ZooKeeper answers: without the last flag the first command may be lost.
        server = ("-server", f"{LOOPBACK}:{self.ports.zookeeper}", "-waitforconnection")
        return self._java("64m", (_QUICK_COMPILER,), f"{_SHADED}.ZooKeeperMain", *server)

    def environment(self) -> Mapping[str, str]:
        """The environment of the servers: of ours what a program needs, with a locale in which Java can name any file.

        They serve a project on this machine, and need no secret of it.
        """
        ours = {name: value for name, value in os.environ.items() if name in _ENVIRONMENT or _is_plain(name)}
        return {**ours, "LC_ALL": "C.UTF-8", "JAVA_HOME": str(self.java.home)}

    def _java(self, heap: str, flags: Sequence[str], main: str, *arguments: str) -> list[str]:
        return [
            str(self.java.executable),
            f"-Xmx{heap}",
            "-XX:+UseSerialGC",
            "-XX:-UsePerfData",
            "-XX:+ExitOnOutOfMemoryError",
            f"-XX:ErrorFile={self.folder.logs / 'crash-%p.log'}",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "-Djava.net.preferIPv4Stack=true",
            f"-Djava.io.tmpdir={self.folder.scratch}",
            *(f"-Dorg.slf4j.simpleLogger.{key}={value}" for key, value in _LOGGING.items()),
            *flags,
            "-cp",
            os.pathsep.join(str(jar) for jar in self.jars),
            main,
            *arguments,
        ]

    def _server(self, port: int) -> list[str]:
        # The settings file is read line by line, cut at '#' and ': ', so paths go here.
        return [
            "--configDir",
            str(self.folder.conf),
            f"-Dbind.listeners=FLUSS://{LOOPBACK}:{port}",
            f"-Dzookeeper.address={LOOPBACK}:{self.ports.zookeeper}",
            f"-Ddata.dir={self.folder.data}",
            f"-Dremote.data.dir={self.folder.remote}",
        ]

    def _zookeeper_settings(self) -> str:
        settings = {
            "dataDir": _escaped(str(self.folder.zookeeper)),
            "clientPort": self.ports.zookeeper,
            "clientPortAddress": LOOPBACK,
            "admin.enableServer": "false",
            "tickTime": _TICK_MS,
            "maxClientCnxns": 0,
            "autopurge.snapRetainCount": 3,
            "autopurge.purgeInterval": 1,
        }
        return "".join(f"{key}={value}\n" for key, value in settings.items())


def _is_plain(name: str) -> bool:
    hidden = name in _MAY_HOLD_SECRETS or name.startswith(PREFIX) or names_secret(name)
    return name.startswith("STREAMHOUSE_") and not hidden


def _escaped(value: str) -> str:
    """As a value of a Java properties file, which knows ASCII only."""
    units = value.replace("\\", "\\\\").encode("utf-16-be")
    codes = [int.from_bytes(units[i : i + 2]) for i in range(0, len(units), 2)]
    return "".join(chr(code) if 0x20 <= code < 0x7F else f"\\u{code:04x}" for code in codes)
