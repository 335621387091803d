"""Measures that add up, that count, and that multiply, by their SQL."""

import re

from streamhouse.model.meaning import MeasureMeaning
from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.units import unit_of
from streamhouse.planner.request import Measure

_PRODUCT = re.compile(r"\bsum\(\s*(\w+)\s*\*\s*(\w+)\s*(?=[)+/-])", re.IGNORECASE)


def is_sum(measure: MeasureMeaning) -> bool:
    """Whether a measure adds up; its sum may be divided by a number: `SUM(grams) / 1000`."""
    return measure.sql.replace(" ", "").upper().startswith("SUM(")


def is_count(measure: Measure, table: CatalogTable) -> bool:
    """Whether a measure of a request counts rows or values, also where the table's meaning defines it."""
    if measure.named is None:
        return measure.function == "count"
    return counts(table.measures[measure.named])


def counts(measure: MeasureMeaning) -> bool:
    """Whether a measure that a meaning defines counts rows or values."""
    return measure.sql.upper().lstrip().startswith("COUNT")


def factors(table: CatalogTable) -> set[str]:
    """The columns that measures of a table multiply by each other: a price and a number of pieces."""
    return {name for one in table.measures.values() for found in _PRODUCT.findall(one.sql) for name in found}


def sums_of_money(table: CatalogTable) -> list[str]:
    """Names of the measures of a table that add up money."""
    return [
        name
        for name, one in table.measures.items()
        if (unit := unit_of(one.unit or "")) and unit.measures == "money" and is_sum(one)
    ]
