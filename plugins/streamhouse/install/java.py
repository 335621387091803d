"""Find a Java that Spark and Fluss run on."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from streamhouse.errors import JavaMissingError

OLDEST = 17
_HINT = f"install a JDK {OLDEST} or later (Debian: apt install openjdk-{OLDEST}-jre-headless), or set JAVA_HOME to one"
_ASK_TIMEOUT_S = 20
LATE_SECOND_COMPILER = (
    "-XX:Tier4InvocationThreshold=20000",
    "-XX:Tier4MinInvocationThreshold=3000",
    "-XX:Tier4CompileThreshold=60000",
    "-XX:Tier4BackEdgeThreshold=160000",
)
"""Options of a JVM that leave to its second compiler only what is called much oftener than by default.

That compiler takes as much processor time in a flow's first minutes as all else, and gains a sixth after some ten
million rows.
"""


@dataclass(frozen=True)
class JavaInstallation:
    """A Java installation: `home` is its folder, `version` its feature release, such as 17."""

    home: Path
    version: int

    @property
    def executable(self) -> Path:
        """The `java` command."""
        return self.home / "bin" / "java"


def find_java(environment: Mapping[str, str] | None = None) -> JavaInstallation:
    """The first Java that is new enough: that of `JAVA_HOME`, else the `java` on `PATH`.

    Takes no more than reading a file where the installation has its `release` file, as JDKs do.

    Args:
        environment: Holds `JAVA_HOME` and `PATH`; None: that of the process.

    Raises:
        JavaMissingError: there is none, or those found are too old.
    """
    variables = os.environ if environment is None else environment
    refused = []
    for place, command in _candidates(variables):
        java = _java_of(command)
        if java is not None and java.version >= OLDEST:
            return java
        refused.append(
            f"{place} has Java {java.version}" if java else f"{place} ({command}) holds no Java that answers"
        )
    cause = "; ".join(refused) or "no Java found: JAVA_HOME is not set and PATH has no 'java'"
    raise JavaMissingError(f"Java {OLDEST} or later is needed: {cause}", hint=_HINT)


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if environment.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(environment["JAVA_HOME"]) / "bin" / "java"
    # An empty PATH must not become the system's default path.
    on_path = shutil.which("java", path=environment.get("PATH", "")) if environment.get("PATH") else None
    if on_path:
        yield "PATH", Path(on_path)


def _java_of(command: Path) -> JavaInstallation | None:
    if not os.access(command, os.X_OK):
        return None
    home = command.resolve().parent.parent
    try:
        text = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _probe(command)  # a launcher outside the installation, as on macOS, or a JRE cut small
    version = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE)
    return (
        JavaInstallation(home, _feature(version[1]))
        if version and (home / "bin" / "java").exists()
        else _probe(command)
    )


def _probe(command: Path) -> JavaInstallation | None:
    try:
        output = subprocess.run(
            [command, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_TIMEOUT_S,
            check=False,
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    home = re.search(r"^\s*java\.home = (.+)$", output, re.MULTILINE | re.ASCII)
    version = re.search(r"^\s*java\.version = (\S+)$", output, re.MULTILINE | re.ASCII)
    return JavaInstallation(Path(home[1].strip()), _feature(version[1])) if home and version else None


def _feature(version: str) -> int:
    """The feature release: 17 of `17.0.15`, 8 of `1.8.0_402`, 0 of what is no version."""
    numbers = [int(n) for n in re.findall(r"\d+", version, re.ASCII)]
    if not numbers:
        return 0
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]
