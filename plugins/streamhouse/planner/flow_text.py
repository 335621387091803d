"""Edits of a flow's file as text: comments and layout stay as they are."""

from datetime import timedelta
from typing import Any

from streamhouse.model.table import Tiers
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


def with_tiers(text: str, table: str, tiers: Tiers, file: str) -> str:
    """The text of a flow that names the tiers of one more table.

    Raises:
        FileFormatError: the file's layout does not allow it.
    """
    return with_added(text, {"tables": _options(table, tiers)}, file=file)


def _options(table: str, tiers: Tiers) -> dict[str, Any]:
    named = {tier.value: getattr(tiers, tier.value) for tier in tiers.present}
    return {table: {"tiers": {tier: format_duration(kept) for tier, kept in named.items()}}}


def new_flow(
    name: str,
    description: str,
    owner: str,
    freshness: timedelta | None,
    step: dict[str, Any],
    tiers: Tiers | None = None,
) -> str:
    """The text of a flow of one step, which may name the tiers of its table."""
    lines = entry("flow", name) + prose("description", description)
    lines += entry("owner", owner) if owner else []
    lines += entry("freshness", format_duration(freshness)) if freshness is not None else []
    lines += ["steps:", *item(step, 2)]
    lines += block("tables", _options(step["writes"], tiers)) if tiers is not None else []
    return "\n".join(lines) + "\n"
