"""As in "paid late" and "delivered on time": a time of a row against the deadline of the same row."""

from dataclasses import replace

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.planner.language.levels import ANY_FORM
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.origins import root_of
from streamhouse.planner.language.scope import TIMES, name_stems
from streamhouse.planner.language.tokens import Token, stem, stems
from streamhouse.planner.language.words import is_past_form

_LATE = (("too", "late", ("after",)), ("late", "", ("after",)), ("on", "time", ("no", "later", "than")),
         ("in", "time", ("no", "later", "than")))  # fmt: skip
_DEADLINES = frozenset(stem(word) for word in ("due", "deadline", "promised", "planned", "scheduled", "expected"))


def with_deadlines(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with the deadline that "late" behind a participle means, where there is only one."""
    for at in range(1, len(tokens)):
        if tokens[at - 1].kind != "word" or not is_past_form(tokens[at - 1].word):
            continue
        for first, second, said in _LATE:
            length = 2 if second else 1
            words = [token.word for token in tokens[at : at + length]]
            if words != [first, second][:length]:
                continue
            name = _deadline(tokens, at - 1, lexicon)
            if not name:
                break
            old = tokens[at]
            put = [replace(old, text=word, word=word, stem=stem(word)) for word in said]
            put.append(replace(old, text="the deadline", word=name, stem=name, kind="name"))
            return (*tokens[:at], *put, *with_deadlines(tokens[at + length :], lexicon))
    return tokens


def _deadline(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> str:
    """The full name of the deadline of the one table whose rows have the time that a participle names; else empty."""
    found = lexicon.mention(tokens, at, 1)
    names: dict[tuple[str, str], str] = {}
    for sense in found.of_kind("column") if found is not None else ():
        table = lexicon.catalog.tables[sense.table]
        column = table.column(sense.column)
        if sense.quality < ANY_FORM or column.type not in TIMES:
            continue
        if _knows_late(table):
            return ""
        due = _due_of(table, column)
        if due is not None:
            names[root_of(lexicon, table.name, due.name)] = f"{table.name}.{due.name}"
    return next(iter(names.values())) if len(names) == 1 else ""


def _due_of(table: CatalogTable, done: CatalogColumn) -> CatalogColumn | None:
    """The one deadline of a table; of several, the one that shares a word with what was done."""
    others = [c for c in table.columns if c.type in TIMES and c.name != done.name and _DEADLINES & name_stems(c)]
    if _DEADLINES & name_stems(done):
        return None
    if len(others) > 1:
        others = [c for c in others if set(stems(c.name)) & set(stems(done.name)) - {"at", "on"}]
    return others[0] if len(others) == 1 else None


def _knows_late(table: CatalogTable) -> bool:
    """Whether a column or a value says what is late."""
    words = {word for c in table.columns for texts in c.values.values() for text in texts for word in stems(text)}
    words |= {part for c in table.columns if c.type == "boolean" for part in name_stems(c)}
    return stem("late") in words or stem("delayed") in words
