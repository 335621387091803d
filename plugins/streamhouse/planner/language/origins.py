"""Where the values of a column come from, so that a copy of a table is no second meaning."""

from streamhouse.planner.language.lexicon import Lexicon


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
