"""A real Kafka broker of one node, for tests."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamhouse.install.java import find_java
from streamhouse.services.ports import LOOPBACK
from tests.ivy import fetched, retrieve
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


@contextmanager
def broker(folder: Path) -> Iterator[str]:
    """The address `127.0.0.1:PORT` of a new broker; it ends with the block."""
    jars = _jars()
    own, controller = take_ports(2)
    settings = {
        **SETTINGS,
        "listeners": f"PLAINTEXT://{LOOPBACK}:{own},CONTROLLER://{LOOPBACK}:{controller}",
        "advertised.listeners": f"PLAINTEXT://{LOOPBACK}:{own}",
        "controller.quorum.voters": f"1@{LOOPBACK}:{controller}",
        "log.dirs": str(folder / "data"),
    }
    folder.mkdir(parents=True)
    file = folder / "server.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    java = [str(find_java().executable), "-Xmx384m", "-XX:+UseSerialGC", "-cp", str(jars / "*")]
    formatted = subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", "c3RyZWFtaG91c2UtdGVzdA", "-c", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert formatted.returncode == 0, formatted.stdout + formatted.stderr
    with process([*java, "kafka.Kafka", str(file)], folder / "log", signal.SIGTERM):
        until_open(own)
        yield f"{LOOPBACK}:{own}"


def _jars() -> Path:
    """The folder of Kafka's jars and those it needs."""
    return fetched(f"kafka-{VERSION}", "Kafka", _fetch)


def _fetch(place: Path, folder: Path) -> None:
    kafka = ("-dependency", "org.apache.kafka", "kafka_2.13", VERSION)
    retrieve(place, *kafka, "-retrieve", f"{place}/jars/[artifact]-[revision].[ext]")
    shutil.move(place / "jars", folder)
