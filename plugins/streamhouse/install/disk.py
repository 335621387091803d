"""Room on the disk, and what the operating system says when there is none."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamhouse.errors import DiskFullError, EnvironmentProblem

_FULL = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.EISDIR}
_NO_PLACE = {errno.ENOENT, errno.ENAMETOOLONG, errno.EINVAL, errno.ELOOP}
_MAKE_ROOM = "make room there, or move the project to a larger disk"


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Translate what the operating system refuses while the block writes below `folder`.

    Raises:
        DiskFullError: the disk, or the user's share of it, is full.
        EnvironmentProblem: there is no such place, this user may not write there, or a file stands where a folder
            should.
    """
    try:
        yield
    except ValueError as error:
        # Python's own refusal of a name, before the operating system sees it.
        if "null" not in str(error):
            raise
        raise EnvironmentProblem(f"'{str(folder)!r}' is no path", hint="name another place") from error
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFullError(f"no room left at {folder}", hint=_MAKE_ROOM) from error
        if error.errno in _NO_PLACE:
            message = f"cannot write to {str(error.filename or folder)[:200]}: {error.strerror}"
            raise EnvironmentProblem(message, hint="name a place in a folder that exists") from error
        if error.errno in _FORBIDDEN:
            raise EnvironmentProblem(
                f"cannot write to {error.filename or folder}: {error.strerror}",
                hint="give this user the right to write there",
            ) from error
        raise


def require_room(folder: Path, least_bytes: int) -> None:
    """Refuse to begin when the disk of `folder`, which must exist, has less than `least_bytes` free.

    Raises:
        DiskFullError: it has less.
    """
    free = shutil.disk_usage(folder).free
    if free < least_bytes:
        raise DiskFullError(
            f"{folder} has {free / 2**20:,.0f} MiB free, {least_bytes / 2**20:,.0f} MiB are needed", hint=_MAKE_ROOM
        )
