"""As in "anonymous donations": what a description says of rows without a value: "who gave; empty if anonymous"."""

import re
from dataclasses import replace

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.empty_columns import when_empty
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.mentions import tables_named
from streamhouse.planner.language.tokens import Token, stem, stems
from streamhouse.planner.language.words import FILLERS, LIGHT_STEMS, STATES

_WHOSE = r"(?:it|he|she|they|the [a-z]+|those)"
_PLACED = r"(?:(?:in|at|on|of|from) )?(?:(?:a|an|the) )?"
_SAID = re.compile(
    rf"^(?: (?:if|while|when|where)(?: {_WHOSE} (?:is|are|was|were))? {_PLACED}([a-z]+)"
    rf"| (?:if|when|where) (?:a|an) ([a-z]+) did(?: it)?"
    rf"| (?:for|in|at|on|of) (?:(?:a|an|the|our) )?([a-z]+(?: [a-z]+)?))\s*(?=[.;,]|$)"
)
_LINKS = frozenset(
    "that which who are is was were the a an our in at on of from for by still those all any ones being".split()
)
_DENIALS = frozenset({"without", "except", "excluding", "not"})
_STATES = frozenset(STATES)
_NOT_SAID = _LINKS | _DENIALS | {"no", "with"}  # in a phrase of two words
_SHORTEST = 4


def with_empty_said(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "donations without donor" for "anonymous donations", where one description says so."""
    for at, token in enumerate(tokens):
        name = _column(token, tokens, at, lexicon)
        if not name:
            continue
        end = at + len(_said_at(tokens, at, name, lexicon))
        first, last = _around(tokens, at, end)
        denied = first > 0 and tokens[first - 1].word in _DENIALS
        first -= denied
        behind = [one.word for one in tokens[last : last + 2]] == ["left", "out"]
        denied, last = denied or behind, last + 2 * behind
        rows = lexicon.mention(tokens, end) if end < len(tokens) else None
        before = last == end and rows is not None and bool(rows.of_kind("table"))
        said_so = " ".join(one.text for one in tokens[at:end])
        draft.assumptions.append(f"'{said_so}' means that {name} is empty")
        words = ("with", "any") if denied else ("without",)
        said = [replace(token, text=word, word=word, stem=stem(word)) for word in words]
        said.append(replace(token, word=name, stem=name, kind="name"))
        if before and rows is not None and not denied:
            return (*tokens[:at], *tokens[end : rows.end], *said, *tokens[rows.end :])
        if before and rows is not None:
            last = rows.end
        comma = first > 0 and tokens[first - 1].word == ","
        return (*tokens[: first - comma], *said, *tokens[last:])
    return tokens


def _around(tokens: tuple[Token, ...], at: int, end: int) -> tuple[int, int]:
    """Where "that are in the | store" begins and ends."""
    first, last = at, end
    while first > 0 and tokens[first - 1].word in _LINKS:
        first -= 1
    while last < len(tokens) and tokens[last].word in {"one", "ones"}:
        last += 1
    return first, last


def _column(token: Token, tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> str:
    """The full name of the only column that a word says to be empty; empty: there is none, or there are several."""
    shortest = _SHORTEST - _in_the(tokens, at)
    silent = len(token.word) < shortest or token.word in FILLERS
    if token.kind != "word" or (silent and token.word != "own"):  # "our own staff"
        return ""
    if stem(token.word) in LIGHT_STEMS or (lexicon.mention(tokens, at) is not None and not _still(tokens, at)):
        return ""
    found = [
        (sense.table, sense.column)
        for sense in lexicon.described.get(token.stem, ())
        if sense.column and _said_at(tokens, at, f"{sense.table}.{sense.column}", lexicon)
    ]
    mentions = (lexicon.mention(tokens, at) for at in range(len(tokens)))
    named = {table for table, _ in found} & tables_named(filter(None, mentions), WHOLE_NAME)
    found = [place for place in found if place[0] in named] if len(found) > 1 else found
    return ".".join(found[0]) if len(found) == 1 else ""


def _in_the(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a word stands behind a place and an article, so that a short one is a noun: "on the way"."""
    words = [token.word for token in tokens[max(at - 2, 0) : at]]
    return words[:1] in (["in"], ["at"], ["on"]) and words[1:] == ["the"]


def _still(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether "still at" or "still at the" stands before a word: who is so did not hear of it "at school"."""
    words = [token.word for token in tokens[max(at - 3, 0) : at]]
    if words[-1:] == ["the"]:
        words.pop()
    return words[-2:-1] == ["still"] and words[-1] in {"in", "at", "on", "with"}


def _said_at(tokens: tuple[Token, ...], at: int, name: str, lexicon: Lexicon) -> tuple[str, ...]:
    """The stems at a token that a description says of rows without a value in a column; empty: it says others."""
    table, _, column = name.rpartition(".")
    match = _SAID.match(when_empty(lexicon.catalog.tables[table].column(column)))
    said = stems(next((phrase for phrase in match.groups() if phrase), "")) if match is not None else ()
    here = tokens[at : at + len(said)]
    silent = {token.word for token in here} & (_STATES if len(said) == 1 else _NOT_SAID)
    return said if said and tuple(token.stem for token in here) == said and not silent else ()
