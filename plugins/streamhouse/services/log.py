"""What the log of a server says about its end."""

import re
from pathlib import Path

_TAIL_BYTES = 64_000
_STAMP = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} ")
_FRAME = re.compile(r"^\s+at |^\s*\.\.\. \d+ (more|common frames)|^\s*$|^Picked up ")
_THROWN = re.compile(r"^(?:Caused by: )?([\w.$]+(?:Exception|Error|Failure)(?::.*)?)$")
_TROUBLE = re.compile(r"ERROR|FATAL|Error\b|OutOfMemory")


def last_words(log: Path) -> str:
    """The line that tells best why a server ended.

    Returns:
        The last exception, of a chain its root; else the last error, else the last line. Without
        time stamp. A note when there is none.
    """
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return "it wrote no log"
    lines = [_STAMP.sub("", line).strip() for line in text.splitlines() if not _FRAME.match(line)]
    thrown = [match[1] for line in lines if (match := _THROWN.match(line))]
    troubles = [line for line in lines if _TROUBLE.search(line)]
    for found in (thrown, troubles, lines):
        if found:
            return found[-1]
    return "it wrote nothing to its log"
