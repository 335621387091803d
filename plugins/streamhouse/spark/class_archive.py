"""An archive of the classes that Spark's JVM loads; it saves a third of the processor time until the first answer."""

import os
from collections.abc import Mapping
from pathlib import Path

from streamhouse.install.class_archive import AT_EXIT, Exercise, archives
from streamhouse.install.stage import OnStage

_OPTIONS = "SPARK_SUBMIT_OPTS"  # what Spark's launcher gives to the driver's JVM
_NAME = "classes"


def archive(folder: Path, exercise: str, progress: OnStage) -> list[str]:
    """Options of the JVM that use the archive in `folder`, which is made first where it is absent.

    Args:
        folder: For this Java and this Spark.
        exercise: Module whose function `exercise` does what flows do; its process writes the archive.
        progress: Is called with a message that the archive is being made, which takes some twenty seconds.

    Returns:
        Nothing where there is no archive.
    """
    if AT_EXIT in os.environ.get(_OPTIONS, ""):  # this is the process that makes it
        return []
    work = Exercise("Spark's classes", f"from {exercise} import exercise; exercise()", _environment)
    return archives(folder, [_NAME], work, progress)[_NAME]


def _environment(folder: Path) -> Mapping[str, str]:
    # It lives for seconds: the quick compiler is enough.
    options = f"{AT_EXIT}={folder / _NAME}.jsa -XX:TieredStopAtLevel=1 -Xlog:disable"
    return {_OPTIONS: f"{os.environ.get(_OPTIONS, '')} {options}"}
