"""Nouns without an aggregate that are figures: "revenue per store", "visits and parked hours per tariff"."""

from itertools import pairwise

from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.draft import Compared, Figure, Noun
from streamhouse.planner.language.having import is_id
from streamhouse.planner.language.levels import SAME_WORD
from streamhouse.planner.language.named_measures import is_plural_flag, named_measure
from streamhouse.planner.language.place import UnclearError, counts
from streamhouse.planner.language.ranked import Listed


def bare_figures(bench: Bench, nouns: list[Noun], figures: list[Figure], having: list[Compared]) -> Listed:
    """Nouns alone are numbers where groups are asked for, or where they name a measure that is no thing.

    Raises:
        UnclearError: two stand side by side, and may be one.
    """
    draft = bench.draft
    grouped = bool(draft.groups)
    numbers: list[Noun] = []
    rest: list[Noun] = []
    named = any(named_measure(bench, n) and not bench.places.is_base(n.head) for n in nouns if not n.predicate)
    first = next((noun for noun in nouns if not noun.predicate), None)
    rows = draft.listing and not grouped and not figures and first is not None and bench.places.is_base(first.head)
    for noun in nouns:
        if rows and noun is not first and noun.listed and _is_own_column(bench, noun):
            rest.append(noun)
            continue
        asks = draft.words[:2] == ["how", "much"]  # "how much did users spend"
        if (
            noun.predicate
            or not (noun is first or noun.listed or asks)
            or (named and bench.places.is_base(noun.head) and not _in_list(noun, nouns))
        ):
            rest.append(noun)
            continue
        sense = named_measure(bench, noun)
        only = (
            sense is not None
            and (asks or sense.quality >= SAME_WORD)
            and not counts(bench.places.scope, sense)
            and not _has_better_column(bench, noun)
        )
        if figures or draft.best is not None or (having and not grouped):
            (numbers if only and not figures else rest).append(noun)
        elif only or (grouped and _is_figure(bench, noun) and not (noun.linked and numbers)):
            numbers.append(noun)
        else:
            rest.append(noun)
    for one, other in pairwise(numbers):
        if one.head.end == other.head.start:
            raise UnclearError(f"is '{one.text} {other.text}' one figure, or two?", f"{one.text} {other.text}")
    return Listed([Figure("", noun, unit=noun.unit, phrase=noun.text) for noun in numbers], rest)


def rows_of_subject(bench: Bench) -> list[Figure]:
    """The number of rows with a value, where groups of them are asked for: "complaints per day"; empty: none is."""
    draft, subject = bench.draft, bench.draft.subject
    if subject is None or not draft.groups or draft.best is not None or draft.nouns:
        return []
    found = bench.places.values(subject) if subject.is_plural else []
    if not found or found[0].of.role:
        return []
    bench.places.assume(f"'{subject.text}' counts rows of {bench.base.name}")
    return [Figure("rows", phrase=subject.text)]


def _in_list(noun: Noun, nouns: list[Noun]) -> bool:
    """Whether a noun is one of several figures: "visits and parked hours per tariff"."""
    end = noun.end
    begins = {other.start for other in nouns if other.listed and other is not noun}
    return noun.listed and bool(begins & {end + 1, end + 2})


def _is_own_column(bench: Bench, noun: Noun) -> bool:
    """Whether a listed noun is a column of the rows: "list claims with their cause and claimed amount"."""
    return any(sense.table == bench.base.name and sense.quality >= SAME_WORD for sense in noun.head.of_kind("column"))


def _has_better_column(bench: Bench, noun: Noun) -> bool:
    found = [s for s in noun.head.senses if s.kind == "column" and s.table == bench.base.name]
    measures = [s for s in noun.head.senses if s.kind == "measure" and s.table == bench.base.name]
    return bool(found) and found[0].quality > measures[0].quality


def _is_figure(bench: Bench, noun: Noun) -> bool:
    if bench.places.is_base(noun.head) or named_measure(bench, noun):
        return True
    numbers = bench.places.columns(noun, want="number")
    if numbers and not is_id(numbers[0]):
        return True
    if bench.places.columns(noun, want="time") and not noun.head.of_kind("table"):
        return True
    value = bool(noun.head.of_kind("value")) and noun.head.senses[0].kind == "value"
    return value or is_plural_flag(bench, noun)
