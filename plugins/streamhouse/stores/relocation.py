"""Paths of files in a folder that was moved or copied."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FILE_SCHEMES = ("", "file:", "file://")


class Relocation:
    """From one folder to another; every path that begins with the old folder gets the new one."""

    def __init__(self, old: Path, new: Path) -> None:
        """Touches nothing yet.

        Args:
            old: Where the files were, absolute.
            new: Where they are, absolute.
        """
        self._prefixes = [(f"{scheme}{old}/", f"{scheme}{new}/") for scheme in _FILE_SCHEMES]
        self._whole = {f"{scheme}{old}": f"{scheme}{new}" for scheme in _FILE_SCHEMES}

    def path(self, path: str) -> str:
        """Where the file of this path is now."""
        if path in self._whole:
            return self._whole[path]
        for old, new in self._prefixes:
            if path.startswith(old):
                return new + path[len(old) :]
        return path

    def value(self, value: Any) -> Any:
        """The same value, with every path in it rewritten, at any depth."""
        if isinstance(value, str):
            return self.path(value)
        if isinstance(value, bytes):
            try:
                return self.path(value.decode()).encode()
            except UnicodeDecodeError:
                return value
        if isinstance(value, Mapping):
            return {key: self.value(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.value(one) for one in value]
        return value
