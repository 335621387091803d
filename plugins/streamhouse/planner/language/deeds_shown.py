"""As in "venues we pay for", of which the time of some payment would be shown."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.request import ColumnRef, Question

_DOERS = frozenset({"we", "they", "i", "you"})


def deeds_shown(wish: AnsweredWish) -> Question | None:
    """A verb with who does it, of which only a column is shown that is called for it."""
    shown = [one.of for one in wish.block.columns if isinstance(one.of, ColumnRef)]
    for mention in wish.mentions if shown and wish.block.inner is None else ():
        doer = wish.word(mention.start - 1)
        if doer not in _DOERS or len(mention.words) != 1 or mention.of_kind("table", "measure"):
            continue
        for of in shown:
            table = wish.scope.reaches[of.role].table
            named = any((one.table, one.column) == (table.name, of.column) for one in mention.of_kind("column"))
            if named and table.column(of.column).type in TIMES:
                said = f"{doer} {mention.text}"
                return Question(text=f"'{said}': which rows say so? Only {table.name}.{of.column} would be shown",
                                phrase=said)  # fmt: skip
    return None
