"""A local Spark session with our settings (docs/findings.md says why)."""

import atexit
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.errors import EnvironmentProblem
from streamhouse.install.class_archive import key_of
from streamhouse.install.jars import SPARK_JARS, cache_folder, fetch
from streamhouse.install.java import LATE_SECOND_COMPILER, JavaInstallation, find_java
from streamhouse.model.spark_conf import SHUT
from streamhouse.project.project import Project
from streamhouse.project.settings import SparkSettings, jars_of
from streamhouse.project.shortcuts import TakenShortcuts, note_shortcuts
from streamhouse.runtime.cold import cold_catalog
from streamhouse.runtime.no_java_left import no_java_left
from streamhouse.services.guardian import watch
from streamhouse.spark.class_archive import archive
from streamhouse.spark.home import use_installed_python
from streamhouse.spark.java_process import is_running, spark_answers, stop_spark
from streamhouse.spark.launch import start
from streamhouse.spark.log_files import PLAIN_LOGS
from streamhouse.spark.probe import tried
from streamhouse.spark.shortcuts import use_shortcuts
from streamhouse.spark.stack_traces import quiet_python_log
from streamhouse.spark.worker_daemon import MODULE as WORKER_DAEMON

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ALONE = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}  # nobody else calls the driver
DRIVER_MEMORY = "2g"
_TUNED = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": DRIVER_MEMORY,
    "spark.driver.maxResultSize": "2g",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    # Above this the tasks decode Arrow themselves: 100,000 rows of 11 columns in a third of the time.
    "spark.sql.execution.arrow.localRelationThreshold": "100KB",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.ui.retainedExecutions": "50",
    "spark.sql.streaming.minBatchesToRetain": "20",
    **PLAIN_LOGS,
    "spark.python.daemon.module": WORKER_DAEMON,
    # Tasks write into tables: one that ran twice would write twice. A failed epoch is replayed instead.
    "spark.task.maxFailures": "1",
    "spark.stage.maxConsecutiveAttempts": "1",
    "spark.speculation": "false",
}
# Whatever a project says: a file that is damaged or gone is an error, and no answer comes without its rows.
_NOTHING_LEFT_OUT = {
    **{
        f"spark.{of}.{what}": "false"
        for of in ("files", "sql.files")
        for what in ("ignoreCorruptFiles", "ignoreMissingFiles")
    },
    # Bounds in files that Arrow writes leave NaN out, and Spark would skip the rows that have it.
    "spark.sql.parquet.filterPushdown": "false",
    # Else `count(*)` counts rows of files that nobody has opened.
    "spark.sql.iceberg.aggregate-push-down.enabled": "false",
}
# What the name of a Unix socket may have on every system, and what Spark adds to the folder: /.<uuid>.sock
_SOCKET_PATH, _SOCKET_NAME = 103, 43
_LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {file}
appender.file.filePattern = {file}.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{yyyy-MM-dd HH:mm:ss.SSS}} %p %c{{1}}: %m%n%ex
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 10MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 3
"""


class _Users:
    """Who uses the process' Spark session now, and whether the first of them started it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.started = False


_USERS = _Users()
# What a user may put on the class path of Spark's Java. An archive of classes fits one class path.
_CLASS_PATHS = ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH")


@contextmanager
def spark_session(
    project: Project, *, name: str = "streamhouse", say: Callable[[str], None] = lambda _: None
) -> "Iterator[SparkSession]":
    """The process' Spark session while a block runs; see `local_session` for arguments and errors.

    A process has one session, and several blocks may use it at a time. It stops with the last of these blocks, and
    only if a block started it: a session that was there before stays.
    """
    with _USERS.lock:
        there = is_running()
        spark = local_session(project, name=name, say=say)
        _USERS.started |= not there
        _USERS.count += 1
    try:
        yield spark
    finally:
        with _USERS.lock:
            _USERS.count -= 1
            if not _USERS.count and _USERS.started:
                _USERS.started = False
                stop_spark(spark)


def local_session(
    project: Project, *, name: str = "streamhouse", say: Callable[[str], None] = lambda _: None
) -> "SparkSession":
    """The process' Spark session, made at the first call.

    Its catalog `cold` holds the Iceberg tables; its class path has Paimon, for upkeep of its tables.
    Spark writes its log to `.streamhouse/logs/spark.log`. `say` is called with the jars that are being fetched.

    Raises:
        JavaMissingError: no Java 17 or later.
        JarDownloadError: a connector could not be fetched.
        EnvironmentProblem: Spark does not start.
        EngineError: its Java process was killed while it started.
    """
    from pyspark.sql import SparkSession

    if is_running():
        return SparkSession.builder.getOrCreate()  # as it is: options given now would change it for all who use it
    java = find_java()
    placed = "PYSPARK_GATEWAY_PORT" in os.environ  # by a cluster, whose JVM is there already, with the jars
    jars: list[Path] = []
    if not placed:
        jars = fetch(
            jars_of(project.settings), settings=project.settings.ivy_settings, progress=lambda stage: say(stage.text)
        )
    logs = project.state_dir / "logs"
    project.state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    logs.mkdir(exist_ok=True)
    log4j = logs / "log4j2.properties"
    log4j.write_text(_LOG4J.format(file=logs / "spark.log"))

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["JAVA_HOME"] = str(java.home)
    # A JVM of its own puts Spark's command together.
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    alone = project.settings.spark.master.startswith("local")
    if alone:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    quiet_python_log()
    place = place_of(java)
    use_installed_python(place / "home")
    if not placed:
        watch(project.root)
    with no_java_left(project.state_dir):
        classes = [] if placed else archive(place, "streamhouse.runtime.exercise", lambda stage: say(stage.text))
        options = _options(project, name, jars, classes, log4j, alone=alone, placed=placed)
        with _stderr_to(logs / "spark.err"):
            spark = start(options, errors=logs / "spark.err")
    with spark_answers():
        chosen = tried(spark, project.settings.spark.requested_shortcuts, place, say)
        use_shortcuts(spark, chosen)
        note_shortcuts(project.state_dir, TakenShortcuts.of(spark.version, chosen))
    return spark


def _options(
    project: Project, name: str, jars: Sequence[Path], classes: Sequence[str], log4j: Path, *, alone: bool, placed: bool
) -> dict[str, str]:
    return {
        "spark.master": project.settings.spark.master,
        "spark.app.name": name,
        **_TUNED,
        **({} if placed else {"spark.jars": ",".join(str(jar) for jar in jars)}),
        "spark.driver.extraJavaOptions": _java_options(log4j, classes),
        "spark.sql.warehouse.dir": str(project.state_dir / "spark-warehouse"),
        **cold_catalog(project.cold, project.settings.cold, project.settings.object_store),
        **({**_ALONE, **worker_sockets()} if alone else {}),
        **project.settings.spark.conf,
        **_NOTHING_LEFT_OUT,
        **SHUT,
        **_cluster_secret(project.settings.spark),
    }


def _cluster_secret(spark: SparkSettings) -> dict[str, str]:
    """What processes of a standalone cluster know each other by; elsewhere Spark makes it up itself.

    Raises:
        EnvironmentProblem: nobody gave it.
    """
    if not spark.master.startswith("spark://"):
        return {}
    if spark.secret is None:
        raise EnvironmentProblem(
            f"the Spark cluster at {spark.master} wants to know who calls, and there is no secret for it",
            hint="set spark.authenticate and spark.authenticate.secret in the spark-defaults.conf of its master and "
            "workers, and give the same secret as STREAMHOUSE_SPARK_SECRET (docs/runner.md)",
        )
    return {"spark.authenticate.secret": spark.secret}


def worker_sockets(parent: Path | None = None) -> dict[str, str]:
    """Settings by which Spark and its Python workers on this machine talk over Unix sockets.

    Over TCP each task waits 40 ms for a delayed acknowledgement. Who can open these sockets can run code in the
    workers, so they are in a folder of our own that only this user enters; it goes when this process ends.

    Args:
        parent: Where that folder is made; None: the machine's folder for temporary files.

    Returns:
        Nothing, so that it stays at TCP, where no folder can be made or its path is too long for a socket.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="sh-", dir=parent))
    except OSError:
        return {}
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if len(os.fsencode(folder)) + _SOCKET_NAME > _SOCKET_PATH:
        return {}
    return {
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.unix.domain.socket.dir": str(folder),
    }


@contextmanager
def _stderr_to(file: Path) -> Iterator[None]:
    """Send what the JVM, which inherits our standard error, writes there for the rest of its life into a file."""
    ours = os.dup(2)
    try:
        with file.open("ab") as log:
            os.dup2(log.fileno(), 2)
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)


def place_of(java: JavaInstallation) -> Path:
    """Where what is made of this Java and the installed Spark is kept, for all projects of this user.

    A process that another one started has that one's home of Spark in its environment, which lies in this folder.
    """
    import pyspark

    places = cache_folder().with_name("spark")
    spark = Path(os.environ.get("SPARK_HOME", pyspark.__path__[0]), "jars")
    if spark.is_relative_to(places) and spark.is_symlink():
        spark = spark.readlink()
    inputs = [pyspark.__version__, *(os.environ.get(name, "") for name in _CLASS_PATHS)]
    inputs += [str(cache_folder() / jar.file_name) for jar in SPARK_JARS]
    return places / key_of(java, inputs, [spark])


def _java_options(log4j: Path, classes: Sequence[str]) -> str:
    opens = ("java.nio", "java.lang")
    flags = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opens]
    crash = f"-XX:ErrorFile={log4j.with_name('spark-crash-%p.log')}"  # it holds variables of the process
    return " ".join(
        [*flags, f"-Dlog4j2.configurationFile=file:{log4j}", crash, "-XX:+UseSerialGC", *LATE_SECOND_COMPILER, *classes]
    )
