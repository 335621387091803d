"""As in "desks at the window under 300 euros": a bound of the rows behind what is yes or no of them."""

from streamhouse.planner.language.bounds_said import bound_at
from streamhouse.planner.language.levels import ANY_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.tokens import Token

_LINKS = frozenset({"at", "by", "near", "in", "on", "with", "a", "an", "the"})
_JOINS = frozenset({",", "and", "for"})


def with_bounds_before_flags(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "desks under 300 euros at the window" for "desks at the window under 300 euros"."""
    for at in range(1, len(tokens) - 2):
        rows = lexicon.mention(tokens, at - 1)
        if rows is None or rows.end != at or tokens[at].word not in _LINKS or not rows.tables(WHOLE_NAME):
            continue
        flag = _flag(tokens, at, lexicon)
        if flag is None or not rows.tables(WHOLE_NAME) & {one.table for one in flag.of_kind("column")}:
            continue
        first = flag.end
        while first < len(tokens) and tokens[first].word in _JOINS:
            first += 1
        bound = bound_at(tokens, first)
        unit = bound[1].unit if bound is not None else None
        if bound is None or unit is None or unit.measures == "time":
            continue
        put = first - (first > flag.end and tokens[first - 1].word == "for")
        return (*tokens[:at], *tokens[put : bound[0]], *tokens[at : flag.end], *tokens[bound[0] :])
    return tokens


def _flag(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> Mention | None:
    """What is yes or no behind a preposition, and nothing else by its name; None: that stands there not."""
    for place in range(at, len(tokens)):
        found = lexicon.mention(tokens, place)
        if found is not None and _only_flags(found, lexicon):
            return found
        if tokens[place].word not in _LINKS:
            break
    return None


def _only_flags(found: Mention, lexicon: Lexicon) -> bool:
    senses = [one for one in found.senses if one.quality >= ANY_FORM]
    tables = lexicon.catalog.tables
    return any(one.kind == "column" for one in senses) and all(
        one.column != "" and tables[one.table].column(one.column).type == "boolean" for one in senses
    )
