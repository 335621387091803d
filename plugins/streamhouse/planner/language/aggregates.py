"""Aggregates of a wish: their names, what they are of, their units."""

from dataclasses import replace
from decimal import Decimal

from streamhouse.planner.language.draft import Figure, Group, Lasting, Noun
from streamhouse.planner.language.grouping import read_adverb, read_groups
from streamhouse.planner.language.levels import ANY_FORM, LAST_WORD, WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.numbered import read_numbered
from streamhouse.planner.language.numbers import read_number, read_unit
from streamhouse.planner.language.reader import DETERMINERS, Reader
from streamhouse.planner.language.scope import TIMES, is_quantity, is_year
from streamhouse.planner.language.tokens import singular
from streamhouse.planner.language.units import Unit, unit_of
from streamhouse.planner.language.words import AGGREGATES, EXTREMES, FILLERS, GRAINS

_COUNTS = (
    ("how many different", "count distinct"), ("how many distinct", "count distinct"),
    ("how many unique", "count distinct"), ("number of different", "count distinct"),
    ("number of distinct", "count distinct"), ("number of unique", "count distinct"),
    ("count of distinct", "count distinct"), ("count of unique", "count distinct"),
    ("count of different", "count distinct"), ("distinct count of", "count distinct"),
    ("unique count of", "count distinct"), ("distinct number of", "count distinct"),
    ("count distinct", "count distinct"), ("how many", "count"), ("number of", "count"), ("numbers of", "count"),
    ("count of", "count"), ("counts of", "count"), ("count", "count"), ("amount of", "amount"),
    ("how much", "amount"), ("how often", "often"), ("no of", "count"),
)  # fmt: skip


_FUNCTIONS = (
    ("standard deviation of", "stddev"), ("standard deviation in", "stddev"), ("standard deviation", "stddev"),
    ("stddev of", "stddev"), ("std dev of", "stddev"), ("sum of", "sum"), ("sum up", "sum"), ("add up", "sum"),
    ("total of", "sum"), ("grand total of", "sum"), ("grand total", "sum"), ("overall", "sum"),
)  # fmt: skip


def read_function(reader: Reader) -> tuple[str, Decimal | None] | None:
    """Read the name of an aggregate; of percentiles, with the fraction."""
    for phrase, function in (*_COUNTS, *_FUNCTIONS):
        length = reader.length_of(phrase)
        if phrase == "amount of" and reader.mention() is not None:
            continue
        if phrase == "how much" and reader.word(2) in {"did", "do", "does", "is", "was", "has", "have", "money"}:
            continue
        if length and phrase in {"number of", "numbers of"} and _compound(reader):
            continue
        if (
            length
            and (
                phrase != "count"
                or reader.mention(1)
                or reader.number_here(1)
                or (reader.word(1) in {"the", "all"} and reader.mention(2))
            )
            and (phrase != "overall" or reader.mention(1))
        ):
            reader.at += length
            return function, None
    percentile = _percentile(reader)
    if percentile is not None:
        return "percentile", percentile
    extreme = _extreme(reader)
    if extreme:
        reader.at += 1
        return extreme, None
    function = AGGREGATES.get(reader.word(), "")
    if function and reader.word() not in {"combined", "typical"} and not reader.is_value_of_next(reader.at):
        reader.at += 1
        if not _is_number_name(reader):
            reader.take("of", "value of", "amount of")
        return function, None
    return None


def _is_number_name(reader: Reader) -> bool:
    """Whether the catalog calls a number so: "amount" of "total amount of orders"."""
    found = reader.mention()
    tables = reader.lexicon.catalog.tables
    numbers = found.of_kind("column") if found is not None else ()
    return any(s.quality >= WHOLE_NAME and is_quantity(tables[s.table].column(s.column)) for s in numbers)


_COORDINATED = frozenset({",", "and", "the", "&", *AGGREGATES, *EXTREMES})


def _extreme(reader: Reader) -> str:
    """As in "slowest page load", "oldest publication year": the end of a number or a time that an adjective names."""
    function = EXTREMES.get(reader.word(), "")
    if not function or reader.number_here(1):
        return ""
    ahead = 1
    while reader.word(ahead) in _COORDINATED:  # "longest and average waiting time"
        ahead += 1
    mention = _last_mention(reader, ahead)
    if mention is None or (mention.of_kind("table") and mention.of_kind("table")[0].quality >= LAST_WORD):
        return ""
    tables = reader.lexicon.catalog.tables
    columns = [tables[s.table].column(s.column) for s in mention.of_kind("column") if s.quality >= LAST_WORD]
    timed = reader.word() in {"earliest", "latest", "oldest", "newest"}
    numbers = [c for c in columns if is_quantity(c) or (timed and (c.type in TIMES or is_year(c)))]
    if not numbers:
        return ""
    if reader.word() in {"slowest", "fastest", "quickest"} and any("speed" in c.name for c in numbers):
        return {"max": "min", "min": "max"}[function]
    return function


def _last_mention(reader: Reader, ahead: int) -> Mention | None:
    """The head of the noun so many tokens ahead: "load" of "page load"."""
    found = reader.mention(ahead)
    while found is not None:
        following = reader.mention(found.end - reader.at)
        if following is None or not following.of_kind("column", "measure"):
            return found
        found = following
    return None


def _compound(reader: Reader) -> bool:
    """Whether "number of" ends a compound, as in "phone numbers of": no count then."""
    before = reader.word(-1)
    if not before.isalpha() or before in FILLERS or before in AGGREGATES or before in GRAINS or before in DETERMINERS:
        return False
    back, reader.at = reader.at, reader.at - 1
    named = reader.mention() is not None or before in reader.draft.unread[-1:]
    reader.at = back
    return named and back > 0


def _percentile(reader: Reader) -> Decimal | None:
    start = reader.at
    reader.take("the")
    word = reader.word()
    if len(word) > 1 and word[0] == "p" and word[1:].isdigit() and 0 < int(word[1:]) < 100:
        reader.at += 1
        reader.take("of")
        return Decimal(word[1:]) / 100
    number = read_number(reader.tokens, reader.at)
    if number and 0 < number[0] < 100:
        reader.at += number[1]
        reader.take("th", "st", "nd", "rd")
        if reader.take("percentile of", "percentile", "percent quantile of", "quantile of"):
            return number[0] / 100
    reader.at = start
    return None


def aggregated(reader: Reader) -> Figure | None:
    """Read an aggregate with what it is of: "average daily number of rides"; None: none stands here."""
    reader.skip({"the", "a", "an"})
    named = _named(reader)
    if named:
        return named
    found = read_function(reader)
    if not found:
        return None
    functions, fraction, inner = [found[0]], found[1], []
    shared = _further_functions(reader)
    while len(functions) < 3:
        reader.skip({"the", "of"} if reader.word() == "the" or reader.word(1) in AGGREGATES else {"the"})
        grain = read_adverb(reader)
        if grain:
            inner.append(grain)
            continue
        named = _named(reader)
        if named:
            return replace(named, function=functions[0], inner=tuple(inner), near=named.near)
        more = read_function(reader)
        if not more:
            break
        functions.append(more[0])
    if shared:
        return _several(reader, [functions[0], *shared])
    if functions[0] == "sum" and functions[1:2] in (["count"], ["count distinct"], ["sum"]):
        functions = functions[1:]
    if functions[0] in {"count", "count distinct"} and len(functions) > 1:
        return None
    return _about(reader, functions, fraction, tuple(inner))


def _further_functions(reader: Reader) -> list[str]:
    """Read "…, minimum and maximum" behind the first of several aggregates of one number."""
    found: list[str] = []
    while True:
        back = reader.at
        joined = reader.take(", and", ",", "and", "&")
        reader.take("the")
        function = (AGGREGATES.get(reader.word()) or _extreme(reader)) if joined else None
        if not function or reader.word(1) in {"number", "count"}:
            reader.at = back
            return found
        reader.at += 1
        found.append(function)


def _several(reader: Reader, functions: list[str]) -> Figure | None:
    """Several aggregates of one number: all but the last become numbers of the wish at once."""
    figure = _about(reader, functions[-1:], None, ())
    if figure is None:
        return None
    groups, figure = figure.near, replace(figure, near=())
    reader.draft.groups.extend(groups)
    for function in functions[:-1]:
        reader.draft.figures.append(replace(figure, function=function, phrase=f"{function} {figure.phrase}"))
    return figure


def _named(reader: Reader) -> Figure | None:
    """A measure whose name begins with the name of an aggregate: "average duration"."""
    found = reader.mention()
    if found and found.of_kind("measure") and found.end - found.start > 1 and reader.word() in AGGREGATES:
        start = reader.at
        noun = reader.noun()
        if noun:
            return finished(reader, Figure("", noun), start)
    return None


def _about(reader: Reader, functions: list[str], fraction: Decimal | None, inner: tuple[Group, ...]) -> Figure | None:
    start = reader.at
    spoken = unit_of(reader.word()) if reader.word() in {"days", "hours", "minutes", "seconds"} else None
    lasting = read_lasting(reader)
    noun: Noun | Lasting | None = lasting or _noun_of(reader)
    if isinstance(noun, Noun) and functions[-1] not in {"count", "count distinct"}:
        noun = _lasting_of(reader, noun)
    if isinstance(noun, Noun) and functions == ["avg"]:
        _skip_size(reader, noun)
    if noun is None:
        return None
    if lasting is not None and functions[0].startswith("count"):
        said = reader.text(start)
        reader.draft.questions.append((f"'{said}': the total, or the average?", said, (f"average {said}",)))
    other, operator = None, ""
    if isinstance(noun, Noun):
        operator = reader.take("times", "multiplied by", "*", "×", "minus", "plus", "divided by", "/", "+")
        other = reader.noun() if operator else None
    figure = Figure(
        functions[0], noun, fraction=fraction, inner=inner, inner_function=functions[1] if len(functions) > 1 else "",
        operator=_OPERATORS.get(operator, "") if other else "", other=other,
    )  # fmt: skip
    done = finished(reader, figure, start)
    return replace(done, unit=spoken) if lasting is not None and done.unit is None else done


_OPERATORS = {"times": "*", "multiplied by": "*", "*": "*", "×": "*", "minus": "-", "plus": "+", "divided by": "/",
              "/": "/", "+": "+"}  # fmt: skip


def _lasting_of(reader: Reader, noun: Noun) -> Noun | Lasting:
    """As in "Outage duration", "first reply time": how long rows last, or how long until something was done."""
    word = reader.word()
    if word not in {"duration", "length", "time", "delay", "lifetime", "age"}:
        return noun
    tables = reader.lexicon.catalog.tables
    found = [sense for sense in noun.head.of_kind("column") if sense.quality >= ANY_FORM]
    times = [sense for sense in found if tables[sense.table].column(sense.column).type in TIMES]
    rows = noun.head.of_kind("table")
    if rows and rows[0].quality >= LAST_WORD and word in {"duration", "length"}:
        reader.at += 1
        reader.draft.nouns.append(noun)
        return Lasting(None, None)
    if times and word in {"time", "delay"}:
        reader.at += 1
        return Lasting(None, noun)
    return noun


def _skip_size(reader: Reader, noun: Noun) -> None:
    """Read "size" or "value" behind rows, which says no more than "average donation" does."""
    sure = any(sense.quality >= WHOLE_NAME for sense in noun.head.of_kind("table"))
    single = bool(noun.head.words) and singular(noun.head.words[-1]) == noun.head.words[-1]
    if sure and single and reader.word() in {"size", "value"} and reader.mention() is None:
        reader.at += 1


def _noun_of(reader: Reader) -> Noun | None:
    back = reader.at
    reader.skip({"all", "the", "different", "distinct", "unique", "those"})
    numbered = read_numbered(reader)
    noun = reader.noun()
    if noun is None:
        reader.at = back
    elif numbered is not None:
        reader.keep(numbered)
    return noun


def finished(reader: Reader, figure: Figure, start: int) -> Figure:
    """A number with what stands behind it: its unit, and groups directly there."""
    unit = read_result_unit(reader)
    near: tuple[Group, ...] = ()
    if figure.function in {"avg", "max", "min", "median", "stddev"}:
        back = reader.at
        near = read_groups(reader)
        if not near:
            reader.at = back
    unit = unit or read_result_unit(reader)
    return replace(figure, unit=unit, near=near, phrase=reader.text(start))


def read_result_unit(reader: Reader) -> Unit | None:
    """Read "in dollars", "(in %)", "as a percentage"."""
    start = reader.at
    currency = _currency(reader)
    if currency is not None:
        return currency
    if reader.take("both in", "all in", ", both in", ", all in", "each in", "in", "( in", ", in", "as a", "as", "( as",
                   ", as a", "expressed in", "measured in", "("):  # fmt: skip
        unit, length = read_unit(reader.tokens, reader.at)
        after = reader.at + length
        if unit and not (after < len(reader.tokens) and reader.tokens[after].kind == "number"):
            reader.at = after
            reader.take(")")
            return unit
    reader.at = start
    return None


def _currency(reader: Reader) -> Unit | None:
    """Read ", EUR" and ", USD" behind a figure."""
    start = reader.at
    reader.take(",", "-", "(")
    token = reader.tokens[reader.at] if not reader.done else None
    if token is not None and token.text in {"USD", "EUR", "GBP", "€", "$", "£"} and reader.mention() is None:
        unit, length = read_unit(reader.tokens, reader.at)
        reader.at += length
        reader.take(")")
        return unit
    reader.at = start
    return None


def read_lasting(reader: Reader) -> Lasting | None:
    """Read "time between opening and closing", "time from order to delivery", "time to resolve"."""
    start = reader.at
    if reader.take("time to", "time until", "time till", "hours to", "hours until", "days to", "days until",
                   "minutes to", "minutes until", "time it takes to", "duration until", "time taken to",
                   "time needed to"):  # fmt: skip
        until = reader.noun()
        if until and until.head.of_kind("column"):
            reader.take("a", "an", "the")
            subject = reader.noun()
            if subject:
                reader.draft.nouns.append(subject)
            return Lasting(None, until)
        reader.at = start
        return None
    if not reader.take("time between", "duration between", "time from", "time elapsed between", "hours between",
                       "minutes between", "days between", "days from", "hours from", "minutes from", "delay between",
                       "interval between", "gap between", "difference between"):  # fmt: skip
        return None
    first = reader.noun()
    joined = reader.take("and", "to", "until") if first else ""
    last = reader.noun() if joined else None
    if first and last and first.head.of_kind("column", "table") and last.head.of_kind("column", "table"):
        return Lasting(first, last)
    reader.at = start
    return None
