"""Options that take a duration: how often, or how long."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import click

_NEVER = "never"


def interval(text: str, option: str = "--every") -> timedelta:
    """What a person gave for an option."""
    from streamhouse.model.types import duration_of

    try:
        return duration_of(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from error


def tier_option(more: str = "") -> Callable[[Any], Any]:
    """`--tier` of a command that carries flows, as `tier_every`; `more` is added to its help."""
    text = f"Fill the warm and cold tiers so often; '{_NEVER}' leaves that to: streamhouse tier."
    return click.option(
        "--tier", "tier_every", metavar="DURATION", default="1m", show_default=True, help=f"{text} {more}".rstrip()
    )


def so_often(tier_every: str) -> timedelta | None:
    """What a person gave for `--tier`; None: never."""
    return None if tier_every == _NEVER else interval(tier_every, "--tier")
