"""The folders whose files a project reads: its own, and those that `data_folders` of streamhouse.yaml names."""

from functools import lru_cache
from pathlib import Path

import yaml

from streamhouse.errors import Location, SourceError

SETTINGS = "streamhouse.yaml"
DATA_FOLDERS = "data_folders"
_OWN_FOLDER = ".streamhouse"  # what we keep beside the project's files: state, logs, warehouses


def data_path(root: Path, name: str, at: Location | None = None) -> Path:
    """The file or folder that a path of a source means.

    Args:
        root: The project's folder, to which the path is relative.
        name: As written, or as a listing gave it. Links count as what they lead to.
        at: Where it was written.

    Raises:
        SourceError: it lies neither in the project nor in a folder of `data_folders`.
    """
    path = root / name
    try:
        real, own = path.resolve(), root.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a circle of links, or no path at all
        raise SourceError(f"'{name}' is no path: {error}", at=at) from error
    allowed = any(real.is_relative_to(folder) for folder in data_folders(root))
    if not allowed and (not real.is_relative_to(own) or real.is_relative_to(own / _OWN_FOLDER)):
        where = f", which is {real}" if real != path else ""
        raise SourceError(
            f"'{name}'{where}, lies outside of the project's data",
            at=at,
            hint=f"put it into the project, or allow its folder in {SETTINGS}: {DATA_FOLDERS}: [{real.parent}]",
        )
    return path


def data_folders(root: Path) -> tuple[Path, ...]:
    """The folders that the settings of the project at `root` allow beside its own; none where they cannot be read."""
    try:
        stat = (root / SETTINGS).stat()
    except OSError:
        return ()
    return _folders(root, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=64)
def _folders(root: Path, *_stamp: int) -> tuple[Path, ...]:
    try:
        found = yaml.safe_load((root / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError):  # loading the settings reports what is wrong
        return ()
    named = found.get(DATA_FOLDERS) if isinstance(found, dict) else None
    texts = [text for text in named if isinstance(text, str) and text] if isinstance(named, list) else []
    return tuple(folder for text in texts if (folder := _folder(root, text)) is not None)


def _folder(root: Path, text: str) -> Path | None:
    try:
        return (root / Path(text).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError):  # as above: the settings are refused
        return None
