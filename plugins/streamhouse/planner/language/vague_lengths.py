"""As in "average length of a call": which of several times of a row is meant?"""

import re

from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.resolve import mentions_of
from streamhouse.planner.language.scope import is_quantity
from streamhouse.planner.request import Question

_LENGTH = re.compile(r"\b(length|duration)\b", re.IGNORECASE)
_SEVERAL = 2


def vague_length(draft: Draft, lexicon: Lexicon) -> Question | None:
    """A question with the times that a row of the wish's rows has, where "length" is the name of none of them."""
    phrase = next((said for said in draft.unread if _LENGTH.search(said)), "")
    if not phrase:
        return None
    named = _LENGTH.search(phrase)
    assert named is not None
    for mention in sorted(mentions_of(draft), key=lambda one: one.start):
        for sense in mention.of_kind("table"):
            table = lexicon.catalog.tables[sense.table]
            times = [
                column
                for column in table.columns
                if is_quantity(column) and (unit := unit_of_column(column)) and unit.measures == "time"
            ]
            if sense.quality >= WHOLE_NAME and len(times) >= _SEVERAL:
                return Question(
                    text=f"'{phrase}': which time of {table.name} is the {named.group().lower()}?",
                    phrase=phrase,
                    choices=tuple(column.name for column in times),
                )
    return None
