"""As in "students who live here right now", where only their contracts say what is so at present."""

import re
from collections.abc import Iterator

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import State
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.present_time import is_empty_for_now
from streamhouse.planner.language.scope import TIMES, spoken
from streamhouse.planner.language.tokens import singular
from streamhouse.planner.language.words import NOW
from streamhouse.planner.request import Question

_SAID = re.compile(
    r"\b(?:(?:right|just) now|at the moment|at present|these days|at this moment|now|currently|presently|nowadays)\b",
    re.IGNORECASE,
)


def now_of_others(wish: AnsweredWish) -> Question | None:
    """A word for the present that changed nothing, where rows that point to those of the answer have an end."""
    said = _SAID.search(wish.text)
    if said is None or not NOW & set(wish.words) or any(isinstance(one, State) for one in wish.draft.filters):
        return None
    text = wish.block.model_copy(update={"columns": ()}).model_dump_json()
    if any(f'"column":"{one.name}"' in text for one in wish.base.columns if one.type in TIMES and may_be_empty(one)):
        return None
    found = dict(_ends(wish))
    if not found or any(f'"column":"{end}"' in text for end in found.values()):
        return None
    table, end = min(found.items())
    rows = spoken(singular(table.split(".")[1]))
    return Question(
        text=f"'{said.group()}': only those with a row of {table} whose {end} is empty? "
        f"{wish.base.name} itself does not say it",
        phrase=said.group(),
        choices=(f"with a current {rows}",),
    )


def _ends(wish: AnsweredWish) -> Iterator[tuple[str, str]]:
    """Table and time of rows that point to those of the base, and that say until when something goes on."""
    for key in wish.lexicon.children.get(wish.base.name, ()):
        table = wish.lexicon.catalog.tables[key.table]
        for column in table.columns:
            if column.type in TIMES and column.name != table.event_time and is_empty_for_now(column):
                yield table.name, column.name
