"""As in "lifts not serviced in 2026", where no name of the catalog is that deed: only the time of lifts is left."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import When
from streamhouse.planner.language.scope import spoken
from streamhouse.planner.language.words import is_past_form
from streamhouse.planner.request import Question

_NOT = frozenset({"not", "never"})
_BETWEEN = frozenset({"been", "yet", "ever", "again"})
_MOST_CHOICES = 3


def denied_deeds(wish: AnsweredWish) -> Question | None:
    """A time that rows are not of, behind a verb that does not name it: the rows may lack other rows of that time."""
    words = wish.words
    for clause in wish.draft.filters:
        if not isinstance(clause, When) or not clause.negated or clause.of is not None:
            continue
        parts = clause.phrase.lower().split()
        at = next((n for n in range(2, len(words)) if words[n : n + len(parts)] == parts), None)
        if at is None or not is_past_form(words[at - 1]):
            continue
        first = at - 2
        while first > 0 and words[first] in _BETWEEN:
            first -= 1
        if words[first] not in _NOT:
            continue
        said = " ".join(token.text for token in wish.tokens[first:at])
        children = dict.fromkeys(key.table for key in wish.lexicon.children.get(wish.base.name, ()))
        choices = tuple(f"without {spoken(one.rsplit('.', 1)[1])}" for one in children)[:_MOST_CHOICES]
        text = (
            f"'{said} {clause.phrase}': which rows say so? Only the time of rows of {wish.base.name} would be compared"
        )
        return Question(text=text, phrase=said, choices=choices)
    return None
