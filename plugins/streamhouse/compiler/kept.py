"""How long a table's rows are kept: by default forever, and what a flow says otherwise; pure."""

from collections.abc import Iterator
from datetime import timedelta

from streamhouse.model.flow import Flow
from streamhouse.model.notice import Notice
from streamhouse.model.plan import PlannedStep
from streamhouse.model.table import Tiers
from streamhouse.model.types import FOREVER, format_duration

DEFAULT_TIERS = Tiers(hot=timedelta(days=7), warm=FOREVER)
"""Of a table whose flow names none: its log is short, and a lake has every row."""

FORMER_DEFAULT = Tiers(hot=timedelta(days=7))
"""What older versions chose: rows that were only added were gone after a week."""

_WHOLE = Tiers(hot=FOREVER, warm=FOREVER)


def default_tiers(*, has_days: bool) -> Tiers:
    """The tiers of a table whose flow names none.

    Args:
        has_days: Whether a tier that is not `forever` drops days of it: what is recomputed would then see what is
            left, and nobody asked for that.
    """
    return _WHOLE if has_days else DEFAULT_TIERS


def is_former_default(was: Tiers, now: Tiers) -> bool:
    """Whether tiers differ only by the default that older versions had."""
    return was == FORMER_DEFAULT and now in (DEFAULT_TIERS, _WHOLE)


def deletions(step: PlannedStep, flow: Flow) -> Iterator[Notice]:
    """What a person should know of a step whose rows are deleted from every tier.

    Args:
        step: As planned; its quarantine counts, too.
        flow: Says how long tiers keep rows.
    """
    table = step.writes.name
    at = flow.places.get(f"tables.{table}.tiers", flow.places.get(f"tables.{table}", flow.at))
    for one in (step.writes, step.quarantine):
        if one is not None and one.deletes_after is not None:
            text = f"rows of {one.name} older than {format_duration(one.deletes_after)} are deleted for good"
            yield Notice(text, at, f"'{one.tiers.present[-1]}: forever' keeps them, and so does a further tier")
