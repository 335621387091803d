"""As in "drivers whose permit ends before May": the end is the time that the column has, so the verb says no more."""

import re

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import ANY_FORM
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token

_ENDS = frozenset({"ends", "end", "ended", "expires", "expire", "expired", "lapses", "lapsed"})
_OWNERS = frozenset({"whose", "their", "its"})
_BOUNDS = frozenset({"before", "after", "on", "in", "by", "between", "until", "during"})
_NAMES = frozenset({"until", "end", "ends", "expires", "expiry", "through"})
_SAID = re.compile(r"\b(ends?|expires?|runs out|last day|last date|until)\b")


def with_ends(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens without "ends" behind what has such a time of its own; what is meant is an assumption of the draft."""
    for at in range(1, len(tokens) - 2):
        if tokens[at].word not in _ENDS or tokens[at + 1].word not in _BOUNDS:
            continue
        found = _before(tokens, at, lexicon)
        if found is None:
            continue
        table, column = found
        draft.assumptions.append(f"'{tokens[at].text}' is {table}.{column.name}")
        return (*tokens[:at], *tokens[at + 1 :])
    return tokens


def _before(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> tuple[str, CatalogColumn] | None:
    """The one time until which something holds that stands between "whose" and a token; None: none does."""
    for start in range(at - 1, max(at - 5, 0), -1):
        if tokens[start - 1].word not in _OWNERS:
            continue
        found = lexicon.mention(tokens[:at], start)
        return _end_time(found, lexicon) if found is not None and found.end == at else None
    return None


def _end_time(found: Mention, lexicon: Lexicon) -> tuple[str, CatalogColumn] | None:
    tables = lexicon.catalog.tables
    columns = [
        (sense.table, tables[sense.table].column(sense.column))
        for sense in found.of_kind("column")
        if sense.quality >= ANY_FORM
    ]
    others = any(sense.quality >= ANY_FORM for sense in found.senses if sense.kind != "column")
    if len(columns) != 1 or others or columns[0][1].type not in TIMES:
        return None
    column = columns[0][1]
    return columns[0] if _NAMES & set(column.name.split("_")) or _SAID.search(column.description.lower()) else None
