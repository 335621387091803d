"""As in "batches in production", where a description says of a column: "empty while it is in production"."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.empty_columns import when_empty
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.scope import spoken
from streamhouse.planner.language.tokens import stem
from streamhouse.planner.request import Question

_PLACED = frozenset({"in", "at", "on", "under"})


def state_of_empty(wish: AnsweredWish) -> Question | None:
    """A state right behind rows, which a description gives to those with an empty column that the answer ignores."""
    base = wish.base
    text = wish.block.model_copy(update={"columns": ()}).model_dump_json()
    for at in range(1, len(wish.tokens) - 1):
        placed, state = wish.tokens[at], wish.tokens[at + 1]
        rows = wish.lexicon.mention(wish.tokens, at - 1, 1) if placed.word in _PLACED else None
        if rows is None or base.name not in rows.tables(WHOLE_NAME):
            continue
        for column in base.columns:
            said = [stem(word.strip(".,;:")) for word in when_empty(column).split()]
            if [placed.stem, state.stem] in (said[n : n + 2] for n in range(len(said))):
                if f'"column":"{column.name}"' in text:
                    continue
                phrase = f"{placed.text} {state.text}"
                return Question(
                    text=f"'{phrase}': only rows of which {base.name}.{column.name} is empty, or all of them?",
                    phrase=f"{rows.text} {phrase}",
                    choices=(f"{rows.text} without {spoken(column.name)}",),
                )
    return None
