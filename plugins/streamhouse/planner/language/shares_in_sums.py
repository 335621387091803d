"""As in "share of online sales in the turnover": the part that the rows of a value have in a sum."""

from dataclasses import replace

from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import NEARLY_NAME, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.named_sums import is_sum
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.tokens import Token, place_behind

_SHARES = frozenset({"share", "percentage", "proportion", "fraction", "part"})
_GROUPS = frozenset({"per", "by", "each", "every", "for", "among"})
_LONGEST = 3  # words of a value
_ARTICLES = frozenset({"the", "our", "all", "total", "overall"})


def with_shares_of_sums(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "share of the turnover for online sales" for "share of online sales in the turnover"."""
    tokens = _value_first(tokens, lexicon)
    for at in range(len(tokens) - 4):
        if tokens[at].word not in _SHARES or tokens[at + 1].word != "of":
            continue
        begin = place_behind(_ARTICLES, tokens, at + 2)
        value = lexicon.mention(tokens, begin)
        if value is None or value.senses[0].kind != "value" or value.best < WHOLE_NAME:
            continue
        rows = lexicon.mention(tokens, value.end) if value.end < len(tokens) else None
        is_table = rows is not None and bool(rows.of_kind("table"))
        end = rows.end if rows is not None and rows.of_kind("table", "measure") else value.end
        if end >= len(tokens) or tokens[end].word not in {"in", "of"}:
            continue
        first = place_behind(_ARTICLES, tokens, end + 1)
        whole = lexicon.mention(tokens, first) if first < len(tokens) else None
        if whole is None or not _is_sum(whole, lexicon):
            continue
        link = replace(tokens[end], text="for", word="for", stem="for")
        part = (*tokens[: at + 2], *tokens[first : whole.end], link)
        return (*part, *tokens[begin : end if is_table else value.end], *tokens[_behind_deed(tokens, whole, lexicon) :])
    return tokens


def _value_first(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "share of the turnover for online" for "online share of the turnover", if nothing is grouped."""
    words = [token.word for token in tokens]
    for at in range(1, len(tokens) - 2):
        if words[at] not in _SHARES or words[at + 1] not in {"of", "in"} or _GROUPS & set(words[at:]):
            continue
        value = next((found for first in range(max(at - _LONGEST, 0), at)
                      if (found := lexicon.mention(tokens, first)) is not None and found.end == at), None)  # fmt: skip
        if value is None or value.best < WHOLE_NAME or any(one.kind != "value" for one in value.senses):
            continue
        first = place_behind(_ARTICLES, tokens, at + 2)
        whole = lexicon.mention(tokens, first) if first < len(tokens) else None
        if whole is None or not _is_sum(whole, lexicon):
            continue
        end = _behind_deed(tokens, whole, lexicon)
        link = replace(tokens[at + 1], text="for", word="for", stem="for")
        of = replace(tokens[at + 1], text="of", word="of", stem="of")
        part = (*tokens[: value.start], tokens[at], of, *tokens[first : whole.end], link)
        return (*part, *tokens[value.start : at], *tokens[end:])
    return tokens


def _behind_deed(tokens: tuple[Token, ...], whole: Mention, lexicon: Lexicon) -> int:
    """Where a sum ends with the verb that each row of it has: "cups sold" of sales and their `sold_at`."""
    verb = lexicon.mention(tokens, whole.end, 1) if whole.end < len(tokens) else None
    tables = {one.table for one in whole.of_kind("measure")}
    if verb is None or not is_participle(verb) or len(tables) != 1:
        return whole.end
    table = lexicon.catalog.tables[tables.pop()]
    times = [one for one in verb.of_kind("column") if (one.table, one.column) == (table.name, table.event_time)]
    own = any(one.quality >= max(NEARLY_NAME, verb.best) for one in times)
    return verb.end if own and not may_be_empty(table.column(str(table.event_time))) else whole.end


def _is_sum(named: Mention, lexicon: Lexicon) -> bool:
    """Whether a name is that of a sum, and neither of rows nor of a value."""
    measures = [one for one in named.of_kind("measure") if one.quality >= WHOLE_NAME]
    if not measures or named.best_of("table", "value") >= WHOLE_NAME:
        return False
    tables = lexicon.catalog.tables
    return all(is_sum(tables[one.table].measures[one.measure]) for one in measures)
