"""Checks the words of a meaning by themselves: what is blank, said twice, or in the wrong order. Pure.

No table is needed for it, so the words of an action that no flow uses are checked too.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from streamhouse.errors import Location, MeaningError
from streamhouse.model.flow import Flow
from streamhouse.model.meaning import ColumnMeaning, DimensionMeaning, Meaning, NamedMeaning

GRAINS = ("minute", "hour", "day", "week", "month", "quarter", "year")
"""Levels of a time, from fine to coarse."""

_ONE_SENTENCE = "write one sentence, or remove the key"
_A_WORD = "write a word that people use, or remove it"


@dataclass(frozen=True)
class MeaningPlaces:
    """Where the parts of what one file says stand.

    Attributes:
        places: Path of what the file says → its place; of its keys after `key:`.
        root: Path of the meaning in the file.
        at: Place of what has none of its own.
    """

    places: Mapping[str, Location]
    root: tuple[str, ...]
    at: Location

    def key(self, *path: str) -> Location:
        """Where the last key of a path stands."""
        return self.places.get(f"key:{'.'.join((*self.root, *path))}") or self.value(*path)

    def value(self, *path: str) -> Location:
        """Where the value at a path stands; of a mapping, where its key does; what has no place has that above it."""
        for length in range(len(path), -1, -1):
            found = self.places.get(".".join((*self.root, *path[:length])))
            if found is not None:
                return found
        return self.at

    def has(self, *path: str) -> bool:
        """Whether the file says something there, were it nothing but blanks."""
        return ".".join((*self.root, *path)) in self.places


def named_errors(named: NamedMeaning | Flow, places: MeaningPlaces, *path: str) -> Iterator[MeaningError]:
    """What is wrong with the description and the synonyms of one thing.

    Args:
        named: A table, a column, a measure, a dimension or a flow.
        places: Of the file.
        path: Of the thing in it.
    """
    of = ".".join(path)
    yield from _blank(named.description, "description", places, path)
    words = [(word, (*path, "synonyms", str(number))) for number, word in enumerate(named.synonyms)]
    yield from _word_errors(words, f"a synonym of {of}" if of else "a synonym", places)


def meaning_errors(meaning: Meaning, places: MeaningPlaces) -> Iterator[MeaningError]:
    """What is wrong with the words of a meaning, whatever table it is of."""
    yield from named_errors(meaning, places)
    for name, column in meaning.columns.items():
        yield from _column_errors(name, column, places)
    yield from _one_column_twice(meaning.columns, places)
    for name, measure in meaning.measures.items():
        path = ("measures", name)
        yield from named_errors(measure, places, *path)
        yield from _blank(measure.unit, "unit", places, path)
        if not has_word(measure.sql):
            hint = "write an aggregate, such as 'SUM(amount_cents) / 100' or 'COUNT(*)'"
            yield MeaningError(f"measures.{name} has no SQL", at=places.value(*path, "sql"), hint=hint)
    for name, dimension in meaning.dimensions.items():
        yield from named_errors(dimension, places, "dimensions", name)
        yield from _level_errors(name, dimension, places)
        if name in meaning.measures:
            yield MeaningError(
                f"'{name}' is a measure and a dimension: a wish cannot tell which it means",
                at=places.key("dimensions", name),
                hint="rename one of them",
            )


def _column_errors(name: str, column: ColumnMeaning, places: MeaningPlaces) -> Iterator[MeaningError]:
    path = ("columns", name)
    if column == ColumnMeaning() and not places.has(*path, "description") and not places.has(*path, "unit"):
        yield MeaningError(f"columns.{name} says nothing", at=places.value(*path), hint=_ONE_SENTENCE)
    yield from named_errors(column, places, *path)
    yield from _blank(column.unit, "unit", places, path)
    for code, said in column.values.items():
        at = (*path, "values", code)
        several = [(word, (*at, str(number))) for number, word in enumerate(said)]
        words = [(said, at)] if isinstance(said, str) else several
        if not words:
            yield MeaningError(f"columns.{name}.values.{code} has no word", at=places.key(*at), hint=_A_WORD)
        yield from _word_errors(words, f"a word for the value '{code}' of columns.{name}", places)


def _one_column_twice(columns: Iterable[str], places: MeaningPlaces) -> Iterator[MeaningError]:
    first_spellings: dict[str, str] = {}
    for name in columns:
        first = first_spellings.setdefault(name.lower(), name)
        if first != name:
            at = places.key("columns", name)
            yield MeaningError(f"'{first}' and '{name}' are one name to Spark", at=at, hint="remove one of them")


def _level_errors(name: str, dimension: DimensionMeaning, places: MeaningPlaces) -> Iterator[MeaningError]:
    at = [places.value("dimensions", name, *path) for path in level_paths(dimension, name, places)]
    levels = [level.lower() for level in dimension.hierarchy]
    seen: set[str] = set()
    for level, place in zip(levels, at, strict=True):
        if not has_word(level):
            yield MeaningError(f"a level of dimensions.{name} is blank", at=place, hint="name a column, or remove it")
        elif level in seen:
            yield MeaningError(f"dimensions.{name} has the level '{level}' twice", at=place, hint="remove one of them")
        seen.add(level)
    if dimension.column is not None and not has_word(dimension.column):
        place = places.value("dimensions", name, "column")
        yield MeaningError(f"dimensions.{name}.column is blank", at=place, hint="name a column, or remove the key")
    timed = [level for level in dict.fromkeys(levels) if level in GRAINS]
    for before, level in pairwise(timed):
        if GRAINS.index(level) > GRAINS.index(before):
            yield not_from_coarse_to_fine(name, before, level, at[levels.index(level)])
            return


def not_from_coarse_to_fine(name: str, before: str, level: str, at: Location) -> MeaningError:
    """That a dimension has a level before one that is coarser."""
    return MeaningError(
        f"dimensions.{name} has '{before}' before '{level}', which is coarser",
        at=at,
        hint=f"levels go from coarse to fine: {', '.join(reversed(GRAINS))}, and last the time itself",
    )


def level_paths(dimension: DimensionMeaning, name: str, places: MeaningPlaces) -> list[tuple[str, ...]]:
    """The path of each level below a dimension; a list of levels may stand for the whole dimension."""
    long = places.has("dimensions", name, "hierarchy")
    return [("hierarchy", str(n)) if long else (str(n),) for n in range(len(dimension.hierarchy))]


def _word_errors(
    words: Sequence[tuple[str, tuple[str, ...]]], what: str, places: MeaningPlaces
) -> Iterator[MeaningError]:
    counted: Counter[str] = Counter()
    for word, path in words:
        plain = " ".join(word.lower().replace("_", " ").split())
        counted[plain] += 1
        if not has_word(word):
            yield MeaningError(f"{what} is blank", at=places.value(*path), hint=_A_WORD)
        elif counted[plain] == 2:
            yield MeaningError(f"'{word}' is {what} twice", at=places.value(*path), hint="remove one of them")


def _blank(text: str | None, key: str, places: MeaningPlaces, path: tuple[str, ...]) -> Iterator[MeaningError]:
    """That a text is there and says nothing; one of a short form is the whole thing's."""
    if text is not None and not text.strip() and (text or places.has(*path, key)):
        hint = _ONE_SENTENCE if key == "description" else "write it, or remove the key"
        yield MeaningError(f"{'.'.join((*path, key))} is blank", at=places.value(*path, key), hint=hint)


def has_word(text: str) -> bool:
    """Whether a text says something: it has a letter, a digit or the sign of a unit."""
    return any(letter.isalnum() or letter in "%$€£¥°#&+" for letter in text)
