"""Measures that a table's meaning defines, and numbers that people add up without saying so."""

import re

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.bench import Bench, unit_of_column
from streamhouse.planner.language.draft import Figure, Noun
from streamhouse.planner.language.levels import ANY_FORM, ENDING, LAST_WORD
from streamhouse.planner.language.lexicon import Sense
from streamhouse.planner.language.place import Placed, UnclearError
from streamhouse.planner.language.scope import is_quantity, name_stems
from streamhouse.planner.language.tokens import singular, stems
from streamhouse.planner.language.units import unit_of
from streamhouse.planner.language.words import ADDITIVE, NOT_ADDITIVE

_ADDITIVE = frozenset(stem for word in ADDITIVE for stem in stems(word))


def named_measure(bench: Bench, noun: Noun) -> Sense | None:
    """The measure of the base that a noun names.

    Raises:
        UnclearError: a soft word names two as well: "ticket sales", where tickets are counted, and fares added up.
    """
    found = [s for s in noun.head.of_kind("measure") if s.table == bench.base.name and s.quality >= ENDING]
    if len(found) > 1 and found[0].quality == found[1].quality < LAST_WORD:
        names = tuple(one.measure.replace("_", " ") for one in found[:2])
        raise UnclearError(f"'{noun.text}' may mean {names[0]} or {names[1]}: which one?", noun.text, names)
    return found[0] if found else None


def folds_as(bench: Bench, sense: Sense) -> str:
    """How a named measure folds rows: sum, count, avg, or other."""
    sql = bench.base.measures[sense.measure].sql.upper().replace(" ", "")
    if sql.startswith("COUNT(DISTINCT"):
        return "count distinct"
    for function in ("SUM", "COUNT", "AVG", "MIN", "MAX"):
        if re.fullmatch(rf"{function}\([^()]*(\([^()]*\))*[^()]*\)(FILTER\(.*\))?([/*][0-9.]+)?", sql):
            return function.lower()
    return "other"


def adds_up(column: CatalogColumn) -> bool:
    """Whether people add up a number when they name no aggregate."""
    unit = unit_of_column(column)
    if unit and unit.measures in NOT_ADDITIVE:
        return False
    if name_stems(column) & _ADDITIVE:
        return True
    return column.unit in {"pieces", "units", "items", "count"} or bool(unit and unit.measures in {"money", "energy"})


_USED_UP = frozenset({"used", "consumed", "burned", "burnt", "uses", "consumes", "burns", "use", "consume"})


def is_used_up(bench: Bench, placed: Placed, figure: Figure) -> bool:
    """Whether an amount of events is to be added up: "water used per engine", "the engine with the most water"."""
    unit = unit_of_column(placed.column)
    if unit is None or bench.base.event_time is None or placed.of.role:
        return False
    if figure.function == "most":
        return unit.measures in {"mass", "volume", "length", "data", "time"}
    return unit.measures in {"mass", "volume", "length", "data"} and bool(_USED_UP & set(bench.draft.words))


def is_only_summed(placed: Placed) -> bool:
    """Whether a measure of the rows adds a column up, and none folds it otherwise: "the most pages read"."""
    folds = [re.fullmatch(r"(\w+)\((\w+)\)", one.sql.strip()) for one in placed.reach.table.measures.values()]
    own = {found[1].upper() for found in folds if found and found[2] == placed.column.name}
    return own == {"SUM"} and not placed.of.role


_PRICES = frozenset({"price", "rate", "limit"})


def is_price(bench: Bench, placed: Placed) -> bool:
    """Whether a number is the price of each thing, and of no event: the sum of "day rate per kind" is no wish."""
    return bench.base.event_time is None and not placed.of.role and bool(_PRICES & set(placed.column.name.split("_")))


def is_plural_flag(bench: Bench, noun: Noun) -> bool:
    """As in "emergencies", where it is yes or no whether a row of the base is an emergency."""
    if not noun.head.is_plural or noun.head.of_kind("table", "measure"):
        return False
    values = bench.places.values(noun.head)
    return bool(values) and values[0].column.type == "boolean" and not values[0].of.role


_MARKS = frozenset(
    """star point degree year age percent score floor level rank grade class mark place season minute hour second day
    week month""".split()
)


def counts_things(bench: Bench, noun: Noun, placed: Placed) -> bool:
    """Whether a number says how many of something each event had, so that people add it up: "adults per route"."""
    column, words = placed.column, noun.head.words
    whole = column.type in {"smallint", "int", "bigint"} and not column.values and is_quantity(column)
    own_rows = any(one.table != bench.base.name for one in noun.head.of_kind("table"))  # "games per player"
    if own_rows or placed.of.role or bench.base.event_time is None or not whole or not words or column.unit:
        return False
    plurals = {part for part in column.name.split("_") if singular(part) != part}
    named = any(one.table == bench.base.name and one.column == column.name and one.quality >= ANY_FORM
                for one in noun.head.of_kind("column"))  # fmt: skip
    counted = {singular(one) for one in plurals} - _MARKS  # "packs delivered", where the thing stands first
    said = singular(words[-1]) != words[-1] or (singular(words[0]) != words[0] and singular(words[0]) in counted)
    return named and said and bool(counted)


def says_number(noun: Noun) -> bool:
    """Whether a noun asks for a key itself: "highest order number"; "the largest order" is about no key."""
    return bool(noun.head.words) and noun.head.words[-1] in {"id", "ids", "number", "numbers", "no", "key", "code"}


def says_unit(noun: Noun) -> bool:
    """Whether an amount is named by its unit, so that it is added up: "kilos of vegetables"."""
    unit = unit_of(noun.head.words[-1]) if noun.head.words else None
    return unit is not None and unit.measures in {"mass", "volume", "energy", "length"}
