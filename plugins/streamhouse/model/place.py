"""Places of files, as settings and lakes name them: a folder of this machine, or a URI of another store."""

import re
from pathlib import Path

_ELSEWHERE = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.:-]*:/")


def is_local(place: str) -> bool:
    """Whether a place is in a folder of this machine.

    Example:
        >>> is_local("lake/cold"), is_local("file:/srv/cold"), is_local("s3://lake/cold")
        (True, True, False)
    """
    return _ELSEWHERE.match(place) is None


def local_path(place: str) -> Path:
    """The path of a place for which `is_local` is true.

    Example:
        >>> str(local_path("file:///srv/cold")), str(local_path("lake/cold"))
        ('/srv/cold', 'lake/cold')
    """
    return Path("/" + place.removeprefix("file:").lstrip("/")) if place.startswith("file:") else Path(place)
