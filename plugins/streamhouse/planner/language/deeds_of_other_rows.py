"""As in "orders produced in 2026" and "shops that made the most packs", where rows that are not read say it.

The rules pass over a verb without much meaning. Here each such verb of a wish has an account: a row that is read says
it, in a name or a description, or no other row of the catalog is named by it.
"""

from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.account import stands_for, tables_with_sources
from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.levels import LAST_WORD
from streamhouse.planner.language.numbers_of_other_deeds import said_of_table
from streamhouse.planner.language.scope import TIMES, is_number
from streamhouse.planner.language.sums_of_things import EARNING
from streamhouse.planner.language.tokens import Token, stem, stems, tokenize
from streamhouse.planner.language.units import unit_of
from streamhouse.planner.language.used import Used, used_by
from streamhouse.planner.language.words import DOING, LIGHT_STEMS, VERB_FORMS, is_past_form
from streamhouse.planner.request import ColumnRef, Question

_LONGEST = 6
_DOERS = frozenset({"who", "that", "which", "we", "they", "you", "us"})
_WITH_ROWS = frozenset(map(stem, "make take do have give get place record happen occur come go perform hold".split()))
"""Verbs that any rows are the object of: "visits made", "orders placed". "Orders produced" are other ones."""
_NO_VERBS = frozenset({"up", "last"})
_PARTICLES = frozenset({"out", "over", "up", "down"})
_IRREGULAR = frozenset(form for forms in VERB_FORMS.values() for form in forms)


def deeds_of_other_rows(wish: AnsweredWish) -> Question | None:
    """A verb that only rows which are not read have in a name."""
    tokens = tokenize(wish.text)
    used = used_by(wish.block, wish.lexicon)
    read = _read(wish)
    said = {part for name in read for part in said_of_table(wish.lexicon.catalog.tables[name])}
    for at, token in enumerate(tokens):
        if token.stem in said or not _is_deed(tokens, at) or _is_in_name(tokens, at, used) or _is_done(token, wish):
            continue
        others = [one for name in sorted(set(wish.lexicon.catalog.tables) - tables_with_sources(read, wish.lexicon))
                  for one in _named(wish.lexicon.catalog.tables[name], token.stem)]  # fmt: skip
        if others:
            text = f"'{token.text}': is {' or '.join(others)} meant? No row of {wish.base.name} says so"
            return Question(text=text, phrase=token.text, choices=tuple(others))
    return None


def _read(wish: AnsweredWish) -> set[str]:
    """The tables whose rows are read, with those of which columns are used, and those that they are made of."""
    joined = {one.table for one in wish.block.joins}
    return tables_with_sources({wish.base.name, *joined, *used_by(wish.block, wish.lexicon).related}, wish.lexicon)


def _is_deed(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a verb without much meaning says here what was done."""
    token = tokens[at]
    if token.kind != "word" or token.stem not in LIGHT_STEMS or token.word in _NO_VERBS:
        return False
    if is_past_form(token.word) or token.word in _IRREGULAR:
        following = tokens[at + 1].word if at + 1 < len(tokens) else ""
        denied = following.startswith("un") and following.endswith("ed")  # "left unfinished"
        return following not in _PARTICLES and not denied
    before = {one.word for one in tokens[max(0, at - 3) : at]}
    return token.stem not in _WITH_ROWS and bool(before & (DOING | _DOERS))


def _is_in_name(tokens: tuple[Token, ...], at: int, used: Used) -> bool:
    """Whether a verb is a part of a name of what is read."""
    for start in range(max(0, at - _LONGEST + 1), at + 1):
        for length in range(at - start + 1, _LONGEST + 1):
            found = used.lexicon.mention(tokens, start, length)
            if found is not None and found.end > at and any(stands_for(one, used) for one in found.senses
                                                            if one.quality >= LAST_WORD):  # fmt: skip
                return True
    return False


def _is_done(token: Token, wish: AnsweredWish) -> bool:
    """Whether a verb is said of the rows that are read or of money, which any rows make and bring."""
    if token.stem in _WITH_ROWS and any(wish.base.name in one.tables(LAST_WORD) for one in wish.mentions):
        return True
    return token.word in EARNING and _is_money(wish)


def _is_money(wish: AnsweredWish) -> bool:
    reaches = wish.scope.reaches
    units = [wish.base.measures[one.named].unit for one in wish.block.measures if one.named is not None]
    units += [
        reaches[one.of.role].table.column(one.of.column).unit
        for one in wish.block.measures
        if isinstance(one.of, ColumnRef) and one.of.role in reaches
    ]
    return any((unit := unit_of(one or "")) is not None and unit.measures == "money" for one in units)


def _named(table: CatalogTable, verb: str) -> list[str]:
    """What a table has a verb in the name of: the table itself, else measures, times and numbers."""
    rows = (table.name.split(".")[1], *table.synonyms)
    if any(_has(verb, one) for one in rows if not one.rstrip("s").endswith(("er", "or"))):  # who produces is no deed
        return [table.name]
    names = [name for name, one in table.measures.items() if _has(verb, name, *one.synonyms)]
    columns = (one for one in table.columns if (one.type in TIMES or is_number(one)) and one.references is None)
    names += [one.name for one in columns if _has(verb, one.name, *one.synonyms)]
    return [f"{table.name}.{one}" for one in names[:1]]


def _has(verb: str, *names: str) -> bool:
    return any(verb in stems(name.replace("_", " ")) for name in names)
