"""As in "ticket income", "number of tickets and total value": the sum of the one amount of money that rows have."""

from dataclasses import replace

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.named_sums import sums_of_money
from streamhouse.planner.language.scope import TIMES, is_number, name_stems
from streamhouse.planner.language.tokens import Token, stem, stems

_INCOME = frozenset({"money", "income", "revenue", "revenues", "takings", "turnover", "earnings"})
_VALUES = frozenset({"value", "worth"})
_PRICES = frozenset(map(stem, ("price", "amount", "fare", "fee", "paid", "charge", "total", "payment", "takings")))
_PAID = frozenset(map(stem, ("paid", "settled")))
_FOR_A_TIME = frozenset(map(stem, ("annual", "yearly", "monthly", "weekly", "daily", "hourly")))
_LINKING = frozenset({"from", "with", "of", "by", "through", "on", "for", "in"})
_MAKING = frozenset({"make", "take", "earn", "get", "collect", "receive"})
_DOING = frozenset({"did", "do", "have", "has"})
_PRONOUNS = frozenset({"we", "they", "you"})
_FOLDED = ("average", "avg", "mean", "median", "most", "least", "highest", "lowest", "share", "percentage", "per")


def with_income(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with the sum that "money from tickets" asks for, where a ticket has one price or one sum of money."""
    words = [token.word for token in tokens]
    for at, word in enumerate(words):
        if word not in _INCOME | _VALUES or lexicon.mention(tokens, at, 1) is not None:
            continue
        if word in _VALUES:
            return _valued(tokens, at, lexicon)
        for rule in (_before, _behind):
            found = rule(tokens, at, lexicon)
            if found is None:
                continue
            first, end, name = found
            if words[max(first - 1, 0)] in _FOLDED:
                return tokens
            old = tokens[at]
            put = [replace(old, text="total", word="total", stem="total")]
            put.append(replace(old, text=name.rsplit(".", 1)[1], word=name, stem=name, kind="name"))
            return (*tokens[:first], *put, *tokens[end:])
    return tokens


def _before(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> tuple[int, int, str] | None:
    """Read "ticket income"."""
    rows = lexicon.mention(tokens, at - 1, 1) if at else None
    name = _amount_of(rows, lexicon) if rows is not None else ""
    if not name or tokens[at - 1].possessive:
        return None
    return (at - 1, at + 1, name)


def _behind(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> tuple[int, int, str] | None:
    """Read "money from tickets", "how much money did we make with tickets"."""
    words = [token.word for token in tokens]
    end, first = at + 1, at
    if words[max(at - 2, 0) : at] == ["how", "much"]:
        first = at - 2
        if words[end : end + 1] and words[end] in _DOING and words[end + 1 : end + 2] and words[end + 1] in _PRONOUNS:
            end += 2
            if words[end : end + 1] and words[end] in _MAKING:
                end += 1
    if end >= len(words) or words[end] not in _LINKING:
        return None
    behind = end + 1
    while behind < len(words) and words[behind] in {"the", "our", "all"}:
        behind += 1
    rows = lexicon.mention(tokens, behind, 1) if behind < len(words) else None
    name = _amount_of(rows, lexicon) if rows is not None else ""
    return (first, rows.end, name) if rows is not None and name else None


def _valued(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "unpaid bills: number of bills and total amount" for "number of unpaid bills and total value"."""
    words = [token.word for token in tokens[:at]]
    begin = len(("number", "of"))
    named = (lexicon.mention(tokens, place, 1) for place in range(begin, at))
    rows = next((one for one in named if one is not None and one.tables(WHOLE_NAME)), None)
    if rows is None or words[:begin] != ["number", "of"] or words[rows.end :] not in (["and", "total"], [",", "total"]):
        return tokens
    name = _amount_of(rows, lexicon, open_too=True)
    if not name:
        return tokens
    value = replace(tokens[at], text=name.rsplit(".", 1)[1], word=name, stem=name, kind="name")
    counted = (*tokens[:begin], *tokens[rows.start : at], value, *tokens[at + 1 :])
    colon = replace(tokens[0], text=":", word=":", stem=":", kind="symbol")
    return (*tokens[begin : rows.end], colon, *counted) if rows.start > begin else counted


def _amount_of(rows: Mention, lexicon: Lexicon, *, open_too: bool = False) -> str:
    """The full name of the sum, or the one amount of money, of the rows that a word names; empty: there is none.

    Args:
        rows: Their name.
        lexicon: Knows their columns and measures.
        open_too: Whether amounts are meant that are not paid yet, too.
    """
    tables = [s.table for s in rows.of_kind("table") if s.quality >= WHOLE_NAME]
    if len(tables) != 1 or rows.of_kind("value"):
        return ""
    table = lexicon.catalog.tables[tables[0]]
    if not open_too and any(_says_paid(column) for column in table.columns):
        return ""  # what was billed, or what was paid?
    sums = [one for one in sums_of_money(table) if not _FOR_A_TIME & set(stems(table.measures[one].sql))]
    if sums:
        return f"{table.name}.{sums[0]}" if len(sums) == 1 else ""
    amounts = _amounts_of(table)
    return f"{table.name}.{amounts[0]}" if len(amounts) == 1 and table.event_time is not None else ""


def _says_paid(column: CatalogColumn) -> bool:
    """Whether a column says if or when a row was paid."""
    words = name_stems(column)
    return column.type in {*TIMES, "boolean"} and bool(words & _PAID)


def _amounts_of(table: CatalogTable) -> list[str]:
    """Names of the numbers of a table that are money; none where one of them is no price."""
    money = [
        one.name
        for one in table.columns
        if is_number(one) and (unit := unit_of_column(one)) is not None and unit.measures == "money"
    ]
    named = [one for one in money if _PRICES & set(stems(one)) and not _FOR_A_TIME & set(stems(one))]
    return named if named == money else []
