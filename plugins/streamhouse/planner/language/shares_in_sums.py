"""As in "share of online sales in the turnover": the part that the rows of a value have in a sum."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.named_sums import is_sum
from streamhouse.planner.language.tokens import Token, place_behind

_SHARES = frozenset({"share", "percentage", "proportion", "fraction", "part"})
_ARTICLES = frozenset({"the", "our", "all", "total", "overall"})


def with_shares_of_sums(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "share of the turnover for online sales" for "share of online sales in the turnover"."""
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
        return (*part, *tokens[begin : end if is_table else value.end], *tokens[whole.end :])
    return tokens


def _is_sum(named: Mention, lexicon: Lexicon) -> bool:
    """Whether a name is that of a sum, and neither of rows nor of a value."""
    measures = [one for one in named.of_kind("measure") if one.quality >= WHOLE_NAME]
    if not measures or named.best_of("table", "value") >= WHOLE_NAME:
        return False
    tables = lexicon.catalog.tables
    return all(is_sum(tables[one.table].measures[one.measure]) for one in measures)
