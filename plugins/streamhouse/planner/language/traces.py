"""What in a Request shows that a word of the grammar was read: "total" is a sum, "changed" is a change.

A word has a trace where it says what is asked for anyway: "total revenue" and "revenue" are one sum, so the answer is
the same without the word, and yet the word was not passed over.
"""

import re
from collections.abc import Callable
from decimal import Decimal

from streamhouse.planner.language.excused import said_of_all
from streamhouse.planner.language.options import AFTER_FRESH, ALERTS, FRESH
from streamhouse.planner.language.reader import MEANINGFUL
from streamhouse.planner.language.request_parts import RequestParts
from streamhouse.planner.language.tokens import singular, stem, stems
from streamhouse.planner.language.units import unit_of
from streamhouse.planner.language.words import (
    ADVERB_GRAINS,
    ARTICLES,
    DOING,
    EXTREMES,
    GRAINS,
    LIGHT_STEMS,
    MONTHS,
    NEGATIONS,
    STARTERS,
    SUPERLATIVES,
    VERB_NOUNS,
    is_past_form,
)
from streamhouse.planner.request import (
    AnyOf,
    ColumnRef,
    Condition,
    Cut,
    During,
    Grain,
    Related,
    Request,
)


def has_trace(words: list[str], at: int, answer: RequestParts, *, is_name: bool = False) -> bool:
    """Whether what a word of the grammar says is visible in the answer; of the name of something else no verb is."""
    word = words[at]
    if any(trace(words, at, answer) for trace in _BY_WORD.get(word) or _BY_WORD.get(singular(word), ())):
        return True
    if word in _OF_RESULTS and set(words[:at]) <= _BEGINS:
        return True
    if (
        at
        and word[0].isdigit()
        and (_is_month(words[at - 1], answer) or _is_month(" ".join(words[at + 1 : at + 2]), answer))
    ):
        return True  # a day of a month: its end is the next day
    if _BEHIND.get(word, frozenset()) & set(words[at + 1 : at + 2]):
        return True
    if any(check(word, answer) for check in (_is_unit, _is_month, _is_number)):
        return True
    if _is_doer(words, at, answer):
        return True
    return not is_name and (_is_deed(word, answer) or _is_described(word, answer) or _is_light(words, at))


def _is_unit(word: str, answer: RequestParts) -> bool:
    unit = unit_of(word)
    return unit is not None and unit.name in answer.units


_OF_RESULTS = frozenset("keep track monitor table view report dashboard live continuous continuously".split())
_BEGINS = _OF_RESULTS | STARTERS | {"of", "for", "with"}


def options_said(request: Request) -> frozenset[str]:
    """Words for what a Request says of its result: how fresh it is, its layer, its name."""
    said = f"{_FRESHNESS} {_LENGTHS} keep kept" if request.freshness is not None else ""
    said += f" layer {request.layer.value} put store save" if request.layer is not None else ""
    if request.name is not None:
        said += f" call called name named under save store put result table {request.name.replace('_', ' ')}"
    said += f" {_ALERT}" if request.alert else ""
    return frozenset(said.split())


_FRESHNESS = " ".join({word for phrase in (*FRESH, *AFTER_FRESH) for word in phrase.split()})
_ALERT = " ".join({word for phrase in ALERTS for word in phrase.split()} - {"every", "any", "all"}) + (
    " sound alarm ring bell raise message mail warning send whenever soon once inform"
)
_LENGTHS = "second seconds minute minutes hour hours day days every"


def _is_number(word: str, answer: RequestParts) -> bool:
    """Whether a number, or the part of a date, is in the answer; the first of a month begins it."""
    if not word[0].isdigit():
        return False
    parts = [Decimal(part) for part in re.findall(r"\d+(?:\.\d+)?", word.replace(",", ""))]
    return all(any(part * scale in answer.numbers for scale in _SCALES) for part in parts)


_SCALES = tuple(map(Decimal, ("1", "100", "0.01", "1000", "0.001", "60", "3600", "86400")))


def _is_deed(word: str, answer: RequestParts) -> bool:
    """Whether a verb says what each row of a table that is read is there for: "sold" of sales, or their time.

    Or it says by which key others are reached: "led", where that is the number of the leader.
    """
    used, lexicon = answer.used, answer.used.lexicon
    nouns = [sense for noun in VERB_NOUNS.get(stem(word), ()) for sense in lexicon.meanings(stems(noun))]
    if any(sense.kind in {"table", "measure"} and sense.table in used.tables for sense in nouns):
        return True
    times = [
        sense for sense in lexicon.meanings((stem(word),)) if sense.kind == "column" and sense.table in used.tables
    ]
    if any(lexicon.catalog.tables[sense.table].event_time == sense.column for sense in times):
        return True
    verb = stem(word)
    doers = {f"{verb}{ending}" for ending in ("er", "r", "or")}
    return verb != word and any(doers & set(column.split("_")) for column in answer.keys)


def _is_doer(words: list[str], at: int, answer: RequestParts) -> bool:
    """As in "how much did visitors pay": who did what is added up, where each row has one."""
    before = next((word for word in reversed(words[:at]) if word not in {"the", "our", "all"}), "")
    if before not in DOING or not answer.functions:
        return False
    tables = answer.used.lexicon.catalog.tables
    things = {
        column.references[0] for name in answer.used.tables for column in tables[name].columns if column.references
    }
    senses = answer.used.lexicon.meanings((stem(words[at]),))
    return any(sense.kind == "table" and sense.table in things for sense in senses)


def _is_described(word: str, answer: RequestParts) -> bool:
    """Whether a description of what the answer goes by says a word of all rows; that of a table says only verbs."""
    used, catalog = answer.used, answer.used.lexicon.catalog
    if word in ADVERB_GRAINS:
        return any(sense.table in used.tables for sense in used.lexicon.described.get(stem(GRAINS[word].value), ()))
    if word in MEANINGFUL:
        return False
    for sense in used.lexicon.described.get(stem(word), ()):
        column = sense.kind == "column" and (sense.table, sense.column) in answer.columns
        deed = sense.kind == "table" and sense.table in used.tables and is_past_form(word)
        if (column or deed) and said_of_all(word, sense, catalog):
            return True
    return False


_LIGHT = LIGHT_STEMS | {stem("goes"), stem("use")}


def _is_light(words: list[str], at: int) -> bool:
    """Whether a verb says no more than that rows are there; "logged in" and "report to" are others."""
    if words[at].endswith("ed") and words[at + 1 : at + 2] and words[at + 1] in _PARTICLES and len(words) == at + 2:
        return False
    if words[at + 1 : at + 2] == ["to"] and stem(words[at]) == stem("report"):
        return False
    return stem(words[at]) in _LIGHT and not (words[at].endswith("ing") and words[at - 1 : at] in (["is"], ["are"]))


_PARTICLES = frozenset({"in", "out", "up", "off", "on"})


def _is_month(word: str, answer: RequestParts) -> bool:
    if word not in MONTHS:
        return False
    for one in answer.filters:
        if isinstance(one, During) and (one.since or one.until) is not None:
            ends = [end.year * 12 + end.month for end in (one.since, one.until) if end is not None]
            first, last = ends[0], ends[-1]
            if any((month - 1) % 12 + 1 == MONTHS[word] for month in range(first, last + 1)):
                return True
    return False


def _figure(words: list[str], at: int, answer: RequestParts) -> bool:
    """A number of something; "no." before "of" is one, too."""
    return bool(answer.functions) and (words[at] != "no" or words[at + 1 : at + 2] == ["of"])


def _count(_words: list[str], _at: int, answer: RequestParts) -> bool:
    return bool({"count", "count distinct", "sum"} & answer.functions)


def _sum(words: list[str], at: int, answer: RequestParts) -> bool:
    """A total; "the total" behind other words asks for one more figure."""
    following = words[at + 1 : at + 2]
    if following and (following[0] in _PERIODS | {"each", "every"} or following[0][0].isdigit()):
        return False
    return bool(following or words[at - 1 : at] != ["the"]) and _count(words, at, answer)


_PERIODS = frozenset({*MONTHS, "first", "second", "third", "fourth", "last", "quarter", "half"})


def _each(words: list[str], _at: int, answer: RequestParts) -> bool:
    """A group; an average is one of each row: "average freight per order"."""
    return sum(word in _GROUPING for word in words) <= answer.groups + ("avg" in answer.functions)


def _grain(words: list[str], at: int, answer: RequestParts) -> bool:
    again = any(cut.comes_again for cut in answer.cuts)
    return GRAINS.get(words[at]) in answer.cuts or (
        "of" in (*words[at - 1 : at], *words[at - 2 : at], *words[at + 1 :]) and again
    )


def _changes(_words: list[str], _at: int, answer: RequestParts) -> bool:
    return bool({"change", "previous"} & answer.derived)


def _banded(_words: list[str], _at: int, answer: RequestParts) -> bool:
    return any(one.of.kind == "banded" for block in answer.blocks for one in block.dimensions)


def _lasting(_words: list[str], _at: int, answer: RequestParts) -> bool:
    """Between two times of one row."""
    return '"kind":"between"' in answer.request.block.model_dump_json()


def _either(_words: list[str], _at: int, answer: RequestParts) -> bool:
    """A choice: several values of a column, or several conditions."""
    return any(
        isinstance(one, AnyOf) or (isinstance(one, Condition) and len(one.values) > 1) for one in answer.filters
    ) or any(isinstance(one, Condition) and one.operator in {"<=", ">="} for one in answer.filters)


def _restricts(words: list[str], at: int, answer: RequestParts) -> bool:
    return bool(answer.filters) and not {"per", "by", "each", "every", "the"} & set(words[at + 1 : at + 2])


def _lasts(_words: list[str], _at: int, answer: RequestParts) -> bool:
    """What is still so, or not yet: an empty time, a flag or a state."""
    operators = {one.operator for one in answer.filters if isinstance(one, Condition)}
    related = any(isinstance(one, Related) and not one.exists for one in answer.filters)
    return related or bool(operators & {"is null", "=", "<>", "in", "not in"})


def _percent(_words: list[str], _at: int, answer: RequestParts) -> bool:
    return bool({"ratio", "share", "change"} & answer.derived) or "percent" in answer.units


def _denied(words: list[str], _at: int, answer: RequestParts) -> bool:
    """As in "not any": behind what is denied, or of the highest or lowest of all."""
    denied = NEGATIONS & set(words) or any(word.endswith("n't") for word in words)
    return bool(denied) or bool({"min", "max"} & answer.functions)


def _one(words: list[str], at: int, answer: RequestParts) -> bool:
    counted = words[at - 1 : at] in (["a"], ["one"], ["any"])
    return counted and (answer.request.alert or _denied(words, at, answer))


def _alarmed(_words: list[str], _at: int, answer: RequestParts) -> bool:
    return answer.request.alert


def _wanted(words: list[str], at: int, _answer: RequestParts) -> bool:
    """As in "I would like"."""
    return bool(set(words[at - 1 : at]) & {"would", "i", "we", "you"})


def _all_of(words: list[str], at: int, _answer: RequestParts) -> bool:
    """As in "all stores" and "at all"; behind a verb it is said of all rows of a thing."""
    before, following = words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
    if before == "at" or before in _OPENERS or following in _DETERMINERS:
        return True
    return before in _LEADING and bool(following) and following not in _CLAUSES


_LEADING = frozenset({"", "of", "for", "in", "from", "by", "among", "amongst", "across", "to", "with", "on", "and",
                      "or", "about", "number", "count", "many", "over", "total", "average", "which", "what",
                      "excluding", "are", "than"})  # fmt: skip
_DETERMINERS = frozenset({"the", "our", "their", "these", "those", "my", "its"})
_OPENERS = frozenset({"list", "show", "me", "display", "find", "get", "give"})
_CLAUSES = frozenset({"that", "which", "who", "whose", "per", "by", "with", "without", "in", "on", "at", "for", "and",
                      "or", "than", "each", "every"})  # fmt: skip


def _distinct(_words: list[str], _at: int, answer: RequestParts) -> bool:
    once = any(block.dimensions and not block.measures for block in answer.blocks)
    return once or "count distinct" in answer.functions or "distinct" in answer.functions


def _clock(_words: list[str], _at: int, answer: RequestParts) -> bool:
    lefts = [one.left for one in answer.filters if isinstance(one, Condition)]
    return any(isinstance(left, Cut) and left.grain is Grain.HOUR_OF_DAY for left in lefts)


def _timed(_words: list[str], _at: int, answer: RequestParts) -> bool:
    """As in "when": it asks for a time, or begins what an alert is about."""
    block = answer.request.block
    shown = any(isinstance(one.of, ColumnRef) for one in block.columns)
    return answer.request.alert or shown or block.pick is not None or bool({"first", "last", "min", "max"} & (
        answer.functions
    ))  # fmt: skip


def _always(_words: list[str], _at: int, answer: RequestParts) -> bool:
    """As in "lifetime spend", where no time restricts the rows."""
    return not any(isinstance(one, During) for one in answer.filters)


def _of_all_time(words: list[str], at: int, answer: RequestParts) -> bool:
    """As in "the longest ride ever" and "of all time", where no time restricts the rows that are ranked."""
    last = at == len(words) - 1 and (words[at] == "ever" or words[at - 1 : at] == ["all"])
    return last and answer.request.ranking is not None and _always(words, at, answer)


def _priced(_words: list[str], _at: int, answer: RequestParts) -> bool:
    """As in "who cost more than 35 euros an hour": a bound on money."""
    return bool(_MONEY & answer.units) and bool(answer.filters)


_MONEY = frozenset({"cents", "euros", "dollars", "pounds"})


def _weighed(_words: list[str], _at: int, answer: RequestParts) -> bool:
    """As in "animals that weigh more than 30 kg": a bound on a mass."""
    masses = any((unit := unit_of(name)) is not None and unit.measures == "mass" for name in answer.units)
    return masses and bool(answer.filters)


def _moved(words: list[str], at: int, answer: RequestParts) -> bool:
    """As in "km driven": a verb behind a unit that says no more than that the amount is there."""
    return at > 0 and _is_unit(words[at - 1], answer) and "sum" in answer.functions


def _by_way(words: list[str], at: int, answer: RequestParts) -> bool:
    """As in "booked over the phone": no number follows, and a value restricts the rows."""
    behind = next((word for word in words[at + 1 :] if word not in ARTICLES), "")
    chosen = any(isinstance(one, Condition) and one.operator in {"=", "in"} for one in answer.filters)
    return bool(behind) and not behind[0].isdigit() and chosen


def _done_to(words: list[str], at: int, _answer: RequestParts) -> bool:
    """As in "who bought something": what was done was done to something."""
    before = words[at - 1] if at else ""
    return is_past_form(before)


def _amount(words: list[str], at: int, answer: RequestParts) -> bool:
    """As in "ticket value" and "income from fines": an amount of money; behind "and" it is one more."""
    return bool(_MONEY & answer.units) and bool(answer.functions) and words[at - 1 : at] not in (["and"], ["the"])


def _in_unit(words: list[str], at: int, answer: RequestParts) -> bool:
    """As in "expressed in hours"."""
    behind = words[at + 1 : at + 3]
    return behind[:1] in (["in"], ["as"]) and len(behind) > 1 and _is_unit(behind[1], answer)


def _alone(_words: list[str], _at: int, answer: RequestParts) -> bool:
    """As in "one figure": there are no groups."""
    return not answer.groups


def _of_one_row(words: list[str], at: int, answer: RequestParts) -> bool:
    """As in "the biggest single order": the highest or lowest number is that of one row."""
    before = words[at - 1] if at else ""
    sized = before in SUPERLATIVES or before in EXTREMES
    return sized and len(answer.blocks) == 1 and bool({"max", "min"} & answer.functions)


def _whether(words: list[str], at: int, _answer: RequestParts) -> bool:
    """As in "whether they came back or not"."""
    return "whether" in words[:at] and words[at - 1 : at] == ["or"]


def _bounded(words: list[str], at: int, answer: RequestParts) -> bool:
    """As in "charges that needed two or more reminders": a number that rows have is bounded."""
    bounds = (one.operator for one in answer.filters if isinstance(one, Condition))
    return words[at - 1 : at] in (["that"], ["which"], ["who"]) and bool({"<", "<=", ">", ">="} & set(bounds))


def _makes_share(words: list[str], at: int, answer: RequestParts) -> bool:
    """As in "what share of the total cost does each fault cause"."""
    return at == len(words) - 1 and "share" in answer.derived


def _last_word(words: list[str], at: int, _answer: RequestParts) -> bool:
    return at == len(words) - 1


_BEHIND = {
    "calendar": frozenset(GRAINS), "right": frozenset({"now"}), "together": frozenset({"with"}),
    "over": frozenset({"each", "every", "which", "what"}), "within": frozenset({"each", "every"}),
    "out": frozenset({"on"}), "one": frozenset({"figure"}), "across": frozenset({"all", "each", "every"}),
}  # fmt: skip
"""Word → words behind it before which it says nothing."""


Trace = Callable[[list[str], int, RequestParts], bool]
_GROUPING = frozenset({"per", "each", "every"})
_TRACES: tuple[tuple[str, Trace], ...] = (
    ("number no nos nr num qty quantity", _figure),
    ("count many much often headcount tally counted", _count),
    ("total sum altogether together amount money combined overall up", _sum),
    ("per each every separate separately own", _each),
    (" ".join(GRAINS), _grain),
    (
        "change changed changes growth grow grown develop developed evolve next previous compared against versus vs",
        _changes,
    ),
    ("under over above below between less more than", _banded),
    ("after before between until till", _lasting),
    ("or either", _either),
    ("only just", _restricts),
    ("still yet already", _lasts),
    ("percent percentage pct", _percent),
    ("any ever anything", _denied),
    ("any", _alarmed),
    ("like", _wanted),
    ("single", _one),
    ("single", _of_one_row),
    ("all", _all_of),
    ("different distinct unique", _distinct),
    ("am pm", _clock),
    ("when whenever", _timed),
    ("lifetime entire whole complete", _always),
    ("ever time times", _of_all_time),
    ("not", _whether),
    ("spent", _sum),
    ("cost costs paid earn earns pay pays worth", _priced),
    ("weigh weighs weighed weighing", _weighed),
    ("something", _done_to),
    ("over", _by_way),
    ("driven ridden travelled traveled carried moved transported hauled", _moved),
    ("value worth income takings earnings", _amount),
    ("figure", _alone),
    ("expressed given shown stated converted displayed measured", _in_unit),
    ("too", _last_word),
    ("needed need required require", _bounded),
    ("cause produce generate consume use", _makes_share),
)
_BY_WORD: dict[str, tuple[Trace, ...]] = {
    word: tuple(trace for words, trace in _TRACES if word in words.split())
    for said, _ in _TRACES
    for word in said.split()
}
