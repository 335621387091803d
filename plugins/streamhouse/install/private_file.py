"""Files that only this user reads, and new files where another one may have laid a link.

A link that a file replaces is removed. What it leads to stays as it is.
"""

import os
from pathlib import Path

_ONLY_THIS_USER, _AS_THE_MASK_SAYS = 0o600, 0o666


def write_new(file: Path, content: bytes) -> None:
    """Write a file in place of what is there; one that is cut off behind its beginning is short."""
    _write(file, content, _AS_THE_MASK_SAYS)


def write_private(file: Path, text: str) -> None:
    """Write a file that only this user may read, from its first moment on."""
    _write(file, text.encode(), _ONLY_THIS_USER)


def write_whole(file: Path, text: str) -> None:
    """Write a file and its folders so that each reader sees the whole text, or what was there before.

    Raises:
        OSError: the disk is full, or the folder may not be written; what was there stays.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.new")
    write_new(unfinished, text.encode())
    unfinished.replace(file)


def _write(file: Path, content: bytes, mode: int) -> None:
    file.unlink(missing_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as opened:
        opened.write(content)
