"""Rules of the grammar for conditions: comparisons, times, values, negations, and the clauses behind a noun."""

from dataclasses import replace

from streamhouse.planner.language.amounts_behind import amount_behind
from streamhouse.planner.language.averages import read_average
from streamhouse.planner.language.clauses import (
    read_compared,
    read_except,
    read_when,
    read_without,
    skip_auxiliaries,
)
from streamhouse.planner.language.draft import (
    Clause,
    Compared,
    Figure,
    Lasting,
    Noun,
    Time,
    When,
)
from streamhouse.planner.language.grouping import read_groups
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.numbered import read_numbered
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.reader import DETERMINERS, Reader, is_done
from streamhouse.planner.language.statements import is_time, noun_next, unmade, valued
from streamhouse.planner.language.tokens import singular
from streamhouse.planner.language.versus import read_versus
from streamhouse.planner.language.words import GRAINS, LIGHT_VERBS

_DONE = frozenset({"held", "given", "made", "done", "placed", "taken", "sent"})


def read_relative(reader: Reader) -> list[Clause]:
    """Read the conditions directly behind a noun: "that were cancelled", "over 50 dollars", "by members"."""
    found: list[Clause] = []
    outer, reader.local = reader.local, found
    while not reader.done:
        start, groups = reader.at, len(reader.draft.groups)
        done = reader.mention()
        if (
            done is not None
            and is_done(done)
            and any(rule(reader) for rule in (read_versus_rule, read_compared_rule, valued))
        ):
            continue
        if reader.word() in {"by", "from", "with", "in", "that", "which", "who", "whose", "where", "are", "were", "is",
                             "was", "have", "has", "had", "get", "gets", "got", "at", "to", "on", "made", "for", "and",
                             "do", "via", "through", "using"} or (reader.word() in _DONE and done is None):  # fmt: skip
            if read_period(reader.tokens, reader.at):
                break
            if reader.word() == "and" and (not found or read_groups(reader)):
                reader.at = start
                break
            back = reader.at
            if reader.word() == "by":
                reader.at += 1
                mention = reader.mention()
                if mention is None or not mention.of_kind("value") or mention.senses[0].kind != "value":
                    reader.at = back
                    break
            else:
                reader.at += 1
            skip_auxiliaries(reader)
            if reader.word() == "nobody" and reader.mention() is None:
                reader.negated = True
                reader.at += 1
            if singular(reader.word()) in LIGHT_VERBS and reader.mention() is None:
                reader.at += 1
            if any(rule(reader) for rule in (read_versus_rule, read_without_rule, read_compared_rule, valued, _unmade)):
                continue
            reader.at = start
            break
        if found and _unmade(reader):
            continue
        if not read_versus_rule(reader) and not read_compared_rule(reader) and not read_without_rule(reader):
            break
        if len(reader.draft.groups) != groups:
            break
    reader.local = outer
    return found


def _unmade(reader: Reader) -> bool:
    """Read "unpassed" behind who did it: "exams that the learner failed"."""
    return not reader.done and reader.mention() is None and unmade(reader)


def read_without_rule(reader: Reader) -> bool:
    """Read "Without any orders"."""
    clause = read_without(reader)
    if clause:
        reader.keep(clause)
    return clause is not None


def read_except_rule(reader: Reader) -> bool:
    """Read "Except store 330"."""
    clause = read_except(reader)
    if clause:
        reader.keep(clause)
    return clause is not None


def read_timed_rule(reader: Reader) -> bool:
    """Read "In March 2017"."""
    start = reader.at
    if reader.word() in {"and", "or"} and read_period(reader.tokens, reader.at + 1):
        reader.at += 1
    verb = _verb_before(reader)
    named = reader.mention()
    period = read_period(reader.tokens, reader.at)
    whole = named is not None and period is not None and named.end - reader.at == period[1]
    if whole and named is not None and named.best >= WHOLE_NAME and named.of_kind("column", "measure", "table"):
        reader.at = start
        return False  # "nights and revenue", where nights are counted
    clause = read_when(reader, verb)
    if clause is None:
        reader.at = start
        return False
    reader.keep(clause)
    return True


def _verb_before(reader: Reader) -> Mention | None:
    """The verb of the time that "and" joins to this one: "sent after 1 March and before 1 May"."""
    filters = reader.draft.filters if reader.local is None else reader.local
    last = filters[-1] if filters else None
    if not isinstance(last, When) or last.of is None or reader.word(-1) not in {"and", "but"}:
        return None
    begin = reader.at - 1 - len(last.phrase.split())
    return last.of if begin >= 0 and reader.text(begin, reader.at - 1) == last.phrase else None


def read_compared_rule(reader: Reader) -> bool:
    """A comparison without a noun of its own: "over 50 dollars", "longer than an hour", "more than 100 sales"."""
    start = reader.at
    lasting = reader.word(-1) in {"lasted", "lasting", "lasts", "last", "took", "taking", "takes", "take"}
    found = read_compared(reader, None, reader.head)
    if found is None:
        return False
    counted_next = found.low is not None and found.low.unit is None and noun_next(reader)
    if lasting and not found.hint and not counted_next:
        found = replace(found, hint="long")
    if reader.word(start - reader.at - 1) in {"and", "but", "or"} and found.low is not None and found.low.unit:
        filters = reader.draft.filters if reader.local is None else reader.local
        last = filters[-1] if filters else None
        if isinstance(last, Compared) and last.left is None and not found.hint:
            found = replace(found, hint=last.hint, subject=last.subject)
    if lasting and found.low is not None and found.low.unit and found.low.unit.measures == "time" and reader.take("to"):
        until = reader.noun()
        if until is not None and is_time(until, reader.lexicon):
            reader.keep(replace(found, left=Lasting(None, until), hint="", phrase=reader.text(start)))
            return True
    if found.low is not None and found.low.unit is None and not found.hint:
        different = bool(reader.take("different", "distinct", "unique"))
        counted = reader.noun() if reader.word() not in {"by", "in", "per"} else None
        if counted:
            found = replace(
                found,
                left=Figure("count distinct" if different else "number", counted, phrase=counted.text),
                phrase=reader.text(start),
            )
        elif reader.word(start - reader.at - 1) in {"and", "but", "or", ","}:
            found = replace(found, left=_compared_before(reader), phrase=reader.text(start))
    elif reader.take("in", "of", "worth of"):
        noun = reader.noun()
        if noun and noun.head.of_kind("column", "measure"):
            found = replace(found, left=noun, phrase=reader.text(start))
        else:
            reader.at -= 1
    else:
        noun = amount_behind(reader, found.low) if not found.hint else None
        found = replace(found, left=noun, phrase=reader.text(start)) if noun else found
    reader.keep(found)
    return True


def _compared_before(reader: Reader) -> Noun | None:
    """What the comparison before this one is about: "over 4 and under 2"."""
    filters = reader.draft.filters if reader.local is None else reader.local
    last = filters[-1] if filters else None
    return last.left if isinstance(last, Compared) and isinstance(last.left, Noun) else None


def read_versus_rule(reader: Reader) -> bool:
    """Read "More children than adults"."""
    compared = read_versus(reader)
    if compared is None or reader.negated:
        return False
    reader.keep(compared)
    return True


def read_numbered_value_rule(reader: Reader) -> bool:
    """Read "On the third floor"."""
    clause = read_numbered(reader)
    if clause is None:
        return False
    reader.negated = False
    reader.keep(clause)
    return True


_MEETING = (
    "on which there were", "in which there were", "on which we had", "in which we had", "on which", "in which",
    "where", "when", "with", "during which", "that had", "that saw", "that were", "that are", "which had", "which were",
    "having", "were",
)  # fmt: skip


def _figure_of_average(reader: Reader) -> Compared | None:
    """Read "sales above average"."""
    start = reader.at
    noun = reader.noun()
    average = read_average(reader, noun) if noun is not None and noun.head.of_kind("measure", "column") else None
    if average is None:
        reader.at = start
    return average


def _measure_of_bound(reader: Reader) -> Compared | None:
    """Read "revenue over 100 euros"."""
    start = reader.at
    reader.skip(DETERMINERS)
    noun = reader.noun()
    plain = noun is not None and not noun.around and noun.head.of_kind("measure") and not noun.head.of_kind("table")
    found = read_compared(reader, noun) if plain else None
    if noun is None or found is None or found.low is None or found.high is not None:
        reader.at = start
        return None
    return replace(found, left=Figure("", noun, phrase=noun.text), phrase=reader.text(start))


def read_periods_meeting_rule(reader: Reader) -> bool:
    """Read "days on which more than 700 kWh were used": periods whose figure meets a condition."""
    grain = GRAINS.get(reader.word())
    start = reader.at
    if grain is None or grain.comes_again or reader.draft.groups or reader.draft.figures or reader.draft.nouns:
        return False
    reader.at += 1
    if not reader.take(*_MEETING):
        reader.at = start
        return False
    reader.draft.groups.append(Time(grain, None, grain.value))
    average = read_average(reader, None) or _figure_of_average(reader) or _measure_of_bound(reader)
    if average is not None and average.left is not None:
        reader.keep(average)
        return True
    reader.draft.groups.pop()
    found = read_compared(reader, None)
    if found is None or found.low is None or found.high is not None:
        reader.at = start
        return False
    left = None
    if found.low.unit is None:
        noun = reader.noun()
        left = Figure("number", noun, phrase=noun.text) if noun is not None and noun.head.of_kind("table") else None
    elif found.low.unit.measures in {"money", "energy", "mass", "volume"}:
        back = reader.at
        noun = reader.noun() if reader.take("of", "in", "worth of") else None
        if noun is not None and not noun.head.of_kind("measure", "column"):
            reader.at, noun = back, None
        left = (
            Figure("sum", noun, phrase=noun.text)
            if noun
            else Figure("implied", unit=found.low.unit, phrase=found.phrase)
        )
    if left is None:
        reader.at = start
        return False
    reader.draft.groups.append(Time(grain, None, grain.value))
    reader.keep(replace(found, left=left, phrase=reader.text(start)))
    return True
