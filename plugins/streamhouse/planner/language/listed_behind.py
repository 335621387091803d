"""Columns of things behind the things: "customers who left in May, with their town", "… - number, date and price"."""

from dataclasses import replace

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.planner.language.asked_columns import WHEN_OR_HOW, asks_column, column_asked, name_asked, picks_rows
from streamhouse.planner.language.described_columns import column_described
from streamhouse.planner.language.levels import ANY_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention, Sense
from streamhouse.planner.language.scope import TIMES, default_time, is_year, key_column
from streamhouse.planner.language.tokens import Token, singular
from streamhouse.planner.language.words import ARTICLES_OF_ALL

_MARKS = frozenset({",", ";", ":", "-", "–", "?", "."})
_JOINS = frozenset({",", "and", "&", "plus"})
_OWNERS = frozenset({"their", "its", "his", "her"})
_BEFORE_COLUMNS = ARTICLES_OF_ALL | _OWNERS
_SHOWING = frozenset({"show", "list", "give", "showing", "including", "include", "display", "print", "add", "return",
                      "tell", "with", "also", "me", "us", "only", "just", "and", "plus", "please", "need", "i",
                      "want"})  # fmt: skip
_VERBS = frozenset({"show", "list", "give", "showing", "including", "display", "print", "return"})
_KEY = frozenset({"number", "no", "id", "code", "key", "identifier"})
_NUMBERED = frozenset({"no", "nr", "num", "number", "id"})
_SORTS = frozenset({"type", "kind", "category"})
_LABELS = frozenset({"name", "title", "number", "no", "code", "id", "label"})


def columns_behind(tokens: tuple[Token, ...], things: list[str], lexicon: Lexicon) -> tuple[int, list[Mention]] | None:
    """Where the columns begin that a wish shows of its things at its end, and these; None: it shows none so."""
    end = len(tokens)
    while end and (tokens[end - 1].word in {".", "?", "!", "please"}):
        end -= 1
    for at in range(1, end):
        if not (tokens[at].word in _MARKS or tokens[at].word in _VERBS or tokens[at].word == "with"):
            continue
        begin, opened = at, set()
        while begin < end and (_shows(tokens, begin) or tokens[begin].word in _MARKS):
            opened.add(tokens[begin].word)
            begin += 1
        owned = begin < end and tokens[begin].word in _OWNERS
        items = _items(tokens[:end], begin, things, lexicon)
        asked = any(asks_column(tokens, item.start) or asks_column(tokens, item.start - 1) for item in items)
        if items and (owned or asked or opened & _VERBS or _is_list(tokens[at].word, opened, items, lexicon)):
            return at, items
    return None


def _shows(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a word only says that something is shown; "us" of "who are with us" does not."""
    word = tokens[at].word
    return word in _SHOWING and (word not in {"me", "us"} or tokens[at - 1].word in _VERBS)


def _is_list(mark: str, opened: set[str], items: list[Mention], lexicon: Lexicon) -> bool:
    """Whether a list behind a mark alone is one of columns, and does not say which things are meant."""
    if mark not in {"with", ","} or (mark == "," and "with" in opened):
        return True
    found = [(lexicon.catalog.tables[s.table], s.column) for item in items for s in item.senses]
    if any(table.column(column).type == "boolean" for table, column in found):
        return False
    if len(items) == 1:  # each row has its key: "with order number"
        return len(items[0].words) > 1 and all((column,) == table.primary_key for table, column in found)
    return any(_LABELS & set(item.words[-1:]) for item in items) or len(items) > 2


def _items(tokens: tuple[Token, ...], at: int, things: list[str], lexicon: Lexicon) -> list[Mention]:
    """The columns that a list names from a token to the end; empty: something in it is none."""
    found: list[Mention] = []
    while at < len(tokens):
        while at < len(tokens) and tokens[at].word in _BEFORE_COLUMNS:
            at += 1
        at = name_asked(tokens, at)
        item = _item(tokens, at, things, lexicon)
        if item is None:
            return []
        found.append(item)
        at = item.end
        if at < len(tokens) and tokens[at].word not in _JOINS:
            return []
        while at < len(tokens) and tokens[at].word in _JOINS:
            at += 1
    return found


def _item(tokens: tuple[Token, ...], at: int, things: list[str], lexicon: Lexicon) -> Mention | None:
    """One column of the things: by its name, by the table that it points to, by its sort, or by what was done then."""
    if at >= len(tokens):
        return None
    tables = [lexicon.catalog.tables[name] for name in things]
    numbered = [(found, table) for table in tables if (found := _by_number(tokens, at, table, lexicon)) is not None]
    if numbered:
        return _found(tokens, at, at + 2, *numbered[0])
    for length in range(min(5, len(tokens) - at), 0, -1):
        piece = tokens[at : at + length]
        if any(token.kind not in {"word", "name"} for token in piece):
            continue
        named = lexicon.mention(tokens[: at + length], at, length)
        if named is None or named.end != at + length:
            continue
        senses = _named(named, tables)
        if senses:
            return replace(named, senses=senses)
    for table in tables:
        column, end = _by_sort(tokens, at, table)
        if column is None:
            column, end = column_described(tokens, at, table)
        if column is not None:
            return _found(tokens, at, end, column, table)
    return None


def _found(tokens: tuple[Token, ...], at: int, end: int, column: CatalogColumn, table: CatalogTable) -> Mention:
    text = " ".join(token.text for token in tokens[at:end])
    words = tuple(token.word for token in tokens[at:end])
    return Mention(at, end, text, (Sense("column", table.name, column.name, quality=1.0),), words)


def _named(named: Mention, tables: list[CatalogTable]) -> tuple[Sense, ...]:
    """The column that a name has in each of the tables, or the one that points to the table that is called so."""
    found: list[Sense] = []
    for table in tables:
        own = [s for s in named.of_kind("column") if s.table == table.name and s.quality >= ANY_FORM]
        best = [s for s in own if s.quality == max(one.quality for one in own)]
        targets = named.tables(ANY_FORM)
        keys = [c.name for c in table.columns if c.references is not None and c.references[0] in targets]
        if len({s.column for s in best}) == 1:
            found.append(best[0])
        elif not own and len(keys) == 1:
            found.append(Sense("column", table.name, keys[0], quality=1.0))
    return tuple(found)


def _by_sort(tokens: tuple[Token, ...], at: int, table: CatalogTable) -> tuple[CatalogColumn | None, int]:
    """The only column of a sort: "number", "name", "year", "date", and "when it was sold"; None: there is not one."""
    word = singular(tokens[at].word)
    if word in WHEN_OR_HOW:
        return column_asked(tokens, at, table)
    key = key_column(table)
    if word in _KEY and key is not None:
        return table.column(key), at + 1
    if word == "name":
        return _only([c for c in table.columns if c.name.split("_")[-1] == "name" and c.type == "string"]), at + 1
    if word == "year":
        return _only([c for c in table.columns if is_year(c)]), at + 1
    if word in _SORTS:
        return _only([c for c in table.columns if c.name.split("_")[-1] in _SORTS and c.type == "string"]), at + 1
    if word in {"date", "time"}:
        times = [c for c in table.columns if c.type in TIMES]
        own = default_time(table) if word == "time" or picks_rows(tokens) else None
        return (_only(times) or own), at + 1
    return None, at


def _by_number(tokens: tuple[Token, ...], at: int, table: CatalogTable, lexicon: Lexicon) -> CatalogColumn | None:
    """The key of things that their name and "number" stand for: "sale number" of `sale_no`; None: it is no number."""
    key = key_column(table)
    if key is None or key.rsplit("_", 1)[-1] not in _NUMBERED or at + 1 >= len(tokens):
        return None
    thing = lexicon.mention(tokens, at, 1) if tokens[at + 1].word in {"number", "numbers"} else None
    if thing is None or table.name not in thing.tables(WHOLE_NAME) or thing.is_plural:
        return None
    both = lexicon.mention(tokens, at, 2)
    return None if both is not None and both.end == at + 2 else table.column(key)


def _only(columns: list[CatalogColumn]) -> CatalogColumn | None:
    return columns[0] if len(columns) == 1 else None
