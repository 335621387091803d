"""Which files a pattern names, and whether there is a place to watch for them."""

import glob
from pathlib import Path

from streamhouse.errors import Location, SourceError


def list_files(pattern: str, root: Path) -> list[str]:
    """The files that match, as paths relative to `root`, sorted by name.

    Files without a byte, and those whose name begins with `.` or `_`, are passed over.
    """
    found = glob.glob(pattern, root_dir=root, recursive=True)  # noqa: PTH207  Path.glob takes no absolute path
    files = ((Path(name).as_posix(), root / name) for name in found)
    return sorted(
        name for name, path in files if not path.name.startswith((".", "_")) and path.is_file() and path.stat().st_size
    )


def check_place(pattern: str, root: Path, at: Location | None) -> None:
    """Check that there is a folder to watch, or the one file that `pattern` names.

    Raises:
        SourceError: there is none.
    """
    fixed = Path(pattern)
    while glob.has_magic(str(fixed)):
        fixed = fixed.parent
    if not (root / fixed).exists():
        what = "folder" if fixed != Path(pattern) else "file"
        raise SourceError(
            f"there is no {what} '{fixed.as_posix()}'", at=at, hint="paths are relative to the project's folder"
        )
