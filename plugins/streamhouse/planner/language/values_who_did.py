"""As in "how many hotels complained in May": people or places by a value that they have, counted by what they did."""

from dataclasses import replace

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.levels import ANY_FORM, NEARLY_NAME, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.named_sums import is_count
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import COUNTING, is_past_form
from streamhouse.planner.request import Question


def with_doers_of_values(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "how many hotels clients complained" for "how many hotels complained", where clients complain."""
    value = _counted(tokens, lexicon)
    table = _only_table(value) if value is not None else ""
    if value is None or not table or not _is_done(tokens, value.end, table, lexicon):
        return tokens
    old = tokens[value.start]
    rows = replace(old, text=table.split(".")[1].replace("_", " "), word=table, stem=stem(table), kind="name")
    return (*tokens[: value.end], rows, *tokens[value.end :])


def rows_of_values(wish: AnsweredWish) -> Question | None:
    """Rows counted for "how many hotels order from us", where the hotels may be counted."""
    value = _counted(wish.tokens, wish.lexicon)
    table = _only_table(value) if value is not None else ""
    counted = bool(wish.block.measures) and all(is_count(one, wish.base) for one in wish.block.measures)
    if value is None or not table or table == wish.base.name or not counted:
        return None
    verb = wish.tokens[value.end] if value.end < len(wish.tokens) else None
    if verb is None or verb.kind != "word" or not any(_is_verb_of(one, verb.stem) for one in _stems_of(wish)):
        return None
    things, rows = (name.split(".")[1].replace("_", " ") for name in (table, wish.base.name))
    said = f"{value.text} {verb.text}"
    return Question(text=f"'{said}': different {things}, or all {rows}?", phrase=said)


def _is_verb_of(noun: str, verb: str) -> bool:
    """Whether a verb is what a noun is made of: "complain" of "complaint"."""
    return noun == verb or (len(verb) >= _LONG and noun.startswith(verb))


_LONG = 5  # letters of a stem that is no begin of another word


def _stems_of(wish: AnsweredWish) -> set[str]:
    """Stems of what rows of the answer are called, and of the time that they have."""
    time = wish.base.event_time
    column = wish.base.column(time) if time is not None else None
    said = [wish.base.name.split(".")[1], *wish.base.synonyms]
    said += [column.name.removesuffix("_at").removesuffix("_on"), *column.synonyms] if column is not None else []
    return {stem(word) for word in said}


def _counted(tokens: tuple[Token, ...], lexicon: Lexicon) -> Mention | None:
    """A value in the plural behind "how many" at the begin; None: something else is counted."""
    if tuple(token.word for token in tokens[:2]) not in COUNTING:
        return None
    at = 2 + (tokens[2:3] != () and tokens[2].word in {"of", "the", "our", "different"})
    found = lexicon.mention(tokens, at) if at < len(tokens) else None
    if found is None or not found.is_plural or found.senses[0].kind != "value":
        return None
    return None if found.tables(WHOLE_NAME) else found


def _only_table(value: Mention) -> str:
    """The table of the only column that a word is a value of; empty: it may be more."""
    places = {(one.table, one.column) for one in value.senses if one.quality >= NEARLY_NAME}
    return next(iter(places))[0] if len(places) == 1 else ""


def _is_done(tokens: tuple[Token, ...], at: int, table: str, lexicon: Lexicon) -> bool:
    """Whether a past form names the time of rows that have a key to a table, which itself has no such time."""
    verb = lexicon.mention(tokens, at, 1) if at < len(tokens) and is_past_form(tokens[at].word) else None
    if verb is None or verb.of_kind("value"):
        return False
    tables = lexicon.catalog.tables
    named = {one.table: one.column for one in verb.of_kind("column") if one.quality >= ANY_FORM}
    if not named or any(tables[one].column(column).type not in TIMES for one, column in named.items()):
        return False
    return all([key.to for key in lexicon.keys.get(one, [])].count(table) == 1 for one in named)
