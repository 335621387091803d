"""What `autopilot:` of streamhouse.yaml says: how much the autopilot may do by itself, and when."""

import re
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from streamhouse.model.types import NAME, Frozen, Holding, Pace

_HOURS = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])")


class AutopilotMode(StrEnum):
    """What the rounds that a schedule starts do."""

    OFF = "off"  # nothing
    SUGGEST = "suggest"  # record what they find
    AUTO = "auto"  # apply what the settings allow, measure it, and take it back where it got worse


def _mode(value: Any) -> Any:
    return "off" if value is False else value  # YAML 1.1 reads a plain `off` as false


def _hours(text: str) -> str:
    found = _HOURS.fullmatch(text)
    if found is None:
        raise ValueError(f"'{text}' is no time of day; write begin and end in UTC, such as 22:00-06:00")
    if found.group(1, 2) == found.group(3, 4):
        raise ValueError(f"'{text}' ends when it begins; for the whole day write 'mode: suggest'")
    return text


class AutopilotSettings(Frozen):
    """The limits of the autopilot."""

    mode: Annotated[AutopilotMode, BeforeValidator(_mode)] = Field(
        default=AutopilotMode.OFF, description="what scheduled rounds do: off, suggest or auto"
    )
    flows: tuple[Annotated[str, Field(pattern=NAME)], ...] = Field(
        default=(), description="the flows that may be changed; empty: all"
    )
    changes_per_day: int = Field(default=4, ge=0, le=1000, description="how much it may do in 24 hours, over all flows")
    cool_down: Holding = Field(
        default=timedelta(hours=1), description="how long a flow stays as it is after any change of it"
    )
    quiet_hours: Annotated[str, AfterValidator(_hours)] | None = Field(
        default=None, description="times of day, in UTC, in which nothing is changed, such as 22:00-06:00"
    )
    window: Pace = Field(
        default=timedelta(minutes=10), description="how far back it looks, and how long it measures a change"
    )

    def is_quiet(self, now: datetime) -> bool:
        """Whether nothing may be changed at a time, which is in UTC. The end of `quiet_hours` is no part of them."""
        if self.quiet_hours is None:
            return False
        begin, end = map(time.fromisoformat, self.quiet_hours.split("-"))
        at = now.time()
        return begin <= at < end if begin < end else at >= begin or at < end
