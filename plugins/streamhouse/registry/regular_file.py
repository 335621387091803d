"""Opens files that a project names: regular ones only, and without waiting for a pipe that has no writer."""

import errno
import os
import stat
from io import FileIO
from pathlib import Path

NO_REGULAR_FILE = "it is no regular file"
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def open_regular(file: Path | str) -> FileIO:
    """A file, open for reading; a link counts as what it leads to.

    Raises:
        OSError: it cannot be opened, or is a folder, pipe, socket or device.
    """
    try:
        opened = FileIO(os.open(file, _READ))  # without O_NONBLOCK a pipe that nobody writes into would never open
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):  # a socket, or a device without its hardware
            raise OSError(errno.EINVAL, NO_REGULAR_FILE, str(file)) from error
        raise
    if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
        opened.close()
        raise OSError(errno.EINVAL, NO_REGULAR_FILE, str(file))
    return opened


def regular_text(file: Path) -> str:
    r"""What a file says, lines ending in `\n`.

    Raises:
        OSError: as of `open_regular`.
        UnicodeDecodeError: it is no UTF-8.
    """
    with open_regular(file) as opened:
        text = opened.readall().decode("utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")
