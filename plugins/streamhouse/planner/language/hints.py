"""Which number a superlative is about."""

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.planner.language.bench import Bench, unit_of_column
from streamhouse.planner.language.place import Placed, UnclearError
from streamhouse.planner.language.scope import TIMES, default_time, is_number, is_quantity, name_stems
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.language.words import HINTS
from streamhouse.planner.request import ColumnRef


def hinted(bench: Bench, hint: str, phrase: str, *, days: bool = False) -> Placed:
    """The one number of the base that a superlative is about: the price of "the cheapest".

    Raises:
        UnclearError: there is none, or there are several. Of an age, the day of birth is one, if days are looked for.
    """
    measures, words = HINTS.get(hint, ((), ()))
    reach = bench.places.scope.reaches[""]
    if hint == "time":
        time = default_time(bench.base)
        if time is not None:
            return Placed(ColumnRef(column=time.name), reach, time, 0.0)
    if hint == "vague" and "valuable" in phrase.lower().split():
        hint, measures, words = "", (), ()
    certain = _numbers(bench, measures, words) if hint or not _SIZES & set(phrase.lower().split()) else _amounts(bench)
    if len(certain) == 1 and not (hint == "long" and is_of_part(bench.base, certain[0])):
        return Placed(ColumnRef(column=certain[0].name), reach, certain[0], 0.0)
    births = births_of(bench.base) if days and hint == "age" and not certain else []
    if len(births) == 1:
        return Placed(ColumnRef(column=births[0].name), reach, births[0], 0.0)
    raise UnclearError(
        f"'{phrase}': by which figure?",
        phrase,
        tuple(f"{phrase} by {column.name}" for column in certain),
    )


_BORN = frozenset(stem(word) for word in ("born", "birth", "birthday", "birthdate"))


def births_of(table: CatalogTable) -> list[CatalogColumn]:
    """The days of birth that rows of a table have: the oldest has the first one."""
    times = [column for column in table.columns if column.type in TIMES]
    return [one for one in times if _BORN & name_stems(one)]


def by_age(placed: Placed, hint: str) -> bool:
    """Whether a day decides about an age, so that the highest age has the lowest day."""
    return hint == "age" and placed.column.type in TIMES


_PARTIAL = frozenset(
    stem(word) for word in ("labour", "labor", "work", "worked", "working", "effort", "overtime", "break", "delay")
)


def is_of_part(table: CatalogTable, column: CatalogColumn) -> bool:
    """Whether a time only is a part of how long a row lasts: hours of work between two days of a repair."""
    unit = unit_of_column(column)
    said = name_stems(column)
    timed = unit is not None and unit.measures == "time" and bool(_PARTIAL & said)
    return timed and sum(one.type in TIMES for one in table.columns) > 1


_SIZES = frozenset({"valuable", "largest", "biggest", "smallest", "highest", "lowest"})


def size_of_rows(bench: Bench, hint: str, phrase: str) -> CatalogColumn | None:
    """The only number of the base, an amount of money, that "the largest invoice of each client" goes by, else None."""
    words = set(phrase.lower().split())
    sized = (not hint and bool(_SIZES & words)) or (hint == "vague" and "valuable" in words)
    return next(iter(_amounts(bench)), None) if sized else None


def _amounts(bench: Bench) -> list[CatalogColumn]:
    """Numbers of the base, where all of them are one amount of money: the size of "the largest invoice"."""
    numbers = [one for one in bench.base.columns if is_quantity(one)]
    return [one for one in numbers if (unit := unit_of_column(one)) and unit.measures == "money"][: len(numbers) == 1]


def _numbers(bench: Bench, measures: tuple[str, ...], words: tuple[str, ...]) -> list[CatalogColumn]:
    """Numbers of the base that are called by some words; where none is, those whose unit measures what is meant."""
    found = []
    for column in bench.base.columns:
        if not is_number(column) or column.references or column.name in bench.base.primary_key:
            continue
        unit = unit_of_column(column)
        named = any(stems(word)[0] in stems(column.name) for word in words)
        if named or (unit and unit.measures in measures):
            length = "time" in measures and _is_called(column, words[:2])
            found.append((0 if length else 1 + (not named or _is_pause(column)), column))
    return [column for rank, column in found if rank == min(r for r, _ in found)]


def _is_called(column: CatalogColumn, words: tuple[str, ...]) -> bool:
    """Whether the name or a synonym of a number is one of some words: the `hours` of a shift are its "length"."""
    names = [stems(text) for text in (column.name, *column.synonyms)]
    return any(stems(word) in names for word in words)


def _is_pause(column: CatalogColumn) -> bool:
    """Whether a time is only a part of how long a row lasts, by its name: `break_minutes`."""
    return bool((_PARTIAL | _PAUSES) & set(stems(column.name)))


_PAUSES = frozenset(stem(word) for word in ("pause", "rest", "wait", "waiting", "idle"))
