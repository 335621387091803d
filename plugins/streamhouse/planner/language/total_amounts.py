"""As in "malt used per week": the total of a number that people say was used, and that they count by groups."""

from dataclasses import replace

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.levels import ANY_FORM
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.scope import is_quantity
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.words import NOT_ADDITIVE

_USED = frozenset(
    """used consumed burned burnt eaten needed received collected produced processed shipped transported carried
    harvested picked delivered bought purchased served""".split()
)
_GROUPING = frozenset({"per", "by", "each", "every"})
_THERE = (("we", "have"), ("we", "had"), ("there", "are"))
_OPENERS = frozenset({"the", "show", "give", "me", "list", "our", "all", "and", ",", "how", "much", "many"})
_RATES = frozenset({"rate", "pct", "percent", "score", "per", "hourly", "level", "year", "age", "stars", "rating"})


def with_totals(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "total" before a number of rows that was used up, received or is there, for each group."""
    words = [token.word for token in tokens]
    if not _GROUPING & set(words) or {"how", "average", "total"} & set(words):
        return tokens
    at = 0
    while at < len(tokens) and words[at] in _OPENERS:
        at += 1
    found = lexicon.mention(tokens, at) if at < len(tokens) else None
    if found is None or not _is_amount(found, lexicon):
        return tokens
    end = found.end
    there = next((len(one) for one in _THERE if tuple(words[end : end + len(one)]) == one), 0)
    if not there and words[end : end + 1] and words[end] not in _USED:
        return tokens
    if end >= len(words):
        return tokens
    said = replace(tokens[at], text="total", word="total", stem="total", kind="word")
    return (*tokens[:at], said, *tokens[at : found.end], *tokens[end + there :])


def _is_amount(found: Mention, lexicon: Lexicon) -> bool:
    """Whether a word only names numbers that people add up."""
    if any(sense.quality >= ANY_FORM for sense in found.of_kind("table", "measure", "value")):
        return False
    tables = lexicon.catalog.tables
    columns = [tables[s.table].column(s.column) for s in found.of_kind("column") if s.quality >= ANY_FORM]
    return bool(columns) and all(is_quantity(one) and not _is_rate(one) for one in columns)


def _is_rate(column: CatalogColumn) -> bool:
    """Whether the sum of a number says nothing."""
    unit = unit_of_column(column)
    return bool(unit and unit.measures in NOT_ADDITIVE) or bool(_RATES & set(column.name.split("_")))
