"""Rows that only a part of a name of one of their columns chose: "glasses" by tests that say who needs some."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.levels import LAST_WORD
from streamhouse.planner.language.named_rows import tables_of_verbs
from streamhouse.planner.request import Question


def weakly_named_rows(wish: AnsweredWish) -> Question | None:
    """The rows of the base, where no word names them, or one of their columns or values, by more than a part."""
    base = wish.base
    if wish.draft.base or base.name in tables_of_verbs(wish):
        return None
    best = {one.text: max((s.quality for s in one.senses if s.table == base.name), default=0.0)
            for one in wish.mentions}  # fmt: skip
    said = [text for text, quality in best.items() if quality]
    if len(said) != 1 or max(best.values()) >= LAST_WORD:
        return None  # two weak names are a strong one: "from opening to closing"
    return Question(text=f"'{said[0]}': rows of {base.name}? No word of the wish names them", phrase=said[0])
