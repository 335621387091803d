"""Edits of a flow's file as text: comments and layout stay as they are."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from streamhouse.model.types import format_duration
from streamhouse.registry.yaml_edits import with_added, with_item, with_value
from streamhouse.registry.yaml_edits.write import block, entry, item, prose


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


def with_options(text: str, table: str, options: Mapping[str, Any], file: str) -> str:
    """The text of a flow that says more of one more table.

    Args:
        text: Of a sound flow.
        table: `layer.name`.
        options: As a person would write them: `tiers`, `ai`.
        file: Name for messages.

    Raises:
        FileFormatError: the file's layout does not allow it.
    """
    return with_added(text, {"tables": {table: options}}, file=file)


def new_flow(
    name: str,
    description: str,
    owner: str,
    freshness: timedelta | None,
    step: dict[str, Any],
    options: Mapping[str, Any] | None = None,
) -> str:
    """The text of a flow of one step, with the options of its table, if there are any."""
    lines = entry("flow", name) + prose("description", description)
    lines += entry("owner", owner) if owner else []
    lines += entry("freshness", format_duration(freshness)) if freshness is not None else []
    lines += ["steps:", *item(step, 2)]
    lines += block("tables", {step["writes"]: options}) if options else []
    return "\n".join(lines) + "\n"
