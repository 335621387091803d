"""How much work something is, without a clock: the same number on each machine."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

_OPENED: Counter[str] | None = None
_hooked = False


def calls_in(run: Callable[[], object]) -> int:
    """How many functions of Python `run` calls, at any depth."""
    counted = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(before)
    return counted


def files_opened_by(run: Callable[[], object], folder: Path) -> Counter[str]:
    """How often `run` opens each file below a folder, by its path."""
    global _OPENED, _hooked  # a hook stays for as long as its process
    if not _hooked:
        sys.addaudithook(_note)
        _hooked = True
    found: Counter[str] = Counter()
    _OPENED = found
    try:
        run()
    finally:
        _OPENED = None
    return Counter({path: times for path, times in found.items() if Path(path).is_relative_to(folder)})


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if _OPENED is not None and event == "open" and isinstance(arguments[0], str):
        _OPENED[arguments[0]] += 1
