"""One sum by another: "discount as a percentage of the shelf price", "fuel cost per litre"."""

from dataclasses import replace

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.bench import Bench, unit_of_column
from streamhouse.planner.language.draft import Draft, Figure, Noun
from streamhouse.planner.language.named_measures import adds_up, folds_as, named_measure
from streamhouse.planner.language.place import NotPlacedError, UnclearError
from streamhouse.planner.language.reader import DETERMINERS, Reader
from streamhouse.planner.language.scope import is_quantity
from streamhouse.planner.language.tokens import singular
from streamhouse.planner.language.units import unit_of

_AS_PART = (
    "as a percentage of", "as percentage of", "as a percent of", "as percent of", "in percent of", "in % of",
    "as a share of", "as share of", "as a proportion of", "as a fraction of", "as a part of", "relative to",
)  # fmt: skip


def read_quotient(reader: Reader) -> bool:
    """Read "as a percentage of B" directly behind a figure A."""
    start = reader.at
    part = reader.take(*_AS_PART)
    if not part:
        return False
    above = _last_figure(reader.draft, start)
    reader.skip(DETERMINERS)
    reader.take("total", "overall")
    below = reader.noun() if above is not None else None
    if above is None or below is None or below.around or not below.head.of_kind("measure", "column"):
        reader.at = start
        return False
    phrase = f"{above.phrase} {reader.text(start)}"
    to = Figure("", below, phrase=below.text)
    quotient = replace(above, window="ratio", to=to, percent="perc" in part or "%" in part, phrase=phrase)
    if above in reader.draft.figures:
        reader.draft.figures[reader.draft.figures.index(above)] = quotient
    else:
        reader.draft.nouns.pop()
        reader.draft.figures.append(quotient)
    return True


def _last_figure(draft: Draft, at: int) -> Figure | None:
    """The figure that ends before a token; "," may stand between."""
    if draft.nouns and draft.nouns[-1].head.of_kind("measure", "column") and not draft.nouns[-1].around:
        noun = draft.nouns[-1]
        if noun.head.end in {at, at - 1} and not noun.predicate:
            return Figure("", noun, unit=noun.unit, phrase=noun.text)
    last = draft.figures[-1] if draft.figures else None
    if last is None or last.window or not isinstance(last.noun, Noun) or last.function not in {"", "sum", "amount"}:
        return None
    ends = last.noun.end
    return last if ends in {at, at - 1} else None


def divided_by_group(bench: Bench, draft: Draft) -> Draft:
    """The draft with "A per B" as a quotient of sums, where B is a number of the base that nobody groups by.

    "fuel cost per litre by brand" is money by litres; "average price per night" may be the mean of each row's quotient,
    and stays a question.
    """
    per = [group for group in draft.groups if isinstance(group, Noun) and group.per and _divides(bench, group)]
    figures = [one for one in draft.figures if not one.window]
    nouns = [noun for noun in draft.nouns if not noun.predicate and _adds(bench, noun)]
    averaged = any(one.function in {"avg", "min", "max", "median"} for one in draft.figures)
    if len(per) != 1 or averaged or len(figures) + len(nouns) != 1:
        return draft
    figure = figures[0] if figures else Figure("", nouns[0], unit=nouns[0].unit, phrase=nouns[0].text)
    if figure.noun is None or not isinstance(figure.noun, Noun) or not _adds(bench, figure.noun):
        return draft
    if figure.function not in {"", "sum", "amount"}:
        return draft
    _refuse_joined(draft, per[0], figure)
    to = Figure("sum" if _is_one_of_many(bench, per[0]) else "", replace(per[0], per=False), phrase=per[0].text)
    whole = replace(figure, window="ratio", to=to, near=(), phrase=f"{figure.phrase} per {per[0].text}")
    return replace(
        draft,
        figures=[whole if one is figure else one for one in draft.figures] if figures else [*draft.figures, whole],
        groups=[group for group in draft.groups if group is not per[0]],
        nouns=[noun for noun in draft.nouns if noun not in nouns],
    )


def _refuse_joined(draft: Draft, below: Noun, figure: Figure) -> None:
    """Do nothing where "per" or "by" stands before the number that is divided by.

    Raises:
        UnclearError: "and" joins it to a group: "orders per shop and turnover".
    """
    begin = below.start
    while begin and draft.words[begin - 1] in DETERMINERS:
        begin -= 1
    if begin and draft.words[begin - 1] in {"and", ",", "&"}:
        raise UnclearError(
            f"'{below.text}': shown beside {figure.phrase}, or what it is divided by?", below.text,
            (f"total {below.text}",),
        )  # fmt: skip


def _divides(bench: Bench, group: Noun) -> bool:
    found = bench.places.columns(group, want="number")
    if not found or found[0].of.role or group.head.of_kind("table", "value"):
        return False
    column = found[0].column
    return is_quantity(column) and ((bool(column.unit) and adds_up(column)) or _counts_people(bench, group, column))


def _counts_people(bench: Bench, group: Noun, column: CatalogColumn) -> bool:
    """Whether one of what a column has the number of stands behind money: the guest of "cost per guest"."""
    nouns = [noun for noun in bench.draft.nouns if not noun.predicate]
    nouns += [one.noun for one in bench.draft.figures if isinstance(one.noun, Noun)]
    return _is_one_of(group, column) and len(nouns) == 1 and _is_money(bench, nouns[0])


def _is_one_of(noun: Noun, column: CatalogColumn) -> bool:
    """Whether a noun is one of what a column counts: "guest" of `guests`."""
    one = singular(column.name)
    return not column.unit and is_quantity(column) and one == " ".join(noun.head.words) != column.name


def _is_one_of_many(bench: Bench, noun: Noun) -> bool:
    found = bench.places.columns(noun, want="number")
    return bool(found) and not found[0].of.role and _is_one_of(noun, found[0].column)


def _is_money(bench: Bench, noun: Noun) -> bool:
    sense = named_measure(bench, noun)
    if sense is not None:
        written = bench.base.measures[sense.measure].unit
        unit = unit_of(written) if written else None
    else:
        found = bench.places.columns(noun, want="number")
        unit = unit_of_column(found[0].column) if found else None
    return unit is not None and unit.measures == "money"


def _adds(bench: Bench, noun: Noun) -> bool:
    sense = named_measure(bench, noun)
    if sense is not None:
        return folds_as(bench, sense) in {"sum", "count"}
    found = bench.places.columns(noun, want="number")
    return bool(found) and not found[0].of.role and is_quantity(found[0].column) and adds_up(found[0].column)


def check_quotient(bench: Bench, figure: Figure) -> None:
    """Do nothing where both sides are sums of rows of the base.

    Raises:
        NotPlacedError: one is not.
    """
    for one in (figure, figure.to):
        noun = one.noun if one is not None else None
        below = one is figure.to and isinstance(noun, Noun) and _is_one_of_many(bench, noun)
        if not isinstance(noun, Noun) or not (below or _adds(bench, noun)):
            raise NotPlacedError(figure.phrase, "it is no quotient of two sums")
