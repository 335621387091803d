"""Amounts in a currency that the project does not have: "over 50 euros" of amounts in dollars."""

from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.units import unit_of, unit_of_name
from streamhouse.planner.request import Question

_CURRENCIES = frozenset({"dollars", "euros", "pounds"})  # cents are of any of them


def foreign_money(wish: AnsweredWish) -> Question | None:
    """The question about a currency that no amount of the project has; None: all are there, or none is known."""
    known = {name for table in wish.lexicon.catalog.tables.values() for name in _currencies(table)}
    for token in wish.tokens:
        if token.kind == "quoted":
            continue
        unit = unit_of(token.money or token.word)
        if known and unit is not None and unit.name in _CURRENCIES - known:
            there = " and ".join(sorted(known))
            return Question(
                text=f"'{token.text}': the amounts of this project are in {there}; nothing converts them",
                phrase=token.text,
                choices=tuple(sorted(known)) if len(known) == 1 and not token.money else (),
            )
    return None


def _currencies(table: CatalogTable) -> set[str]:
    said = [*(one.unit for one in table.columns), *(one.unit for one in table.measures.values())]
    units = [*(unit_of(unit) for unit in said if unit), *(unit_of_name(column.name) for column in table.columns)]
    return {unit.name for unit in units if unit is not None and unit.name in _CURRENCIES}
