"""Files that are replaced as a whole: a reader sees what was there, or all of the new content."""

import os
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

_ONLY_THIS_USER, _AS_THE_MASK_SAYS, _MODE = 0o600, 0o666, 0o777


def write_whole(
    file: Path, content: str | bytes, *, private: bool = False, only_if: Callable[[], bool] | None = None
) -> bool:
    """Write a file and its folders so that each reader sees the whole content, or what was there before.

    The disk has the content before the file gets its name, so a power failure leaves no empty file. The name itself is
    on the disk after `sync_folder` of the folder. Of two processes that write at once, the content of one of them is
    there. A link is replaced, and what it leads to stays as it is. A file keeps its mode.

    Args:
        file: Is replaced if it is there.
        content: Text is written as UTF-8.
        private: Whether only this user may read it, from its first moment on.
        only_if: Is asked when the content is on the disk, directly before the file is replaced; False: the file stays.

    Returns:
        Whether the file has the content.

    Raises:
        OSError: the disk is full, or the folder may not be written; what was there stays.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.{uuid4().hex[:12]}.new")
    try:
        create(unfinished, content.encode() if isinstance(content, str) else content, private)
        if not private and file.exists() and not file.is_symlink():
            unfinished.chmod(file.stat().st_mode & _MODE)
        if only_if is not None and not only_if():
            return False
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)
    return True


def create(file: Path, content: bytes, private: bool) -> None:
    """Make a file that was not there; the disk has its content on return.

    Args:
        file: Its folder is there.
        content: Of the file.
        private: Whether only this user may read it, from its first moment on.

    Raises:
        FileExistsError: the file, or a link of its name, is there.
        OSError: the disk is full, or the folder may not be written; the file may be short.
    """
    mode = _ONLY_THIS_USER if private else _AS_THE_MASK_SAYS
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
