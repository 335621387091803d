"""As in "members who never borrowed a book": things without the rows that a verb is about, whatever it was done to."""

from dataclasses import replace

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import ANY_FORM, NAME, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.tokens import Token, stem, stems
from streamhouse.planner.language.words import VERB_NOUNS, is_past_form

_LINKS = frozenset({"who", "that", "which", "have", "has", "had", "ever"})
_SOME = frozenset({"a", "an", "any", "anything", "one", "single"})
_PREPOSITIONS = frozenset({"in", "for", "at", "to", "from", "on", "with"})
_DEEPEST = 2


def with_never_done(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "without loans" for "who never borrowed a book", where each loan is of a member and a book."""
    for at in range(1, len(tokens) - 1):
        if tokens[at].word != "never":
            continue
        first = at
        while first > 0 and tokens[first - 1].word in _LINKS:
            first -= 1
        things = _things_before(tokens, first, lexicon)
        rows = _rows_of_verb(tokens[at + 1], things, lexicon)
        end = _behind_object(tokens, at + 2, rows, things, lexicon) if rows else None
        if end is None:
            continue
        without = replace(tokens[at], text="without", word="without", stem="without")
        said = " ".join(token.text for token in tokens[at + 1 : end])
        draft.assumptions.append(f"'never {said}' is without rows of {rows}")
        named = replace(tokens[at + 1], text=said, word=rows, stem=stem(rows), kind="name")
        return (*tokens[:first], without, named, *tokens[end:])
    return tokens


def _things_before(tokens: tuple[Token, ...], end: int, lexicon: Lexicon) -> set[str]:
    """The tables that the word before a place is the name of."""
    found = lexicon.mention(tokens, end - 1, 1) if end else None
    return found.tables(WHOLE_NAME) if found is not None else set()


def _rows_of_verb(verb: Token, things: set[str], lexicon: Lexicon) -> str:
    """The table whose rows say that a verb was done by things; empty: there is none, or there are several."""
    if not things or verb.kind != "word" or not is_past_form(verb.word):
        return ""
    tables = lexicon.catalog.tables
    nouns = [s for noun in VERB_NOUNS.get(verb.stem, ()) for s in lexicon.meanings(stems(noun)) if s.quality >= NAME]
    times = [s for s in lexicon.meanings((verb.stem,)) if s.kind == "column" and s.quality >= ANY_FORM
             and tables[s.table].event_time == s.column]  # fmt: skip
    said = {s.table for s in (*(s for s in nouns if s.kind == "table"), *times)}
    rows = {one for one in said if sum(key.to in things for key in lexicon.keys.get(one, ())) == 1} - things
    rows = {one for one in rows if not rows & set(tables[one].upstream)}  # "returns" are made of loans
    return rows.pop() if len(rows) == 1 else ""


def _behind_object(tokens: tuple[Token, ...], at: int, rows: str, things: set[str], lexicon: Lexicon) -> int | None:
    """Where the wish, or a part of it, ends behind what a verb was done to; None: that says more than the rows do."""
    words = [token.word for token in tokens]
    begin = at
    at += words[at : at + 1] != [] and words[at] in _PREPOSITIONS
    if words[at : at + 1] and words[at] in _SOME:
        while words[at : at + 1] and words[at] in _SOME:
            at += 1
        found = lexicon.mention(tokens, at, 2) if at < len(tokens) and words[at - 1] != "anything" else None
        if found is not None:
            always = _always_of(rows, lexicon) - things
            named = found.tables(WHOLE_NAME)
            if not named & always:
                return None
            at = found.end
    else:
        at = begin
    ended = at >= len(tokens) or tokens[at].kind == "symbol"
    return at if ended or words[at] in {"since", "before", "after", "during"} or read_period(tokens, at) else None


def _always_of(rows: str, lexicon: Lexicon) -> set[str]:
    """The tables of which each row of a table has one, over keys that are never empty."""
    tables = lexicon.catalog.tables
    found: set[str] = set()
    pending = [(rows, 0)]
    while pending:
        table, depth = pending.pop()
        for key in lexicon.keys.get(table, ()) if depth < _DEEPEST else ():
            filled = not any(may_be_empty(tables[table].column(one)) for one in key.columns)
            if filled and key.to not in found:
                found.add(key.to)
                pending.append((key.to, depth + 1))
    return found
