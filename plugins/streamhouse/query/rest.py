"""A hot tier that is down and holds nothing that a lake does not: queries then need not start it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from streamhouse.model.types import Tier
from streamhouse.query.epoch_positions import Epochs
from streamhouse.query.parse import Query, TableUse
from streamhouse.query.parts import WHOLE, Part
from streamhouse.stores.base import LakeStore, Store
from streamhouse.stores.mark import read_mark


def lakes_instead(query: Query, epochs: Epochs) -> frozenset[Tier] | None:
    """The lakes that may hold all that a query wants of the hot tier; None: it needs the hot tier surely.

    A lake that is not read anyway counts only when it is quickly opened, which the cold one is not.
    """
    hot = _hot(query)
    if not hot or not all(_may_rest(use, epochs) for use in hot):
        return None
    lakes = frozenset(use.table.tiers.present[-1] for use in hot)
    read = frozenset(tier for use in query.uses for tier in use.tiers)
    return lakes if lakes <= read | {Tier.WARM} else None


def at_rest(query: Query, lakes: Mapping[Tier, Store], epochs: Epochs) -> Query | None:
    """The query of the lakes alone, when they hold every row of the hot tier; None when one does not.

    Right only while nobody can write the hot tier.

    Args:
        query: For which `lakes_instead` names lakes.
        lakes: These.
        epochs: Say where each table ends.
    """
    for use in _hot(query):
        lake = cast("LakeStore", lakes[use.table.tiers.present[-1]])
        mark = read_mark(lake, use.table.replica, Tier.HOT)
        if mark is None or mark.offsets != epochs.end_at_rest(use.table.name):
            return None
    return replace(query, uses=tuple(_of_lake(use) if Tier.HOT in use.tiers else use for use in query.uses))


def _hot(query: Query) -> list[TableUse]:
    return [use for use in query.uses if Tier.HOT in use.tiers]


def _may_rest(use: TableUse, epochs: Epochs) -> bool:
    whole = use.part == WHOLE and use.moment is None
    return whole and len(use.table.tiers.present) > 1 and epochs.end_at_rest(use.table.name) is not None


def _of_lake(use: TableUse) -> TableUse:
    return replace(use, part=Part(use.table.tiers.present[-1]))
