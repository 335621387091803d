"""Rules of the grammar for figures: aggregates, counts, rates, changes, durations, extremes, units."""

from dataclasses import replace

from streamhouse.planner.language.aggregates import read_result_unit
from streamhouse.planner.language.asking import read_against, read_figure, read_rate
from streamhouse.planner.language.clauses import (
    read_compared,
)
from streamhouse.planner.language.draft import (
    Compared,
    Figure,
    Noun,
)
from streamhouse.planner.language.durations import read_duration
from streamhouse.planner.language.extremes import read_extremes
from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.reader import AUXILIARIES, Reader
from streamhouse.planner.language.scope import is_quantity
from streamhouse.planner.language.statements import noun_next
from streamhouse.planner.language.unit_figures import read_unit_figure


def read_rated_rule(reader: Reader) -> bool:
    """Read "Cancellation rate": a share of rows."""
    figure = read_rate(reader)
    if figure:
        reader.draft.figures.append(figure)
        reader.head = figure.noun if isinstance(figure.noun, Noun) else None
    return figure is not None


def read_counted_rule(reader: Reader) -> bool:
    """As in "Ticket count": how many there are."""
    if reader.word() in {"count", "counted"} and reader.word(1) in {"per", "by", "for", ""} and _count_of_rows(reader):
        return True
    mention = reader.mention()
    if mention is not None and _counts_in_column(reader, mention):
        return True
    if mention is None or not mention.of_kind("table", "measure"):
        return False
    after = mention.end - reader.at
    if reader.word(after) not in {"count", "counts"}:
        return False
    reader.at = mention.end + 1
    noun = Noun(mention)
    reader.head = noun
    reader.draft.figures.append(Figure("count", noun, phrase=f"{mention.text} count"))
    return True


def _counts_in_column(reader: Reader, mention: Mention) -> bool:
    """Read "page count", where a column has the number of pages."""
    tables = reader.lexicon.catalog.tables
    columns = [tables[s.table].column(s.column) for s in mention.of_kind("column") if s.quality >= NEARLY_NAME]
    if reader.word(mention.end - reader.at) != "count" or mention.of_kind("table", "value", "measure") or not columns:
        return False
    if not all(is_quantity(column) for column in columns):
        return False
    noun = reader.noun()
    if noun is None or reader.word() != "count":
        return False
    reader.at += 1
    reader.draft.nouns.append(noun)
    return True


def _count_of_rows(reader: Reader) -> bool:
    """Read "count per technician" behind what is counted."""
    draft = reader.draft
    at = next((at for at, noun in enumerate(draft.nouns) if not noun.predicate and noun.head.of_kind("table")), None)
    if at is None or draft.figures:
        return False
    noun = draft.nouns.pop(at)
    draft.figures.append(Figure("count", noun, phrase=f"{noun.text}, {reader.word()}"))
    reader.at += 1
    return True


def _owned(reader: Reader, start: int) -> None:
    """As in "Books and their number of loans": what "their" stands for is grouped by."""
    said = {reader.tokens[at].word for at in (start - 1, start) if 0 <= at < len(reader.tokens)}
    draft = reader.draft
    if said & {"their", "its"} and draft.nouns and not (draft.groups or draft.figures) and draft.best is None:
        draft.groups.append(draft.nouns.pop())


def read_numbered_rule(reader: Reader) -> bool:
    """A number that is asked for; compared at once, it is a condition on groups."""
    start = reader.at
    figure = read_figure(reader)
    if figure is None:
        return False
    compared = _condition_of(reader, figure)
    if compared:
        reader.keep(compared)
        return True
    if figure.noun and isinstance(figure.noun, Noun):
        reader.head = figure.noun
    _owned(reader, start)
    reader.draft.figures.append(figure)
    return True


def _condition_of(reader: Reader, figure: Figure) -> Compared | None:
    start = reader.at
    reader.skip(AUXILIARIES)
    found = read_compared(reader, figure)
    if found is not None and found.left is not figure:
        found = None  # of "number of customers who ordered at least twice", how often is compared, not their number
    if (
        found
        and found.low is not None
        and figure.function.startswith("count")
        and (found.hint or found.low.unit or noun_next(reader))
    ):
        found = None  # of "rides longer than an hour" each ride is compared, not their number
    if found and (found.low is not None or found.average):
        return found
    reader.at = start
    return None


def read_changed_rule(reader: Reader) -> bool:
    """A comparison with the period before behind what it is about: "revenue per week compared to the week before"."""
    start = reader.at
    reader.skip({",", "and", "its", "their", "the", "with", "how", "it", "they", "plus", "show"})
    percent = bool(reader.take("percentage", "percent", "%", "relative"))
    word = reader.take("change", "growth rate", "growth", "difference", "changes", "changed", "change is", "increase",
                       "development", "grew", "compares", "has changed", "differs")  # fmt: skip
    if reader.take("in percent", "in %", "as a percentage", "( in % )", "( % )"):
        percent = True
    reader.skip({"is", "are"})
    against = read_against(reader, changed=bool(word or percent))
    if against is None and (not word or not reader.draft.figures or reader.word() in {"of", "in", "for"}):
        reader.at = start
        return False
    if not reader.draft.figures:
        last = _named_last(reader)
        if last is None:
            reader.at = start
            return False
        reader.draft.figures.append(last)
    if reader.take("in percent", "in %", "as a percentage", "( in % )", "( % )"):
        percent = True
    last = reader.draft.figures[-1]
    periods, grain, more = against or (1, None, False)
    if last.window == "change":
        reader.draft.figures[-1] = replace(last, periods=periods, period_grain=grain or last.period_grain,
                                         percent=last.percent or percent or more)  # fmt: skip
    else:
        relative = percent or more or word in {"growth", "growth rate"}
        change = replace(
            last,
            window="change",
            periods=periods,
            period_grain=grain,
            percent=relative,
            phrase=reader.text(start),
        )
        reader.draft.figures.append(change)
    return True


def _named_last(reader: Reader) -> Figure | None:
    for at, noun in enumerate(reader.draft.nouns):
        if noun.head.of_kind("measure", "column"):
            del reader.draft.nouns[at]
            return Figure("", noun, phrase=noun.text)
    return None


def read_lasting_rule(reader: Reader) -> bool:
    """How long something takes, or a figure that only a unit names."""
    figure = read_duration(reader) or read_unit_figure(reader)
    if figure is None:
        return False
    reader.draft.figures.append(figure)
    return True


def read_extremes_rule(reader: Reader) -> bool:
    """Read "The cheapest and the most expensive stay"."""
    found = read_extremes(reader)
    if found is None:
        return False
    reader.draft.figures += found
    return True


def read_distinct_rule(reader: Reader) -> bool:
    """Read "distinct users": a count where something is grouped, else a list of each once."""
    if not reader.take("distinct", "unique", "different"):
        return False
    start = reader.at
    noun = reader.noun()
    if noun is None:
        return False
    reader.draft.figures.append(Figure("distinct", noun, phrase=reader.text(start)))
    return True


def read_result_unit_rule(reader: Reader) -> bool:
    """Read "In dollars" behind a figure or a noun."""
    start = reader.at
    best = reader.draft.best
    ranked = best is not None and best.by is not None and not reader.draft.figures
    unit = read_result_unit(reader) if reader.draft.figures or reader.draft.nouns or ranked else None
    if unit is None:
        reader.at = start
        return False
    if ranked and best is not None and best.by is not None:
        reader.draft.best = replace(best, by=replace(best.by, unit=unit))
        return True
    every = {"both", "all", "each"} & {token.word for token in reader.tokens[start : start + 2]}
    if every and unit.name != "percent":
        reader.draft.figures = [replace(one, unit=unit) for one in reader.draft.figures]
        reader.draft.nouns = [one if one.predicate else replace(one, unit=unit) for one in reader.draft.nouns]
        return True
    noun = reader.draft.nouns[-1] if reader.draft.nouns else None
    if noun is not None and noun.listed and noun.head.end >= start - 1 and noun.head.of_kind("measure", "column"):
        reader.draft.nouns[-1] = replace(noun, unit=unit)
    elif reader.draft.figures:
        last = reader.draft.figures[-1]
        percent = last.window in {"share", "ratio", "change"} and unit.name == "percent"
        reader.draft.figures[-1] = replace(last, percent=True) if percent else replace(last, unit=unit)
        if last.hint:  # "the cheapest and the most expensive stay in euros": both
            pair = [one for one in reader.draft.figures if one.hint == last.hint and one.noun == last.noun]
            reader.draft.figures = [replace(one, unit=unit) if one in pair else one for one in reader.draft.figures]
    else:
        reader.draft.nouns[-1] = replace(reader.draft.nouns[-1], unit=unit)
    return True
