"""Who gives a command, for the record."""

import getpass
import socket


def whoami() -> str:
    """A user and a machine: `ada@alpha`."""
    try:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    except (OSError, KeyError):  # a container may know no name for its user
        return f"unknown@{socket.gethostname()}"
