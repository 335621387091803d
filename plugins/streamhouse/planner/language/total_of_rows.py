"""As in "total of all open invoices": how many they are, or the total of a figure that they have."""

import re

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.named_measures import adds_up
from streamhouse.planner.language.named_sums import counts, is_count
from streamhouse.planner.language.scope import is_quantity, spoken
from streamhouse.planner.request import Question

_TOTAL_OF = re.compile(r"(?<!running )(?<!cumulative )\b(?:total|sum) of (?!rows\b|number\b|\d)")
_COUNTING = frozenset("number many count counts often times".split())


def total_of_rows(wish: AnsweredWish) -> Question | None:
    """Rows counted for the total of rows that have an amount."""
    found = _TOTAL_OF.search(wish.text.lower())
    counted = bool(wish.block.measures) and all(is_count(one, wish.base) for one in wish.block.measures)
    if found is None or not counted or _COUNTING & set(wish.words):
        return None
    base = wish.base
    amounts = [name for name, one in base.measures.items() if not counts(one)]
    amounts = amounts or [one.name for one in base.columns if is_quantity(one) and adds_up(one)]
    if not amounts:
        return None
    said = found.group().strip()
    text = f"'{said}': the number of rows of {base.name}, or the total of a figure?"
    return Question(text=text, phrase=said, choices=("number of", *(f"total {spoken(one)} of" for one in amounts[:3])))
