"""As in "income from parts" and "type of lens": the two words of a name the other way round, with a word between."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, singular

_KINDS = frozenset({"type", "kind", "sort", "category", "class"})


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


def with_turned_kinds(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with the columns that "type of lens" names, where they are called "lens type" and nothing else is."""
    for at in range(len(tokens) - 3, -1, -1):
        if at + 3 > len(tokens):
            continue  # what stood here became one name
        kind, of, thing = tokens[at : at + 3]
        if kind.word not in _KINDS or of.word != "of" or thing.kind != "word" or thing.text[:1].isupper():
            continue
        plain = replace(thing, text=singular(thing.word), word=singular(thing.word))
        both = lexicon.mention((plain, kind), 0)
        if both is None or both.end != len((plain, kind)) or _is_called_so(tokens, at, lexicon):
            continue
        named = {f"{s.table}.{s.column}" for s in both.of_kind("column") if s.quality >= WHOLE_NAME}
        if len(named) == 1:
            name = named.pop()
            said = " ".join(token.text for token in (kind, of, thing))
            put = replace(kind, text=said, word=name, stem=name, kind="name", end=thing.end)
            tokens = (*tokens[:at], put, *tokens[at + 3 :])
    return tokens


def _is_called_so(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> bool:
    """Whether the three words, or the first of them alone, are a name."""
    whole = lexicon.mention(tokens, at, 3)
    alone = lexicon.mention(tokens, at, 1)
    return (whole is not None and whole.end == at + 3 and whole.best >= WHOLE_NAME) or (
        alone is not None and any(one.quality >= WHOLE_NAME for one in alone.of_kind("column"))
    )
