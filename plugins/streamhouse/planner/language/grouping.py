"""What a wish groups by: "per store and hour", "for each rider", "monthly", "by distance band"."""

from dataclasses import replace

from streamhouse.planner.language.draft import Bands, Compared, Group, Noun, Time
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.numbers import read_number, read_quantity
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.reader import DETERMINERS, Reader, is_value_of_rows
from streamhouse.planner.language.restricting import restricts
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.tokens import singular
from streamhouse.planner.language.words import (
    ADVERB_GRAINS,
    AGGREGATES,
    DIRECTIONS,
    GRAIN_PHRASES,
    GRAINS,
    GROUPERS,
    QUESTION_WORDS,
    SUPERLATIVES,
    is_past_form,
)
from streamhouse.planner.request import Grain

_GROUPERS = tuple(sorted(GROUPERS, key=len, reverse=True))
_STARTS = frozenset({*AGGREGATES, *SUPERLATIVES, "how", "number", "count", "only", "where", "with", "share",
                     "percentage", "running", "cumulative", "moving"})  # fmt: skip


def read_groups(reader: Reader) -> tuple[Group, ...]:
    """Read "per store and hour"; empty: nothing is grouped here."""
    start = reader.at
    within = _within(reader)
    if within:
        return (within,)
    doubled = _one_by_one(reader)
    if doubled:
        return (doubled,)
    done = is_past_form(reader.word(-1)) or (reader.word(-1) in _PARTICLES and is_past_form(reader.word(-2)))
    if reader.word() == "by" and reader.word(1) == "the" and done:
        return ()  # "cancelled by the patient" says who did it
    if reader.word() == "by" and _agent(reader, done=done):
        return ()
    opener = reader.take(*_GROUPERS)
    if not opener or reader.number_here() or (opener == "across" and reader.word() == "all"):
        reader.at = start
        return ()
    groups: list[Group] = []
    while True:
        group = _one(reader, certain=opener != "by")
        if group is None:
            break
        groups.append(group)
        _no_shared_head(reader, group)
        back = reader.at
        joined = reader.take(", and", "and", ",", "&", "then by")
        after = reader.at
        again = reader.take(*_GROUPERS)
        if again and (not joined or "and" not in joined or again == "by" != opener):
            reader.at = back
            break
        if again and not reader.number_here():
            continue
        reader.at = after
        if not joined or reader.word() in _STARTS or not _goes_on(reader, joined):
            reader.at = back
            break
    if not groups:
        reader.at = start
    if opener == "per":
        groups = [replace(group, per=True) if isinstance(group, Noun) else group for group in groups]
    return tuple(groups)


_PARTICLES = frozenset({"in", "for", "up", "out", "on", "off"})  # "asked for by", "taken up by"
_OF_AGENTS = frozenset(
    """from who whose that with without aged older younger living in on at over under registered""".split()
)


def _agent(reader: Reader, *, done: bool) -> bool:
    """Whether "by" names who did it: "made by users from Japan", "borrowed by students", "trips by users from Japan".

    A plural alone behind a verb may be both, and so may a plural behind a noun that more is said of; these are asked
    back.
    """
    start = reader.at
    reader.at += 1
    reader.skip({"all", "our", "any"})
    noun = reader.noun() if reader.word() not in GRAINS else None
    end, reader.at = reader.at, start
    if noun is None or not noun.head.is_plural:
        return False
    if not noun.head.of_kind("table"):
        return False
    following = reader.tokens[end].word if end < len(reader.tokens) else ""
    timed = read_period(reader.tokens, end) is not None
    if not done:
        _ask_agent(reader, noun, said_of=(following in _SAID_OF or _says_more(reader, end)) and not timed)
        return False
    if (following in _OF_AGENTS and not timed) or any(mention.of_kind("value") for mention in noun.around):
        return True
    said = f"{reader.word(-1)} by {noun.text}"
    choices = (f"{reader.word(-1)} per {singular(noun.text)}",)
    question = (f"'{said}': one for each of them, or all?", said, choices)
    if question not in reader.draft.questions:
        reader.draft.questions.append(question)
    return True


_SAID_OF = frozenset({"from", "who", "whose", "other", "except", "living", "aged", "older", "younger"})


def _says_more(reader: Reader, end: int) -> bool:
    """Whether more is said of people behind "by": "adoptions by families that have a garden"."""
    words = [token.word for token in reader.tokens[end : end + 3]]
    if words[:1] in (["that"], ["which"]):
        return True
    return words[:1] in (["with"], ["without"]) and words[1:2] in (["a"], ["an"], ["no"])


def _ask_agent(reader: Reader, noun: Noun, *, said_of: bool) -> None:
    """As in "bookings by guests from Norway": a row for each guest, or all bookings of these guests?"""
    if not said_of or noun.around:
        return
    said = f"by {noun.text}"
    question = (f"'{said}': one for each of them, or all of theirs together?", said,
                (f"per {singular(noun.text)}", f"made by {noun.text}"))  # fmt: skip
    if question not in reader.draft.questions:
        reader.draft.questions.append(question)


def _no_shared_head(reader: Reader, group: Group) -> None:
    """As in "origin and destination country": whether the head belongs to both is asked back."""
    if not isinstance(group, Noun) or group.around or len(group.head.words) != 1:
        return
    word, following = group.head.words[0], reader.word(1)
    if reader.word() != "and" or word not in DIRECTIONS or following not in DIRECTIONS or reader.mention(2) is None:
        return
    head = reader.word(2)
    said = f"{group.text} and {following} {head}"
    question = (f"'{said}': the {head} of both?", said, (f"{word} {head} and {following} {head}",))
    if question not in reader.draft.questions:
        reader.draft.questions.append(question)


def _one_by_one(reader: Reader) -> Noun | None:
    """Read "garage by garage"."""
    mention = reader.mention()
    if mention is None or not mention.of_kind("table", "column") or mention.end - mention.start > 2:
        return None
    length = mention.end - mention.start
    words = [reader.word(at) for at in range(2 * length + 1)]
    if words[length] != "by" or words[:length] != words[length + 1 :]:
        return None
    start, reader.at = reader.at, reader.at + length + 1
    noun = reader.noun()
    if noun is None:
        reader.at = start
        return None
    return replace(noun, linked=False)


def _within(reader: Reader) -> Time | None:
    """Read "within a day", "in one hour", "on the same day"."""
    start = reader.at
    if reader.word() == "within" and is_past_form(reader.word(-1)):
        return None  # "paid within a week" says how long it took
    same = reader.word(1) == "the" and reader.word(2) == "same"
    bounded = any(isinstance(one, Compared) for one in (*reader.draft.filters, *(reader.local or ())))
    if not bounded and (same or not (reader.draft.figures or reader.draft.best)):
        return None  # "refunded on the same day" compares two times; "more than 3 on the same day" groups
    if reader.take("within", "in", "during", "on") and reader.take("a single", "the same", "a", "an", "one", "any"):
        word = reader.word()
        if word in GRAINS and GRAINS[word].value == word:
            reader.at += 1
            return Time(GRAINS[word], None, reader.text(start))
    reader.at = start
    return None


def _goes_on(reader: Reader, joined: str) -> bool:
    """Whether what follows a comma or "and" is one more group, and not a number, a condition or a new clause."""
    if read_period(reader.tokens, reader.at) or reader.number_here() or reader.word() in QUESTION_WORDS:
        return False
    back = reader.at
    group = _one(reader, certain=True)
    end, reader.at = reader.at, back
    if group is None or (joined == "," and restricts(reader, reader.at)):
        return False
    if isinstance(group, Noun):
        head = group.head
        best = head.senses[0]
        if best.kind in {"measure", "value"} and not any(
            sense.kind in {"column", "table"} and sense.quality >= best.quality for sense in head.senses
        ):
            return False
        following = reader.tokens[end].word if end < len(reader.tokens) else ""
        compared = following in {"over", "above", "under", "below", "is", "are", "was", "were", "more", "less",
                                 "at", "with", ">", "<", "=", "longer", "between", "has", "have"}  # fmt: skip
        return not compared or joined == "and"
    return True


def read_grain(reader: Reader) -> Time | None:
    """Read a grain: "hour", "day of week", "calendar month"."""
    start = reader.at
    for words, grain in GRAIN_PHRASES.items():
        if reader.take(" ".join(words)):
            return _of(reader, grain, start)
    if reader.word() in GRAINS:
        word = reader.word()
        mention = reader.mention()
        exact = mention and mention.best >= WHOLE_NAME and mention.of_kind("column")
        if mention and (mention.end - mention.start > 1 or (exact and word not in _TIMES)):
            return None
        reader.at += 1
        if word in {"weekday", "weekdays"} and reader.take("name"):
            pass
        return _of(reader, GRAINS[word], start)
    return None


_TIMES = frozenset({"hour", "day", "week", "month", "year", "date", "hours", "days", "weeks", "months"})


def _of(reader: Reader, grain: Grain, start: int) -> Time:
    """The grain with the time column that "of …" names: "month of the appointment", "day of registration"."""
    phrase = reader.text(start)
    back = reader.at
    if reader.take("of"):
        noun = reader.noun() if not read_period(reader.tokens, reader.at) else None
        if noun and noun.head.of_kind("table") and grain in {Grain.HOUR, Grain.MINUTE}:
            said = reader.text(start)
            question = (f"'{said}': a group for each {grain.value}, or a figure by the {grain.value}s?", said, ())
            if question not in reader.draft.questions:
                reader.draft.questions.append(question)
        if noun and noun.head.of_kind("column", "table"):
            return Time(grain, noun, reader.text(start))
        reader.at = back
    return Time(grain, None, phrase)


def _one(reader: Reader, *, certain: bool) -> Group | None:
    start = reader.at
    reader.skip(DETERMINERS | {"different", "distinct", "of"})
    if reader.take("calendar") and reader.word() not in GRAINS:
        reader.at = start
    grain = read_grain(reader)
    if grain:
        return grain
    noun = reader.noun()
    if noun is None:
        reader.at = start
        return None
    noun = _trimmed(reader, noun)
    if not certain and (not noun.head.of_kind("table", "column") or _does(noun)):
        reader.at = start
        return None
    timed = _timed(reader, noun)
    if timed:
        return timed
    return _banded(reader, noun) or noun


def _does(noun: Noun) -> bool:
    """Whether "by" names who did it, not what is grouped by: "by children", "by smart meters"."""
    for mention in noun.mentions:
        value = mention.best_of("value")
        other = max((s.quality for s in mention.senses if s.kind != "value"), default=0.0)
        thing = mention.best_of("table")
        if mention is not noun.head and thing >= value:
            continue  # "insurer of the patient"
        if value >= 0.85 and value > other + (0.01 if mention is noun.head else -0.2):
            return True
    return False


def _trimmed(reader: Reader, noun: Noun) -> Noun:
    """A group without the number behind it: "each product yields" groups by product."""
    before = [one for one in noun.around if one.start < noun.head.start]
    if not before or reader.at != noun.head.end or not _measures(reader, noun):
        return noun
    last = before[-1]
    if not last.of_kind("table", "column"):
        return noun
    reader.at = noun.head.start
    return Noun(last, tuple(before[:-1]), noun.cues)


def _measures(reader: Reader, noun: Noun) -> bool:
    """Whether the head of a noun can only be a number that nobody groups by."""
    tables = reader.lexicon.catalog.tables
    for sense in noun.head.senses:
        if sense.kind in {"table", "value"}:
            return False
        if sense.kind == "column":
            column = tables[sense.table].column(sense.column)
            if not is_number(column) or column.references or sense.column in tables[sense.table].primary_key:
                return False
    return True


def _timed(reader: Reader, noun: Noun) -> Time | None:
    """A time column followed by a grain: "signup month", "order date by month"."""
    if reader.word() in GRAINS and reader.word() not in ADVERB_GRAINS and noun.head.of_kind("column"):
        grain = GRAINS[reader.word()]
        reader.at += 1
        return Time(grain, noun, f"{noun.text} {grain}")
    return None


def _banded(reader: Reader, noun: Noun) -> Bands | None:
    """Bands with their bounds: "distance band: under 2 km, 2 to 5 km, over 5 km"."""
    start = reader.at
    if not reader.take("bands", "band", "ranges", "range", "buckets", "bucket", "groups", "group", "classes", "class"):
        return None
    reader.skip({":", "(", "of", "with", "at", "bounds", "boundaries", "split", "cut", "limits", "the", ","})
    bounds, unit = [], None
    while not reader.done:
        reader.skip({"under", "below", "over", "above", "to", "up", "from", "and", ",", "or", "more", "less", "than",
                     "between", "-", ")", "at", "least", "until", "longer", "shorter"})  # fmt: skip
        found = read_quantity(reader.tokens, reader.at)
        if not found or not read_number(reader.tokens, reader.at):
            break
        bounds.append(found.value)
        unit = found.unit or unit
        reader.at += found.length
    if not bounds:
        reader.at = start
        return None
    return Bands(noun, tuple(sorted(set(bounds))), unit)


def read_adverb(reader: Reader) -> Time | None:
    """Read "monthly", "daily", "day by day", "week by week"."""
    word = reader.word()
    if word and word not in GRAINS and reader.word(1) == "by" and reader.word(2) == word:
        return None
    if word in GRAINS and reader.word(1) == "by" and reader.word(2) == word:
        reader.at += 3
        return Time(GRAINS[word], None, f"{word} by {word}")
    if word in ADVERB_GRAINS and not _is_value(reader):
        reader.at += 1
        return Time(GRAINS[word], None, word)
    return None


def _is_value(reader: Reader) -> bool:
    """Whether "monthly" is a value of a catalog that stands before what has it: "monthly pass"."""
    found = reader.lexicon.mention(reader.tokens, reader.at)
    if found is None or not found.of_kind("value"):
        return bool(found and found.end - found.start > 1)
    after = reader.lexicon.mention(reader.tokens, found.end)
    columns = {(sense.table, sense.column) for sense in found.of_kind("value")}
    named = after is not None and any((s.table, s.column) in columns for s in after.of_kind("column"))
    named = named or (after is not None and is_value_of_rows(found, after))  # "annual permits"
    return named or found.end - found.start > 1


def without(noun: Noun) -> Noun:
    """The noun without the words around it."""
    return replace(noun, around=())
