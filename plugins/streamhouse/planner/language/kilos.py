"""Units without a number: kilos are kg, unless a name has them ("kilos sold"), and "kg lime honey" is "kg of" it."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.senses import Sense
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.units import unit_of, unit_of_name

_KILOS = frozenset({"kilo", "kilos"})
_AMOUNTS = frozenset({"mass", "volume", "length", "time"})
_LONGEST = 4  # words of a name before the unit in it


def with_kilos(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "kg" for each "kilo" that is a unit, and no part of a name."""
    changed = list(tokens)
    for at, token in enumerate(tokens):
        if token.word in _KILOS and (_is_counted(tokens, at) or not _is_in_name(tokens, at, lexicon)):
            changed[at] = replace(token, text="kg", word="kg", stem="kg")
    return tuple(changed)


def with_units_of_values(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "of" between a unit and a value that a number with this unit follows: "kg lime honey"."""
    unit = unit_of(tokens[0].word) if tokens and tokens[0].kind == "word" else None
    value = lexicon.mention(tokens, 1) if unit is not None and unit.measures in _AMOUNTS else None
    if value is None or not value.senses or value.senses[0].kind != "value" or value.best < WHOLE_NAME:
        return tokens
    number = lexicon.mention(tokens, value.end)
    senses = number.of_kind("measure", "column") if number is not None else ()
    if any(one.quality >= WHOLE_NAME and _measures(one, lexicon) == unit.measures for one in senses if unit):
        of = replace(tokens[0], text="of", word="of", stem="of")
        return (tokens[0], of, *tokens[1:])
    return tokens


def _measures(sense: Sense, lexicon: Lexicon) -> str:
    table = lexicon.catalog.tables[sense.table]
    said = table.measures[sense.measure].unit if sense.measure else table.column(sense.column).unit
    unit = unit_of(said) if said else unit_of_name(sense.measure or sense.column)
    return unit.measures if unit is not None else ""


def _is_counted(tokens: tuple[Token, ...], at: int) -> bool:
    return at > 0 and tokens[at - 1].kind == "number"


def _is_in_name(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> bool:
    for begin in range(max(at - _LONGEST, 0), at + 1):
        found = lexicon.mention(tokens, begin)
        if found is not None and found.end > at and found.best >= WHOLE_NAME:
            return True
    return False
