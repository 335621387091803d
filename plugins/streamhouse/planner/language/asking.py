"""Numbers that a wish asks for: aggregates, counts, shares, changes, running and moving figures."""

from dataclasses import replace
from typing import Literal

from streamhouse.planner.language.aggregates import aggregated, finished, read_function, read_result_unit
from streamhouse.planner.language.clauses import read_compared, skip_auxiliaries
from streamhouse.planner.language.condition_rules import read_relative
from streamhouse.planner.language.draft import Clause, Figure, Is, Noun
from streamhouse.planner.language.grouping import read_adverb, read_groups
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.numbers import read_number
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.reader import AUXILIARIES, DETERMINERS, Reader
from streamhouse.planner.language.statements import unmade, valued
from streamhouse.planner.language.words import GRAINS, RATES, SHARES
from streamhouse.planner.request import Grain


def read_figure(reader: Reader) -> Figure | None:
    """Read one number that is asked for; None: none begins here."""
    start = reader.at
    for rule in (_window, aggregated):
        figure = rule(reader)
        if figure:
            return replace(figure, phrase=reader.text(start))
        reader.at = start
    return None


def _window(reader: Reader) -> Figure | None:
    for rule in (_running, _moving, _change, _ratio, _share):
        start = reader.at
        found = rule(reader)
        if found:
            return found
        reader.at = start
    return None


def _inner_figure(reader: Reader) -> Figure | None:
    """What a window is over: a number, or a bare noun."""
    reader.skip({"the", "of", "in", "our"} if reader.word() != "in" or reader.mention(1) else {"the"})
    grain = read_adverb(reader)
    if grain:
        reader.draft.groups.append(grain)
    figure = aggregated(reader)
    if figure:
        return figure
    start = reader.at
    noun = reader.noun()
    return finished(reader, Figure("", noun), start) if noun else None


def _running(reader: Reader) -> Figure | None:
    named = reader.mention()
    if named is not None and named.end - named.start > 1 and named.best >= WHOLE_NAME:
        return None  # "running time", where a column is called so
    if not reader.take(
        "running total of", "running totals of", "running sum of", "cumulative sum of", "cumulative total of",
        "cumulative number of", "running count of", "running number of", "cumulative count of", "cumulative",
        "cumulated", "running total", "accumulated", "running",
    ):  # fmt: skip
        return None
    counted = reader.word(-2) in {"number", "count"}
    figure = _inner_figure(reader)
    if figure and counted and not figure.function:
        figure = replace(figure, function="count")
    return replace(figure, window="running") if figure else None


def _moving(reader: Reader) -> Figure | None:
    reader.skip({"the", "a"})
    number = read_number(reader.tokens, reader.at)
    periods, grain = 0, None
    if number:
        length = number[1] + (reader.word(number[1]) in {"calendar", "consecutive"})
        unit = GRAINS.get(reader.word(length))
        if unit is None:
            return None
        periods, grain = int(number[0]), unit
        reader.at += length + 1
    found = reader.take("moving average of", "moving average", "rolling average of", "rolling average",
    "rolling mean of",
                        "moving mean of", "moving sum of", "rolling sum of", "moving total of", "rolling total of",
                        "rolling sum", "moving sum", "rolling total")  # fmt: skip
    if not found:
        return None
    figure = _inner_figure(reader)
    if figure is None:
        return None
    if not periods:
        found_periods = _over_periods(reader)
        if not found_periods:
            return None
        periods, grain = found_periods
    fold: Literal["avg", "sum"] = "sum" if "sum" in found or "total" in found else "avg"
    return replace(figure, window="moving", periods=periods, period_grain=grain, fold=fold)


def _over_periods(reader: Reader) -> tuple[int, Grain] | None:
    start = reader.at
    if reader.take("over the last", "over", "across", "of the last", "of", "with a window of", "in a window of"):
        number = read_number(reader.tokens, reader.at)
        length = number[1] + (reader.word(number[1]) in {"calendar", "consecutive"}) if number else 0
        grain = GRAINS.get(reader.word(length)) if number else None
        if number and grain:
            reader.at += length + 1
            return int(number[0]), grain
    reader.at = start
    return None


_PER_PERIOD = {"month over month": Grain.MONTH, "week over week": Grain.WEEK, "day over day": Grain.DAY,
               "year over year": Grain.YEAR, "quarter over quarter": Grain.QUARTER, "hour over hour": Grain.HOUR,
               "mom": Grain.MONTH, "wow": Grain.WEEK, "yoy": Grain.YEAR, "month on month": Grain.MONTH,
               "week on week": Grain.WEEK, "year on year": Grain.YEAR, "day on day": Grain.DAY,
               "day to day": Grain.DAY, "month to month": Grain.MONTH, "week to week": Grain.WEEK}  # fmt: skip


def _change(reader: Reader) -> Figure | None:
    reader.skip({"the", "its", "their"})
    over = reader.take(*_PER_PERIOD)
    grain = _PER_PERIOD.get(over)
    adverb = None if over else read_adverb(reader)
    percent = bool(reader.take("percentage", "percent", "relative", "%", "pct"))
    word = reader.take("growth rate", "growth", "change", "increase", "development", "difference", "changes", "rise")
    if not word:
        return None
    percent = percent or word in {"growth rate", "growth"}
    if adverb:
        grain = adverb.grain
    if reader.take("in percent", "in %", "rate", "as a percentage"):
        percent = True
    if not reader.take("of", "in", "for"):
        return None
    figure = _inner_figure(reader)
    if figure is None:
        return None
    comparison = read_against(reader, changed=True)
    if comparison is None and grain is None and word not in {"growth", "growth rate"}:
        return None
    grain = grain or (comparison[1] if comparison else None)
    return replace(figure, window="change", percent=percent or bool(comparison and comparison[2]), period_grain=grain,
                   periods=comparison[0] if comparison else 1)  # fmt: skip


_COMPARED = ("compared with", "compared to", "against", "versus", "vs", "relative to", "with respect to",
             "in comparison to", "in comparison with")  # fmt: skip
_OVER = ("over", "from", "to", "on", "since", "than")  # these compare only behind a word for a change


def read_against(reader: Reader, *, changed: bool) -> tuple[int, Grain | None, bool] | None:
    """Read "compared to the previous week", "against the same month last year"; where changed, "over the month before".

    "Sold over the last week" says when, and compares nothing.
    """
    start = reader.at
    reader.take(",")
    percent = bool(reader.take("in percent", "in %", "as a percentage"))
    opener = reader.take(*_COMPARED, *(_OVER if changed else ()))
    if not opener:
        reader.at = start
        return None
    reader.skip({"the", "that", "those", "of"})
    if reader.take("same month last year", "same month of the previous year", "same month a year before",
                   "same month the year before", "same month of the year before"):  # fmt: skip
        return 12, Grain.MONTH, percent
    found = _one_before(reader)
    if found is None:
        reader.at = start
        return None
    return 1, found[0], percent or found[1]


def _one_before(reader: Reader) -> tuple[Grain | None, bool] | None:
    """Read "previous week", "month before, in percent": its grain, if there is one, and whether percent are wanted."""
    before = reader.take("previous", "preceding", "prior", "last", "one")
    grain = GRAINS.get(reader.word())
    if grain and (before or reader.word(1) in {"before", "earlier"}):
        reader.at += 1
        if not before:  # "compared to the previous week before May 2026" says when, too
            reader.take("before", "earlier")
        return grain, bool(reader.take("in percent", "in %", "as a percentage"))
    if (before and reader.take("period", "one")) or reader.take("period before", "one before"):
        return None, False
    return None


def _ratio(reader: Reader) -> Figure | None:
    """Read "ratio of no-shows to completed bookings": rows of the one for each row of the other."""
    if not reader.take("ratio of", "ratio between", "proportion between"):
        return None
    reader.take("the number of", "number of")
    first = reader.noun()
    joined = reader.take("to", "and", "over") if first else ""
    if joined:
        reader.take("the number of", "number of")
    last = reader.noun() if joined else None
    if first is None or last is None:
        return None
    return Figure("count", first, window="ratio", to=Figure("count", last, phrase=last.text))


def _share(reader: Reader) -> Figure | None:
    opened = reader.at
    reader.skip({"what", "which", "the", "a", "as", "its", "their", "how", "large", "big", "is"})
    also = "as" in {token.word for token in reader.tokens[opened : reader.at]}
    word = reader.take(*SHARES) or ("rate" if reader.length_of("rate of") and reader.take("rate") else "")
    if not word:
        return None
    percent = word in {"percentage", "percent", "pct"}
    if not reader.take("of the total", "of total", "of overall", "of all", "of the overall", "of the", "of", "in"):
        return None
    whole = reader.word(-1) in {"total", "overall"}
    figure = _inner_figure(reader)
    if figure is None or not isinstance(figure.noun, Noun):
        return None
    figure = replace(figure, noun=_behind_participle(reader, figure.noun))
    assert isinstance(figure.noun, Noun)
    if also and not _same_thing(reader, figure.noun):
        reader.draft.unread.append(f"as {word} of {figure.noun.text}")
    part = _part(reader, figure.noun) if also else []
    if part:
        return replace(figure, window="share", where=tuple(part), percent=percent, unit=None)
    unit = figure.unit
    percent = percent or bool(unit and unit.name == "percent")
    where = [] if whole else read_relative(reader) or _said_behind(reader)
    if word == "rate" and not where and not any(m.of_kind("value", "state") for m in figure.noun.around):
        return None
    if not where and not whole and not figure.function:
        groups = read_groups(reader)
        reader.draft.groups.extend(groups)
        back = reader.at
        reader.take(",")
        if reader.word() in {"that", "which", "who", "with"}:
            where = read_relative(reader)
        if not where:
            reader.at = back
    if not where and not whole and reader.word() in {"that", "which", "who", "whose", "where", *AUXILIARIES}:
        reader.draft.unread.append(reader.text(reader.at, reader.at + 2))  # what it is a share by was not read
    return replace(figure, window="share", where=tuple(where), percent=percent, unit=None)


def _said_behind(reader: Reader) -> list[Clause]:
    """Conditions directly behind the rows of a share: "share of invoices unpaid", "of matters pro bono"."""
    found: list[Clause] = []
    if reader.done:
        return found
    outer, reader.local = reader.local, found
    mention = reader.mention()
    if not unmade(reader) and mention is not None and reader.is_yes_or_no(mention):
        valued(reader)
    reader.local = outer
    return found


def _behind_participle(reader: Reader, noun: Noun) -> Noun:
    """The things themselves of "all reported claims", where a column is called "reported"."""
    things = reader.mention()
    if not is_participle(noun.head) or things is None or not things.of_kind("table") or noun.head.of_kind("table"):
        return noun
    reader.at = things.end
    return replace(noun, head=things, around=(*noun.around, noun.head))


def _same_thing(reader: Reader, noun: Noun) -> bool:
    """Whether "as a percentage of all tickets" is about the tickets that the wish began with."""
    before = [one.head for one in reader.draft.nouns]
    before += [one.noun.head for one in reader.draft.figures if isinstance(one.noun, Noun)]
    return any(one.words[-1:] == noun.head.words[-1:] for one in before)


def _part(reader: Reader, whole: Noun) -> list[Clause]:
    """Conditions of the rows that a share is of the whole: "cancelled orders as a percentage of all orders"."""
    draft = reader.draft
    for at, noun in enumerate(draft.nouns):
        values = [m for m in noun.around if m.of_kind("value")]
        if noun.head.words == whole.head.words and values and len(values) == len(noun.around) and not whole.around:
            del draft.nouns[at]
            return [Is((value,), phrase=value.text) for value in values]
    return []


def read_rate(reader: Reader) -> Figure | None:
    """Read "cancellation rate", "no-show rate", "return rate": the share of rows with a value."""
    start = reader.at
    reader.skip(DETERMINERS)
    mention = reader.mention()
    if mention and mention.of_kind("value", "column", "table", "measure"):
        after = mention.end - reader.at
        if reader.word(after) in RATES or (reader.word(after) in SHARES and reader.word(after + 1) != "of"):
            reader.at = mention.end + 1
            reader.negated = False
            figure = Figure("", Noun(mention), window="ratio", phrase=reader.text(start), unit=read_result_unit(reader))
            return replace(figure, percent=bool(figure.unit and figure.unit.name == "percent"), unit=None)
    reader.at = start
    return None


__all__ = ["read_against", "read_compared", "read_figure", "read_function", "read_rate", "skip_auxiliaries"]
