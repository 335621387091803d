"""As in "own houses", where a description says of whose: "who owns it; empty where it is our own"."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.empty_columns import when_empty
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.scope import spoken
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.request import Question

_SAYING = frozenset(map(stem, "own private single individual specific particular regular basic different".split()))


def said_of_none(wish: AnsweredWish) -> Question | None:
    """A word that mostly says nothing, right before rows of which a description says it where a column is empty."""
    base = wish.base
    text = wish.block.model_copy(update={"columns": ()}).model_dump_json()
    for at, token in enumerate(wish.tokens[:-1]):
        rows = wish.lexicon.mention(wish.tokens, at + 1, 1) if token.stem in _SAYING else None
        if rows is None or base.name not in rows.tables(WHOLE_NAME):
            continue
        for column in base.columns:
            if token.stem in stems(when_empty(column)) and f'"column":"{column.name}"' not in text:
                said = f"{token.text} {rows.text}"
                return Question(
                    text=f"'{said}': only rows of which {base.name}.{column.name} is empty, or all of them?",
                    phrase=said,
                    choices=(f"{rows.text} without {spoken(column.name)}", f"all {rows.text}"),
                )
    return None
