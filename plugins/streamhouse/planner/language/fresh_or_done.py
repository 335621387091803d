"""As in "parcels delivered within 2 days": rows of which that is so, or how fresh the result has to be?"""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.levels import ANY_FORM
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import tokenize
from streamhouse.planner.request import Question

_VERBS = frozenset({"delivered", "updated", "refreshed", "renewed", "visible", "available"})
_BEHIND = frozenset({"within", "every"})
_BREAKS = frozenset({",", ";", ".", "and", "be", "results", "result", "data", "figures", "numbers"})


def fresh_or_done(wish: AnsweredWish) -> Question | None:
    """The question that a freshness leaves open, where its verb names a time of the rows; None: it is sure."""
    lexicon = wish.lexicon
    tokens = tokenize(wish.text) if wish.draft.freshness is not None else ()
    for at in range(1, len(tokens) - 1):
        verb = tokens[at]
        if verb.word not in _VERBS or tokens[at + 1].word not in _BEHIND or tokens[at - 1].word in _BREAKS:
            continue
        mention, rows = lexicon.mention(tokens, at, 1), lexicon.mention(tokens, at - 1, 1)
        tables = rows.tables() if rows is not None else set()
        times = [one for one in (mention.of_kind("column") if mention is not None else ()) if one.quality >= ANY_FORM]
        if any(one.table in tables and _is_time(lexicon, one.table, one.column) for one in times):
            said = f"{verb.text} {tokens[at + 1].text}"
            text = f"'{said}': the rows that were {verb.text} so, or how fresh the result has to be?"
            return Question(text=text, phrase=said, choices=("fresh within",))
    return None


def _is_time(lexicon: Lexicon, table: str, column: str) -> bool:
    return lexicon.catalog.tables[table].column(column).type in TIMES
