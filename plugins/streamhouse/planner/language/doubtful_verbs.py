"""Verbs that no row says anything of: "bikes used per station", where only the list of bikes is read."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.mentions import tables_named
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.scope import TIMES, spoken
from streamhouse.planner.language.tokens import singular, stem
from streamhouse.planner.language.words import LIGHT_STEMS, PARTICIPLES
from streamhouse.planner.request import ColumnRef, Question

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


def shown_or_done(wish: AnsweredWish) -> Question | None:
    """As in "loans returned more than 10 days late", of which only the time of the return would be shown."""
    block = wish.block
    shown = block.columns[0].of if len(block.columns) == 1 else None
    if not isinstance(shown, ColumnRef) or shown.role or block.measures or block.derived or block.dimensions:
        return None
    if not block.filters or wish.base.column(shown.column).type not in TIMES:
        return None
    for mention in wish.mentions:
        rows = wish.scope.lexicon.mention(wish.tokens, mention.start - 1, 1) if mention.start else None
        named = any((one.table, one.column) == (wish.base.name, shown.column) for one in mention.of_kind("column"))
        if named and is_participle(mention) and rows is not None and tables_named([rows], WHOLE_NAME):
            said = f"{rows.text} {mention.text}"
            text = f"'{said}': are the {rows.text} wanted, or only their {spoken(shown.column)}?"
            return Question(text=text, phrase=said, choices=(f"{rows.text} that were {mention.text}",))
    return None


def _was_done(word: str) -> bool:
    participle = word.endswith("ed") or word in PARTICIPLES
    return participle and (word == "used" or stem(word) in LIGHT_STEMS)
