"""What the events of a flow say about rows that violate expectations. Pure."""

import re
from collections.abc import Iterable
from datetime import datetime

from streamhouse.state.records import FlowEvent

EXPECTATION = "expectation"
"""Kind of these events."""

_TEXT = re.compile(r"epoch \d+: (\d+) rows violate (.+)", re.ASCII)


def violation_text(rule: str, rows: int, epoch: int) -> str:
    """What the event of an epoch says.

    Args:
        rule: `step.expectation`.
        rows: How many violate it.
        epoch: In which.
    """
    return f"epoch {epoch}: {rows} rows violate {rule}"


def violations(events: Iterable[FlowEvent]) -> dict[str, tuple[int, datetime]]:
    """`step.expectation` → the rows that violated it in all of these events, and when one did last.

    Args:
        events: Of one flow, oldest first; other kinds are passed over.
    """
    found: dict[str, tuple[int, datetime]] = {}
    for event in events:
        text = _TEXT.fullmatch(event.text) if event.kind == EXPECTATION else None
        if text is not None:
            rows, _ = found.get(text[2], (0, event.at))
            found[text[2]] = (rows + int(text[1]), event.at)
    return found
