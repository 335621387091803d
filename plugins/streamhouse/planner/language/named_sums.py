"""Measures that add up money."""

from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.units import unit_of


def sums_of_money(table: CatalogTable) -> list[str]:
    """Names of the measures of a table that add up money."""
    return [
        name
        for name, one in table.measures.items()
        if (unit := unit_of(one.unit or "")) and unit.measures == "money" and one.sql.upper().startswith("SUM(")
    ]
