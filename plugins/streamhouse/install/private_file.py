"""Files that only this user reads, also where another one may have laid a link.

A link that a file replaces is removed. What it leads to stays as it is.
"""

from pathlib import Path

from streamhouse.install.whole_file import create


def write_private(file: Path, text: str) -> None:
    """Write a file that only this user may read, from its first moment on; one that is cut off is short.

    Args:
        file: Is removed first if it is there; its folder is there.
        text: Is written as UTF-8; the disk has it on return.

    Raises:
        OSError: the disk is full, or the folder may not be written.
    """
    file.unlink(missing_ok=True)
    create(file, text.encode(), private=True)
