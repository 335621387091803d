"""Which shortcuts the last Spark of a project took, for those who look at it without a Spark of their own."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from streamhouse.install.whole_file import write_whole
from streamhouse.spark.shortcuts import Shortcut, Shortcuts

_FILE = Path("cache", "shortcuts.json")


@dataclass(frozen=True)
class TakenShortcuts:
    """What one session took.

    Attributes:
        spark: Version.
        on: Names.
        off: Names → why: what the probe saw, or that nobody asked for it.
    """

    spark: str
    on: tuple[str, ...]
    off: Mapping[str, str]

    @classmethod
    def of(cls, spark: str, chosen: Shortcuts) -> "TakenShortcuts":
        """Of a Spark of this version."""
        reasons = {one: chosen.refused.get(one, "not asked for, or what it goes through is off") for one in Shortcut}
        on = tuple(one.value for one in Shortcut if one in chosen)
        return cls(spark, on, {one.value: why for one, why in reasons.items() if one not in chosen})

    def __str__(self) -> str:
        off_texts = [f"{name} off ({why})" for name, why in self.off.items()]
        on = f"{', '.join(self.on)} on" if self.on else "none on"
        return f"shortcuts of Spark {self.spark}: {'; '.join([on, *off_texts])}"


def note_shortcuts(state_dir: Path, taken: TakenShortcuts) -> None:
    """Keep it with the project; where nothing can be written, there is no message."""
    with suppress(OSError):
        write_whole(state_dir / _FILE, json.dumps(asdict(taken)))


def noted_shortcuts(state_dir: Path) -> TakenShortcuts | None:
    """What the last session took; None: there was none."""
    try:
        found = json.loads((state_dir / _FILE).read_text())
        return TakenShortcuts(str(found["spark"]), tuple(found["on"]), dict(found["off"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
