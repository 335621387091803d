"""Apache Ivy, which ships inside pyspark: fetches a jar by its Maven coordinates and checks its checksum."""

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from streamhouse.errors import DiskFullError, EnvironmentProblem, JarDownloadError, MissingPackageError
from streamhouse.install.java import JavaInstallation

OnBytes = Callable[[int], None]

_HINT = "check the network, or name a mirror's Ivy settings file as ivy_settings in streamhouse.yaml; then try again"
_LOOK_EVERY_S = 0.2
# Ivy waits forever on a connection that delivers nothing.
_STALLED_AFTER_S = 120.0
# Lines that name the cause, the most precise first. Ivy's own summary ("not found") names no reason.
_TELLING = (
    "No space left on device",
    "invalid sha1",
    "invalid md5",
    "Server access error",
    "Host ",
    "UnknownHostException",
    "ConnectException",
    "SSL",
    "timed out",
    "status code",
    "ParseException",
    "Exception",
    "not found",
    "download failed",
)


@dataclass(frozen=True)
class Ivy:
    """Runs Ivy with a Java; `settings` is a person's settings file, or None for Maven Central."""

    java: JavaInstallation
    settings: Path | None = None

    def retrieve(self, group: str, artifact: str, version: str, into: Path, tell: OnBytes) -> Path:
        """Download one jar, without what it depends on.

        Args:
            group: Maven group id.
            artifact: Maven artifact id.
            version: Exact version.
            into: Existing empty folder; gets the jar and Ivy's own files, and may be thrown away after.
            tell: Gets the bytes that have arrived, several times a second.

        Returns:
            `into/<artifact>-<version>.jar`, its checksum compared with the repository's.

        Raises:
            JarDownloadError: it could not be fetched, or its checksum is wrong.
            DiskFullError: there is no room for it.
            EnvironmentProblem: the settings file does not exist.
            MissingPackageError: pyspark is not installed.
        """
        log = into / "ivy.log"
        arriving = into / "ivy"
        # -XX:-UsePerfData and the temporary folder: a killed Ivy leaves nothing outside `into`.
        command = [
            str(self.java.executable),
            "-XX:-UsePerfData",
            f"-Djava.io.tmpdir={into}",
            "-jar",
            str(_ivy_jar()),
            *(["-settings", str(self._existing_settings())] if self.settings else []),
            *("-cache", str(arriving), "-dependency", group, artifact, version),
            *("-notransitive", "-types", "jar", "bundle", "-confs", "default"),
            *("-retrieve", f"{into}/[artifact]-[revision].[ext]"),
        ]
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
            try:
                stalled = not _watch(process, arriving, tell)
            finally:
                process.kill()
                process.wait()
        jar = into / f"{artifact}-{version}.jar"
        if process.returncode == 0 and jar.is_file():
            return jar
        name = f"{group}:{artifact}:{version}"
        cause = f"nothing arrived for {_STALLED_AFTER_S:.0f} s" if stalled else _cause(log, process.returncode)
        if _TELLING[0] in cause:
            raise DiskFullError(f"no room left at {into.parent} for {name}", hint="make room there")
        raise JarDownloadError(f"cannot fetch {name}: {cause}", hint=_HINT)

    def _existing_settings(self) -> Path:
        if self.settings is None or not self.settings.is_file():
            raise EnvironmentProblem(
                f"the Ivy settings file {self.settings} does not exist",
                hint="correct ivy_settings in streamhouse.yaml or STREAMHOUSE_IVY_SETTINGS",
            )
        return self.settings


def pyspark_jars() -> Path:
    """The folder of the jars inside pyspark.

    Raises:
        MissingPackageError: pyspark is not installed.
    """
    spec = find_spec("pyspark")  # finds the folder without importing a thing
    if spec is None or spec.origin is None:
        raise MissingPackageError("pyspark is not installed", hint="pip install 'streamhouse[engine]'")
    return Path(spec.origin).parent / "jars"


def _ivy_jar() -> Path:
    jars = sorted(pyspark_jars().glob("ivy-*.jar"))
    if not jars:
        raise MissingPackageError("this pyspark holds no Ivy", hint="pip install 'streamhouse[engine]'")
    return jars[-1]


def _watch(process: "subprocess.Popen[bytes]", arriving: Path, tell: OnBytes) -> bool:
    """Tell what arrives until the process ends: True. False: nothing arrived for too long."""
    last_size, moved_at = 0, time.monotonic()
    while True:
        try:
            process.wait(_LOOK_EVERY_S)
        except subprocess.TimeoutExpired:
            # Ivy downloads into `<name>.jar.part` and renames it when the checksum was right.
            got = max((_size(file) for file in arriving.rglob("*.jar*")), default=0)
            if got != last_size:
                last_size, moved_at = got, time.monotonic()
                tell(got)
            elif time.monotonic() - moved_at > _STALLED_AFTER_S:
                return False
        else:
            return True


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # renamed since it was listed
        return 0


def _cause(log: Path, code: int) -> str:
    lines = [line.strip(" \t:") for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    for mark in _TELLING:
        for line in lines:
            if mark in line:
                return line
    return f"Ivy ended with code {code}"
