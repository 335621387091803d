"""The token that a client needs over HTTP: made once, shown once, kept as its hash alone."""

import hashlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from streamhouse.errors import TokenMissingError
from streamhouse.install.private_file import write_private
from streamhouse.project.project import Project

VARIABLE = "STREAMHOUSE_MCP_TOKEN"
"""Environment variable: the token itself; wins over the file."""

_LEAST_CHARACTERS = 16
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
        TokenMissingError: there is none, it is too short, or others can read the file.
    """
    token = (os.environ if environment is None else environment).get(VARIABLE, "")
    if token:
        if len(token) < _LEAST_CHARACTERS:
            raise TokenMissingError(f"{VARIABLE} is shorter than {_LEAST_CHARACTERS} characters", hint=_MAKE)
        return _hashed(token)
    file = file_of(project)
    try:
        mode, text = file.stat().st_mode & 0o777, file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise TokenMissingError("there is no token for clients over HTTP", hint=_MAKE) from None
    if mode & 0o077:
        raise TokenMissingError(f"{file} can be read or written by others (mode {mode:03o})", hint=_MAKE)
    if len(text) != len(_hashed("")):
        raise TokenMissingError(f"{file} holds no token", hint=_MAKE)
    return text


def is_token(token: str, known: str) -> bool:
    """Whether a text is the token of a hash; takes equally long for every wrong one."""
    return secrets.compare_digest(_hashed(token), known)


def _hashed(token: str) -> str:
    # A token has 256 random bits, so a fast hash keeps it as well as a slow one.
    return hashlib.sha256(token.encode()).hexdigest()
