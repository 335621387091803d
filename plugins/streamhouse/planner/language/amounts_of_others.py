"""As in "hire paid in 2025", where only invoices have a day of payment, and the hire is one of their exam."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.mentions import tables_named
from streamhouse.planner.language.scope import is_quantity
from streamhouse.planner.request import ColumnRef, Question


def amounts_of_others(wish: AnsweredWish) -> Question | None:
    """An amount of one thing that is shown for each row of another table, which no word of the wish names."""
    block, base = wish.block, wish.base
    if block.measures or block.dimensions or block.inner is not None or block.pick is not None or not block.columns:
        return None
    shown = [one.of for one in block.columns]
    if not all(isinstance(of, ColumnRef) and of.role in wish.scope.reaches and of.role for of in shown):
        return None
    if base.name in tables_named(wish.mentions, NEARLY_NAME):
        return None
    for of in shown:
        table = wish.scope.reaches[of.role].table if isinstance(of, ColumnRef) else base
        if isinstance(of, ColumnRef) and is_quantity(table.column(of.column)):
            said = next((m.text for m in wish.mentions for s in m.of_kind("column")
                         if (s.table, s.column) == (table.name, of.column)), of.column)  # fmt: skip
            text = f"'{said}': {table.name}.{of.column} for each row of {base.name}, which no word names?"
            return Question(text=text, phrase=said)
    return None
