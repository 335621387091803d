"""Files that only this user reads."""

import os
from pathlib import Path


def write_private(file: Path, text: str) -> None:
    """Write a file that only this user may read, from its first moment on."""
    file.unlink(missing_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as opened:
        opened.write(text)
