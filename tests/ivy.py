"""Programs that tests start, fetched by Ivy once for each user."""

import os
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from streamhouse.install.jars import cache_folder
from streamhouse.install.java import find_java
from streamhouse.install.only_one import locked
from streamhouse.install.stage import Stage, silent


def fetched(name: str, what: str, fetch: Callable[[Path, Path], None]) -> Path:
    """The folder of a program.

    Args:
        name: Of the folder, with the version.
        what: As a wait calls it.
        fetch: Puts the program into the second folder; the first one is for what it needs meanwhile.
    """
    folder = cache_folder().parent / name
    with locked(folder.with_suffix(".lock"), Stage(f"fetching {what}"), silent):
        if not folder.exists():
            with TemporaryDirectory(dir=folder.parent) as place:
                fetch(Path(place), folder)
    return folder


def retrieve(place: Path, *wanted: str) -> None:
    """Run the Ivy that PySpark has; `wanted` says what is fetched, and whereto."""
    (ivy,) = spark_jars().glob("ivy-*.jar")
    mirror = os.environ.get("STREAMHOUSE_IVY_SETTINGS")
    command = [str(find_java().executable), "-jar", str(ivy), "-cache", f"{place}/ivy"]
    command += ["-settings", mirror] if mirror else []
    done = subprocess.run([*command, *wanted, "-confs", "default"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def spark_jars() -> Path:
    """The folder of the jars that PySpark has."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "jars"
