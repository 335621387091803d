"""Figures that a wish names by their unit alone: "how many euros were refunded", "what do they add up to"."""

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.bench import Bench, unit_of_column
from streamhouse.planner.language.draft import Figure, Lasting, Noun
from streamhouse.planner.language.levels import BEGINNING, COMMON_WORD
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.numbers import read_unit
from streamhouse.planner.language.place import NotPlacedError, Placed, UnclearError, is_participle
from streamhouse.planner.language.reader import Reader
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.tokens import stems
from streamhouse.planner.language.units import Unit, factor, unit_of
from streamhouse.planner.language.words import FILLERS
from streamhouse.planner.request import ColumnRef

_ADDED_UP = tuple(
    f"{opener} {verb} {pronoun} {added} to"
    for opener in ("what", "how much")
    for verb in ("do", "did", "does")
    for pronoun in ("they", "these", "those", "it")
    for added in ("add up", "sum up", "come", "amount")
) + tuple(
    f"{opener} {verb} {pronoun} cost"
    for opener in ("what", "how much")
    for verb in ("do", "did", "does")
    for pronoun in ("they", "these", "those", "it", "that")
)
_THERE = ("how many are there", "how many were there", "how many of them are there", "how many there are",
          "how many there were", "how many are they", "how many is that", "how many were they")  # fmt: skip
_SILENT = FILLERS | {"add", "up", "sum", "come", "amount", "total", "day", "month", "year"}
_MEASURED = frozenset({"money", "energy", "mass", "volume", "length", "data"})


def read_unit_figure(reader: Reader) -> Figure | None:
    """Read a figure that only its unit, or a pronoun, names."""
    start = reader.at
    reader.skip({",", "and", ":", "-"})
    if reader.draft.nouns and reader.take(*_THERE):
        return Figure("rows", phrase=reader.text(start))
    if (reader.draft.nouns or reader.draft.figures) and reader.take(*_ADDED_UP):
        reader.take("in")
        return Figure("implied", unit=_unit(reader), phrase=reader.text(start))
    reader.at = start
    named = _named_by_unit(reader)
    if named is not None:
        return named
    reader.at = start
    if reader.take("how many", "number of", "how much"):
        back, unit = reader.at, _unit(reader)
        if unit is not None and unit.measures in _MEASURED and reader.word() not in {"per", "between"}:
            return Figure("implied", unit=unit, phrase=reader.text(start))
        reader.at = back
    reader.at = start
    return None


def _named_by_unit(reader: Reader) -> Figure | None:
    """Read "kg of paper collected per district", "litres of fuel": a unit stands for the sum of what is in it."""
    start = reader.at
    before = reader.word(-1)
    opened = reader.take("how many", "number of", "how much", "total", "the total", "total number of")
    if not opened and before not in {"", "and", ",", "total", ":", "show", "the"}:
        return None
    named = reader.mention()
    known = named is not None and (named.best >= COMMON_WORD or bool(named.of_kind("table", "measure", "value")))
    unit = None if known else _unit(reader)
    if unit is None or unit.measures not in _AMOUNTS:
        return None
    said = reader.text(start)
    of = bool(reader.take("of"))
    column = _number_in(reader, unit, reader.mention())
    if column is not None:
        reader.at = column.end
        _skip_verb(reader, reader.at)
        return Figure(_fold(column), Noun(column), unit=unit, phrase=reader.text(start))
    if of:
        reader.skip({"the", "all", "our"})
        thing = reader.mention()
        if thing is None or not thing.of_kind("value", "table"):
            return None
        behind = reader.lexicon.mention(reader.tokens, thing.end, 1)
        measured = _number_in(reader, unit, behind)
        if measured is not None:
            reader.passed.update(range(measured.start, measured.end))
            return Figure(_fold(measured), Noun(measured), unit=unit, phrase=f"{said} {measured.text}")
        _skip_verb(reader, thing.end)
    elif not (_skip_verb(reader, reader.at) or reader.word() in _GROUPING or _done_next(reader)):
        return None
    return Figure("implied", unit=unit, phrase=said)


def _done_next(reader: Reader) -> bool:
    """Whether what was done to the rows is next, and then the groups: "kg | delivered per van"."""
    done = reader.mention()
    return (
        done is not None
        and is_participle(done)
        and not done.of_kind("table", "measure")
        and reader.word(done.end - reader.at) in {"per", "by", "each"}
    )


_AMOUNTS = frozenset({"energy", "mass", "volume", "length", "data"})
_GROUPING = frozenset({"per", "by", "each", "for", "in", "were", "was", "did", "do", "have", "has"})
_MOVING = frozenset(
    """collected carried moved transported hauled driven ridden travelled traveled covered consumed used downloaded
    loaded produced""".split()
)
"""Verbs that say no more of an amount than that it is there."""


def _number_in(reader: Reader, unit: Unit, found: Mention | None) -> Mention | None:
    """The name of numbers in a unit: "fuel" of "litres of fuel", "downloaded" of "GB downloaded"."""
    tables = reader.lexicon.catalog.tables
    for sense in found.senses if found is not None and not found.of_kind("value", "table") else ():
        own = None
        if sense.kind == "measure":
            own = unit_of(tables[sense.table].measures[sense.measure].unit or "")
        elif sense.kind == "column" and is_number(tables[sense.table].column(sense.column)):
            own = unit_of_column(tables[sense.table].column(sense.column))
        if own is not None and factor(unit, own) is not None and sense.quality >= BEGINNING:
            return found
    return None


def _fold(named: Mention) -> str:
    return "" if named.senses[0].kind == "measure" else "sum"


def _skip_verb(reader: Reader, at: int) -> bool:
    """Leave out a verb that says no more than that an amount is there, where the catalog has no such word."""
    tokens = reader.tokens
    while at < len(tokens) and tokens[at].word in {"was", "were", "has", "have", "been", "is", "are"}:
        at += 1
    known = at >= len(tokens) or reader.lexicon.mention(tokens, at, 1) is not None
    if known or tokens[at].word not in _MOVING:
        return False
    reader.passed.add(at)
    return True


def _unit(reader: Reader) -> Unit | None:
    named = reader.mention()
    if named is not None and named.of_kind("table"):
        return None  # "number of meters" counts things
    unit, length = read_unit(reader.tokens, reader.at)
    reader.at += length
    return unit


def implied_column(bench: Bench, figure: Figure) -> Placed:
    """The one column of the base that a unit, or else money, means; words of the wish choose among several.

    Raises:
        NotPlacedError: the base has none.
        UnclearError: it has several, and no word of the wish says which.
    """
    found = [column for column in bench.base.columns if _fits(bench, column, figure.unit)]
    if len(found) > 1:
        words = {stem for text in bench.draft.words if text not in _SILENT for stem in stems(text)}
        scores = [len(words & _column_stems(column)) for column in found]
        found = [column for column, score in zip(found, scores, strict=True) if score == max(scores)]
    if not found:
        raise NotPlacedError(figure.phrase, f"{bench.base.name} has no such number")
    if len(found) > 1:
        names = [f"{bench.base.name}.{column.name}" for column in found]
        raise UnclearError(f"'{figure.phrase}': {' or '.join(names)}?", figure.phrase, names)
    return Placed(ColumnRef(column=found[0].name), bench.places.scope.reaches[""], found[0], 0.0)


def has_number_in(bench: Bench, unit: Unit | None) -> bool:
    """Whether exactly one number of the base can be said in a unit."""
    return unit is not None and sum(_fits(bench, column, unit) for column in bench.base.columns) == 1


_OF_WORK = frozenset({"work", "labour", "labor", "worked", "working", "service", "spent", "downtime"})


def own_length(bench: Bench, figure: Figure) -> Placed | None:
    """The number of the base that says how much time was spent: "hours of work", "minutes spent per room".

    None: it has none, so that the time from begin to end is meant.

    Raises:
        NotPlacedError: it has none, and only days from begin to end, as a tool from its purchase until it was sold.
        UnclearError: it has several.
    """
    plain = isinstance(figure.noun, Lasting) and figure.noun.first is None and figure.noun.last is None
    if not plain or figure.unit is None or not _OF_WORK & set(figure.phrase.lower().split()):
        return None
    if not any(_fits(bench, column, figure.unit) for column in bench.base.columns):
        if figure.unit.name != "days" and not any(column.type == "timestamp" for column in bench.base.columns):
            raise NotPlacedError(figure.phrase, f"{bench.base.name} has no times of day")
        return None
    placed = implied_column(bench, figure)
    bench.places.assume(f"'{figure.phrase}' is the sum of {placed.name}")
    return placed


def _fits(bench: Bench, column: CatalogColumn, unit: Unit | None) -> bool:
    if not is_number(column) or column.references or column.name in bench.base.primary_key:
        return False
    own = unit_of_column(column)
    if own is None:
        return False
    if unit is None:
        return own.measures == "money"
    return factor(unit, own) is not None


def _column_stems(column: CatalogColumn) -> set[str]:
    return {stem for text in (column.name, *column.synonyms, column.description) for stem in stems(text)}
