"""The tiers of a proposed table that reads only tables without a hot tier. Pure."""

from collections.abc import Iterable, Mapping

from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table, Tiers
from streamhouse.model.types import FOREVER, Tier
from streamhouse.planner.catalog import Catalog


def cooler_tiers(reads: Iterable[str], catalog: Catalog, plans: Mapping[str, FlowPlan]) -> Tiers | None:
    """The one tier that such a table gets, so that a project without a hot tier needs no server for it.

    Its rows come no sooner than those that it reads, so a hot tier would only cost. It keeps all rows, however long the
    tables that it reads keep theirs: only a person lets rows be deleted.

    Args:
        reads: Tables that the new one is made of.
        catalog: Says which flow writes a table.
        plans: Flow → its plan.

    Returns:
        None: a table has a hot tier, or is unknown; the new table then gets the default of a flow.
    """
    found = [_table(name, catalog, plans) for name in reads]
    first = [table.tiers.target for table in found if table is not None]
    if not found or len(first) < len(found) or Tier.HOT in first:
        return None
    return Tiers(warm=FOREVER) if Tier.WARM in first else Tiers(cold=FOREVER)


def _table(name: str, catalog: Catalog, plans: Mapping[str, FlowPlan]) -> Table | None:
    known = catalog.tables.get(name)
    return plans[known.flow].tables.get(name) if known is not None and known.flow in plans else None
