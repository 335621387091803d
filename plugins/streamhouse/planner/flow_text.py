"""Edits of a flow's file as text: comments and layout stay as they are."""

from datetime import timedelta
from typing import Any

from streamhouse.model.types import format_duration
from streamhouse.registry.yaml_edits import with_item, with_value
from streamhouse.registry.yaml_edits.write import entry, item, prose


def with_step(text: str, step: dict[str, Any], file: str) -> str:
    """The text of a flow with one more step behind its last one.

    Args:
        text: Of a sound flow.
        step: As a person would write it: `use`, `reads`, `writes`.
        file: Name for messages.

    Raises:
        FileFormatError: the file's layout does not allow it.
    """
    return with_item(text, "steps", step, file)


def with_freshness(text: str, freshness: timedelta, file: str) -> str:
    """The text of a flow that promises another freshness.

    Raises:
        FileFormatError: the file's layout does not allow it.
    """
    return with_value(text, ("freshness",), format_duration(freshness), file)


def new_flow(name: str, description: str, owner: str, freshness: timedelta | None, step: dict[str, Any]) -> str:
    """The text of a flow of one step."""
    lines = entry("flow", name) + prose("description", description)
    lines += entry("owner", owner) if owner else []
    lines += entry("freshness", format_duration(freshness)) if freshness is not None else []
    return "\n".join([*lines, "steps:", *item(step, 2)]) + "\n"
