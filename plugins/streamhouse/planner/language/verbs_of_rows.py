"""Verbs that only name the rows that are counted: "how often was each song played", "who ordered the most jobs"."""

from dataclasses import replace

from streamhouse.planner.language.levels import ANY_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.named_sums import sums_of_money
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import DOING, VERB_NOUNS, is_past_form

_BEING = frozenset({"was", "were", "is", "are", "has", "have", "did", "do", "does", "been"})
_PRONOUNS = frozenset({"we", "they", "you"})
_PAID = frozenset({"spent", "paid", "spend", "pay"})


def with_verbs_of_rows(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with the rows in place of a verb that only says that they are there."""
    for rule in (_often, _most, _spent, _did_we, _in_share):
        tokens = rule(tokens, lexicon)
    return tokens


def _often(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """Read "how often was each song played" as the number of plays for each song."""
    words = [token.word for token in tokens]
    length = next((n for one, n in ((["how", "often"], 2), (["how", "many", "times"], 3)) if words[:n] == one), 0)
    behind = length + 1
    if not length or words[length : length + 1] == [] or words[length] not in _BEING or behind >= len(words):
        return tokens
    if words[behind] not in {"each", "every"}:
        return tokens
    thing = lexicon.mention(tokens, behind + 1)
    if thing is None:
        return tokens
    verb = thing.end
    while verb < len(tokens) and words[verb] in _BEING:
        verb += 1
    rows = _rows_of(tokens, verb, lexicon) or _rows_of_verb(tokens, verb, lexicon) if verb < len(tokens) else ""
    keys = {key.to for key in lexicon.keys.get(rows, [])}
    named = {s.table for s in thing.senses if s.quality >= ANY_FORM and s.kind in {"table", "column"}}
    if not rows or not named & {rows, *keys}:
        return tokens
    put = (*_said(tokens[0], "number of"), _name(tokens[verb], rows), *_said(tokens[0], "per"))
    rest = tokens[verb + 1 :]
    if rest and rest[0].word == "as":  # "diagnosed as severe"
        rest = (*_said(rest[0], "with"), *rest[1:])
    return (*put, *tokens[thing.start : thing.end], *rest)


def _most(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """Read "which customer ordered the most jobs" as the one that has the most."""
    words = [token.word for token in tokens]
    for at in range(1, len(tokens) - 2):
        counted = at + 1 + (words[at + 1] == "the")
        if words[counted] not in {"most", "fewest"} or counted + 1 >= len(tokens) or words[at] in _PAID:
            continue
        rows = _rows_of(tokens, at, lexicon)
        thing = lexicon.mention(tokens, counted + 1, 1)
        things = thing.of_kind("table") if thing is not None else ()
        if rows and any(s.table == rows and s.quality >= WHOLE_NAME for s in things):
            return (*tokens[:at], *_said(tokens[at], "has"), *tokens[at + 1 :])
    return tokens


def _spent(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """Read "who spent the most on tickets" as those with the highest sum of their tickets."""
    words = [token.word for token in tokens]
    for at in range(1, len(tokens) - 3):
        if words[at] not in _PAID or words[at + 1 : at + 2] != ["the"] or words[at + 2] not in {"most", "least"}:
            continue
        of = at + 3 + (words[at + 3] == "money")
        thing = lexicon.mention(tokens, of + 1, 1) if words[of : of + 1] and words[of] in {"on", "for"} else None
        tables = thing.tables(WHOLE_NAME) if thing is not None else set()
        found = {f"{name}.{one}" for name in tables for one in sums_of_money(lexicon.catalog.tables[name])}
        if len(found) == 1:
            first = at - (words[at - 1] in {"who", "that", "which"})
            end = "highest" if words[at + 2] == "most" else "lowest"
            put = (*_said(tokens[at], f"with the {end}"), _name(tokens[of + 1], found.pop()))
            return (*tokens[:first], *put, *tokens[of + 2 :])
    return tokens


def _did_we(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """Read "how many tickets did we sell" as those that were sold, where a time of theirs is called so."""
    words = [token.word for token in tokens]
    for at in range(2, len(tokens) - 2):
        if words[at] != "did" or words[at + 1] not in _PRONOUNS or words[0] != "how":
            continue
        verb = tokens[at + 2]
        forms = [one for one, root in lexicon.vocabulary.items() if root == verb.stem and is_past_form(one)]
        if len(forms) == 1 and verb.word not in forms:
            done = replace(verb, text=forms[0], word=forms[0])
            return (*tokens[:at], *_said(tokens[at], "were"), done, *tokens[at + 3 :])
    return tokens


def _in_share(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """Read "share of tickets that are sold online" as those that are online: all of them were sold."""
    words = [token.word for token in tokens]
    if not {"share", "percentage", "proportion"} & set(words):
        return tokens
    for at in range(2, len(tokens) - 1):
        said = at - 1 - (words[at - 2] in {"that", "which"})
        thing = lexicon.mention(tokens, max(said - 1, 0), 1)
        value = lexicon.mention(tokens, at + 1 + (words[at + 1] in {"to", "by", "in", "through", "via"}))
        if words[at - 1] not in _BEING or thing is None or value is None or not value.of_kind("value"):
            continue
        rows = _rows_of(tokens, at, lexicon)
        if rows and any(s.table == rows and s.quality >= WHOLE_NAME for s in thing.of_kind("table")):
            return (*tokens[:said], *_said(tokens[at], "that are"), *tokens[value.start :])
    return tokens


def _rows_of(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> str:
    """The one table whose rows a participle names by their time or a form of their name; empty: none, or several."""
    found = lexicon.mention(tokens, at, 1) if is_past_form(tokens[at].word) else None
    return _one(found, lexicon) if found is not None else ""


def _rows_of_verb(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> str:
    """The one table whose rows are called by the noun of a verb: visits of "visit", diagnoses of "diagnosed"."""
    verb = tokens[at]
    asked = {token.word for token in tokens[:at]} & DOING
    if not asked and not is_past_form(verb.word):
        return ""
    nouns = [(verb.stem,), *((stem(noun),) for noun in VERB_NOUNS.get(verb.stem, ()))]
    found = {s.table for noun in nouns for s in lexicon.meanings(noun) if s.kind == "table" and s.quality >= WHOLE_NAME}
    return found.pop() if len(found) == 1 else ""


def _one(found: Mention, lexicon: Lexicon) -> str:
    tables = lexicon.catalog.tables
    times = [s for s in found.of_kind("column") if s.quality >= ANY_FORM]
    if any(s.column != tables[s.table].event_time for s in times) or found.of_kind("value"):
        return ""
    rows = {s.table for s in (*times, *(one for one in found.of_kind("table") if one.quality >= ANY_FORM))}
    return rows.pop() if len(rows) == 1 else ""


def _said(old: Token, text: str) -> tuple[Token, ...]:
    return tuple(replace(old, text=one, word=one, stem=stem(one), kind="word", value=None) for one in text.split())


def _name(old: Token, name: str) -> Token:
    return replace(old, word=name, stem=name, kind="name", value=None)
