"""Verbs that no row says anything of: "bikes used per station", where only the list of bikes is read."""

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import Token, singular, stem
from streamhouse.planner.language.words import LIGHT_VERBS, PARTICIPLES
from streamhouse.planner.request import Question

_LIGHT = frozenset(stem(word) for word in LIGHT_VERBS)
_GOES_ON = frozenset({"to", "for", "as", "with", "from", "without", "of"})


def deed_without_rows(tokens: tuple[Token, ...], draft: Draft, found: Shaped) -> Question | None:
    """A light participle behind things that are no events: which rows say that it was done?"""
    base = found.bench.base
    if base.event_time is not None or found.block.base is None or found.block.filters:
        return None
    for mention in mentions_of(draft):
        word = tokens[mention.end].word if mention.end < len(tokens) else ""
        after = tokens[mention.end + 1].word if mention.end + 1 < len(tokens) else ""
        things = [sense for sense in mention.of_kind("table") if sense.table == base.name]
        plural = bool(mention.words) and singular(mention.words[-1]) != mention.words[-1]
        if things and plural and _was_done(word) and after not in _GOES_ON:
            said = f"{mention.text} {word}"
            return Question(text=f"'{said}': which rows say so? Only {base.name} would be read", phrase=said)
    return None


def _was_done(word: str) -> bool:
    participle = word.endswith("ed") or word in PARTICIPLES
    return participle and (word == "used" or stem(word) in _LIGHT)
