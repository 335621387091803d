"""What a flow says of a proposed table, as far as that follows from the tables that it reads. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table, Tiers
from streamhouse.model.types import FOREVER, Tier, format_duration
from streamhouse.planner.catalog import Catalog


def options_of(
    table: str, reads: Sequence[str], catalog: Catalog, plans: Mapping[str, FlowPlan]
) -> tuple[dict[str, Any], list[str]]:
    """The options of a new table under `tables` of its flow, and why it has them, in words.

    It has no hot tier if no table that it reads has one, so that a project without a hot tier needs no server for it.
    Its rows may be shown to a model if those of each table that it reads may, for they say nothing more.

    Args:
        table: `layer.name`.
        reads: The tables that it is made of.
        catalog: Says which flow writes a table, and what may be shared.
        plans: Flow → its plan.
    """
    options: dict[str, Any] = {}
    notes = []
    tiers = _tiers(reads, catalog, plans)
    if tiers is not None:
        options["tiers"] = {tier.value: format_duration(getattr(tiers, tier.value)) for tier in tiers.present}
        notes.append(f"{table} is in the {tiers.target} tier alone: no table that it reads has a hot tier")
    if reads and all(_shows_rows(catalog, name) for name in reads):
        options["ai"] = {"rows": "allowed"}
        notes.append(f"rows of {table} may be shown to a model, as those of each table that it reads")
    return options, notes


def _shows_rows(catalog: Catalog, name: str) -> bool:
    known = catalog.tables.get(name)
    return known is not None and known.sharing.of_schema and known.sharing.of_rows


def _tiers(reads: Sequence[str], catalog: Catalog, plans: Mapping[str, FlowPlan]) -> Tiers | None:
    """The one tier of a table that reads none with a hot tier; None: one has it, or is unknown.

    It keeps all rows, however long the tables that it reads keep theirs: only a person lets rows be deleted.
    """
    found = [_table(name, catalog, plans) for name in reads]
    first = [table.tiers.target for table in found if table is not None]
    if not found or len(first) < len(found) or Tier.HOT in first:
        return None
    return Tiers(warm=FOREVER) if Tier.WARM in first else Tiers(cold=FOREVER)


def _table(name: str, catalog: Catalog, plans: Mapping[str, FlowPlan]) -> Table | None:
    known = catalog.tables.get(name)
    return plans[known.flow].tables.get(name) if known is not None and known.flow in plans else None
