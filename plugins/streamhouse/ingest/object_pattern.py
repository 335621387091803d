"""Which objects a pattern names. Pure: a function lists."""

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

_MAGIC = re.compile(r"[*?\[]")
_EVERY = "**"

Listing = Callable[[str, bool], Iterator[tuple[str, bool]]]
"""(folder, whether with all below it) → (name with its bucket, whether it is a folder) of what is in it."""


def matching(pattern: str, listing: Listing) -> Iterator[str]:
    """The names of the objects that match, each once, in the order of the listing.

    `*`, `?`, `[a-z]` stand for letters of one part of a name, `**` for any number of parts. As on a disk, they stand
    for no name that begins with `.`. Only folders that can have such objects are listed.

    Args:
        pattern: With its bucket, and without `s3://`.
        listing: Lists a folder; one that is not there is empty.
    """
    parts = pattern.split("/")
    fixed = next((at for at, part in enumerate(parts) if _MAGIC.search(part)), len(parts) - 1)
    yield from _below("/".join(parts[:fixed]), parts[fixed:], listing)


def fixed_folder(pattern: str) -> str:
    """The folder that the objects of a pattern are in, or below.

    Example:
        >>> fixed_folder("landing/orders/2026-*/*.csv")
        'landing/orders'
    """
    parts = pattern.split("/")
    fixed = next((at for at, part in enumerate(parts) if _MAGIC.search(part)), len(parts) - 1)
    return "/".join(parts[:fixed])


def _below(folder: str, parts: Sequence[str], listing: Listing) -> Iterator[str]:
    if parts[0] == _EVERY:
        for name, is_folder in listing(folder, True):
            if not is_folder and _fits(name[len(folder) + 1 :].split("/"), parts):
                yield name
        return
    if len(parts) > 1 and not _MAGIC.search(parts[0]):
        yield from _below(f"{folder}/{parts[0]}", parts[1:], listing)
        return
    is_last = len(parts) == 1
    for name, is_folder in listing(folder, False):
        if is_folder != is_last and _fits_part(name.rpartition("/")[2], parts[0]):
            if is_last:
                yield name
            else:
                yield from _below(name, parts[1:], listing)


def _fits(names: Sequence[str], parts: Sequence[str]) -> bool:
    if not parts:
        return not names
    if parts[0] == _EVERY:
        if len(parts) == 1:
            return all(not name.startswith(".") for name in names)
        below = (at for at in range(len(names)) if not any(name.startswith(".") for name in names[:at]))
        return any(_fits(names[at:], parts[1:]) for at in below)
    return bool(names) and _fits_part(names[0], parts[0]) and _fits(names[1:], parts[1:])


def _fits_part(name: str, part: str) -> bool:
    return fnmatchcase(name, part) and (part.startswith(".") or not name.startswith("."))
