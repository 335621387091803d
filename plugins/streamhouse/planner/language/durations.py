"""How long something takes, asked by a unit of time: "how many days pass between …", "hours of work"."""

from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.aggregates import read_function, read_result_unit
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.draft import Figure, Lasting, Noun
from streamhouse.planner.language.grouping import read_groups
from streamhouse.planner.language.levels import LAST_WORD
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.reader import DETERMINERS, Reader
from streamhouse.planner.language.scope import TIMES, is_quantity
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.language.units import Unit, unit_of

_ASKING = ("how many", "number of", "the number of")
_PASSING = frozenset("pass passes passed elapse elapses elapsed lie lies go goes by are is were was there on".split())
_TAKING = ("does it take", "did it take", "is it", "do", "does", "did", "it takes", "it took")
_OF_WORK = ("of work", "of labour", "of labor", "worked", "of working time", "of service", "spent", "of downtime")
_AVERAGE = ("on average", "on an average", "in the mean", "typically", "usually")


def read_duration(reader: Reader) -> Figure | None:
    """Read a figure of how long rows last, or how long one moment comes after another."""
    start = reader.at
    for rule in (_between, _until, _of_work, _alone):
        found = rule(reader)
        if found is not None:
            return found
        reader.at = start
    return None


def _unit(reader: Reader) -> Unit | None:
    unit = unit_of(reader.word())
    if unit is None and reader.word() in {"night", "nights"}:
        unit = unit_of("days")
    if unit is None or unit.measures != "time":
        return None
    reader.at += 1
    return unit


def _averaged(reader: Reader) -> bool:
    """Whether "on average" stands here, or anywhere in the wish: then no other rule reads it."""
    return bool(reader.take(*_AVERAGE))


def _function(reader: Reader) -> str:
    return "avg" if any(reader.length_of(one, at - reader.at) for one in _AVERAGE for at in range(len(reader.tokens))) \
        else "sum"  # fmt: skip


def _between(reader: Reader) -> Figure | None:
    """Read "how many days pass on average between the request and the start"."""
    start = reader.at
    total = bool(reader.take("total", "the total", "total number of"))
    is_question = bool(reader.take(*_ASKING))
    unit = _unit(reader)
    if unit is None or not (is_question or total or reader.word() in {"between", "from"}):
        return None
    averaged = False
    while reader.word() != "between" and not reader.done:
        if _averaged(reader):
            averaged = True
        elif reader.word() in _PASSING:
            reader.at += 1
        else:
            return None
    if not reader.take("between"):
        return None
    first = _moment(reader)
    joined = reader.take("and", "to", "until") if first else ""
    last = _moment(reader) if joined else None
    if first is None or last is None:
        return None
    averaged = _averaged(reader) or averaged
    if is_question and not averaged and _function(reader) != "avg":
        reader.draft.questions.append((f"'{reader.text(start)}': the total, or the average?", reader.text(start),
                                       (f"average days between {first.text} and {last.text}",)))  # fmt: skip
    function = "sum" if total or not is_question else "avg"
    return Figure(function, Lasting(first, last), unit=unit, phrase=reader.text(start))


def _until(reader: Reader) -> Figure | None:
    """Read "how many days does it take the customers of each segment to pay a bill, on average"."""
    start = reader.at
    unit = None
    if reader.take("how long"):
        unit = unit_of("hours")
    elif reader.take("how many"):
        unit = _unit(reader)
    if unit is None or not reader.take("does it take", "did it take"):
        return None
    averaged = _averaged(reader) or _function(reader) == "avg"
    reader.take("for")
    reader.skip(DETERMINERS)
    subject = reader.noun() if reader.word() != "to" else None
    groups = read_groups(reader)
    averaged = _averaged(reader) or averaged
    if not reader.take("to", "until", "before"):
        return None
    done = reader.noun()
    if done is None or not _is_time(reader, done) or not averaged:
        return None
    reader.skip(DETERMINERS)
    thing = reader.noun() if reader.word() not in {"by", "per", "in", "for", ",", "on"} else None
    reader.take(",")
    _averaged(reader)
    reader.draft.groups.extend(groups)
    reader.draft.nouns += [noun for noun in (subject, thing) if noun is not None]
    return Figure("avg", Lasting(None, done), unit=unit, phrase=reader.text(start))


def _of_work(reader: Reader) -> Figure | None:
    """Read "hours of work spent on", "minutes worked"."""
    start = reader.at
    has_opener = bool(reader.take("how many", "total", "the total", "number of"))
    named = reader.mention()
    if named is not None and any(sense.quality >= LAST_WORD for sense in named.of_kind("measure")):
        return None  # "hours worked", where a measure is called hours
    unit = _unit(reader)
    if unit is None or not reader.take(*_OF_WORK):
        return None
    del has_opener
    reader.take("spent", "done")
    reader.take("on", "with", "for") if reader.word(1) not in {"each", "every"} else ""
    return Figure("sum", Lasting(None, None), unit=unit, phrase=reader.text(start))


def _alone(reader: Reader) -> Figure | None:
    """Read "avg duration in minutes", where the catalog has nothing of that name."""
    start = reader.at
    reader.skip({"the", "and", "their", "its"})
    found = read_function(reader)
    if not found or found[0] not in {"avg", "sum", "min", "max", "median", "percentile"}:
        return None
    if (thing := _lasting_thing(reader)) is not None:
        reader.draft.nouns.append(thing)
        unit = read_result_unit(reader)
        return Figure(found[0], Lasting(None, None), unit=unit, fraction=found[1], phrase=reader.text(start))
    if reader.word() not in {"duration", "durations", "length"} or reader.mention() is not None:
        return None
    reader.at += 1
    if reader.word() in {"of", "between", "from", "until"}:
        return None
    unit = read_result_unit(reader)
    return Figure(found[0], Lasting(None, None), unit=unit, fraction=found[1], phrase=reader.text(start))


def _lasting_thing(reader: Reader) -> Noun | None:
    """Read "delivery time", "duration of a visit", where the catalog has nothing of that name."""
    start = reader.at
    named = reader.lexicon.mention(reader.tokens, start)
    if named is not None and named.end - start > 1 and named.best >= LAST_WORD and not named.of_kind("table"):
        return None  # "length of stay", where a column is called so
    if reader.take("duration of", "length of"):
        reader.skip(DETERMINERS)
        found = reader.mention()
        if found is not None and _is_thing(reader, found):
            reader.at = found.end
            return Noun(found)
        reader.at = start
        return None
    found = reader.mention()
    if found is None or not _is_thing(reader, found) or reader.word(found.end - start) not in _LASTS:
        return None
    whole = reader.lexicon.mention(reader.tokens, start, found.end - start + 1)
    if whole is not None and whole.end > found.end and whole.best >= LAST_WORD:
        return None
    reader.at = found.end + 1
    return Noun(found)


_LASTS = frozenset({"time", "times", "duration", "durations", "length"})


def _is_thing(reader: Reader, mention: Mention) -> bool:
    """Whether a mention names rows that have a begin and one other time."""
    best = mention.senses[0]
    named = [sense for sense in mention.of_kind("table") if sense.quality >= best.quality - 0.05]
    known = reader.lexicon.catalog.tables
    tables = [known[sense.table] for sense in named]
    if any(_has_length(known[sense.table]) for sense in mention.of_kind("table")):
        return False
    return bool(tables) and all(
        one.event_time is not None and sum(column.type in TIMES for column in one.columns) == 2 for one in tables
    )


def _has_length(table: CatalogTable) -> bool:
    """Whether a column says how long a row lasts: minutes, nights."""
    units = [unit_of_column(column) for column in table.columns if is_quantity(column)]
    named = {part for column in table.columns if is_quantity(column) for part in stems(column.name)}
    return any(unit is not None and unit.measures == "time" for unit in units) or bool(named & _LENGTHS)


_LENGTHS = frozenset(stem(word) for word in ("nights", "days", "hours", "minutes", "seconds", "duration", "length"))


def _moment(reader: Reader) -> Noun | None:
    """A noun that names a moment; what it is one of says nothing more: "the start of a visit"."""
    reader.skip(DETERMINERS)
    found = reader.lexicon.mention(reader.tokens, reader.at)
    noun = Noun(found) if found else None
    if noun is None or not _is_time(reader, noun):
        return None
    reader.at = noun.head.end
    back = reader.at
    thing = reader.noun() if reader.take("of") else None
    if thing is None or not thing.head.of_kind("table") or thing.around:
        reader.at = back
    else:
        reader.draft.nouns.append(thing)
    return noun


def _is_time(reader: Reader, noun: Noun) -> bool:
    tables = reader.lexicon.catalog.tables
    return any(tables[s.table].column(s.column).type in TIMES for s in noun.head.of_kind("column"))
