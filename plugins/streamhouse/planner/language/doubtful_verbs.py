"""Verbs that no row says anything of: "bikes used per station", where only the list of bikes is read."""

from itertools import pairwise

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import State
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.scope import TIMES, spoken
from streamhouse.planner.language.tokens import stem
from streamhouse.planner.language.words import LIGHT_STEMS, is_past_form
from streamhouse.planner.request import ColumnRef, Question

_GOES_ON = frozenset({"to", "for", "as", "with", "from", "without", "of"})


def deed_without_rows(wish: AnsweredWish) -> Question | None:
    """A light participle behind things that are no events: which rows say that it was done?"""
    base = wish.base
    if base.event_time is not None or wish.block.base is None or wish.block.filters:
        return None
    for mention in wish.mentions:
        word = wish.word(mention.end)
        after = wish.word(mention.end + 1)
        things = [sense for sense in mention.of_kind("table") if sense.table == base.name]
        if things and mention.is_plural and _was_done(word) and after not in _GOES_ON:
            said = f"{mention.text} {word}"
            return Question(text=f"'{said}': which rows say so? Only {base.name} would be read", phrase=said)
    return None


def sum_without_rows(wish: AnsweredWish) -> Question | None:
    """A number of things that are no events, with what was done: "water used per programme" by what one wash needs."""
    base = wish.base
    own = {one.of.column for one in wish.block.dimensions if isinstance(one.of, ColumnRef) and not one.of.role}
    summed = {one.of.column for one in wish.block.measures
              if one.function == "sum" and one.named is None and isinstance(one.of, ColumnRef)}  # fmt: skip
    if (
        wish.block.inner is not None
        or base.event_time is not None
        or not summed
        or not set(base.primary_key) <= own
        or not own
    ):
        return None
    for mention in wish.mentions:
        word = wish.word(mention.end)
        done = is_past_form(word)
        if done and any(one.table == base.name and one.column in summed for one in mention.of_kind("column")):
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
        rows = wish.lexicon.mention(wish.tokens, mention.start - 1, 1) if mention.start else None
        named = any((one.table, one.column) == (wish.base.name, shown.column) for one in mention.of_kind("column"))
        if named and is_participle(mention) and rows is not None and rows.tables(WHOLE_NAME):
            said = f"{rows.text} {mention.text}"
            text = f"'{said}': are the {rows.text} wanted, or only their {spoken(shown.column)}?"
            return Question(text=text, phrase=said, choices=(f"{rows.text} that were {mention.text}",))
    return None


def shown_or_so(wish: AnsweredWish) -> Question | None:
    """As in "insured parcels", of which the insured value would be shown: no row has to be insured for that."""
    block = wish.block
    shown = {one.of.column for one in block.columns if isinstance(one.of, ColumnRef) and not one.of.role}
    if not shown or block.measures or block.dimensions or wish.draft.shown:
        return None
    for mention in wish.mentions:
        rows = wish.lexicon.mention(wish.tokens, mention.end, 1) if mention.end < len(wish.tokens) else None
        named = {one.column for one in mention.of_kind("column") if one.table == wish.base.name} & shown
        before = wish.word(mention.start - 1)
        if not named or len(mention.words) != 1 or not is_participle(mention) or before in {"and", ",", "with"}:
            continue
        if rows is not None and wish.base.name in rows.tables(WHOLE_NAME):
            said = f"{mention.text} {rows.text}"
            text = f"'{said}': which of them are {mention.text}? Only {spoken(min(named))} would be shown"
            choices = (f"{rows.text} with {spoken(min(named))}", f"{rows.text} and their {spoken(min(named))}")
            return Question(text=text, phrase=said, choices=choices)
    return None


def state_of_verb(wish: AnsweredWish) -> Question | None:
    """As in "contracts running out in 2026", where "running" alone would say that they go on."""
    for state in (one for one in wish.draft.filters if isinstance(one, State)):
        for before, token in pairwise(wish.tokens):
            if before.word == state.word and token.word in _PARTICLES:
                said = f"{before.text} {token.text}"
                return Question(
                    text=f"'{said}': is '{before.text}' alone meant? '{token.text}' is not read", phrase=said
                )
    return None


_PARTICLES = frozenset({"out", "over", "off", "up", "down", "away", "low"})


def _was_done(word: str) -> bool:
    return is_past_form(word) and (word == "used" or stem(word) in LIGHT_STEMS)
