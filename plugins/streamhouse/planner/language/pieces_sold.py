"""As in "how many sofas were sold", where a measure counts the pieces that were sold, and a sofa is a kind of thing."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.named_sums import is_sum
from streamhouse.planner.language.tokens import Token, stem, stems
from streamhouse.planner.language.words import COUNTING

_PIECES = frozenset(map(stem, ("pieces", "units", "quantity", "items", "number")))
_BEING = frozenset({"were", "was", "have", "has", "been", "did", "we", "do"})
_DONE = {"sold": "sold", "sell": "sold", "bought": "bought", "buy": "bought", "ordered": "ordered", "order": "ordered"}
_DEEPEST = 3


def with_pieces(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "pieces sold of sofas" for "how many sofas were sold", where a row may be of several pieces."""
    words = tuple(token.word for token in tokens)
    for at in range(len(tokens) - 3):
        if words[at : at + 2] not in COUNTING:
            continue
        value = lexicon.mention(tokens, at + 2)
        if value is None or not value.is_plural:
            continue
        verb = value.end
        while verb < len(tokens) - 1 and words[verb] in _BEING:
            verb += 1
        done = _DONE.get(words[verb]) if verb < len(tokens) else None
        measures = _measures(value, done, lexicon) if done else set()
        if len(measures) == 1:
            name = measures.pop()
            put = (
                replace(tokens[at], word=name, stem=name, kind="name"),
                replace(tokens[at], text="of", word="of", stem="of"),
            )
            return (*tokens[:at], *put, *tokens[value.start : value.end], *tokens[verb + 1 :])
    return tokens


def _measures(value: Mention, done: str, lexicon: Lexicon) -> set[str]:
    """Full names of the measures that count pieces, of rows that reach the one column that has a value."""
    senses = [sense for sense in value.senses if sense.quality >= WHOLE_NAME]
    tables = {sense.table for sense in senses}
    if len(tables) != 1 or any(sense.kind != "value" for sense in senses):
        return set()
    found = set()
    for table in lexicon.catalog.tables.values():
        for name, measure in table.measures.items():
            names = [set(stems(text)) for text in (name, *measure.synonyms)]
            counts = any(stem(done) in one and one & _PIECES for one in names)
            if counts and is_sum(measure) and tables <= _reached(table.name, lexicon):
                found.add(f"{table.name}.{name}")
    return found


def _reached(table: str, lexicon: Lexicon) -> set[str]:
    """The tables that rows of a table reach over keys."""
    found, frontier = {table}, {table}
    for _ in range(_DEEPEST):
        frontier = {key.to for one in frontier for key in lexicon.keys.get(one, ())} - found
        found |= frontier
    return found
