"""As in "works by Beethoven": the last word of one value, where only one value ends so."""

from dataclasses import replace

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.origins import root_of
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.words import FILLERS

_LEAST = 4  # letters that a name has


def with_last_names(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with the whole name for its last word, which is written as a name and is nothing else here."""
    for at, token in enumerate(tokens):
        if not at or token.kind != "word" or not token.text[:1].isupper() or len(token.text) < _LEAST:
            continue
        if token.text.isupper() or token.word in FILLERS or lexicon.mention(tokens, at) is not None:
            continue
        if tokens[at - 1].text[:1].isupper() and at > 1:
            continue  # another first name may be another person
        value = _ending_so(token, lexicon)
        if value:
            draft.assumptions.append(f"'{token.text}' is read as '{value}'")
            quoted = replace(token, text=f"'{value}'", word=value, stem=value.lower(), kind="quoted")
            return (*tokens[:at], quoted, *with_last_names(tokens[at + 1 :], lexicon, draft))
    return tokens


def _ending_so(token: Token, lexicon: Lexicon) -> str:
    """The one value of several words that ends with a word; empty: there is none, or there are several."""
    found: set[tuple[str, str, str]] = set()
    for phrase in lexicon.by_stem.get(token.stem, ()):
        if phrase[-1] != token.stem:
            continue
        for _, sense in lexicon.entries[phrase]:
            ends = sense.value.rsplit(" ", 1)[-1] == token.text if sense.kind == "value" else False
            if sense.quality >= WHOLE_NAME and sense.kind == "value" and ends:
                found.add((*root_of(lexicon, sense.table, sense.column), sense.value))
            elif sense.kind != "value" and sense.quality >= WHOLE_NAME:
                return ""
    return found.pop()[2] if len(found) == 1 else ""
