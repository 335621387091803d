"""Refuses secrets in files of a project, which all have who have the project, a plan or its history. Pure."""

from collections.abc import Callable, Iterator
from typing import Any

from streamhouse.errors import FileFormatError
from streamhouse.registry.problems import Problems
from streamhouse.registry.yaml_nodes import Document, KeyPath
from streamhouse.secret import names_secret, url_holds_secret


def refuse_secrets(
    document: Document,
    problems: Problems,
    remedy: Callable[[KeyPath], str],
    *,
    under: KeyPath = (),
    named: Callable[[KeyPath], bool] = lambda _: False,
) -> None:
    """Add an error for each secret in a document, with its place and without its value.

    Args:
        document: As a person wrote it.
        problems: Grow.
        remedy: Path of a secret → what to write instead.
        under: Look below this path only.
        named: Whether a setting at this path holds a secret if its name says so; a password in a URL always is one.
    """
    value = document.data
    for part in under:
        value = value.get(part) if isinstance(value, dict) else None
    for path, text in _texts(value, under):
        if url_holds_secret(text):
            cause = f"the URL at '{_shown(path)}' has a password in it, which no file of a project may hold"
        elif names_secret(str(path[-1])) and named(path):
            cause = f"'{path[-1]}' is a secret, which no file of a project may hold"
        else:
            continue
        problems.add(FileFormatError(cause, at=document.key_at(path), hint=remedy(path)))


def _texts(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(one, (*path, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _texts(one, (*path, number))
    elif path and value is not None and not isinstance(value, bool):
        yield path, str(value)


def _shown(path: KeyPath) -> str:
    return ".".join(map(str, path))
