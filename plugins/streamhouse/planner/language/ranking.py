"""The best few of a wish: "top 5 stores by revenue", "which store has the most sales", "the 3 longest rides"."""

import re
from dataclasses import replace

from streamhouse.planner.language.asking import read_figure, read_function
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.draft import Best, Figure, Group, Noun, Time
from streamhouse.planner.language.grouping import read_grain, read_groups
from streamhouse.planner.language.levels import NAME_OR_DEED, NEARLY_NAME, WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.numbers import read_number, read_unit
from streamhouse.planner.language.reader import AUXILIARIES, DETERMINERS, Reader, is_done
from streamhouse.planner.language.tokens import singular
from streamhouse.planner.language.words import (
    ADVERB_GRAINS,
    AGGREGATES,
    COMPARATIVES,
    LIGHT_VERBS,
    SUPERLATIVES,
    is_past_form,
)

_OPENERS = frozenset({"which", "what", "who", "the", "our", "show", "me", "list", "find", "whose", "of"})
_VERBS = frozenset({*AUXILIARIES, *(LIGHT_VERBS - {"last"}), "with", "by", "in", "having", "made", "took", "got", "saw",
                    "gets", "makes", "sees", "takes", "brings", "brought", "sold", "earned", "generated", "generates",
                    "earns", "produced", "produces", "received", "receives", "recorded", "shows", "showed", "up",
                    "reported", "used", "consumed", "needed", "cost", "caused", "spent", "spends", "to", "at",
                    "ranked", "sorted", "placed", "submitted", "held", "gave", "gives", "led", "leads", "ran", "runs",
                    "taught", "teaches", "did", "handled", "handles", "hosted", "wrote", "posted", "gathered",
                    "attracted", "drew"})  # fmt: skip
_UNCERTAIN = frozenset({"best", "worst", "top", "bottom"})


def read_best(reader: Reader) -> Best | None:
    """Read a ranking that names its superlative first, or its count: "top 5 …", "the 3 longest rides"."""
    start = reader.at
    reader.skip({"the", "our"})
    count, found = _count(reader), _superlative(reader)
    if found is None:
        reader.at = start
        return None
    word, descending, hint = found
    if count is None:
        count = _count(reader)
    reader.take("of", "the")
    if reader.take("selling", "performing", "rated", "sold"):
        hint = hint or "selling"
    if count is None and reader.word() in ADVERB_GRAINS and word in AGGREGATES:
        reader.at = start
        return None  # "highest daily revenue" is a number of days, and lists none
    target = read_grain(reader) or reader.noun()
    if target is None and count is not None and reader.head is not None:
        target = reader.head
        reader.draft.nouns = [noun for noun in reader.draft.nouns if noun != target]
    value = isinstance(target, Noun) and count is None and _is_number(reader, target, word)
    if target is None or (value and hint != "rows"):
        reader.at = start
        return None
    many = isinstance(target, Noun) and _is_plural(target.head.words)
    certain = word not in _UNCERTAIN and word not in {"most", "least", "highest", "largest", "biggest", "lowest",
                                                      "smallest", "greatest"}  # fmt: skip
    best = Best(
        count or 1, descending, target, hint=hint, ties=count is None, certain=certain, phrase=reader.text(start)
    )
    if count is None and many and (word in _UNCERTAIN or value):
        reader.draft.questions.append((f"how many of '{reader.text(start)}' do you want?", reader.text(start),
                                       tuple(_counted_choices(reader.text(start), word))))  # fmt: skip
    return _by(reader, best, start)


def _is_plural(words: tuple[str, ...]) -> bool:
    """Whether a name says several: "towns", and "types of town"."""
    named = words[: words.index("of")] if "of" in words else words
    return bool(named) and singular(named[-1]) != named[-1]


def _counted_choices(said: str, word: str) -> list[str]:
    """What may be answered to "how many": "top 5 towns", "5 most frequent towns", "our 5 best towns"."""
    begin = re.search(rf"\b{re.escape(word)}\b", said, re.IGNORECASE)
    at = begin.start() if begin else 0
    if word == "top" and begin:
        return [f"{said[: begin.end()]} {n}{said[begin.end() :]}" for n in (5, 10)]
    return [f"{said[:at]}{n} {said[at:]}" for n in (5, 10)]


def _is_number(reader: Reader, noun: Noun, word: str) -> bool:
    """Whether a superlative is about a number, as in "highest price", and not about things, as in "longest ride"."""
    if _is_length(reader, noun, word):
        return True
    if word in {"busiest", "quietest", "best", "worst", "newest", "oldest", "youngest"}:
        return False
    sense = noun.head.senses[0]
    if word in {"highest", "lowest", "largest", "smallest", "biggest", "greatest"} and any(
        one.kind == "column" and one.quality >= WHOLE_NAME for one in noun.head.senses
    ):
        return True
    tables = noun.head.of_kind("table")
    return sense.kind in {"measure", "column"} and not (tables and tables[0].quality >= NEARLY_NAME)


def _is_length(reader: Reader, noun: Noun, word: str) -> bool:
    """Whether a column is called so that has a length of time: "longest delay", though a topic is called so, too."""
    if word not in {"longest", "shortest"} or noun.around or noun.head.of_kind("table"):
        return False
    tables = reader.lexicon.catalog.tables
    columns = [tables[s.table].column(s.column) for s in noun.head.of_kind("column") if s.quality >= WHOLE_NAME]
    units = [unit_of_column(column) for column in columns]
    return bool(units) and all(unit is not None and unit.measures == "time" for unit in units)


def _count(reader: Reader) -> int | None:
    number = read_number(reader.tokens, reader.at)
    if number is None or number[0] % 1 or not 0 < number[0] < 100_000:
        return None
    unit, _ = read_unit(reader.tokens, reader.at + number[1])
    thing = reader.mention(number[1])
    if (
        unit is not None
        and not (thing and thing.of_kind("table"))
        and reader.word(number[1]) not in {"days", "hours", "weeks"}
    ):
        return None
    reader.at += number[1]
    return int(number[0])


def _superlative(reader: Reader) -> tuple[str, bool, str] | None:
    word = reader.word()
    if word in {"most", "least"} and reader.word(1) in {"expensive", "costly", "popular", "frequent", "common", "used",
                                                        "active", "recent", "valuable", "sold", "viewed", "visited",
                                                        "ordered", "frequented", "important",
                                                        "successful"}:  # fmt: skip
        following = reader.word(1)
        reader.at += 2
        hint = {"expensive": "price", "costly": "price", "recent": "time"}.get(following, "rows")
        if following in {"valuable", "important", "successful"} or following == "sold":
            hint = "vague"
        elif following in {"viewed", "visited", "ordered"}:
            verb = reader.lexicon.mention(reader.tokens, reader.at - 1, 1)
            if verb:
                reader.draft.nouns.append(Noun(verb, predicate=True))
        return word, word == "most", hint
    if word in {"most", "least"} and _counts_deeds(reader):
        return word, word == "most", "rows"
    if word in SUPERLATIVES:
        reader.at += 1
        descending, hint = SUPERLATIVES[word]
        return word, descending, hint
    return None


_AMOUNTS = frozenset({"paid", "sold", "bought", "spent", "used", "consumed", "rated", "priced", "valued"})


def _counts_deeds(reader: Reader) -> bool:
    """Read "most played" before a thing, where rows are called so that tell of it: their number is meant."""
    verb, thing = reader.lexicon.mention(reader.tokens, reader.at + 1, 1), reader.mention(2)
    done = is_past_form(reader.word(1))
    if verb is None or thing is None or not done or reader.word(1) in _AMOUNTS or not thing.of_kind("table"):
        return False
    tables = reader.lexicon.catalog.tables
    told = [
        s for s in verb.senses if s.kind == "table" or (s.kind == "column" and s.column == tables[s.table].event_time)
    ]
    if not told or any(sense.table in thing.tables() for sense in told):
        return False
    reader.at += 2
    reader.draft.nouns.append(Noun(verb, predicate=True))
    return True


def _by(reader: Reader, best: Best, start: int) -> Best:
    """What a ranking is by: "by revenue", "with the highest revenue", "in terms of revenue"."""
    back = reader.at
    per = read_groups(reader) if reader.word() != "by" else ()
    if reader.take("by their", "by its", "by the", "by", "in terms of", "according to", "ranked by", "measured by",
    "with respect to",
                   "based on", "ordered by", "sorted by", "when it comes to", "for"):  # fmt: skip
        by = _often(reader) or _number(reader)
        if by:
            return replace(best, by=by, per=per, phrase=reader.text(start))
    reader.at = back
    superlative = read_by_superlative(reader)
    if superlative:
        by, descending = superlative
        return replace(best, by=by, descending=descending, phrase=reader.text(start))
    reader.at = back
    return _of_each(reader, best)


def _of_each(reader: Reader, best: Best) -> Best:
    """Read "of each instructor" behind "the longest lesson": its rows have a best one of each."""
    start = reader.at
    named = isinstance(best.target, Noun) and best.target.head.of_kind("table")
    if best.hint in {"", "rows", "vague", "selling"} or not named:
        return best
    before = len(reader.draft.groups)
    per = read_groups(reader)
    if not per or before != len(reader.draft.groups) or not all(isinstance(group, Noun) for group in per):
        reader.at = start
        return best
    return replace(best, per=per, phrase=f"{best.phrase} {reader.text(start)}")


def _often(reader: Reader) -> Figure | None:
    """Read "how often they were made": the number of rows."""
    start = reader.at
    if not reader.take(
        "how often", "frequency", "number of occurrences", "number of times", "how many times", "occurrences"
    ):
        return None
    reader.skip(_VERBS)
    return Figure("rows", phrase=reader.text(start))


def _number(reader: Reader) -> Figure | None:
    start = reader.at
    reader.skip({"the", "their", "its", "highest", "largest"})
    figure = read_figure(reader)
    if figure:
        return figure
    noun = reader.noun()
    if noun is None or not (noun.head.of_kind("measure", "column", "table")):
        reader.at = start
        return None
    return Figure("", noun, phrase=noun.text)


def read_by_superlative(reader: Reader) -> tuple[Figure, bool] | None:
    """Read "with the highest revenue", "that has the most rides", "had the fewest"."""
    start = reader.at
    reader.skip(_VERBS)
    verb = reader.mention()
    if verb is not None and (is_done(verb) or _done(verb)) and not reader.period_here():
        reader.at = verb.end
    else:
        verb = None
    done = reader.word(-1) in _DONE
    reader.skip({"the", "a"})
    found = _superlative(reader)
    if found is None:
        reader.at = start
        return None
    if reader.take("money") or (done and verb is None and found[0] in _MOST and _ends_here(reader)):
        return Figure("vague", phrase=reader.text(start)), found[1]
    if verb is not None:
        reader.draft.nouns.append(Noun(verb, predicate=True))
        reader.take("often", "frequently", "times")
        if reader.done or reader.mention() is None:
            return Figure("rows", phrase=reader.text(start)), found[1]
    word, descending, hint = found
    count = _counted(reader, word)
    if count:
        return count, descending
    if hint and hint not in {"rows", "vague"}:
        noun = reader.noun()
        if noun:
            if noun.head.of_kind("table"):  # "the longest repair" is about how long it took, not how many there were
                return Figure("max" if descending else "min", noun, hint=hint, phrase=reader.text(start)), descending
            return Figure("best", noun, phrase=reader.text(start)), descending
    reader.at = start
    return None


_MOST = frozenset({"most", "least", "best", "worst"})
_DONE = frozenset(
    """spent earned cost made took sold generated produced spends earns makes takes brought received got used consumed
    spend us""".split()
)


_BEHIND = frozenset({",", ".", "?", "!", "at", "in", "on", "with", "from", "for", "per", "and", "during", "since"})


def _ends_here(reader: Reader) -> bool:
    """Whether no figure stands behind "the most", but the end, a time or where it was."""
    return reader.done or reader.period_here() or reader.word() in _BEHIND


def _done(verb: Mention) -> bool:
    """Whether a word says what was done, though things are called so, too: "repaired", where there are repairs."""
    return len(verb.words) == 1 and verb.words[0].endswith("ed") and verb.best < NAME_OR_DEED


def _counted(reader: Reader, word: str) -> Figure | None:
    start = reader.at
    if word in {"most", "fewest", "least", "highest", "largest", "lowest", "biggest", "smallest", "greatest", "best",
                "top", "worst"}:  # fmt: skip
        back = reader.at
        inner = read_figure(reader)
        if inner:
            return inner
        reader.at = back
        reader.take("number of")
        noun = reader.noun()
        if noun:
            function = "most" if word in {"most", "fewest", "least"} else "best"
            return Figure(function, noun, phrase=reader.text(start))
    reader.at = start
    return None


def read_ranked_noun(reader: Reader) -> Best | None:
    """Read "5 stations with the most rides", "which store had the highest revenue"."""
    start = reader.at
    reader.skip({"the"})
    opener = reader.take("which", "what", "who", "whose")
    reader.skip({"is", "are", "was", "were", "the"} if opener else ())
    count = _count(reader)
    reader.skip(DETERMINERS)
    target: Noun | Time | None = read_grain(reader) or reader.noun()
    if target is None:
        reader.at = start
        return None
    before = len(reader.draft.groups)
    per: tuple[Group, ...] = read_groups(reader)
    superlative = read_by_superlative(reader)
    if superlative is None or before != len(reader.draft.groups):
        reader.at = start
        return None
    by, descending = superlative
    return Best(count or 1, descending, target, by, per=per, ties=count is None, phrase=reader.text(start))


__all__ = ["COMPARATIVES", "read_best", "read_by_superlative", "read_function", "read_ranked_noun"]
