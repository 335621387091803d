"""As in "what did we ship in May": things, or an amount, but never how many rows there are."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.named_measures import adds_up
from streamhouse.planner.language.named_sums import counts
from streamhouse.planner.language.scope import is_quantity, spoken
from streamhouse.planner.request import Question

_ASKING = ("did", "do", "does", "have", "has")
_DOERS = frozenset({"we", "they", "you"})
_COUNTING = frozenset("number many count counts often times frequency total".split())


def what_as_number(wish: AnsweredWish) -> Question | None:
    """Rows counted, where the wish asks what was done, and has no word for a number."""
    words = wish.text.lower().split()
    asked = words[:1] == ["what"] and words[1:2] and words[1] in _ASKING and words[2:3] and words[2] in _DOERS
    counted = bool(wish.block.measures) and all(one.counts_rows for one in wish.block.measures)
    if not asked or not counted or _COUNTING & set(words):
        return None
    base = wish.base
    amounts = [name for name, one in base.measures.items() if not counts(one)]
    amounts = amounts or [one.name for one in base.columns if is_quantity(one) and adds_up(one)]
    phrase = " ".join(wish.text.split()[:4])
    text = f"'{phrase}': the number of rows of {base.name}, or which figure?"
    return Question(
        text=text, phrase=phrase, choices=(*(spoken(name) for name in amounts[:3]), f"number of {base.name}")
    )
