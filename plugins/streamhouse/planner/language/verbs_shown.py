"""As in "which are fragile and need cooling", of which `needs_cooling` would only be shown."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.tokens import singular
from streamhouse.planner.request import Question

_BEFORE = frozenset({"that", "which", "who", "and", "but"})
_NO_VERBS = frozenset({"is", "has", "was", "are"})


def verbs_shown(wish: AnsweredWish) -> Question | None:
    """What is yes or no of rows, said with the verb of its name, that restricts nothing and is shown."""
    if wish.block.measures or wish.block.inner is not None:
        return None
    tables = wish.lexicon.catalog.tables
    for mention in wish.mentions:
        if wish.word(mention.start - 1) not in _BEFORE:
            continue
        for sense in mention.of_kind("column"):
            verb = sense.column.split("_")[0]
            said = wish.word(mention.start) in {verb, singular(verb)} and verb not in _NO_VERBS and verb.endswith("s")
            flag = tables[sense.table].column(sense.column).type == "boolean"
            if said and flag and (sense.table, sense.column) in wish.shown:
                text = f"'{mention.text}': must it be so, or is {sense.table}.{sense.column} to be shown?"
                return Question(text=text, phrase=mention.text, choices=(f"that {mention.text}",))
    return None
