"""As in "pass rate by examiner": the share of rows of which a column of yes or no, or a time of its own, says so."""

from dataclasses import replace

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import ANY_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import GRAINS, is_past_form

_NEXT = frozenset({"per", "by", "each", "every", ",", ".", "?", "!", ";", "%"})
_PRICES = frozenset("pay charge hire rent lend book sell buy bill price tax call order work lease loan".split())
"""Words before "rate" that say what somebody pays, or how fast something is."""
_RATES = frozenset({"rate", "rates", "quota"})


def with_shares_of_flags(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "share of exams that were passed" for "pass rate", where one column alone says what is passed."""
    for at in range(1, len(tokens)):
        named = lexicon.mention(tokens, at - 1, 2)
        if tokens[at].word not in _RATES or tokens[at - 1].word in _PRICES or (named is not None and named.end > at):
            continue
        found = _said(tokens[at - 1], lexicon)
        if found is None:
            continue
        table, done, _ = found
        end = _end_of_things(tokens, at + 1, table, lexicon)
        if end is None or not _goes_on(tokens, end, timed=table.column(found[2]).type in TIMES):
            return tokens
        words = ("share", "of", table.name, "that", "were", done)
        said = [replace(tokens[at], text=word, word=word, stem=stem(word)) for word in words]
        said[2] = replace(said[2], kind="name", stem=table.name)
        return (*tokens[: at - 1], *said, *tokens[end:])
    return tokens


def _said(token: Token, lexicon: Lexicon) -> tuple[CatalogTable, str, str] | None:
    """The table, the participle of a word, and the only column that has it in its name; None: there is not one."""
    found = lexicon.mention((token,), 0, 1)
    senses = found.senses if found is not None else ()
    named = any(one.kind in {"table", "measure"} and one.quality >= ANY_FORM for one in senses)
    places = {(one.table, one.column) for one in senses if one.kind in {"column", "value"} and one.quality >= ANY_FORM}
    if named or len(places) != 1:
        return None
    [(name, column_name)] = places
    table = lexicon.catalog.tables[name]
    column = table.column(column_name)
    done = [part for part in column.name.split("_") if stem(part) == token.stem and is_past_form(part)]
    return (table, done[0], column.name) if len(done) == 1 and _tells(column, table) else None


def _tells(column: CatalogColumn, table: CatalogTable) -> bool:
    """Whether a column says whether something was done: yes or no, or a time that is empty if it was not."""
    empty = may_be_empty(column)
    if column.type == "boolean":
        return not empty
    return column.type in TIMES and column.name != table.event_time and empty


def _goes_on(tokens: tuple[Token, ...], at: int, *, timed: bool) -> bool:
    """Whether a rate ends here, or groups or a time follow, and no condition that may be one of the part alone.

    Beside what has a time of its own no time may follow at all: it may be this one.
    """
    following = [token.word for token in tokens[at : at + 2]]
    periods = any(read_period(tokens, n) or tokens[n].word in GRAINS for n in range(at, len(tokens)))
    if timed and periods:
        return False
    if following[:1] == ["in"]:
        return following[1:] in (["percent"], ["%"]) or read_period(tokens, at) is not None
    if following[:1] == ["for"]:
        return following[1:] in (["each"], ["every"])
    return not following or following[0] in _NEXT


def _end_of_things(tokens: tuple[Token, ...], at: int, table: CatalogTable, lexicon: Lexicon) -> int | None:
    """Where "of the exams" ends behind the rate; None: it is the rate of something else."""
    if at >= len(tokens) or tokens[at].word not in {"of", "for"}:
        return at
    start = at + 1
    while start < len(tokens) and tokens[start].word in {"the", "all", "our"}:
        start += 1
    found = lexicon.mention(tokens, start)
    if found is None or not any(s.table == table.name and s.quality >= WHOLE_NAME for s in found.of_kind("table")):
        return at if tokens[at].word == "for" else None
    return found.end
