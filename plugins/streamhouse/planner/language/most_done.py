"""As in "the most sold book of each genre, by copies": the thing with the most of a figure that says what was done."""

import re
from dataclasses import replace

from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.tokens import Token, stem, tokenize

_OF = frozenset({"of", "per", "for", "in", "from"})
_EACH = frozenset({"each", "every"})
_MOST = frozenset({"most", "least"})
_LEAST = 7  # tokens of "most sold book per genre, by copies"


def with_most_of(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "with the most copies" behind the groups, where the catalog says of that figure what was done."""
    words = [token.word for token in tokens]
    for at in range(len(tokens) - _LEAST):
        if words[at] not in _MOST or not re.fullmatch(r"[a-z]+(?:ed|en|old|ent|ought|ade)", words[at + 1]):
            continue
        group = at + 4 if words[at + 3] == "per" else at + 5
        if words[at + 3] not in _OF or (group > at + 4 and words[at + 4] not in _EACH):
            return tokens
        by = group + 1 + (words[group + 1 : group + 2] == [","])
        figure = lexicon.mention(tokens, by + 1) if words[by : by + 1] == ["by"] and by + 1 < len(tokens) else None
        if figure is None or not _was_done(tokens[at + 1].stem, figure, lexicon):
            return tokens
        said = ("with", "the", words[at])
        put = [replace(tokens[at], text=one, word=one, stem=stem(one)) for one in said]
        thing = tokens[at + 2 : group + 1]
        return (*tokens[:at], *thing, *put, *tokens[by + 1 :])
    return tokens


def _was_done(verb: str, figure: Mention, lexicon: Lexicon) -> bool:
    """Whether the names and the description of every meaning of a figure have the verb, or its table is called so."""
    likely = [sense for sense in figure.senses if sense.quality >= figure.best]
    texts = []
    for sense in likely:
        table = lexicon.catalog.tables[sense.table]
        own = table.measures[sense.measure].description if sense.measure else ""
        own = table.column(sense.column).description if sense.column else own
        texts.append(f"{sense.table.split('.')[-1]} {own}".replace("_", " "))
    return bool(texts) and all(verb in {token.stem for token in tokenize(text)} for text in texts)
