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
from streamhouse.install.ivy import Ivy, OnBytes
from streamhouse.install.java import find_java
from streamhouse.install.only_one import held
from streamhouse.install.stage import OnStage, Stage, silent

_UNFINISHED = ".fetch-"


@dataclass(frozen=True)
class Jar:
    """Maven coordinates of one jar, without what it depends on.

    `size_bytes` is only what a progress bar counts against: a file of another size is no error. A file of another
    `sha256` is one: whoever serves the jar, or writes into the cache, serves another one than we have tried.
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
    given = os.environ.get("STREAMHOUSE_CACHE")
    return (Path(given).expanduser() if given else Path.home() / ".cache" / "streamhouse") / "jars"


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
        progress: Told what is fetched, with the fraction over all that is missing.

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
        with held(folder / ".lock", Stage("waiting for another process that fetches jars"), progress):
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
    given = os.environ.get("STREAMHOUSE_IVY_SETTINGS")
    return Path(given).expanduser() if given else None
