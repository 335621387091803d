"""As in "who work less than 30 hours a week": a number before the name of its column, which begins with a unit."""

from dataclasses import replace

from streamhouse.planner.language.bounds_said import comparison_before
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Sense
from streamhouse.planner.language.numbers import read_number, read_unit
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.tokens import Token, stem

_VERBS = frozenset("work works working worked do does doing did run runs last lasts have has".split())
_WHO = frozenset({"who", "that", "which"})
_TWO = 2


def with_names_before_numbers(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "with hours a week less than 30" for "who work less than 30 hours a week"."""
    words = [token.word for token in tokens]
    for at in range(1, len(tokens) - _TWO):
        number = read_number(tokens, at)
        begin = at + number[1] if number is not None else 0
        if not number or begin >= len(tokens) or read_unit(tokens, begin)[0] is None:
            continue
        end, place = _name(tokens, begin, lexicon)
        first = comparison_before(words, at)
        if not place or first == at:
            continue
        old = tokens[begin]
        column = replace(old, word=place, stem=place, kind="name")
        link = replace(old, text="with", word="with", stem=stem("with"), kind="word")
        head = tokens[:first]
        if head and head[-1].word in _VERBS:
            head = head[:-1]
            head = head[:-1] if head and head[-1].word in _WHO else head
        return (*head, link, column, *tokens[first:begin], *tokens[end:])
    return tokens


def _name(tokens: tuple[Token, ...], begin: int, lexicon: Lexicon) -> tuple[int, str]:
    """Where the name of a number of several words ends, and the full name of its column; empty: there is none."""
    name = lexicon.mention(tokens, begin)
    if name is not None and name.end - begin >= _TWO:
        return name.end, _number_called(name.senses, lexicon)
    rate = tokens[begin : begin + len(("hours", "per", "week"))]
    if [token.word for token in rate[1:-1]] != ["per"]:
        return begin, ""
    return begin + len(rate), _number_called(lexicon.meanings(tuple(token.stem for token in rate)), lexicon)


def _number_called(senses: tuple[Sense, ...], lexicon: Lexicon) -> str:
    """The full name of the only column that a name means, if that is a number; else empty."""
    found = {(one.table, one.column) for one in senses if one.kind == "column" and one.quality >= WHOLE_NAME}
    others = any(one.kind in {"measure", "table", "value"} and one.quality >= WHOLE_NAME for one in senses)
    if len(found) != 1 or others:
        return ""
    [(table, column)] = found
    return f"{table}.{column}" if is_number(lexicon.catalog.tables[table].column(column)) else ""
