"""Numbers that are listed row by row, where their total may be meant: "children on tickets in May"."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.levels import ANY_FORM
from streamhouse.planner.language.scope import is_quantity
from streamhouse.planner.language.tokens import place_behind
from streamhouse.planner.language.words import ARTICLES_OF_ALL
from streamhouse.planner.request import Question

_PLACES = frozenset({"on", "in", "at", "during", "from", "over"})
_ADDED = frozenset({"value", "worth", "amount", "cost", "volume"})


def total_or_each(wish: AnsweredWish) -> Question | None:
    """A list that begins with a number of its rows, and that no word asks for: the total, or the number of each row?"""
    block, draft = wish.block, wish.draft
    if not block.columns or block.measures or block.pick is not None or draft.listing or draft.shown:
        return None
    at = place_behind(ARTICLES_OF_ALL, wish.tokens, 0)
    first = next((one for one in wish.mentions if one.start == at), None)
    if first is None or first.of_kind("table") or first.end >= len(wish.tokens):
        return None
    own = {s.column for s in first.of_kind("column") if s.table == wish.base.name and s.quality >= ANY_FORM}
    named = any(is_quantity(wish.base.column(name)) for name in own)
    behind = wish.tokens[first.end].word
    total = behind == "of" and set(first.words) <= _ADDED  # the "value of unused vouchers" is hardly a list
    if not named or not (behind in _PLACES or total):
        return None
    text = f"'{first.text}': their total, or the number of each row of {wish.base.name}?"
    return Question(text=text, phrase=first.text, choices=(f"total {first.text}", f"list {first.text}"))
