"""As in "number of orders with a value above 100 euros per shop": the bound would be of the value of each shop."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.bounds_said import comparison_at
from streamhouse.planner.language.words import COUNTING
from streamhouse.planner.request import Question

_WITH = frozenset({"with", "having", "whose", "have", "had"})
_GROUPED = frozenset({"per", "by", "each", "every"})


def bounds_of_counted(wish: AnsweredWish) -> Question | None:
    """A bound that stands with what is counted, before the groups, and that would be of the figure of each group."""
    words = wish.words
    counted = next((at for at in range(len(words) - 1) if tuple(words[at : at + 2]) in COUNTING), None)
    if not wish.block.having or wish.block.inner is not None or counted is None:
        return None
    behind = next((at for at in range(counted, len(words)) if words[at] in _GROUPED), None)
    begin = next((at for at in range(counted, behind or 0) if words[at] in _WITH), None)
    if behind is None or begin is None:
        return None
    for at in range(begin + 1, behind):
        if comparison_at(words, at):
            said = " ".join(token.text for token in wish.tokens[begin:behind])
            counts = " ".join(token.text for token in wish.tokens[counted + 2 : begin])
            group = " ".join(token.text for token in wish.tokens[behind:])
            text = f"'{said}': said of each of the {counts}, or of the figure '{group}'? Only the latter can be read"
            return Question(text=text, phrase=f"{said} {group}", choices=(f"{group} {said}",))
    return None
