"""What a small production has beside us, as processes: PostgreSQL, S3, a second tablet server, a Spark cluster."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from socket import create_connection
from tempfile import TemporaryDirectory
from unittest.mock import patch
from urllib.request import Request, urlopen

from streamhouse.install.jars import SERVER_JARS, fetch
from streamhouse.install.java import find_java
from streamhouse.install.private_file import write_private
from streamhouse.services.cluster import TABLET, Cluster, Ports
from streamhouse.services.layout import ServicesFolder
from streamhouse.services.ports import LOOPBACK
from streamhouse.services.record import last_ports
from streamhouse.spark.settings_file import properties_text
from tests.patience import PATIENCE_S, until
from tests.ports import take_ports


@contextmanager
def postgres(*settings: str, folder: Path | None = None, port: int | None = None) -> Iterator[str]:
    """The URL of an empty PostgreSQL database of its own, whose server has these settings and ends with the block.

    Args:
        settings: Of the server, such as `wal_level=logical`.
        folder: Of its data, which may be there from a block before; None: it goes with the block.
        port: The one it had before; None: a free one.
    """
    programs = postgres_programs()
    as_other_user = ["setpriv", "--reuid=nobody", "--clear-groups"] if os.geteuid() == 0 else []  # it refuses root
    with ExitStack() as block:
        folder = folder or Path(block.enter_context(TemporaryDirectory(prefix="postgres-")))
        data = folder / "data"
        if not data.exists():
            if as_other_user:
                shutil.chown(folder, "nobody")  # the user of the server
            _done([*as_other_user, str(programs / "initdb"), "-D", str(data), "-U", "streamhouse", "-A", "trust"])
        port = port or take_ports(1)[0]
        options = ["-p", str(port), "-k", "", "-c", f"listen_addresses={LOOPBACK}", "-c", "fsync=off"]
        options += [part for setting in settings for part in ("-c", setting)]
        server = [*as_other_user, str(programs / "postgres"), "-D", str(data), *options]
        block.enter_context(process(server, folder / "log", signal.SIGINT))
        until_open(port)
        url = f"postgresql+psycopg://streamhouse@{LOOPBACK}:{port}/postgres"
        _until_answers(url)
        yield url


def postgres_programs() -> Path:
    """The folder of the programs of the newest PostgreSQL here, which is installed if root may do that.

    Raises:
        AssertionError: there is none.
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not found and os.geteuid() == 0 and shutil.which("apt-get"):
        _done(["apt-get", "install", "-y", "--no-install-recommends", "postgresql"])
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not found:
        raise AssertionError("this test needs a PostgreSQL server: apt-get install postgresql")
    return found[-1].parent


@contextmanager
def mariadb(*settings: str, folder: Path | None = None, port: int | None = None) -> Iterator[str]:
    """The URL of a MariaDB server of its own, which has a binlog and these settings and ends with the block.

    Args:
        settings: Of the server, such as `binlog_format=ROW`.
        folder: Of its data, which may be there from a block before; None: it goes with the block.
        port: The one it had before; None: a free one.
    """
    programs = _mariadb_programs()
    with ExitStack() as block:
        data = folder or Path(block.enter_context(TemporaryDirectory(prefix="mariadb-"))) / "data"
        if not data.exists():
            data.mkdir(parents=True)
            install = [str(programs / "bin" / "mariadb-install-db"), "--no-defaults", f"--basedir={programs}"]
            _done([*install, f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db"])
        port = port or take_ports(1)[0]
        options = [f"--datadir={data}", f"--port={port}", f"--bind-address={LOOPBACK}", f"--socket={data}/socket"]
        options += ["--skip-name-resolve", "--server-id=1", "--innodb-buffer-pool-size=64M"]
        options += [f"--{one}" for one in ("log-bin=bin", "sql-mode=", "binlog-format=ROW", *settings)]
        user = ["--user=root"] if os.geteuid() == 0 else []
        server = [str(programs / "sbin" / "mariadbd"), "--no-defaults", f"--basedir={programs}", *user, *options]
        block.enter_context(process(server, data.parent / "mariadb.log", signal.SIGTERM))
        until_open(port)
        yield f"mysql+pymysql://root@{LOOPBACK}:{port}"


def _mariadb_programs() -> Path:
    """The folder with `bin` and `sbin` of MariaDB's server."""
    here = Path("/usr")
    if not (here / "sbin" / "mariadbd").exists() and os.geteuid() == 0 and shutil.which("apt-get"):
        # Without the package mariadb-server, which would start one that nobody asked for.
        _done(["apt-get", "install", "-y", "--no-install-recommends", "mariadb-server-core", "mariadb-client-core"])
    if not (here / "sbin" / "mariadbd").exists():
        raise AssertionError("this test needs MariaDB: apt-get install mariadb-server-core mariadb-client-core")
    return here


def _until_answers(url: str) -> None:
    from sqlalchemy import create_engine
    from sqlalchemy.exc import OperationalError

    engine = create_engine(url)

    def answers() -> bool:
        try:
            engine.connect().close()
        except OperationalError:
            return False
        return True

    until(answers, what=f"an answer at {engine.url}")
    engine.dispose()


@contextmanager
def object_store(folder: Path, bucket: str) -> Iterator[dict[str, str]]:
    """A server that speaks S3, with one empty bucket; gives the variables by which a project reaches it."""
    (port,) = take_ports(1)
    address = f"http://{LOOPBACK}:{port}"
    command = [sys.executable, "-m", "moto.server", "--host", LOOPBACK, "--port", str(port)]
    with process(command, folder / "object_store.log", signal.SIGTERM):
        until_open(port)
        with urlopen(Request(f"{address}/{bucket}", method="PUT")) as answer:
            assert answer.status == HTTPStatus.OK
        yield {
            "STREAMHOUSE_S3_ENDPOINT": address,
            "AWS_ACCESS_KEY_ID": "a-key",
            "AWS_SECRET_ACCESS_KEY": "a-secret-that-nobody-may-see",
        }


@contextmanager
def second_tablet_server(root: Path, data: Path) -> Iterator[int]:
    """One more tablet server in the running cluster of the project at `root`; gives its port."""
    folder = ServicesFolder.of(root)
    ports = last_ports(folder.ports)
    assert ports is not None
    (port,) = take_ports(1)
    java = find_java()
    more = Cluster(
        folder, java, fetch(SERVER_JARS), Ports(zookeeper=ports.zookeeper, coordinator=ports.coordinator, tablet=port)
    )
    first = "-Dtablet-server.id=0"
    command = more.command(TABLET)
    assert first in command
    changed = {first: "-Dtablet-server.id=1", f"-Ddata.dir={folder.data}": f"-Ddata.dir={data}"}
    command = [changed.get(part, part) for part in command]
    with process(command, data.with_suffix(".log"), signal.SIGTERM, environment=more.environment()):
        until_open(port)
        yield port


@contextmanager
def spark_cluster(
    folder: Path, workers: int, environment: Mapping[str, str], secret: str = "a-secret-of-this-cluster"
) -> Iterator[str]:
    """The URL `spark://…` of a standalone master with workers of one core and 1 GiB each, which share a secret."""
    java = find_java()
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent
    port, page, *pages = take_ports(2 + workers)
    given = {
        **environment,
        "SPARK_HOME": str(home),
        "SPARK_SCALA_VERSION": "2.13",  # an installed package does not say
        "SPARK_LOCAL_IP": LOOPBACK,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_CONF_DIR": str(folder / "conf"),
    }
    start = [str(java.executable), "-Xmx256m", "-cp", str(home / "jars" / "*")]
    url = f"spark://{LOOPBACK}:{port}"
    (folder / "conf").mkdir(parents=True)
    write_private(
        folder / "conf" / "spark-defaults.conf",
        properties_text({"spark.authenticate": "true", "spark.authenticate.secret": secret}),
    )
    with ExitStack() as running:
        address = ["--host", LOOPBACK, "--port", str(port), "--webui-port", str(page)]
        running.enter_context(
            process(
                [*start, "org.apache.spark.deploy.master.Master", *address],
                folder / "master.log",
                signal.SIGTERM,
                environment=given,
            )
        )
        until_open(port)
        for number, own in enumerate(pages):
            size = ["--cores", "1", "--memory", "1g", "--host", LOOPBACK, "--webui-port", str(own)]
            place = ["--work-dir", str(folder / f"worker{number}")]
            running.enter_context(
                process(
                    [*start, "org.apache.spark.deploy.worker.Worker", *size, *place, url],
                    folder / f"worker{number}.log",
                    signal.SIGTERM,
                    environment=given,
                )
            )
            until_open(own)
        with patch.dict(os.environ, {"STREAMHOUSE_SPARK_SECRET": secret}):
            yield url


@contextmanager
def process(
    command: list[str], log: Path, end_by: signal.Signals, *, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=log.parent,  # Fluss takes a folder `plugins` for one of its own
        )
        try:
            yield process
        finally:
            process.send_signal(end_by)
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def until_open(port: int) -> None:
    def is_open() -> bool:
        with suppress(OSError), create_connection((LOOPBACK, port), timeout=PATIENCE_S):
            return True
        return False

    until(is_open, what=f"a server at port {port}")


def _done(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
