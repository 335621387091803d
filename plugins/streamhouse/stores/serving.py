"""The tables that serve, under the names that people know, for other engines that read a lake in a folder.

A table that was rebuilt is stored beside the one that served. A folder beside the lake, `warm.serving` of `warm`,
has a link for each table to the folder of the version that serves; it is a lake of its own, in which nobody writes. A
link is replaced as a whole, so that who opens a table finds one version or the other.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from streamhouse.errors import StoreError
from streamhouse.model.types import Tier
from streamhouse.model.version import table_name

_SUFFIX = ".serving"
_LAYER = {Tier.WARM: "{}.db", Tier.COLD: "{}"}  # how a lake calls the folder of a layer


@dataclass(frozen=True)
class ServingLinks:
    """The links of one lake in a folder.

    Attributes:
        tier: Which lake.
        lake: Its folder.
    """

    tier: Tier
    lake: Path

    @property
    def folder(self) -> Path:
        """Where the links are: a lake for others to read."""
        return self.lake.with_name(f"{self.lake.name}{_SUFFIX}")

    def show(self, stored: str) -> bool:
        """Let a table serve under its own name; whether it is there.

        Args:
            stored: Its name in the lake, `dwd.sales__v2`.

        Raises:
            StoreError: the link cannot be made; there is none then, rather than one to what serves no more.
        """
        table, link = self._place(self.lake, stored), self._place(self.folder, table_name(stored))
        if not table.is_dir():
            return False
        to = os.path.relpath(table, link.parent)  # still right when the whole project is moved
        with suppress(OSError):
            if link.readlink() == Path(to):
                return True
        unfinished = link.with_name(f".{link.name}.new")
        try:
            link.parent.mkdir(parents=True, exist_ok=True)
            unfinished.unlink(missing_ok=True)
            unfinished.symlink_to(to, target_is_directory=True)
            unfinished.replace(link)
        except OSError as error:
            with suppress(OSError):
                link.unlink(missing_ok=True)
            raise StoreError(
                f"{table_name(stored)} cannot be shown to other engines: {error.strerror or error}",
                hint=f"check that links can be made in {self.folder}",
            ) from error
        return True

    def hide(self, stored: str) -> None:
        """Let a table serve no more; nothing where another version does."""
        link = self._place(self.folder, table_name(stored))
        with suppress(OSError):
            if link.readlink().name == self._place(self.lake, stored).name:
                link.unlink()

    def place(self, stored: str) -> Path:
        """The folder in the lake of a table, by the name that it is stored by."""
        return self._place(self.lake, stored)

    def _place(self, lake: Path, name: str) -> Path:
        layer, _, table = name.partition(".")
        return lake / _LAYER[self.tier].format(layer) / table
