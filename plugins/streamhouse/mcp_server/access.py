"""The token that a client needs over HTTP: made once, shown once, kept as its hash alone."""

import hashlib
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from streamhouse.doors.setting import CONTROL
from streamhouse.errors import TokenMissingError
from streamhouse.install.private_file import write_private
from streamhouse.project.project import Project
from streamhouse.registry.regular_file import open_regular

VARIABLE = "STREAMHOUSE_MCP_TOKEN"
"""Environment variable: the token itself; wins over the file."""

_LEAST_CHARACTERS = 16
_TOO_SHORT = f"is shorter than {_LEAST_CHARACTERS} characters"
_MOST_BYTES = 1_000
_MAKE = "make one: streamhouse mcp token"


def file_of(project: Project) -> Path:
    """Where the hash of the token lies; need not exist."""
    return project.state_dir / "mcp-token"


def new_token(project: Project) -> str:
    """Make a token in place of the one before, which is good for nothing from the next start on."""
    token = secrets.token_urlsafe(32)
    file = file_of(project)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(file, f"{_hashed(token)}\n")
    return token


def known_hash(project: Project, environment: Mapping[str, str] | None = None) -> str:
    """The hash of the token that clients must have.

    Args:
        project: Its file is read.
        environment: May name a token; None: that of the process.

    Raises:
        TokenMissingError: there is none, it is too short, or the file is none of ours: no regular file, of another
            user, or others can read it.
    """
    token = (os.environ if environment is None else environment).get(VARIABLE, "")
    if token:
        if len(token) < _LEAST_CHARACTERS or CONTROL.search(token):
            odd = "has a character that no header has" if CONTROL.search(token) else _TOO_SHORT
            raise TokenMissingError(f"{VARIABLE} {odd}", hint=_MAKE)
        return _hashed(token)
    file = file_of(project)
    try:
        with open_regular(file) as opened:
            status, text = os.fstat(opened.fileno()), opened.read(_MOST_BYTES).decode("ascii").strip()
    except FileNotFoundError:
        raise TokenMissingError("there is no token for clients over HTTP", hint=_MAKE) from None
    except OSError as error:
        raise TokenMissingError(f"{file} cannot be read: {error.strerror}", hint=_MAKE) from error
    except UnicodeDecodeError as error:
        raise TokenMissingError(f"{file} holds no token", hint=_MAKE) from error
    if (mode := status.st_mode & 0o777) & 0o077:
        raise TokenMissingError(f"{file} can be read or written by others (mode {mode:03o})", hint=_MAKE)
    if status.st_uid not in (os.geteuid(), 0):
        raise TokenMissingError(f"{file} belongs to another user", hint=_MAKE)
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise TokenMissingError(f"{file} holds no token", hint=_MAKE)
    return text


def is_token(token: str, known: str) -> bool:
    """Whether a text is the token of a hash; takes equally long for every wrong one."""
    return secrets.compare_digest(_hashed(token), known)


def _hashed(token: str) -> str:
    # A token has 256 random bits, so a fast hash keeps it as well as a slow one.
    return hashlib.sha256(token.encode()).hexdigest()
