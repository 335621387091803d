"""A real Kafka broker of one node, for tests."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from streamhouse.install.jars import cache_folder
from streamhouse.install.java import find_java
from streamhouse.install.only_one import held
from streamhouse.install.stage import Stage, silent
from streamhouse.services.ports import LOOPBACK, free_ports
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
    own, controller = free_ports(2)
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
    """The folder of Kafka's jars and those it needs, fetched once for each user."""
    folder = cache_folder().parent / f"kafka-{VERSION}"
    with held(folder.with_suffix(".lock"), Stage("fetching Kafka"), silent):
        if not folder.exists():
            _fetch(folder)
    return folder


def _fetch(folder: Path) -> None:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    (ivy,) = (Path(spec.origin).parent / "jars").glob("ivy-*.jar")
    mirror = os.environ.get("STREAMHOUSE_IVY_SETTINGS")
    with TemporaryDirectory(dir=folder.parent) as name:
        done = subprocess.run(
            [
                *(str(find_java().executable), "-jar", str(ivy), "-cache", f"{name}/ivy"),
                *(["-settings", mirror] if mirror else []),
                *("-dependency", "org.apache.kafka", "kafka_2.13", VERSION, "-confs", "default"),
                *("-retrieve", f"{name}/jars/[artifact]-[revision].[ext]"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:]
        shutil.move(f"{name}/jars", folder)
