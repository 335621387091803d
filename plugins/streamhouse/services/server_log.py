"""What the log of a server says about its end."""

import re
from pathlib import Path

_TAIL_BYTES = 64_000
_STAMP = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} ", re.ASCII)
_MINOR = re.compile(_STAMP.pattern + r"(WARN|INFO|DEBUG|TRACE) ", re.ASCII)
_FRAME = re.compile(r"^\s+at |^\s*\.\.\. \d+ (more|common frames)|^\s*$|^Picked up ", re.ASCII)
_THROWN = re.compile(r"^(?:Caused by: )?([\w.$]+(?:Exception|Error|Failure)(?::.*)?)$", re.ASCII)
_TROUBLE = re.compile(r"ERROR|FATAL|Error\b|OutOfMemory")


def last_words(log: Path) -> str:
    """The line that shows best why a server ended.

    Returns:
        The last exception of an error, of a chain its root; else the last of a warning, such as that of a client that
        was turned away; else the last error, else the last line. Without time stamp. A note when there is none.
    """
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return "it wrote no log"
    for found in _by_weight(text):
        if found:
            return found[-1]
    return "it wrote nothing to its log"


def _by_weight(text: str) -> tuple[list[str], ...]:
    """The most useful lines first: what was thrown, what was thrown as a warning, lines of trouble, all lines."""
    lines: list[str] = []
    thrown: list[str] = []
    warned: list[str] = []
    is_minor = False
    for line in text.splitlines():
        if _FRAME.match(line):
            continue
        if _STAMP.match(line):
            is_minor = bool(_MINOR.match(line))
        lines.append(_STAMP.sub("", line).strip())
        if match := _THROWN.match(lines[-1]):
            (warned if is_minor else thrown).append(match[1])
    troubles = [line for line in lines if _TROUBLE.search(line)]
    return thrown, warned, troubles, lines
