"""Verbs that no row says anything of: "bikes used per station", where only the list of bikes is read."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.tokens import singular, stem
from streamhouse.planner.language.words import LIGHT_VERBS, PARTICIPLES
from streamhouse.planner.request import Question

_LIGHT = frozenset(stem(word) for word in LIGHT_VERBS)
_GOES_ON = frozenset({"to", "for", "as", "with", "from", "without", "of"})


def deed_without_rows(wish: AnsweredWish) -> Question | None:
    """A light participle behind things that are no events: which rows say that it was done?"""
    base = wish.base
    if base.event_time is not None or wish.block.base is None or wish.block.filters:
        return None
    for mention in wish.mentions:
        word = wish.tokens[mention.end].word if mention.end < len(wish.tokens) else ""
        after = wish.tokens[mention.end + 1].word if mention.end + 1 < len(wish.tokens) else ""
        things = [sense for sense in mention.of_kind("table") if sense.table == base.name]
        plural = bool(mention.words) and singular(mention.words[-1]) != mention.words[-1]
        if things and plural and _was_done(word) and after not in _GOES_ON:
            said = f"{mention.text} {word}"
            return Question(text=f"'{said}': which rows say so? Only {base.name} would be read", phrase=said)
    return None


def _was_done(word: str) -> bool:
    participle = word.endswith("ed") or word in PARTICIPLES
    return participle and (word == "used" or stem(word) in _LIGHT)
