"""Which files a pattern names, and whether there is a place to watch for them."""

import glob
import re
from pathlib import Path

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.folders import data_path

_MOST_DEEP = 2
_NUMBER = re.compile(r"([0-9]+)")


def in_order(name: str) -> tuple[tuple[str | int, ...], str]:
    """What files are sorted by: numbers in names count as numbers.

    Example:
        >>> sorted(["b/1.csv", "a/10.csv", "a/9.csv", "a/B.csv"], key=in_order)
        ['a/9.csv', 'a/10.csv', 'a/B.csv', 'b/1.csv']
    """
    parts = _NUMBER.split(name)
    return tuple(int(part) if at % 2 else part for at, part in enumerate(parts)), name


def list_files(pattern: str, root: Path) -> list[str]:
    """The files that match, as paths relative to `root`, sorted by `in_order`.

    Files without a byte, and those whose name begins with `.` or `_`, are passed over.

    Raises:
        SourceError: one of them, or what a link leads to, lies outside of the project's data.
    """
    data_path(root, _fixed(pattern).as_posix())
    _refuse_many(pattern, None)
    # Several `**` name a file several times.
    found = set(glob.glob(pattern, root_dir=root, recursive=True))  # noqa: PTH207  Path.glob takes no absolute path
    names = [name for name in (Path(name).as_posix() for name in found) if not Path(name).name.startswith((".", "_"))]
    files = ((name, data_path(root, name)) for name in names)
    found_names = (name for name, path in files if path.is_file() and path.stat().st_size)
    return sorted(found_names, key=in_order)


def check_place(pattern: str, root: Path, at: Location | None) -> None:
    """Check that there is a folder to watch, or the one file that `pattern` names.

    Raises:
        SourceError: there is none, or it lies outside of the project's data, or the pattern takes too long to look for.
    """
    _refuse_many(pattern, at)
    fixed = _fixed(pattern)
    data_path(root, fixed.as_posix(), at)
    if not (root / fixed).exists():
        what = "folder" if fixed != Path(pattern) else "file"
        raise SourceError(
            f"there is no {what} '{fixed.as_posix()}'", at=at, hint="paths are relative to the project's folder"
        )


def _refuse_many(pattern: str, at: Location | None) -> None:
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
