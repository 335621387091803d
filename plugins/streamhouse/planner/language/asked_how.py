"""As in "and how was it paid": a question behind the rows, of which only another column would be shown."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.asked_columns import columns_that_say
from streamhouse.planner.language.scope import spoken
from streamhouse.planner.language.tokens import stem
from streamhouse.planner.language.words import is_past_form
from streamhouse.planner.request import Question

_ASKING = frozenset({"how", "where", "why"})
_WHAT = frozenset({"it", "they", "he", "she", "these", "those", "each"})
_BEING = frozenset({"was", "were", "is", "are", "been"})
_SUBJECTS = _WHAT | _BEING | {"has", "have"}


def asked_how(wish: AnsweredWish) -> Question | None:
    """How, where or why something was done, where no column that is shown or grouped by says so."""
    for at, word in enumerate(wish.words):
        end = at + 1
        while word in _ASKING and wish.word(end) in _SUBJECTS:
            end += 1
        verb = wish.word(end)
        between = set(wish.words[at + 1 : end])
        if not (_WHAT & between and _BEING & between) or not is_past_form(verb):
            continue  # "how it changed against the week before" is a change
        tables = wish.lexicon.catalog.tables
        found = [
            (name, one.name) for name, table in tables.items() for one in columns_that_say(word, stem(verb), table)
        ]
        if wish.shown & set(found):
            continue
        said = " ".join(token.text for token in wish.tokens[at : end + 1])
        own = tuple(spoken(column) for table, column in found if table in wish.things | {wish.base.name})
        return Question(text=f"'{said}': which column says so?", phrase=said, choices=own)
    return None
