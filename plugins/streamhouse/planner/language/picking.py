"""One row of each thing: "latest reading of each sensor", "the reading with the highest value of each meter"."""

from streamhouse.planner.language.draft import Group, Noun, Pickled
from streamhouse.planner.language.grouping import read_groups
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.reader import AUXILIARIES, Reader, is_done
from streamhouse.planner.language.scope import TIMES, is_number
from streamhouse.planner.language.words import is_past_form

_LAST = ("most recent", "latest", "last", "newest", "current")
_FIRST = ("earliest", "first", "oldest")
_HIGHEST = frozenset({"highest", "largest", "biggest", "greatest", "most", "maximum"})
_DONE = frozenset({"made", "done", "taken", "given", "had", "placed", "sent", "written"})
_LOWEST = frozenset({"lowest", "smallest", "least", "minimum"})


def read_pick(reader: Reader) -> Pickled | None:
    """Read which row of each thing is wanted; None: none is."""
    start = reader.at
    found = _by_time(reader)
    if found is None:
        reader.at = start
        found = _by_number(reader)
    if found is None:
        reader.at = start
    return found


def _by_time(reader: Reader) -> Pickled | None:
    reader.skip({"the"})
    word = reader.take(*_LAST, *_FIRST)
    if not word or reader.number_here():
        return None
    noun = reader.noun()
    if word == "current" and noun is not None and _goes_on(reader, noun):
        return None
    per: tuple[Group, ...] = ()
    by: Noun | None = None
    if noun and noun.head.of_kind("table", "column", "measure"):
        per = read_groups(reader)
        if not per:
            per, by = _of_whom(reader)
    before = tuple(group for group in reader.draft.groups if isinstance(group, Noun))
    if not per and before and not reader.draft.figures:
        per, reader.draft.groups = before, [g for g in reader.draft.groups if not isinstance(g, Noun)]
    if noun is None or not per or not all(isinstance(group, Noun) for group in per):
        return None
    return Pickled(noun, per, word in _LAST, by)


def _goes_on(reader: Reader, noun: Noun) -> bool:
    """Whether "current" says of things that they are not over: "current members", which have no time of their own."""
    named = noun.head.of_kind("table")
    best = [sense for sense in named if sense.quality == named[0].quality]
    return bool(best) and all(reader.lexicon.catalog.tables[sense.table].event_time is None for sense in best)


def _of_whom(reader: Reader) -> tuple[tuple[Group, ...], Noun | None]:
    """Read "that every guest made": whose rows they are, and the time that the verb names."""
    start = reader.at
    agent = _done_by(reader)
    if agent is not None:
        return agent
    reader.take("that", "which")
    if reader.word() not in {"each", "every"}:
        reader.at = start
        return (), None
    groups = read_groups(reader)
    only = groups[0] if len(groups) == 1 else None
    if isinstance(only, Noun) and only.around and _done(only.head):  # "every member borrowed"
        return (Noun(only.around[0], only.around[1:], only.cues),), _moment(reader, only.head)
    reader.skip(AUXILIARIES)
    verb = reader.mention()
    if verb is not None and (is_done(verb) or _done(verb)):
        reader.at = verb.end
        return groups, _moment(reader, verb)
    return groups, None


def _done_by(reader: Reader) -> tuple[tuple[Group, ...], Noun | None] | None:
    """Read "bought by each traveller": whose rows they are, and the time that the participle names."""
    start, done = reader.at, reader.mention()
    named = done is not None and is_done(done)
    if not (named or reader.word() in _DONE):
        return None
    reader.at = done.end if named and done is not None else reader.at + 1
    groups = read_groups(reader) if reader.take("by", "to", "for", "from", "in", "at") else ()
    if not groups:
        reader.at = start
        return None
    return groups, _moment(reader, done) if named and done is not None else None


def _done(mention: Mention) -> bool:
    return len(mention.words) == 1 and is_past_form(mention.words[0])


def _moment(reader: Reader, verb: Mention) -> Noun | None:
    """The time that a verb names, if it names one."""
    tables = reader.lexicon.catalog.tables
    named = any(tables[s.table].column(s.column).type in TIMES for s in verb.of_kind("column"))
    return Noun(verb) if named else None


def _by_number(reader: Reader) -> Pickled | None:
    """Read "the reading with the highest value of each meter"."""
    reader.skip({"the"})
    noun = reader.noun()
    if noun is None or not noun.head.of_kind("table") or not reader.take("with the", "that has the", "having the"):
        return None
    word = reader.word()
    if word not in _HIGHEST | _LOWEST:
        return None
    reader.at += 1
    by = reader.noun()
    if by is None or by.around or not _numeric(reader, by):
        return None
    per = read_groups(reader)
    if not per or not all(isinstance(group, Noun) for group in per) or by.head.of_kind("table"):
        return None
    return Pickled(noun, per, word in _HIGHEST, by)


def _numeric(reader: Reader, noun: Noun) -> bool:
    tables = reader.lexicon.catalog.tables
    return any(is_number(tables[s.table].column(s.column)) for s in noun.head.of_kind("column"))
