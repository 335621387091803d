"""Files that only this user reads, and new files where another one may have laid a link."""

import os
from pathlib import Path


def write_new(file: Path, content: bytes) -> None:
    """Write a file in place of what is there. A link there is removed: what it leads to stays as it is."""
    file.unlink(missing_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(handle, "wb") as opened:
        opened.write(content)


def write_private(file: Path, text: str) -> None:
    """Write a file that only this user may read, from its first moment on."""
    file.unlink(missing_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as opened:
        opened.write(text)
