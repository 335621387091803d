"""As in "who missed more than 3 lessons": a verb that says which things, as in "with more than 3 missed lessons"."""

from dataclasses import replace

from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, singular
from streamhouse.planner.language.words import is_past_form

_BEFORE = frozenset({"who", "that", "which", "have", "has", "had"})
_COUNTS = (("more", "than"), ("fewer", "than"), ("less", "than"), ("at", "least"), ("at", "most"), ("exactly",),
           ("over",), ("the", "most"), ("the", "fewest"), ("a",), ("an",), ("any",), ())  # fmt: skip


def with_done_things(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with a participle behind its verb's number, where the catalog knows such things."""
    for at in range(1, len(tokens)):
        token = tokens[at]
        done = token.kind == "word" and is_past_form(token.word)
        if not done or any(one.word in {"not", "never"} for one in tokens[:at]):
            continue
        end = _thing(tokens, at, lexicon)
        if end is None:
            continue
        first = at
        while tokens[first - 1].word in _BEFORE:
            first -= 1
        opener = replace(token, text="with", word="with", stem="with")
        return (*tokens[:first], opener, *tokens[at + 1 : end], token, *tokens[end:])
    return tokens


def _thing(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> int | None:
    """Where the thing stands that a verb was done to; None: there is none that the catalog knows so."""
    words = [token.word for token in tokens]
    behind = at + 1
    counted = next(one for one in _COUNTS if tuple(words[behind : behind + len(one)]) == one)
    behind += len(counted)
    numbered = behind < len(tokens) and tokens[behind].kind == "number"
    behind += numbered
    if behind >= len(tokens) or not (counted or numbered) or not words[behind].isalpha():
        return None
    thing = lexicon.mention(tokens, behind, 1)
    both = lexicon.meanings((tokens[at].stem, tokens[behind].stem), (singular(words[at]), singular(words[behind])))
    if any(sense.kind == "table" and sense.quality >= NEARLY_NAME for sense in both):
        return behind
    tables = thing.tables(NEARLY_NAME) if thing is not None else set()
    verb = lexicon.mention(tokens, at, 1)
    said = [s for s in verb.of_kind("value") if s.quality >= NEARLY_NAME] if verb is not None else []
    return behind if tables and any(s.table in tables for s in said) else None
