"""Files that only this user reads, also where another one may have laid a link.

A link that a file replaces is removed. What it leads to stays as it is.
"""

import os
from pathlib import Path

_ONLY_THIS_USER = 0o600


def write_private(file: Path, text: str) -> None:
    """Write a file that only this user may read, from its first moment on; one that is cut off is short."""
    file.unlink(missing_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _ONLY_THIS_USER)
    with os.fdopen(handle, "wb") as opened:
        opened.write(text.encode())
