"""Which files a pattern names, and whether there is a place to watch for them."""

import glob
import os
import re
import stat
from pathlib import Path

from streamhouse.doors.setting import shown
from streamhouse.errors import Location, SourceError
from streamhouse.ingest.folders import data_path

_MOST_DEEP = 2
_NO_PIPE = "pipes, sockets and devices are not read: write into a file, or name another path"
_NUMBER = re.compile(r"([0-9]+)")


def in_order(name: str) -> tuple[tuple[str | int, ...], str]:
    """What files are sorted by: numbers in names count as numbers.

    Example:
        >>> sorted(["b/1.csv", "a/10.csv", "a/9.csv", "a/B.csv"], key=in_order)
        ['a/9.csv', 'a/10.csv', 'a/B.csv', 'b/1.csv']
    """
    parts = _NUMBER.split(name)
    return tuple(int(part) if at % 2 else part for at, part in enumerate(parts)), name


def list_files(pattern: str, root: Path, at: Location | None = None) -> list[str]:
    """The files that match, as paths relative to `root`, sorted by `in_order`.

    Files without a byte, and those whose name begins with `.` or `_`, are passed over. `at` is where the pattern was
    written.

    Raises:
        SourceError: one of them, or what a link leads to, lies outside of the project's data, or is a pipe, a socket
            or a device; or a link below `**` leads back to a folder that it is in.
    """
    data_path(root, _fixed(pattern).as_posix(), at)
    refuse_many(pattern, at)
    if "**" in pattern.split("/"):
        _refuse_circles(root, _fixed(pattern), at)
    # Several `**` name a file several times.
    found = set(glob.glob(pattern, root_dir=root, recursive=True))  # noqa: PTH207  Path.glob takes no absolute path
    names = [name for name in (Path(name).as_posix() for name in found) if not Path(name).name.startswith((".", "_"))]
    return sorted((name for name in names if _has_bytes(name, data_path(root, name, at), at)), key=in_order)


def _has_bytes(name: str, path: Path, at: Location | None = None) -> bool:
    """Whether a path leads to a file with bytes; a folder has none, and what is gone meanwhile.

    Raises:
        SourceError: it leads to a pipe, a socket or a device: opening it might wait without an end.
    """
    try:
        status = path.stat()
    except OSError:
        return False
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise SourceError(f"'{shown(name)}' is no regular file", at=at, hint=_NO_PIPE)
    return stat.S_ISREG(status.st_mode) and status.st_size > 0


def _refuse_circles(root: Path, folder: Path, at: Location | None) -> None:
    """Refuse a link to a folder that it is in, before `**` follows it: it would give each file forty names.

    Two links that lead to each other would give so many that the search never ends.
    """
    place = (root / folder).resolve()
    pending = [(folder, place, frozenset((place, *place.parents)))]
    while pending:
        name, place, way = pending.pop()
        for entry in _folders(root / name):
            below, real = name / entry.name, place / entry.name
            if entry.is_symlink():
                real = data_path(root, below.as_posix(), at).resolve()
            if real in way:
                link = shown(below.as_posix())
                raise SourceError(
                    f"the link '{link}' leads back to a folder that it is in, so '**' finds each file many times",
                    at=at,
                    hint="remove the link",
                )
            pending.append((below, real, way | {real}))


def _folders(folder: Path) -> list[os.DirEntry[str]]:
    """The folders, and links to folders, in which `**` looks."""
    try:
        with os.scandir(folder) as entries:
            return [one for one in entries if not one.name.startswith(".") and _is_folder(one)]
    except OSError:  # gone meanwhile, or closed to us: `glob` passes over it, too
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def check_place(pattern: str, root: Path, at: Location | None) -> None:
    """Check that there is a folder to watch, or the one file that `pattern` names.

    Raises:
        SourceError: there is none, or it lies outside of the project's data, or the pattern takes too long to look for;
            or it names a pipe, a socket or a device.
    """
    refuse_many(pattern, at)
    fixed = _fixed(pattern)
    data_path(root, fixed.as_posix(), at)
    if not (root / fixed).exists():
        what = "folder" if fixed != Path(pattern) else "file"
        raise SourceError(
            f"there is no {what} '{fixed.as_posix()}'", at=at, hint="paths are relative to the project's folder"
        )
    if fixed == Path(pattern):
        _has_bytes(pattern, root / fixed, at)
    elif at is not None:  # a plan that runs has no place any more, and lists them itself
        list_files(pattern, root, at)


def refuse_many(pattern: str, at: Location | None) -> None:
    """Refuse a pattern whose files take too long to look for.

    Raises:
        SourceError: it has too many `**`.
    """
    if pattern.split("/").count("**") > _MOST_DEEP:
        raise SourceError(
            f"the path has more than {_MOST_DEEP} '**'; the time to look for its files doubles with each",
            at=at,
            hint="one '**' takes folders at every depth: data/**/*.csv",
        )


def _fixed(pattern: str) -> Path:
    """The part of a pattern before its first wildcard."""
    fixed = Path(pattern)
    while glob.has_magic(str(fixed)):
        fixed = fixed.parent
    return fixed
