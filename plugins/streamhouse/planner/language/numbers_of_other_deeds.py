"""As in "packs of cheese made per month" over orders, where other rows say how many packs were made."""

from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.account import tables_with_sources
from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.sums_of_things import EARNING
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.language.units import unit_of
from streamhouse.planner.language.used import used_by
from streamhouse.planner.language.words import LIGHT_STEMS, is_past_form
from streamhouse.planner.request import Question


def numbers_of_other_deeds(wish: AnsweredWish) -> Question | None:
    """A verb without much meaning behind a number: no row that is read has its name, and a number of other rows has."""
    for at, token in enumerate(wish.tokens):
        number = _number_before(wish, at) if _is_light(token.word) else None
        if number is None or (token.word in EARNING and _is_money(number, wish)):
            continue
        others = _others(wish, number, token.stem)
        if others:
            said = f"{number.text} {token.text}"
            text = f"'{said}': is {' or '.join(others)} meant? No row of {wish.base.name} says that it was {token.text}"
            return Question(text=text, phrase=said, choices=tuple(others))
    return None


def _others(wish: AnsweredWish, number: Mention, verb: str) -> list[str]:
    """Numbers of tables that are not read with a verb in their name; none where the rows of a number say the verb."""
    lexicon, tables = wish.lexicon, wish.lexicon.catalog.tables
    named = {one.table for one in number.senses if one.quality >= WHOLE_NAME}
    own = {wish.base.name} | (named & used_by(wish.block, lexicon).tables)
    read = tables_with_sources(own, lexicon)
    if any(verb in said_of_table(tables[name]) for name in read):
        return []
    return [f"{name}.{one}" for name in sorted(set(tables) - read) for one in _numbers(tables[name], verb)]


def _is_light(word: str) -> bool:
    return is_past_form(word) and stem(word) in LIGHT_STEMS


def _number_before(wish: AnsweredWish, at: int) -> Mention | None:
    """The number that a word is said of; None: it is said of the rows that are read, or is a part of a name."""
    if any(one.start <= at < one.end for one in wish.mentions):
        return None
    for near in sorted(wish.mentions, key=lambda one: one.end, reverse=True):
        if near.end <= at and wish.base.name in near.tables():
            return None  # "orders made"
        if near.end <= at and near.of_kind("measure", "column") and not near.of_kind("table"):
            return near
    return None


def _is_money(number: Mention, wish: AnsweredWish) -> bool:
    """As in "revenue made": money is made and brought by any rows."""
    tables = wish.lexicon.catalog.tables
    columns = [tables[one.table].column(one.column).unit for one in number.of_kind("column")]
    measures = [tables[one.table].measures[one.measure].unit for one in number.of_kind("measure")]
    units = [unit_of(one or "") for one in (*columns, *measures)]
    return any(unit is not None and unit.measures == "money" for unit in units)


def said_of_table(table: CatalogTable) -> set[str]:
    """Stems of all names and descriptions of a table, its columns, values and measures."""
    texts = [table.name, table.description, *table.synonyms]
    for column in table.columns:
        words = (word for said in column.values.values() for word in said)
        texts += [column.name, column.description, *column.synonyms, *words]
    for name, measure in table.measures.items():
        texts += [name, measure.description, *measure.synonyms]
    return {part for text in texts for part in stems(text.replace("_", " ").replace(".", " "))}


def _numbers(table: CatalogTable, verb: str) -> list[str]:
    """Measures of a table that have a verb in their name; where there are none, its numbers that have."""
    measures = [name for name, one in table.measures.items() if verb in _stems(name, *one.synonyms)]
    columns = (one for one in table.columns if is_number(one) and one.references is None)
    return measures or [one.name for one in columns if verb in _stems(one.name, *one.synonyms)]


def _stems(*names: str) -> set[str]:
    return {part for name in names for part in stems(name.replace("_", " "))}
