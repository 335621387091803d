"""As in "share of each plan in active contracts": of the active contracts, and not of the contracts of each plan."""

import re

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.request import Question

_SHARE = r"(?:share|percentage|proportion|fraction)"
_HAS = r"(?:have|has|make up|makes up|account for|accounts for|represent|represents)"
_OF_EACH = re.compile(
    rf"\b{_SHARE} of (?:each|every) |\b{_SHARE} of .*\b(?:does|do|that|which) (?:each|every) .*\b{_HAS}\b"
)


def share_of_each(wish: AnsweredWish) -> Question | None:
    """What a condition leaves of the rows of each group, where the wish asks for the part that each group is."""
    said = _OF_EACH.search(wish.text.lower())
    if said is None or not wish.block.dimensions:
        return None
    measures = {one.name: one for one in wish.block.measures}
    for one in wish.block.derived:
        part, whole = measures.get(one.of), measures.get(one.to or "")
        if one.kind == "ratio" and part is not None and whole is not None and len(part.where) > len(whole.where):
            phrase = wish.text[said.start() : said.end()].strip()
            return Question(
                text=f"'{phrase}': a share of the rows of each group, or of all such rows of {wish.base.name}?",
                phrase=phrase,
            )
    return None
