"""Which project the state in a folder belongs to, and where that project is.

Iceberg and Fluss name files by absolute paths, and processes are known by ports and pids. A folder that was copied
would read, write and remove files of the project it was copied from, and one that was moved would find none of its own.
"""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4
from zlib import crc32

from streamhouse.install.whole_file import write_whole

_FILE = "place.json"
# What projects of earlier releases tell of where they were: the log of Spark, the folder of ZooKeeper.
_PLACE_PATTERNS = (
    ("logs/log4j2.properties", re.compile(r"fileName = (.*)/\.streamhouse/logs/spark\.log")),
    ("services/conf/zoo.cfg", re.compile(r"dataDir=(.*)/\.streamhouse/services/zookeeper")),
)


@dataclass(frozen=True)
class ProjectPlace:
    """Of a project: `id` is its own, forever; "" where an earlier release made its state. `root` is absolute."""

    id: str
    root: Path

    @property
    def is_elsewhere(self) -> bool:
        """Whether the project of this id is still at this root."""
        found = recorded(self.root)
        return found is not None and (found.id == self.id or not self.id) and found.root == self.root


def recorded(root: Path) -> ProjectPlace | None:
    """Where the project whose state is in this folder says to be; None: nothing ever ran there, or it does not say.

    A damaged file says nothing.
    """
    state = root / ".streamhouse"
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):  # whatever a damaged file has
        found = json.loads((state / _FILE).read_text(encoding="utf-8"))
        place = ProjectPlace(str(found["id"]), Path(found["root"]))
        if found.get("checksum", _checksum(place)) == _checksum(place):  # earlier releases wrote none
            return place
    for name, pattern in _PLACE_PATTERNS:
        with suppress(OSError, UnicodeDecodeError):
            if place_match := pattern.search((state / name).read_text(encoding="utf-8")):
                return ProjectPlace("", Path(place_match[1]))
    return None


def record(root: Path, id_: str | None = None) -> None:
    """Say that the project whose state is in this folder is here.

    Args:
        root: Of the project; its state folder exists.
        id_: The project's own; None: a new one.
    """
    file = root / ".streamhouse" / _FILE
    place = ProjectPlace(id_ or str(uuid4()), root)
    document = {"id": place.id, "root": str(root), "checksum": _checksum(place)}
    write_whole(file, json.dumps(document))


def is_settled(root: Path) -> bool:
    """Whether the project at this root keeps nothing yet, or what it keeps is known to be its own and here."""
    if not (root / ".streamhouse").is_dir():
        return True
    place = recorded(root)
    return place is not None and bool(place.id) and place.root == root


def _checksum(place: ProjectPlace) -> int:
    """A flipped bit is another folder or another project, and not where this one was."""
    return crc32(f"{place.id} {place.root}".encode())
