"""Where the files of a proposal are written: into the project, or into a folder that is no part of what it reads."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from streamhouse.errors import WriteTargetError

_READ = ("actions", "flows", "dags", ".streamhouse")
"""Folders of a project in which a file changes what the project does."""


def target_of(root: Path, target: Path | None) -> Path | None:
    """The folder for the files; None: the project itself, by whatever path it is named.

    Args:
        root: The project's folder.
        target: As a person typed it; None: the project.

    Raises:
        WriteTargetError: it is a file, or a part of the project that Streamhouse reads.
    """
    if target is None or target.resolve() == root.resolve():
        return None
    place = target.resolve()
    read = next((name for name in _READ if place.is_relative_to((root / name).resolve())), None)
    if read is not None:
        raise WriteTargetError(
            f"{target} is in {read}/ of the project, whose files Streamhouse reads",
            hint="name a folder for a review, such as /tmp/review; without one, the files go into the project",
        )
    file = next((one for one in (place, *place.parents) if one.exists() and not one.is_dir()), None)
    if file is not None:
        raise WriteTargetError(
            f"{file} is a file, and the files of a proposal need a folder",
            hint="name a folder, such as /tmp/review; without one, the files go into the project",
        )
    return place


def check_folders(root: Path, names: Iterable[str]) -> None:
    """Check that the project reads files of these names once they are there.

    Args:
        root: The project's folder.
        names: From there, each in a folder of actions or flows, which may be a link itself.

    Raises:
        WriteTargetError: a folder on the way of one is a link, behind which no file is read.
    """
    for name in names:
        for folder in PurePosixPath(name).parents[:-2]:
            if (root / folder).is_symlink():
                raise WriteTargetError(
                    f"{folder} is a link, and Streamhouse reads no file of a folder behind one",
                    hint="replace it by a folder",
                )
