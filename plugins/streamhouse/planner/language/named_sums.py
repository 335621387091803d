"""Measures that add up, and those that add up money."""

from streamhouse.model.meaning import MeasureMeaning
from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.units import unit_of


def is_sum(measure: MeasureMeaning) -> bool:
    """Whether a measure adds up; its sum may be divided by a number: `SUM(grams) / 1000`."""
    return measure.sql.replace(" ", "").upper().startswith("SUM(")


def sums_of_money(table: CatalogTable) -> list[str]:
    """Names of the measures of a table that add up money."""
    return [
        name
        for name, one in table.measures.items()
        if (unit := unit_of(one.unit or "")) and unit.measures == "money" and is_sum(one)
    ]
