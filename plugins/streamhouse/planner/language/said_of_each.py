"""As in "candidates who signed up but never booked": what each row says anyway, before what only some do."""

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import ANY_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.tokens import Token

_OPENERS = frozenset({"who", "that", "which"})
_DENIED = frozenset({"never", "without", "not", "no"})
_DOING = frozenset({"have", "has", "had", "did", "do", "does"})
_LONGEST = 3


def without_said_of_each(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens without "signed up but", where each candidate has the time of it."""
    for at in range(3, len(tokens) - 1):
        if tokens[at].word != "but" or not _denies(tokens, at + 1):
            continue
        for first in range(max(at - _LONGEST, 2), at):
            if tokens[first - 1].word in _OPENERS and _is_of_each(tokens, first, at, lexicon):
                said = " ".join(token.text for token in tokens[first:at])
                draft.assumptions.append(f"'{said}' is true of each row")
                return (*tokens[:first], *tokens[at + 1 :])
    return tokens


def _denies(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether "never" or "have no" begins here."""
    while at < len(tokens) and tokens[at].word in _DOING:
        at += 1
    return at < len(tokens) and tokens[at].word in _DENIED


def _is_of_each(tokens: tuple[Token, ...], first: int, end: int, lexicon: Lexicon) -> bool:
    """Whether a participle is the time at which each of the things before it came to be."""
    verb, things = lexicon.mention(tokens, first), lexicon.mention(tokens, first - 2, 1)
    if verb is None or things is None or verb.end != end or not is_participle(verb):
        return False
    tables = lexicon.catalog.tables
    return any(
        one.table in things.tables(WHOLE_NAME)
        and one.quality >= ANY_FORM
        and one.column == tables[one.table].event_time
        and not may_be_empty(tables[one.table].column(one.column))
        for one in verb.of_kind("column")
    )
