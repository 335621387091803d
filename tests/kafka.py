"""A real Kafka broker of one node, for tests."""

import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from streamhouse.install.java import find_java
from streamhouse.services.ports import LOOPBACK
from tests.certificates import certificates
from tests.ivy import fetched, retrieve
from tests.patience import PATIENCE_S, until
from tests.ports import take_ports
from tests.production import process, until_open

VERSION = "4.1.1"
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.listener.names": "CONTROLLER",
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": 0,
    "log.retention.check.interval.ms": 500,
}


def new_topic(servers: str, name: str, partitions: int = 1, **config: str) -> None:
    """Create a topic, and wait until the broker has heard of it: the controller answers before that.

    Args:
        servers: Of the broker.
        name: Of the topic.
        partitions: How many it gets.
        config: Settings of the topic, such as `cleanup.policy`.
    """
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(name, partitions, 1, config=config)])[name].result(PATIENCE_S)

    def known() -> bool:
        found = admin.list_topics(timeout=PATIENCE_S).topics.get(name)
        return found is not None and found.error is None and len(found.partitions) == partitions

    until(known, what=f"topic {name}")


@dataclass(frozen=True)
class Login:
    """A broker that asks who we are.

    Attributes:
        inner: Address of a door without a login, for what a test prepares.
        scram: Address of a door that asks for a password, behind TLS.
        tls: Address of a door that asks for a certificate.
        ca: The authority's certificate.
        certificate: Ours, of that authority.
        key: The key of ours.
    """

    inner: str
    scram: str
    tls: str
    ca: Path
    certificate: Path
    key: Path


class Broker:
    """A broker that can be killed and started again; it keeps its address and its messages.

    Args:
        folder: Of its settings, its log and its messages.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        own, controller = take_ports(2)
        self._port = own
        self._settings = {
            **SETTINGS,
            "listeners": f"PLAINTEXT://{LOOPBACK}:{own},CONTROLLER://{LOOPBACK}:{controller}",
            "advertised.listeners": f"PLAINTEXT://{LOOPBACK}:{own}",
            "controller.quorum.voters": f"1@{LOOPBACK}:{controller}",
        }
        self._block = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self.servers = f"{LOOPBACK}:{own}"

    def start(self) -> None:
        """Start it, or start it again."""
        self._process = self._block.enter_context(_started(self._folder, self._settings, self._port))

    def kill(self) -> None:
        """Kill it; what it has acknowledged stays."""
        assert self._process is not None
        self._process.kill()
        self.stop()

    def stop(self) -> None:
        self._block.close()


@contextmanager
def broker(folder: Path) -> Iterator[str]:
    """The address `127.0.0.1:PORT` of a new broker; it ends with the block."""
    found = Broker(folder)
    found.start()
    try:
        yield found.servers
    finally:
        found.stop()


@contextmanager
def broker_with_login(folder: Path, user: str, password: str) -> Iterator[Login]:
    """A new broker with a user of SCRAM-SHA-512; it ends with the block."""
    folder.mkdir(parents=True)
    own, scram, tls, controller = take_ports(4)
    doors = {"INNER": own, "SCRAM": scram, "TLS": tls}
    ca, certificate, key = certificates(folder)
    (folder / "store.pem").write_text(key.read_text() + certificate.read_text())
    settings = {
        **SETTINGS,
        "listeners": ",".join(
            f"{name}://{LOOPBACK}:{port}" for name, port in {**doors, "CONTROLLER": controller}.items()
        ),
        "advertised.listeners": ",".join(f"{name}://{LOOPBACK}:{port}" for name, port in doors.items()),
        "listener.security.protocol.map": "INNER:PLAINTEXT,CONTROLLER:PLAINTEXT,SCRAM:SASL_SSL,TLS:SSL",
        "inter.broker.listener.name": "INNER",
        "controller.quorum.voters": f"1@{LOOPBACK}:{controller}",
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.scram.scram-sha-512.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        ),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "store.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(ca),
        "listener.name.tls.ssl.client.auth": "required",
    }
    with _started(folder, settings, scram, "--add-scram", f"SCRAM-SHA-512=[name={user},password={password}]"):
        inner, asked, shown = (f"{LOOPBACK}:{port}" for port in doors.values())
        yield Login(inner, asked, shown, ca, certificate, key)


@contextmanager
def _started(
    folder: Path, settings: Mapping[str, object], port: int, *storage: str
) -> Iterator["subprocess.Popen[bytes]"]:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "server.properties"
    given = {**settings, "log.dirs": str(folder / "data")}
    file.write_text("".join(f"{key}={value}\n" for key, value in given.items()))
    java = [str(find_java().executable), "-Xmx384m", "-XX:+UseSerialGC", "-cp", str(_jars() / "*")]
    words = ["format", "--ignore-formatted", "-t", "c3RyZWFtaG91c2UtdGVzdA", "-c", str(file), *storage]
    formatted = subprocess.run(
        [*java, "kafka.tools.StorageTool", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert formatted.returncode == 0, formatted.stdout + formatted.stderr
    with process([*java, "kafka.Kafka", str(file)], folder / "log", signal.SIGTERM) as started:
        until_open(port)
        yield started


def _jars() -> Path:
    """The folder of Kafka's jars and those it needs."""
    return fetched(f"kafka-{VERSION}", "Kafka", _fetch)


def _fetch(place: Path, folder: Path) -> None:
    kafka = ("-dependency", "org.apache.kafka", "kafka_2.13", VERSION)
    retrieve(place, *kafka, "-retrieve", f"{place}/jars/[artifact]-[revision].[ext]")
    shutil.move(place / "jars", folder)
