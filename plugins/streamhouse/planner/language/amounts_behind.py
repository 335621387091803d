"""As in "more than 7 percent discount": the column that a bound is about, named behind the unit of the bound."""

from streamhouse.planner.language.draft import Noun
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.numbers import Quantity
from streamhouse.planner.language.reader import Reader
from streamhouse.planner.language.units import unit_of, unit_of_name


def amount_behind(reader: Reader, quantity: Quantity | None) -> Noun | None:
    """Read the column or measure that stands right behind a quantity, and has the unit of it."""
    found = reader.mention() if quantity is not None and quantity.unit is not None else None
    if found is None or quantity is None or quantity.unit is None or found.of_kind("table"):
        return None
    tables = reader.lexicon.catalog.tables
    if not all(map(reader.lexicon.is_flag, found.of_kind("value"))):
        return None  # a flag is no amount: "19 % water", where another table has `has_water`
    for sense in found.of_kind("column", "measure"):
        if sense.quality < WHOLE_NAME:
            continue
        table = tables[sense.table]
        said = table.measures[sense.measure].unit if sense.measure else table.column(sense.column).unit
        unit = (unit_of(said) if said else None) or unit_of_name(sense.measure or sense.column)
        if unit is not None and unit.measures == quantity.unit.measures:
            reader.at = found.end
            return Noun(found)
    return None
