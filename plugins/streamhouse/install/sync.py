"""What is on the disk for certain."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the names of the files in a folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
