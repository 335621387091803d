"""Deeds that are still open: "tools not returned", of which some were returned before and are out again."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.scope import TIMES, name_stems
from streamhouse.planner.language.tokens import stem
from streamhouse.planner.language.words import is_past_form
from streamhouse.planner.request import ColumnRef, Condition, Question, Related

_YET = frozenset({"yet", "still"})
_NOT = frozenset({"not", "been", "yet", "still"})


def never_or_still_open(wish: AnsweredWish) -> Question | None:
    """Things without rows of a deed, where a row of another table says that the deed is still to be done."""
    missing = [one for one in wish.block.filters if isinstance(one, Related) and not one.exists]
    verb = _verb_behind_not(wish)
    if not missing or not verb:
        return None
    for table in wish.lexicon.catalog.tables.values():
        for column in table.columns if table.name != wish.base.name else ():
            named = name_stems(column)
            if column.type in TIMES and may_be_empty(column) and stem(verb) in named:
                text = (f"'not {verb} yet': a row of {table.name} without {column.name}, "
                        f"or no row of {missing[0].table} at all?")  # fmt: skip
                rows = table.name.rsplit(".", 1)[1].replace("_", " ")
                return Question(text=text, phrase=verb, choices=(f"{rows} that are not {verb} yet",))
    return None


def without_some_rows(wish: AnsweredWish) -> Question | None:
    """Things without rows of a table that has some rows of another: "tools not returned", which may be out again."""
    tables = wish.lexicon.catalog.tables
    missing = [one.table for one in wish.block.filters if isinstance(one, Related) and not one.exists]
    for mention in wish.mentions if "not" in wish.text.lower().split() else ():
        verb = mention.text.lower()
        parts = [tables[sense.table] for sense in mention.of_kind("table") if sense.table in missing]
        for part in parts if is_past_form(verb) else ():
            keys = {name: tables[name].primary_key for name in part.upstream if name in tables}
            whole = next((name for name, key in keys.items() if key == part.primary_key and name != wish.base.name), "")
            if whole:
                rows = whole.rsplit(".", 1)[1].replace("_", " ")
                text = f"'not {verb}': a row of {whole} that is not {verb}, or no row of {part.name} at all?"
                return Question(text=text, phrase=wish.text, choices=(f"{rows} not {verb}",))
    return None


def values_or_rows(wish: AnsweredWish) -> Question | None:
    """As in "instruments not brought back yet", where only the kinds of instruments would be listed, each once."""
    shown = [*wish.block.dimensions, *wish.block.columns]
    of = shown[0].of if len(shown) == 1 else None
    if not isinstance(of, ColumnRef) or of.role or wish.block.measures or wish.block.inner is not None:
        return None
    column = wish.base.column(of.column)
    open_ = [one for one in wish.block.filters if isinstance(one, Condition) and one.operator == "is null"]
    if not wish.block.dimensions or column.type != "string" or column.references or not open_:
        return None
    if column.name in wish.base.primary_key or {"which", "what", "different"} & set(wish.words):
        return None
    for mention in wish.mentions:
        named = any((one.table, one.column) == (wish.base.name, column.name) for one in mention.of_kind("column"))
        if named and mention.start == 0 and _verb_behind_not(wish):
            rows = wish.base.name.rsplit(".", 1)[1].replace("_", " ")
            said = " ".join(one.text for one in wish.tokens[mention.end :])
            text = f"'{mention.text}': rows of {wish.base.name}, or only the different values of {column.name}?"
            return Question(text=text, phrase=mention.text, choices=(f"{rows} {said}", f"which {mention.text} {said}"))
    return None


def _verb_behind_not(wish: AnsweredWish) -> str:
    """The participle behind "not", where a wish says "yet" or "still"; empty: there is none."""
    words = wish.words
    if not _YET & set(words) or "not" not in words:
        return ""
    for mention in wish.mentions:
        at = mention.start
        while at and words[at - 1] in _NOT - {"not"}:
            at -= 1
        if at and words[at - 1] == "not" and is_participle(mention):
            return mention.text
    return ""
