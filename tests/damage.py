"""Damage of single files of a project at rest, each kind of file that Streamhouse and its stores write."""

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DAMAGES = ("flipped", "cut", "emptied")
_SEED = 30
_OF_THE_MACHINE = re.compile(r"\.lock$|/logs?/|^logs?/|\.sock$|spark-warehouse|\.err$|^images/")


def kinds(*roots: Path) -> dict[str, Path]:
    """Kind of file → its newest file below these folders; files of locks and logs are none.

    A kind is the path of a file without numbers and names that are made up for one file.
    """
    found: dict[str, Path] = {}
    for root in roots:
        files = [file for file in root.rglob("*") if file.is_file() and file.stat().st_size]
        for file in sorted(files, key=lambda one: (one.stat().st_mtime_ns, one.as_posix())):
            path = file.relative_to(root).as_posix()
            if not _OF_THE_MACHINE.search(path):
                found[f"{root.name}/{_kind(path)}"] = file
    return dict(sorted(found.items()))


def _kind(path: str) -> str:
    without_names = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", path)
    return re.sub(r"[0-9a-f]{16,}|\d+", "N", without_names)


def damage(file: Path, how: str) -> None:
    """Damage a file; the place of a flipped bit follows from the file."""
    whole = file.read_bytes()
    chance = random.Random(f"{_SEED} {_kind(file.name)} {len(whole)}")
    content = bytearray(whole)
    if how == "flipped":
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    else:
        del content[len(content) // 2 if how == "cut" else 0 :]
    file.write_bytes(content)


@contextmanager
def damaged(file: Path, how: str) -> Iterator[None]:
    """One file as a damage leaves it; whole again afterwards, and what SQLite put beside it is gone."""
    whole = file.read_bytes()
    damage(file, how)
    try:
        yield
    finally:
        for beside in (*file.parent.glob(f"{file.name}-wal"), *file.parent.glob(f"{file.name}-shm")):
            beside.unlink()
        file.write_bytes(whole)
