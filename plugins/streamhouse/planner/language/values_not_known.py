"""As in "deliveries where the cell count was not measured": rows without a value, said with a verb of noting it."""

from dataclasses import replace

from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import ANY_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.tokens import Token, stem

_WHERE = (("where",), ("for", "which"), ("in", "which"), ("of", "which"), ("whose",))
_BEING = frozenset({"was", "were", "is", "are"})
_NOTED = frozenset({"measured", "recorded", "noted", "known", "entered", "documented", "stated", "registered"})


def with_values_not_known(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "deliveries without cell count" for "deliveries where the cell count was not measured"."""
    for at in range(1, len(tokens) - 3):
        length = next((len(one) for one in _WHERE if tuple(t.word for t in tokens[at : at + len(one)]) == one), 0)
        rows = lexicon.mention(tokens, at - 1, 1) if length else None
        if rows is None or not rows.tables(WHOLE_NAME):
            continue
        begin = at + length
        none = tokens[begin].word == "no"
        begin += none or tokens[begin].word in {"the", "its", "their"}
        value = lexicon.mention(tokens, begin) if begin < len(tokens) else None
        end = _end(tokens, value.end, lexicon) if value is not None else None
        name = _column(value, rows.tables(WHOLE_NAME), lexicon) if value is not None and end is not None else ""
        if value is None or end is None or not name or none == end[1]:
            continue  # "where the count was measured" has a count, and "where none was not measured" says what?
        put = [replace(tokens[at], text="without", word="without", stem=stem("without"), kind="word")]
        named = replace(tokens[begin], text=value.text, word=name, stem=name, kind="name")
        return (*tokens[:at], *put, named, *tokens[end[0] :])
    return tokens


def _end(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> tuple[int, bool] | None:
    """Where "was not measured" ends, and whether it denies; None: that stands not there, or a column is called so."""
    if at + 1 >= len(tokens) or tokens[at].word not in _BEING:
        return None
    denied = tokens[at + 1].word == "not"
    verb = at + 1 + denied
    if verb >= len(tokens) or tokens[verb].word not in _NOTED:
        return None
    named = lexicon.mention(tokens, verb, 1)
    own = named is not None and any(one.quality >= ANY_FORM for one in named.senses)
    return None if own else (verb + 1, denied)


def _column(value: Mention, tables: set[str], lexicon: Lexicon) -> str:
    """The full name of the only column of the rows that words name, of which some rows have no value; or empty."""
    found = {
        (one.table, one.column) for one in value.of_kind("column") if one.table in tables and one.quality >= WHOLE_NAME
    }
    if len(found) != 1:
        return ""
    table, column = found.pop()
    return f"{table}.{column}" if may_be_empty(lexicon.catalog.tables[table].column(column)) else ""
