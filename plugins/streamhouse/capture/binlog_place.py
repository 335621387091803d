"""How far the journal of a MariaDB or MySQL is in the binlog: `place.json` beside the segments.

It is written when the disk has the events, so it is never past the end of the journal. It names the beginning of a
transaction, or its end: never a place within one, because the engine skips rows there that it did not send.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError
from pydantic_core import from_json

from streamhouse.capture.journal import checked_bytes
from streamhouse.capture.repeats import place_of
from streamhouse.install.whole_file import write_whole
from streamhouse.model.types import Frozen


class BinlogPlace(Frozen):
    """A place in the binlog of a server.

    Attributes:
        file: Such as `mariadb-bin.000004`.
        pos: Byte in the file.
        gtids: Of all transactions before it; None: the server has none.
        server_id: Of the server; None: not known yet.
        events: Of the transaction there, those that were read; 0: none, or it ended.
    """

    file: str
    pos: int
    gtids: str | None = None
    server_id: int | None = None
    events: int = 0

    @classmethod
    def of(cls, offset: Mapping[str, Any]) -> Self | None:
        """That of an engine's offset; None: it is one of a snapshot, or of none yet."""
        if "file" not in offset or "snapshot" in offset:
            return None
        return cls(
            file=offset["file"],
            pos=offset["pos"],
            gtids=offset.get("gtids"),
            server_id=offset.get("server_id"),
            events=offset.get("event", 0),
        )

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """That of a group; None: there is none that is whole."""
        try:
            return cls.model_validate_json((folder / _FILE).read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, folder: Path) -> None:
        """Replace the one before, at once and whole."""
        write_whole(folder / _FILE, self.model_dump_json(), private=True)

    @property
    def order(self) -> tuple[int, int, int]:
        """Rises with the log of one server."""
        return (*in_log(self.file, self.pos), self.events)

    def offset(self) -> dict[str, str | int]:
        """What an engine begins with."""
        found: dict[str, str | int] = {"file": self.file, "pos": self.pos}
        if self.gtids:
            found["gtids"] = self.gtids
        if self.server_id is not None:
            found["server_id"] = self.server_id
        return found


_FILE = "place.json"
HISTORY = "schema_history.jsonl"


def in_log(file: str, pos: int) -> tuple[int, int]:
    """A place in a log, as numbers.

    Example:
        >>> in_log("mariadb-bin.000010", 4) > in_log("mariadb-bin.000009", 700)
        True
    """
    return int(file.rpartition(".")[2]), pos


def last_in_log(segment: Path, pattern: re.Pattern[bytes]) -> tuple[int, int] | None:
    """Where in the binlog the last event of a segment is; None: it has none.

    Args:
        segment: Events are not added to it any more.
        pattern: Of places in events.

    Raises:
        SourceError: a line is not as it was written.
    """
    for line in reversed(checked_bytes(segment).splitlines()):
        if (place := place_of(line, pattern)) is not None:
            found = from_json(b"{" + place.rstrip(b",") + b"}")
            return in_log(found["file"], found["pos"])
    return None


def remove(folder: Path) -> None:
    """Remove what a snapshot that did not end has left."""
    for name in (_FILE, HISTORY):
        (folder / name).unlink(missing_ok=True)


def cut_later(history: Path, place: BinlogPlace) -> None:
    """Cut what a schema history has of statements after a place, of a server without GTIDs.

    They come again. The engine would begin with the tables as they are after them, and so put values of rows before
    them under wrong names: it compares no places of servers of which it does not know whether they are the same.
    """
    lines = history.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if _is_at_or_before(from_json(line)["position"], place)]
    if len(kept) == len(lines):
        return
    write_whole(history, b"".join(kept), private=True)


def _is_at_or_before(position: Mapping[str, Any], place: BinlogPlace) -> bool:
    if "snapshot" in position:
        return True
    return (*in_log(position["file"], position["pos"]), position.get("event", 0)) <= (*in_log(place.file, place.pos), 0)


def is_before(one: str, other: str) -> bool:
    """Whether the GTIDs of MariaDB in `one` are at most those in `other`, domain by domain.

    Example:
        >>> is_before("0-1-5,1-2-3", "1-2-3,0-1-9"), is_before("0-1-5", ""), is_before("0-1-5", "0-9-4")
        (True, False, False)
    """
    last = _sequences(other)
    return all(number <= last.get(domain, -1) for domain, number in _sequences(one).items())


def _sequences(gtids: str) -> dict[str, int]:
    parts = [one.strip().split("-") for one in gtids.split(",") if one.strip()]
    return {domain: int(number) for domain, _, number in parts}
