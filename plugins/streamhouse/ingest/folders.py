"""The folders whose files a project reads: its own, and those that `data_folders` of streamhouse.yaml names."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from streamhouse.doors.setting import shown
from streamhouse.errors import Location, SourceError
from streamhouse.ingest.project_file import SETTINGS, written_settings

DATA_FOLDERS = "data_folders"
_OWN_FOLDER = ".streamhouse"  # what we keep beside the project's files: state, logs, warehouses


def data_path(root: Path, name: str, at: Location | None = None) -> Path:
    """The file or folder that a path of a source means.

    Args:
        root: The project's folder, to which the path is relative.
        name: As written, or as a listing gave it. Links count as what they lead to.
        at: Where it was written.

    Raises:
        SourceError: it lies neither in the project nor in a folder of `data_folders`; or in the project, and hidden.
    """
    path = root / name
    try:
        real, own = path.resolve(), root.resolve()
        path.lstat()  # resolving does not find each name that is too long
    except FileNotFoundError:
        pass
    except (OSError, RuntimeError, ValueError) as error:  # a circle of links, or no path at all
        raise SourceError(f"'{shown(name)}' is no path: {_cause(error)}", at=at, hint="correct it") from error
    allowed = any(real.is_relative_to(folder) for folder in data_folders(root))
    if not allowed and (not real.is_relative_to(own) or real.is_relative_to(own / _OWN_FOLDER)):
        where = f", which is {real}" if real != path else ""
        raise SourceError(
            f"'{shown(name)}'{where}, lies outside of the project's data",
            at=at,
            hint=f"put it into the project, or allow its folder in {SETTINGS}: {DATA_FOLDERS}: [{real.parent}]",
        )
    if not allowed and _is_hidden(real, own):
        hint = "put the file where no name on its way begins with '.': a repository's own files are no data"
        raise SourceError(f"'{shown(name)}' is hidden: a name on its way begins with '.'", at=at, hint=hint)
    if real in _secret_files(root):
        raise SourceError(f"'{shown(name)}' has a secret of a connection", at=at, hint="no source may read it")
    return path


def project_file(root: Path, name: str, at: Location | None = None) -> Path:
    """The regular file that a setting of a source names, with no link on its way.

    Raises:
        SourceError: it is outside of the project's data, or hidden, or no regular file.
    """
    real = data_path(root, name, at).resolve()
    if real.name.startswith(".") or Path(name).name.startswith("."):
        raise SourceError(f"'{shown(name)}' is a hidden file", at=at, hint="name one whose name has no '.' before it")
    if not real.is_file():
        raise SourceError(f"there is no file '{shown(name)}'", at=at, hint="paths are relative to the project's folder")
    return real


def _is_hidden(real: Path, own: Path) -> bool:
    """Whether a name begins with one dot; two begin those that a mounted volume keeps its files in."""
    return any(part[0] == "." and not part.startswith("..") for part in real.relative_to(own).parts)


def _cause(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def data_folders(root: Path) -> tuple[Path, ...]:
    """The folders that the settings of the project at `root` allow beside its own; none where they cannot be read."""
    named = written_settings(root, DATA_FOLDERS)
    texts = [text for text in named if isinstance(text, str) and text] if isinstance(named, list) else []
    return tuple(folder for text in texts if (folder := _folder(root, text)) is not None)


def _secret_files(root: Path) -> set[Path]:
    """Files that connections of the project have their secrets in."""
    named = written_settings(root, "connections")
    return {path for text in _files_of(named) if (path := _folder(root, text)) is not None}


def _files_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("file"), str):
            yield value["file"]
        for one in value.values():
            yield from _files_of(one)


def _folder(root: Path, text: str) -> Path | None:
    try:
        return (root / Path(text).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError):  # as above: the settings are refused
        return None
