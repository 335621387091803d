"""As in "hours taught": a measure that the catalog calls "minutes taught", in another unit."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.units import unit_of

_UNITS = {
    "time": ("seconds", "minutes", "hours", "days"),
    "length": ("metres", "meters", "km", "kilometres", "kilometers", "miles"),
    "mass": ("grams", "kg", "kilos", "kilograms", "tonnes", "tons"),
    "volume": ("ml", "millilitres", "litres", "liters", "cubic metres"),
}


def with_measures_in_units(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "minutes taught in hours" for "hours taught", where one measure is called "minutes taught"."""
    for at, token in enumerate(tokens[:-1]):
        unit = unit_of(token.word) if token.kind == "word" else None
        if unit is None or (at and tokens[at - 1].kind == "number"):
            continue
        own = lexicon.mention(tokens, at)
        if own is not None and own.end > at + 1:
            continue
        found: dict[tuple[str, str, int], None] = {}
        for other in _UNITS.get(unit.measures, ()):
            said = (*tokens[:at], replace(token, text=other, word=other, stem=stem(other)), *tokens[at + 1 :])
            named = lexicon.mention(said, at)
            senses = [s for s in named.senses if s.quality >= WHOLE_NAME] if named is not None else []
            if named is not None and named.end > at + 1 and {s.kind for s in senses} == {"measure"}:
                found.update({(s.table, s.measure, named.end): None for s in senses})
        if len(found) == 1:
            table, measure, end = next(iter(found))
            name = replace(token, word=f"{table}.{measure}", stem=f"{table}.{measure}", kind="name")
            name = replace(name, text=" ".join(one.text for one in tokens[at:end]))
            within = replace(token, text="in", word="in", stem="in")
            return (*tokens[:at], name, within, token, *tokens[end:])
    return tokens
