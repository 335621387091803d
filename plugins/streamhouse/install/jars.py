"""The jars that Spark and the embedded services need, fetched once for each user."""

import os
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import file_digest
from pathlib import Path

from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_fixed

from streamhouse.errors import JarDownloadError
from streamhouse.install.disk import writing_to
from streamhouse.install.ivy import Ivy, OnBytes, pyspark_jars
from streamhouse.install.java import find_java
from streamhouse.install.only_one import locked
from streamhouse.install.stage import OnStage, Stage, silent

_UNFINISHED = ".fetch-"


@dataclass(frozen=True)
class Jar:
    """Maven coordinates of one jar, without what it depends on.

    `size_bytes` is only what a progress bar counts against: a file of another size is no error. A file of another
    `sha256` is one: a server, or another user of the cache, may serve another jar than we have tried.
    """

    group: str
    artifact: str
    version: str
    size_bytes: int
    sha256: str

    @property
    def file_name(self) -> str:
        """Its name in the cache."""
        return f"{self.artifact}-{self.version}.jar"

    def __str__(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"


FLUSS_SERVER = Jar(
    "org.apache.fluss",
    "fluss-server",
    "0.9.1-incubating",
    85_810_597,
    "fdda82aa7cc936086c420090920836066d48d741cf7e0aadde3c0e6f0832a169",
)
# Fluss logs through slf4j 1.7: api and binding must be of one version.
SERVER_JARS = (
    FLUSS_SERVER,
    Jar("org.slf4j", "slf4j-api", "1.7.36", 41_125, "d3ef575e3e4979678dc01bf1dcce51021493b4d11fb7f1be8ad982877c16a1c0"),
    Jar(
        "org.slf4j",
        "slf4j-simple",
        "1.7.36",
        15_333,
        "2f39bed943d624dfa8f4102d0571283a10870b6aa36f197a8a506f147010c10f",
    ),
)
SPARK_JARS = (
    Jar(
        "org.apache.paimon",
        "paimon-bundle",
        "1.4.2",
        48_588_217,
        "85a1587409e6c044b46eb20370a46ecd288576b8bc7aadf6b0432a4f2370f5d1",
    ),
    Jar(
        "org.apache.iceberg",
        "iceberg-spark-runtime-4.1_2.13",
        "1.12.0",
        48_309_426,
        "3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82",
    ),
    Jar(
        "com.globalmentor",
        "hadoop-bare-naked-local-fs",
        "0.1.0",
        9_106,
        "e0cc30fb0531eb0b59468dc0abf5b257533d2365b5e9f45e795edd707aa78c62",
    ),
)


PAIMON_S3_JAR = Jar(
    "org.apache.paimon",
    "paimon-s3",
    "1.4.2",
    96_371_059,
    "dc701f0c5b2790680032ec8961dfbb857e968f9f023563a7077fffd0750d0a67",
)
ICEBERG_S3_JAR = Jar(
    "org.apache.iceberg",
    "iceberg-aws-bundle",
    "1.12.0",
    69_034_612,
    "dd7e49ffa4ac9b215bed846581991259e3aec9bb2fa08d6cec029c46cd66d957",
)
POSTGRESQL_JAR = Jar(
    "org.postgresql",
    "postgresql",
    "42.7.8",
    1_116_727,
    "2a32a9dcbc42d67a50ad3a0de5efd102c8d2be46720045f2cbd6689f160ab7c7",
)

CAPTURE_JARS = (
    # Of every capture; beside them are those of a kind of database. Debezium 3.5.0.Final is the newest that has
    # connectors of one family for PostgreSQL, MySQL and MariaDB; it runs on Kafka 4.0. What else it needs is in
    # pyspark: `capture_jars_of_spark`.
    Jar(
        "io.debezium",
        "debezium-embedded",
        "3.5.0.Final",
        88_084,
        "16df12ece70eea47e8b379eb23dc1c8031e12b2cc7a5ae66523edb5fbeba88d7",
    ),
    Jar(
        "io.debezium",
        "debezium-api",
        "3.5.0.Final",
        29_901,
        "d1267b742b9a83b5c0c3e24d417f75c93dc5d4640d5fcee7d24390a0ddf96cb3",
    ),
    Jar(
        "io.debezium",
        "debezium-util",
        "3.5.0.Final",
        67_157,
        "ca5ba9a7f89b0a3f6f38ea37e88ac77fdc64b508a44ea5fc9b6a19cce22a7234",
    ),
    Jar(
        "io.debezium",
        "debezium-config",
        "3.5.0.Final",
        71_789,
        "9430a5bb4dc9f6ee12015c3e3925f14a3e07906ccdf005a295be116ea5e0d5c8",
    ),
    Jar(
        "io.debezium",
        "debezium-connector-common",
        "3.5.0.Final",
        1_090_294,
        "68b87943d99eb36c2c9639c132ff3528eed87e057d137df93e60d291db149dd4",
    ),
    Jar(
        "io.debezium",
        "debezium-connect-plugins",
        "3.5.0.Final",
        188_930,
        "0c8579e75dbe0f4993a87fe8e85baa39b87170412348121dc67837740d080dbf",
    ),
    Jar(
        "io.debezium",
        "debezium-openlineage-api",
        "3.5.0.Final",
        17_139,
        "ac6ec9bbcae42cb5bc05200f9f2c5268d591b6abadc2ec209df7cffdcdc5f5fe",
    ),
    Jar(
        "org.apache.kafka",
        "kafka-clients",
        "4.0.0",
        9_187_694,
        "8a8ad0ef4f7138b3f5c138ca4a921ba3cce5be64a82e82c370a9a134f31895a2",
    ),
    Jar(
        "org.apache.kafka",
        "connect-api",
        "4.0.0",
        112_129,
        "816cfb75177da2853820a59b51a92f40bf5806db41d2aa6416d011d1e1770b3e",
    ),
    Jar(
        "org.apache.kafka",
        "connect-runtime",
        "4.0.0",
        788_329,
        "b251a20eeb929ef3ceb1d72d90523e99651b8a1ba03562b4e6485387371519b4",
    ),
    Jar(
        "org.apache.kafka",
        "connect-json",
        "4.0.0",
        35_550,
        "4c3f3750f23ce3a07f819280b9daab4894a0ea03852d4fa73388db1eb88856af",
    ),
    Jar(
        "com.google.protobuf",
        "protobuf-java",
        "3.25.5",
        1_875_414,
        "8540247fad9e06baefa8fb45eb313802d019f485f14300e0f9d6b556ed88e753",
    ),
    Jar(
        "com.datadoghq",
        "sketches-java",
        "0.8.3",
        128_829,
        "2626b1900c427c87349dd2b03238fb6151f91340c4c753011569620b289af0a1",
    ),
    Jar(
        "org.apache.maven",
        "maven-artifact",
        "3.9.15",
        58_856,
        "f154c31f15ac97c37b9cdf9f8d63cde5053c470d2daf54df7dfd3bb3c9e501c6",
    ),
    Jar(
        "com.fasterxml.jackson.module",
        "jackson-module-blackbird",
        "2.21.2",
        64_417,
        "5ed62cdcd357a24b73de9280e167aa014d7b4c17d04823844d482274cf07097e",
    ),
)
POSTGRES_CAPTURE_JARS = (
    Jar(
        "io.debezium",
        "debezium-connector-postgres",
        "3.5.0.Final",
        403_318,
        "266b46d47b3bf66ffd484ffae01da40be52399f9b012b75e8f36909ac35a3f17",
    ),
    POSTGRESQL_JAR,
)
_BINLOG_JARS = (
    Jar(
        "io.debezium",
        "debezium-connector-binlog",
        "3.5.0.Final",
        184_647,
        "802a269457f5ca2eadec2332ec778006dcae634ba8d0b6ee7364beac91fa2b12",
    ),
    Jar(
        "io.debezium",
        "debezium-ddl-parser",
        "3.5.0.Final",
        4_956_924,
        "41dc0fb39cd0366cff67b02fa3e89ca83664d6748154737c18d2b2502a6a32b5",
    ),
    Jar(
        "io.debezium",
        "debezium-storage-file",
        "3.5.0.Final",
        8_127,
        "ffdacc74d296dda0ce37e5a67812e1ebdc56945bc23076a5d71949a6828d8ed7",
    ),
    # Not used, but the connectors name one of its classes as a default.
    Jar(
        "io.debezium",
        "debezium-storage-kafka",
        "3.5.0.Final",
        15_924,
        "dc36614e975459a82192f81fb1b273845ba4e242a675d6322ceb6700d6f47801",
    ),
    Jar(
        "io.debezium",
        "mysql-binlog-connector-java",
        "0.41.0",
        235_486,
        "a4bd7e9e24269fdfbbdfcd692f100878dc2539b5f331276c7700fdde44341364",
    ),
    Jar(
        "org.antlr",
        "antlr4-runtime",
        "4.10.1",
        322_137,
        "da66be0c98acfb29bc708300d05f1a3269c40f9984a4cb9251cf2ba1898d1334",
    ),
)
MARIADB_CAPTURE_JARS = (
    *_BINLOG_JARS,
    Jar(
        "io.debezium",
        "debezium-connector-mariadb",
        "3.5.0.Final",
        148_359,
        "6ea239f23d74486a77e89cceae11120f208e9f832ccdff9d88cb629ce298e890",
    ),
    Jar(
        "org.mariadb.jdbc",
        "mariadb-java-client",
        "3.5.3",
        746_140,
        "85c4ba2f221d0dfd439c26affbb294f784960763544263c65aba9c2c76858706",
    ),
)
MYSQL_CAPTURE_JARS = (
    *_BINLOG_JARS,
    Jar(
        "io.debezium",
        "debezium-connector-mysql",
        "3.5.0.Final",
        155_295,
        "7948107f1efb5105e1fb56cd7b50a4077aaeb9724cf75f816b03e6d1d0a5ca15",
    ),
    Jar(
        "com.mysql",
        "mysql-connector-j",
        "9.1.0",
        2_597_591,
        "8776e2ebc46072c9a47ea59d98298c4273bd9f16a7b26b5dfa4744535aa26c62",
    ),
)
_OF_PYSPARK = (
    *("py4j-", "jackson-core-2", "jackson-databind", "jackson-annotations", "jackson-datatype-jsr310", "slf4j-api"),
    *("log4j-api", "log4j-core", "log4j-slf4j2-impl", "zstd-jni", "lz4-java", "snappy-java"),
)


def capture_jars_of_spark() -> list[Path]:
    """Jars inside pyspark that a capture uses, too.

    Raises:
        MissingPackageError: pyspark is not installed.
    """
    folder = pyspark_jars()
    return [jar for jar in sorted(folder.glob("*.jar")) if jar.name.startswith(_OF_PYSPARK)]


def spark_jars(*, warm_in_store: bool, cold_in_store: bool, catalog: str | None) -> tuple[Jar, ...]:
    """What Spark needs to read and write the lakes.

    Args:
        warm_in_store: Whether the warm tables are in an object store.
        cold_in_store: Whether cold tables are, or may be, since only their catalog knows.
        catalog: Of the cold tables: the URL of a REST service or a database; None: they are in a folder.
    """
    wanted = {
        PAIMON_S3_JAR: warm_in_store,
        ICEBERG_S3_JAR: cold_in_store,
        POSTGRESQL_JAR: catalog is not None and catalog.startswith("jdbc:postgresql:"),
    }
    return (*SPARK_JARS, *(jar for jar, needed in wanted.items() if needed))


def cache_folder() -> Path:
    """Where fetched jars are kept: `$STREAMHOUSE_CACHE/jars`, else `~/.cache/streamhouse/jars`."""
    folder = os.environ.get("STREAMHOUSE_CACHE")
    return (Path(folder).expanduser() if folder else Path.home() / ".cache" / "streamhouse") / "jars"


def fetch(
    coordinates: Sequence[Jar],
    *,
    settings: Path | None = None,
    cache: Path | None = None,
    progress: OnStage = silent,
) -> list[Path]:
    """The files of the jars, in the order asked for; what the cache lacks is downloaded.

    A jar enters the cache in one step and only when its checksum was right, so being cut off at any
    moment leaves nothing half. Two processes that lack the same jar download it once.

    Args:
        coordinates: What is needed.
        settings: Ivy settings file that names a mirror; None: `$STREAMHOUSE_IVY_SETTINGS`, else Maven Central.
        cache: Folder of the jars; None: `cache_folder()`.
        progress: Is called with what is fetched, with the fraction over all that is missing.

    Raises:
        JarDownloadError: a jar could not be had, or it is another one than the one we know by its SHA-256.
        JavaMissingError: something must be fetched and there is no Java to do it.
        DiskFullError: there is no room for it.
    """
    folder = cache_folder() if cache is None else cache
    files = [folder / jar.file_name for jar in coordinates]
    if all(_is_ours(folder / jar.file_name, jar) for jar in coordinates):
        return files
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / ".lock", Stage("waiting for another process that fetches jars"), progress):
            _sweep(folder)
            missing = [jar for jar in dict.fromkeys(coordinates) if not _is_ours(folder / jar.file_name, jar)]
            _fetch_all(missing, folder, settings, progress)
    return files


def _fetch_all(missing: Sequence[Jar], folder: Path, settings: Path | None, progress: OnStage) -> None:
    if not missing:
        return
    ivy = Ivy(find_java(), settings or _settings_of_environment())
    total = sum(jar.size_bytes for jar in missing)
    done = 0
    for jar in missing:

        def tell(got_bytes: int, jar: Jar = jar, before: int = done) -> None:
            # The expected size is a guess: a larger file must not push the bar past its share.
            share = (before + min(got_bytes, jar.size_bytes)) / total
            progress(Stage(f"fetching {jar.artifact} {jar.version} ({got_bytes / 1e6:.0f} MB)", share))

        tell(0)
        _fetch_one(ivy, jar, folder, tell)
        done += jar.size_bytes
    progress(Stage("all jars fetched", 1.0))


@retry(
    retry=retry_if_exception_type(JarDownloadError),
    stop=stop_after_attempt(2),
    wait=wait_fixed(1.0),
    reraise=True,
)
def _fetch_one(ivy: Ivy, jar: Jar, folder: Path, tell: OnBytes) -> None:
    unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder))
    try:
        got = ivy.retrieve(jar.group, jar.artifact, jar.version, unfinished, tell)
        if not _is_whole(got):
            raise JarDownloadError(f"{jar} arrived damaged: it is no zip file", hint="try again")
        if (found := _sha256(got)) != jar.sha256:
            raise JarDownloadError(
                f"{jar} is another file than the one we know: its SHA-256 is {found}, not {jar.sha256}",
                hint="nothing of it was kept; ask who runs the mirror that ivy_settings names",
            )
        with got.open("rb+") as file:
            os.fsync(file.fileno())
        got.replace(folder / jar.file_name)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _is_ours(file: Path, jar: Jar) -> bool:
    """Whether a file of the cache is the jar.

    Raises:
        JarDownloadError: it is a whole jar, and another one.
    """
    if not _is_whole(file):
        return False
    stat = file.stat()
    found = _known_sha256(file, stat.st_size, stat.st_mtime_ns, stat.st_ino)
    if found != jar.sha256:
        raise JarDownloadError(
            f"{file} is not the {jar} that we know: its SHA-256 is {found}, not {jar.sha256}",
            hint="remove the file, and it is fetched again; find out who put it there",
        )
    return True


@cache
def _known_sha256(file: Path, *_stamp: int) -> str:
    return _sha256(file)


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()


def _is_whole(file: Path) -> bool:
    # A zip's directory is at its end: a file cut off anywhere, also by a power failure, has none.
    return file.is_file() and zipfile.is_zipfile(file)


def _sweep(folder: Path) -> None:
    """Remove what killed processes left; the caller holds the lock, so nobody works on it."""
    for left in folder.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(left, ignore_errors=True)


def _settings_of_environment() -> Path | None:
    path = os.environ.get("STREAMHOUSE_IVY_SETTINGS")
    return Path(path).expanduser() if path else None
