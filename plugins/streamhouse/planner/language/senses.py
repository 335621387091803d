"""The phrases of one table, and what each may mean: names, parts of names, synonyms, values, descriptions."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.planner.language.tokens import singular, stems
from streamhouse.planner.language.units import is_unit_ending
from streamhouse.planner.language.words import BOOLEAN_BEGINNINGS, ROLE_WORDS, TIME_ENDINGS, is_past_form

_DECORATION = frozenset({"fact", "facts", "dim", "stg", "raw", "clean", "cleaned", "current", "all", "base", "src"})


class Sense(NamedTuple):
    """One thing that a phrase may mean.

    Attributes:
        quality: 1: its name or a synonym; less: part of its name, or a word of its description.
    """

    kind: Literal["table", "column", "measure", "value", "state"]
    table: str
    column: str = ""
    value: str = ""
    measure: str = ""
    quality: float = 1.0


def less(sense: Sense, quality: float) -> Sense:
    """The same with another quality."""
    return Sense(sense[0], sense[1], sense[2], sense[3], sense[4], quality)


def texts_of(table: CatalogTable) -> Iterator[str]:
    """Every name, synonym and value of a table, as written."""
    yield table.name.split(".")[1]
    yield from table.synonyms
    for name, measure in table.measures.items():
        yield name
        yield from measure.synonyms
    for name, dimension in table.dimensions.items():
        yield name
        yield from dimension.synonyms
    for column in table.columns:
        yield column.name
        yield from column.synonyms
        yield leading_words(column)
        for value, words in column.values.items():
            yield value
            yield from words


Entry = tuple[str, Sense]


def entity_of(table: CatalogTable) -> str:
    """What one row of a table is called, as its name and key tell: `rides` → "ride".

    >>> entity_of(CatalogTable("dwd.bike_rides", "f", "a", ()))
    'bike ride'
    """
    parts = [part for part in table.name.split(".")[1].split("_") if part not in _DECORATION]
    if len(table.primary_key) == 1 and (table.name.startswith(("dws", "ads")) or "by" in parts):
        return " ".join(_without_role(table.primary_key[0].split("_")))
    return " ".join([*parts[:-1], singular(parts[-1])]) if parts else table.name.split(".")[1]


def _without_role(parts: list[str]) -> list[str]:
    return parts[:-1] if len(parts) > 1 and parts[-1] in ROLE_WORDS else parts


def senses_of(table: CatalogTable) -> Iterator[Entry]:
    """Every phrase for something of a table, with what it means; a phrase may come more than once."""
    yield from _table_senses(table)
    yield from _measure_senses(table)
    for name, dimension in table.dimensions.items():
        own = dimension.column or name
        if any(known.name == own for known in table.columns):
            for phrase in (name, *dimension.synonyms):
                yield phrase, Sense("column", table.name, own, quality=1.02)
    entity = stems(entity_of(table))
    for column in table.columns:
        yield from _column_senses(table, column, entity)
        yield from _value_senses(table, column)


def _measure_senses(table: CatalogTable) -> Iterator[Entry]:
    for name, measure in table.measures.items():
        sense = Sense("measure", table.name, measure=name)
        yield name, sense
        for synonym in measure.synonyms:
            yield synonym, sense
        for phrase in (name, *measure.synonyms) if measure.unit else ():
            yield f"{phrase}_amount", less(sense, 0.95)
            yield f"{phrase}_value", less(sense, 0.9)
        parts = name.split("_")
        if len(parts) > 1 and is_unit_ending(parts[-1]) and not _is_participle(parts[:-1]):
            yield "_".join(parts[:-1]), less(sense, 0.95)


def _is_participle(parts: list[str]) -> bool:
    """Whether what is left of a name only says what was done: "parked" of parked_hours."""
    return len(parts) == 1 and is_past_form(parts[0])


def _table_senses(table: CatalogTable) -> Iterator[Entry]:
    sense = Sense("table", table.name)
    short = table.name.split(".")[1]
    yield short, sense
    for synonym in table.synonyms:
        yield synonym, sense
        done, _, thing = synonym.partition(" ")
        if thing and " " not in thing and is_past_form(done):
            yield f"{thing} {done}", less(sense, 0.97)  # "coupons redeemed" are redeemed coupons
    parts = [part for part in short.split("_") if part not in _DECORATION]
    if parts:
        yield "_".join(parts), sense
    if len(parts) > 1 and "by" not in parts and table.layer in {"ods", "dwd"}:
        yield parts[-1], less(sense, 0.8)
    if len(table.primary_key) == 1:
        key = _without_role(table.primary_key[0].split("_"))
        if key != ["id"]:
            yield "_".join(key), less(sense, 0.9)


def _column_senses(table: CatalogTable, column: CatalogColumn, entity: tuple[str, ...]) -> Iterator[Entry]:
    sense = Sense("column", table.name, column.name)
    parts = column.name.lower().split("_")
    yield column.name, sense
    for synonym in column.synonyms:
        yield synonym, sense
        if " the " in synonym:
            yield synonym.replace(" the ", " "), less(sense, 0.97)  # "end of contract" is the end of the contract
        what, _, thing = synonym.partition(" of ")
        if thing and " " not in what and " " not in thing.removeprefix("the "):
            yield f"{thing.removeprefix('the ')} {what}", less(sense, 0.9)  # "publication year", "campaign type"
        first, _, last = synonym.rpartition(" ")
        if first.isalpha() and column.values and last not in _GENERAL:
            yield last, less(sense, 0.6)  # "channel", of a "booking channel"
        done = is_past_form(first)
        if first and done and last in {"in", "on", "at", "by", "from", "to", "since", "for"}:
            yield first, less(sense, 0.9)
    core = parts
    if len(parts) > 1 and (parts[-1] in ROLE_WORDS or is_unit_ending(parts[-1])):
        core = parts[:-1]
        if core[0] in {"in", "per"}:
            core = parts
        yield "_".join(core), less(sense, 0.95)
    if len(parts) > 1 and parts[-1] in ROLE_WORDS:
        for ending in ("number", "id", "code", "key", "no"):
            yield "_".join([*core, ending]), less(sense, 0.9)
    if len(core) > 1 and core[-1] in TIME_ENDINGS and column.type in {"timestamp", "date", "timestamp_ntz"}:
        core = core[:-1]
        yield "_".join(core), less(sense, 0.9)
        yield "_".join([*core, "date"]), less(sense, 0.9)
        yield "_".join([*core, "day"]), less(sense, 0.88)
    if len(core) > 1 and core[0] in BOOLEAN_BEGINNINGS:
        core = core[1:]
        yield "_".join(core), less(sense, 0.95)
    for at in range(1, len(core)):
        before = stems("_".join(core[:at]))
        owned = before in (entity, entity[-1:]) or _is_short_for(core[:at], entity)
        yield "_".join(core[at:]), less(sense, 0.9 if owned else 0.6)
        if parts[-1] not in ROLE_WORDS:
            yield "_".join(core[:at]), less(sense, 0.5)
    if column.name == table.event_time:
        yield "time", less(sense, 0.7)
        yield "date", less(sense, 0.7)
    leading = leading_words(column)
    if leading:
        yield leading, less(sense, _LEADING)
    summary = column.description.split(";")[0].strip(" .")
    if 1 < len(summary.split()) <= 6:
        yield summary.lower().removeprefix("the ").removeprefix("a "), less(sense, 0.8)


_SHORTEST = 3


def _is_short_for(parts: list[str], entity: tuple[str, ...]) -> bool:
    """Whether a part of a name is the thing, shortened: "tech" of `tech_name` is a technician."""
    return len(parts) == 1 and len(parts[0]) >= _SHORTEST and any(word.startswith(parts[0]) for word in entity)


_LEADING = 0.72  # what the first words of a description are worth
_GENERAL = frozenset(
    """number code name amount price part day date time sort kind level way share value text free what how whether when
    where why who by first last from money cost which column row id key""".split()
)
_STOP = frozenset(
    """that which who whose in of for per to on at by from with used paid made spent sold billed as and or is was it
    the""".split()
)


def leading_words(column: CatalogColumn) -> str:
    """The noun that the description of a number begins with: "electricity" of "electricity used in the hour"."""
    if column.references or column.name.rsplit("_", 1)[-1] in ROLE_WORDS or not column.description:
        return ""
    if not column.type.startswith(("decimal", "double", "float", "bigint", "int", "smallint", "tinyint")):
        return ""
    words: list[str] = []
    for word in column.description.split(";")[0].replace(",", " , ").lower().removeprefix("the ").split():
        if word in _STOP or not word.isalpha():
            break
        words.append(word)
    if not 0 < len(words) <= 2 or words[0] in _GENERAL:
        return ""
    return " ".join(words)


def _value_senses(table: CatalogTable, column: CatalogColumn) -> Iterator[Entry]:
    if column.type == "boolean":
        parts = column.name.lower().split("_")
        core = parts[1:] if len(parts) > 1 and parts[0] in BOOLEAN_BEGINNINGS else parts
        yield "_".join(core), Sense("value", table.name, column.name, "true", quality=0.95)
        for synonym in column.synonyms:
            yield synonym, Sense("value", table.name, column.name, "true", quality=0.95)
    for value, words in column.values.items():
        sense = Sense("value", table.name, column.name, value)
        for phrase in (value, *words):
            if not phrase.replace(".", "").replace("-", "").isdigit():
                yield phrase, sense
