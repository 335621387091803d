"""As in "income from parts": the two words of a measure's name the other way round, with "from" between them."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token


def with_turned_names(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with the measure that "income from parts" names, where no figure is called "income" alone."""
    for at in range(len(tokens) - 2):
        figure, of, thing = tokens[at : at + 3]
        if of.word != "from" or {figure.kind, thing.kind} != {"word"} or thing.text[:1].isupper():
            continue
        alone = lexicon.mention(tokens, at, 1)
        if alone is not None and any(sense.quality >= WHOLE_NAME for sense in alone.senses):
            continue
        both = lexicon.mention((thing, figure), 0)
        if both is None or both.end != len((thing, figure)):
            continue
        named = {f"{s.table}.{s.measure}" for s in both.of_kind("measure") if s.quality >= WHOLE_NAME}
        if len(named) == 1 and both.senses[0].kind == "measure":
            name = named.pop()
            said = " ".join(token.text for token in (figure, of, thing))
            put = replace(figure, text=said, word=name, stem=name, kind="name", end=thing.end)
            return (*tokens[:at], put, *tokens[at + 3 :])
    return tokens
