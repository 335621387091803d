"""Which partitions a tier drops, and up to where colder tiers hold what it has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import cast

from streamhouse.model.table import Table
from streamhouse.model.types import FOREVER, Position, Tier
from streamhouse.stores.base import LakeStore, Partition, Store
from streamhouse.stores.mark import read_mark
from streamhouse.tiering.union import find_base


@dataclass(frozen=True)
class Covered:
    """A tier may drop what it had before `until`; None: all that it has."""

    until: Position | None


def retention_of(table: Table, tier: Tier) -> timedelta:
    """How long a tier holds rows: no shorter than a hotter one, since queries look for older rows in colder tiers."""
    present = table.tiers.present
    longest: timedelta = max(getattr(table.tiers, one.value) for one in present[: present.index(tier) + 1])
    return longest


def outlived(table: Table, tier: Tier, stored: Sequence[Partition], now: datetime) -> list[Partition]:
    """The partitions of which every row is older than a tier holds rows.

    Args:
        table: Ages by one of its partition columns, or never.
        tier: One of its tiers.
        stored: Partitions that the tier has.
        now: With a time zone.

    Example:
        A tier that holds rows for a day drops the day of the 1st when the 3rd has begun:
        its last row is of the end of the 1st.
    """
    retention = retention_of(table, tier)
    if table.ages_by is None or retention == FOREVER:
        return []
    place = table.partition_by.index(table.ages_by)
    last = now - retention  # days after the last that a calendar has are no dates
    return [one for one in stored if _begin(cast("date", one[place])) < last - timedelta(days=1)]


def upcoming(table: Table, stored: Sequence[Partition], now: datetime) -> list[Partition]:
    """The partitions that rows will be written to when the day has ended: for each of today's, that of tomorrow.

    A table without rows of today has none, such as one into which history is replayed.

    Args:
        table: As of `outlived`.
        stored: Partitions that the tier has; those are left out.
        now: With a time zone.
    """
    if table.ages_by is None:
        return []
    place, today = table.partition_by.index(table.ages_by), now.astimezone(UTC).date()
    tomorrow = today + timedelta(days=1)
    found = [(*one[:place], tomorrow, *one[place + 1 :]) for one in stored if one[place] == today]
    return [one for one in found if one not in set(stored)]


def covered(table: Table, tier: Tier, stores: Mapping[Tier, Store], unread: Sequence[Position]) -> Covered | None:
    """Up to where a tier's rows are in colder tiers, and were read by those who follow the table.

    Args:
        table: As the flow writes it.
        tier: Which is to drop rows.
        stores: Has the tiers of the table.
        unread: Positions in the tier the flow writes, from which somebody has yet to read on.

    Returns:
        None: a colder tier holds nothing yet, or not what this one has.

    Raises:
        StateConflictError: a copy was filled from another tier.
        RowsLostError: what this tier had then is no longer there.
    """
    source = table.tiers.target
    colder = table.tiers.present[table.tiers.present.index(tier) + 1 :]
    marks = [read_mark(cast("LakeStore", stores[one]), table.replica, source) for one in colder]
    ends = [mark.offsets for mark in marks if mark is not None]
    if len(ends) < len(colder):
        return None
    if tier is source:
        ends += unread
        return Covered(earliest(ends) if ends else None)
    if not ends:
        return Covered(None)
    base = find_base(table, stores[source], cast("LakeStore", stores[tier]), earliest(ends))
    return Covered(base.at) if base is not None else None


def earliest(positions: Sequence[Position]) -> Position:
    """The position that none of some is before; at least one.

    Example:
        >>> earliest([{"0": 3, "1": 5}, {"0": 4}])
        {'0': 3}
    """
    return {key: min(one[key] for one in positions) for key in positions[0] if all(key in one for one in positions)}


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
