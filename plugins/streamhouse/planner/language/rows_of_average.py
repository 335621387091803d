"""As in "number of results below average per part": rows, which only groups are compared with their average for."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Compared, Figure, Noun
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.request import Question

_AVERAGE = frozenset({"average", "mean"})
_SAID_OF_ROWS = frozenset({"are", "were", "that", "which", "who", "with"})
_GROUPING = frozenset({"per", "by", "each", "every"})


def rows_of_average(wish: AnsweredWish) -> Question | None:
    """Rows that are counted, with the average said of them, where the groups would be compared."""
    clause = next((one for one in wish.draft.filters if isinstance(one, Compared) and one.average), None)
    compared = any(one.kind == "above_average" for one in wish.block.derived)
    if clause is None or not compared or not wish.draft.groups:
        return None
    words, base = wish.words, wish.base
    average = next((at for at, word in enumerate(words) if word in _AVERAGE), 0)
    left = (clause.left,) if isinstance(clause.left, Figure) else ()
    for figure in (*wish.draft.figures, *left):
        noun = figure.noun if figure.function in {"count", "number"} and isinstance(figure.noun, Noun) else None
        if noun is None or noun.end > average or base.name not in noun.head.tables(WHOLE_NAME):
            continue
        if figure is clause.left and wish.word(noun.end) not in _SAID_OF_ROWS:
            continue  # "the number of results is below average"
        if not _GROUPING & set(words[noun.end : average]):
            text = (
                f"'{clause.phrase}': said of single {noun.text}, or of groups? "
                "Only a figure of a group can be compared with the average of all groups"
            )
            return Question(text=text, phrase=clause.phrase)
    return None
