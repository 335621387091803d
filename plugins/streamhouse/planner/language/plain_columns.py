"""As in "by fuel type" of `fuel`, and "queen breed" of a `breed` of queens: a word more around the name of a column."""

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import ENDING, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.reader import PLAIN_ENGLISH
from streamhouse.planner.language.tokens import Token, stems

_KINDS = frozenset({"type", "types", "kind", "kinds", "sort", "sorts", "category", "categories"})
_GROUPING = frozenset({"per", "by", "each", "every", "and", "which", "what"})


def with_plain_columns(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens without "type" behind a column of kinds, and without the thing before a column that describes it."""
    for at in range(1, len(tokens) - 1):
        mention = lexicon.mention(tokens, at)
        if tokens[at - 1].word in _GROUPING and mention is not None and _is_kind(tokens, mention, lexicon):
            said, column = f"{mention.text} {tokens[mention.end].text}", mention.of_kind("column")[0]
            draft.assumptions.append(f"'{said}' means {column.table}.{column.column}")
            return (*tokens[: mention.end], *tokens[mention.end + 1 :])
        if _is_thing_of_next(tokens, at, lexicon):
            return (*tokens[:at], *tokens[at + 1 :])
    return tokens


def _is_kind(tokens: tuple[Token, ...], mention: Mention, lexicon: Lexicon) -> bool:
    """Whether "type" behind a column of texts is a part of no name: "fuel type"."""
    end = mention.end
    if end >= len(tokens) or tokens[end].word not in _KINDS or mention.of_kind("table", "measure", "value"):
        return False
    behind = lexicon.mention(tokens, end)
    if behind is not None and behind.best >= WHOLE_NAME:
        return False
    tables = lexicon.catalog.tables
    columns = [tables[one.table].column(one.column) for one in mention.senses if one.quality >= WHOLE_NAME]
    return bool(columns) and all(one.type == "string" and bool(one.values) for one in columns)


def _is_thing_of_next(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> bool:
    """Whether a word names nothing, and the description of the column behind it is about it: "queen breed"."""
    word, own = tokens[at], lexicon.mention(tokens, at)
    if word.kind != "word" or word.word in PLAIN_ENGLISH or (own is not None and own.best > ENDING):
        return False
    if own is not None and own.end > at + 1:
        return False
    behind = lexicon.mention(tokens, at + 1)
    if behind is None or len(behind.words) != 1 or behind.of_kind("table", "measure", "value"):
        return False
    columns = [one for one in behind.of_kind("column") if one.quality >= WHOLE_NAME]
    tables = lexicon.catalog.tables
    return bool(columns) and all(
        word.stem in stems(f"{one.column.replace('_', ' ')} {tables[one.table].column(one.column).description}")
        for one in columns
    )
