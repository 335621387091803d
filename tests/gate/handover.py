"""What a process of a run with several hands to the one that prints the report."""

from typing import Any

import pytest


def hand_over(config: pytest.Config, name: str, value: object) -> bool:
    """Hand a value over at the end of a process; False: this process prints the report itself.

    Args:
        config: Of the process.
        name: As `handed_over` asks for it.
        value: A number, a text, or a list of these.
    """
    output = getattr(config, "workeroutput", None)
    if not isinstance(output, dict):
        return False
    output[name] = value
    return True


def handed_over(node: Any, name: str, default: Any) -> Any:
    """What a process that has ended handed over; the default, where it died before it could."""
    output = getattr(node, "workeroutput", None)
    return output.get(name, default) if isinstance(output, dict) else default
