"""Archives of the classes that the servers load; they save two fifths of the processor time of a start.

Each server has one, as each loads other classes. See `docs/decisions/class-archive.md` for what was measured.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from streamhouse.install.class_archive import AT_EXIT, Exercise, archives, key_of
from streamhouse.install.jars import cache_folder
from streamhouse.install.java import JavaInstallation
from streamhouse.install.stage import OnStage
from streamhouse.services.cluster import STOP_ORDER

_TO = "STREAMHOUSE_ARCHIVE_CLASSES_TO"
_EXERCISE = Exercise(
    "Fluss' classes",
    "from streamhouse.services.exercise import exercise; exercise()",
    lambda folder: {_TO: str(folder)},
)


def class_options(java: JavaInstallation, jars: Sequence[Path], progress: OnStage) -> Mapping[str, Sequence[str]]:
    """Service → options of its JVM that use its archive, which is made first where it is absent.

    Args:
        java: What the servers run on.
        jars: Their class path.
        progress: Is called with a message that the archives are being made, which takes some ten seconds.
    """
    to = os.environ.get(_TO)
    if to is not None:  # this is the process that makes them
        return {name: [f"{AT_EXIT}={to}/{name}.jsa", "-Xlog:disable"] for name in STOP_ORDER}
    folder = cache_folder().with_name("fluss") / key_of(java, (), jars)
    return archives(folder, STOP_ORDER, _EXERCISE, progress)
