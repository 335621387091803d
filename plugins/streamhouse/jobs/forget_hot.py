"""The files of dropped hot tables on the servers of a project, which are deleted after the answer."""

import re
import time
from dataclasses import dataclass

from streamhouse.jobs.forget_remains import Remains
from streamhouse.model.plan import QUARANTINE
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.runtime.open import Open
from streamhouse.services.layout import ServicesFolder

_DELETED_S = 60.0
_LOOK_S = 0.5


@dataclass(frozen=True)
class HotFiles:
    """The folders of one hot table on the servers of this project."""

    folders: tuple[str, ...]
    open: Open

    @classmethod
    def of(cls, open_: Open, table: Table) -> "HotFiles":
        """Those of a table that is about to be dropped, and of its quarantine."""
        if Tier.HOT not in table.tiers.present or open_.project.settings.fluss is not None:
            return cls((), open_)
        names = [table.name, f"{table.name}{QUARANTINE}"]
        found = [(name, open_.stores[Tier.HOT].identity(name)) for name in names]
        return cls(tuple(f"{n.partition('.')[2]}-{i.partition('@')[0]}" for n, i in found if i is not None), open_)

    def wait(self) -> list[Remains]:
        """Wait until the servers deleted them; gives those that they did not delete."""
        deadline = time.monotonic() + _DELETED_S
        while (there := self._there()) and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        remedy = "Fluss deletes them after it dropped the table; see: streamhouse services status"
        return [Remains(f"files of Fluss: {path}", "files of a dropped table", remedy) for path in there]

    def _there(self) -> list[str]:
        place = ServicesFolder.of(self.open.project.root)
        pattern = re.compile(rf"({'|'.join(map(re.escape, self.folders))})(-p\d+)?", re.ASCII) if self.folders else None
        if pattern is None:
            return []
        paths = [path for root in (place.data, place.remote) if root.is_dir() for path in root.rglob("*-*")]
        return [str(path) for path in paths if path.is_dir() and pattern.fullmatch(path.name)]
