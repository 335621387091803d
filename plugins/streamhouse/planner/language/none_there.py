"""How a column says that there is none: by NULL, by zero, or by a text such as "none"."""

import re

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.draft import Present
from streamhouse.planner.language.empty_columns import may_be_empty, when_empty
from streamhouse.planner.language.place import Placed, UnclearError
from streamhouse.planner.language.scope import spoken

_WITHOUT = re.compile(r"[^.;,]*\b(?:no|without|not|none)\b")
_ZEROES = frozenset({"0", "none", "no", "nothing", "n/a"})  # texts that say that there is none


def is_empty_without(column: CatalogColumn) -> bool:
    """Whether a description says that NULL means none, as in "empty if there is no limit": zero is a limit then."""
    return _WITHOUT.match(when_empty(column)) is not None


_AMOUNTS = frozenset({"money", "mass", "energy", "volume"})


def may_be_zero(column: CatalogColumn) -> bool:
    """Whether there is none where a number is 0: an amount, or a time that each row has, as in "without a break"."""
    unit = unit_of_column(column)
    return unit is not None and (unit.measures in _AMOUNTS or (unit.measures == "time" and not may_be_empty(column)))


def is_time_of_some(column: CatalogColumn) -> bool:
    """Whether only some rows have a length of time, so that "without delay" may be 0, or empty."""
    unit = unit_of_column(column)
    return unit is not None and unit.measures == "time" and may_be_empty(column)


def refuse_text_of_none(clause: Present, placed: Placed) -> None:
    """Do nothing where only an empty column says that there is none.

    Raises:
        UnclearError: a value such as "0" says so, too.
    """
    if not clause.present and _ZEROES & {value.lower() for value in placed.column.values}:
        raise UnclearError(
            f"'{clause.phrase}': is {placed.name} empty then, or does it say that there is none?",
            clause.phrase,
            sorted(f"with {spoken(placed.column.name)} '{v}'" for v in placed.column.values if v.lower() in _ZEROES),
        )


def check_there_or_shown(clause: Present, placed: Placed) -> None:
    """As in "neutered dogs with name": of a column that no description calls empty, the name is to be shown.

    What another table says of the rows is there as a rule: "runs per line with line name" shows it.

    Raises:
        UnclearError: nothing says that a row may lack it.
    """
    said = placed.column.description.lower()
    of_others = bool(placed.of.role) and placed.column.type == "string"
    sure = bool(said) and not _ONLY_SOME.search(said)
    if clause.unsure and clause.present and (sure or of_others) and not may_be_empty(placed.column):
        noun = clause.noun.text
        raise UnclearError(f"'{clause.phrase}': must it be there, or is it to be shown?", clause.phrase,
                           (f"with any {noun}", f", show {noun}"))  # fmt: skip


_ONLY_SOME = re.compile(r"\b(if|unless|where|optional|only|not)\b")


def refuse_empty_parts(phrase: str, left: Placed, right: Placed) -> None:
    """Do nothing where each row has both numbers.

    Raises:
        UnclearError: one is described as empty for some rows, and the sum leaves these rows out.
    """
    for one in (left, right):
        if may_be_empty(one.column):
            text = f"'{phrase}': do rows count where {one.name} is empty? A sum would leave them out"
            raise UnclearError(text, phrase, (f"{phrase} with {spoken(one.column.name)}",))
