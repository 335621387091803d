"""Where the values of a column come from, so that a copy of a table is no second meaning."""

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.levels import LAST_WORD, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention


def root_of(lexicon: Lexicon, table: str, column: str) -> tuple[str, str]:
    """The table and the column that the values of a column were first in, as far as the catalog knows."""
    place = (table, column)
    tables = lexicon.catalog.tables
    while place[0] in tables:
        origin = next((one.origin for one in tables[place[0]].columns if one.name == place[1]), None)
        if origin is None:
            break
        place = origin
    return place


def column_called(mention: Mention, lexicon: Lexicon) -> tuple[str, CatalogColumn] | None:
    """The only column that is called so, with the table that its values were first in; None: there is none, or several.

    What a table or a value is called as well is no name of a column.
    """
    if any(one.quality >= LAST_WORD for one in mention.of_kind("table", "value")):
        return None
    named = [one for one in mention.of_kind("column") if one.quality >= WHOLE_NAME]
    roots = {root_of(lexicon, one.table, one.column) for one in named}
    if len(roots) != 1:
        return None
    table, name = roots.pop()
    return table, lexicon.catalog.tables[table].column(name)
