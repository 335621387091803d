"""Options that take a duration: how often, or how long."""

import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import click

_NEVER = "never"


def interval(text: str, option: str = "--every") -> timedelta:
    """What a person gave for an option: more than no time.

    Raises:
        BadParameter: it is no duration, no time at all, or never.
    """
    from streamhouse.model.types import FOREVER, duration_of

    try:
        found = duration_of(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from error
    if not found or found == FOREVER:
        why = "no time at all" if not found else "never"
        raise click.BadParameter(f"'{text}' is {why}; write how often or how long, such as 30s, 5m", param_hint=option)
    return found


class _Seconds(click.FloatRange):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = super().convert(value, param, ctx)
        if math.isnan(found):  # no bound refuses it
            self.fail(f"'{value}' is no number of seconds", param, ctx)
        return float(found)


SECONDS = _Seconds(min=0.1, max=86_400)
"""Between two looks of a command that goes on looking."""


def tier_option(more: str = "") -> Callable[[Any], Any]:
    """`--tier` of a command that carries flows, as `tier_every`; `more` is added to its help."""
    text = f"Fill the warm and cold tiers so often; '{_NEVER}' leaves that to: streamhouse tier."
    return click.option(
        "--tier", "tier_every", metavar="DURATION", default="1m", show_default=True, help=f"{text} {more}".rstrip()
    )


def so_often(tier_every: str) -> timedelta | None:
    """What a person gave for `--tier`; None: never."""
    return None if tier_every == _NEVER else interval(tier_every, "--tier")
