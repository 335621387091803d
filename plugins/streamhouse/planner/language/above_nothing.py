"""Whether what is there may as well be more than 0: "renewed", where a column counts how often."""

from streamhouse.planner.language.draft import Present
from streamhouse.planner.language.place import Placed, is_participle
from streamhouse.planner.language.scope import is_number, is_quantity


def above_nothing(clause: Present, placed: Placed) -> bool:
    """Whether it is not sure that a number that is there is meant, and not one above 0."""
    column = placed.column
    if column.type == "boolean" or not (is_number(column) or any(value[:1].isdigit() for value in column.values)):
        return False
    if column.name in placed.reach.table.primary_key:
        return False  # a key counts nothing
    counted = clause.present and is_participle(clause.noun.head) and is_quantity(column) and not column.unit
    return clause.unsure or counted
