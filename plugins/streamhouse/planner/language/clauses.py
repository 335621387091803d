"""Conditions of a wish: comparisons, values, nulls, times, negation, lists."""

from dataclasses import replace
from decimal import Decimal

from streamhouse.planner.language.averages import read_average
from streamhouse.planner.language.draft import (
    Clause,
    Compared,
    Either,
    Figure,
    Is,
    Lasting,
    Noun,
    Present,
    When,
)
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.numbers import Quantity, read_number, read_quantity, read_unit
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.reader import AUXILIARIES, DETERMINERS, Reader
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.sides import other_side
from streamhouse.planner.language.tokens import stem
from streamhouse.planner.language.words import (
    AFTER_NUMBER,
    COMPARATIVES,
    EXCEPT,
    NEGATED,
    OPERATORS,
    WITHOUT,
    is_past_form,
)

Left = Noun | Figure | Lasting | None
_OPERATORS = tuple(sorted(OPERATORS, key=lambda pair: -len(pair[0])))


def read_operator(reader: Reader) -> tuple[str, str] | None:
    """Read an operator before a number: which, and the hint that a comparative gives."""
    start = reader.at
    while reader.word() in {"is", "are", "was", "were", "be", "being", "of", "stands", "at", "by"}:
        if reader.word() == "at" and reader.word(1) in {"least", "most"}:
            break
        reader.at += 1
    negated = bool(reader.take("not", "no"))
    found = COMPARATIVES.get(reader.word())
    expensive = reader.word() in {"more", "less"} and reader.word(1) == "expensive"
    than = 2 if expensive else 1
    if found and reader.word(than) == "than":
        operator, hint = found
        reader.at += than + 1
        return (NEGATED[operator] if negated else operator), ("price" if expensive else hint)
    for phrase, operator in _OPERATORS:
        if reader.take(phrase):
            return (NEGATED[operator] if negated else operator), ""
    reader.at = start
    return None


def read_compared(reader: Reader, left: Left, subject: Noun | None = None) -> Compared | None:
    """Read a comparison with a number: "over 50 dollars", "between 2 and 5 km", "10 or more", "above average"."""
    start = reader.at
    average = read_average(reader, left)
    if average:
        return average
    between = _between(reader, left, subject)
    if between:
        return between
    found = read_operator(reader)
    operator, hint = found or ("", "")
    quantity = _quantity(reader)
    if quantity is None and operator:
        reader.skip({"a", "an", "the", "value", "total", "of"})
        quantity = _quantity(reader)
    if quantity is None:
        reader.at = start
        return None
    after = _after_number(reader)
    operator = after or operator
    if operator and quantity.unit is None and (reader.take("times") or quantity.length == 0):
        rows = Figure("rows", phrase=reader.text(start))
        return Compared(rows, operator, quantity, subject=subject, phrase=reader.text(start))
    if not operator:
        reader.at = start
        return None
    if quantity.unit is None:
        _skip_own_unit(reader, left)
    return Compared(left, operator, quantity, hint=hint, subject=subject, phrase=reader.text(start))


def _skip_own_unit(reader: Reader, left: Left) -> None:
    """Read on over what a number counts where the compared column is in it: "rating below 3 stars"."""
    noun = left.noun if isinstance(left, Figure) else left
    if not isinstance(noun, Noun) or not reader.word().isalpha():
        return
    tables = reader.lexicon.catalog.tables
    units = {tables[s.table].column(s.column).unit for s in noun.head.of_kind("column")}
    units |= {tables[s.table].measures[s.measure].unit for s in noun.head.of_kind("measure")}
    if any(unit and stem(unit) == stem(reader.word()) for unit in units):
        reader.at += 1


def _quantity(reader: Reader) -> Quantity | None:
    quantity = read_quantity(reader.tokens, reader.at)
    if quantity is None and reader.word() in {"a", "an"}:  # an hour
        unit, length = read_unit(reader.tokens, reader.at + 1)
        if unit:
            quantity = Quantity(Decimal(1), unit, 1 + length)
    if quantity:
        quantity = _counting(reader, quantity)
        reader.at += quantity.length
        return quantity
    if reader.word() == "half" and reader.word(1) in {"a", "an"}:
        unit, length = read_unit(reader.tokens, reader.at + 2)
        if unit:
            reader.at += 2 + length
            return Quantity(Decimal("0.5"), unit, 2 + length)
    often = {"once": 1, "twice": 2, "thrice": 3}.get(reader.word())
    if often:
        reader.at += 1
        return Quantity(Decimal(often), None, 0)
    return None


def _counting(reader: Reader, quantity: Quantity) -> Quantity:
    """A number without its unit where that is a thing of the catalog: "more than one meter"."""
    number = read_number(reader.tokens, reader.at)
    if quantity.unit is None or quantity.unit.measures != "length" or number is None:
        return quantity
    thing = reader.lexicon.mention(reader.tokens, reader.at + number[1], 1)
    counted = thing is not None and any(sense.quality >= WHOLE_NAME for sense in thing.of_kind("table"))
    return Quantity(number[0], None, number[1]) if counted else quantity


def _after_number(reader: Reader) -> str:
    for phrase, operator in AFTER_NUMBER:
        length = reader.length_of(phrase)
        if length and reader.word(length) != "than":  # "less than 10 and more than 5" has two bounds
            reader.at += length
            return operator
    return ""


def read_lasted(reader: Reader, noun: Noun) -> Compared | None:
    """Read "answered within 1 hour", "closed after more than 3 days": the time until something was done."""
    start = reader.at
    within = reader.take("within", "in less than", "in under", "in at most", "in no more than", "after more than",
                         "after at least", "only after", "later than", "more than", "less than")  # fmt: skip
    quantity = _quantity(reader) if within else None
    if quantity is None or quantity.unit is None or quantity.unit.measures != "time":
        reader.at = start
        return None
    reader.take("of opening", "of submission", "after opening", "later", "after submission")
    first = _moment_before(reader)
    operator = {"within": "<=", "in at most": "<=", "in no more than": "<=", "in less than": "<", "in under": "<",
                "less than": "<", "after at least": ">="}.get(within, ">")  # fmt: skip
    return Compared(Lasting(first, noun), operator, quantity, phrase=f"{noun.text} {reader.text(start)}")


def _moment_before(reader: Reader) -> Noun | None:
    """Read the moment that a time is counted from: "of joining", "after the delivery"."""
    start = reader.at
    if reader.take("of", "after", "from"):
        reader.skip(DETERMINERS | {"being", "when", "they", "it"})
        found = reader.mention()
        tables = reader.lexicon.catalog.tables
        if found and any(tables[s.table].column(s.column).type in TIMES for s in found.of_kind("column")):
            reader.at = found.end
            return Noun(found)
    reader.at = start
    return None


def _between(reader: Reader, left: Left, subject: Noun | None) -> Compared | None:
    start = reader.at
    reader.skip({"is", "are", "was", "were", "of"})
    negated = bool(reader.take("not"))
    opener = reader.take("between", "from", "in the range of", "ranging from")
    low = read_quantity(reader.tokens, reader.at) if opener else None
    if low is None:
        reader.at = start
        return None
    reader.at += low.length
    joined = reader.take("and", "to", "up to")
    high = read_quantity(reader.tokens, reader.at) if joined else None
    if high is None:
        reader.at = start
        return None
    reader.at += high.length
    low = replace(low, unit=low.unit or high.unit)
    return Compared(
        left, "not between" if negated else "between", low, high, subject=subject, phrase=reader.text(start)
    )


def read_columns_compared(reader: Reader, left: Noun) -> Compared | None:
    """Read a comparison of a column with another: "whose discount is higher than the price"."""
    start = reader.at
    found = read_operator(reader)
    right = reader.noun() if found else None
    if not found or not right or not right.head.of_kind("column", "measure"):
        reader.at = start
        return None
    return Compared(left, found[0], right=right, phrase=f"{left.text} {reader.text(start)}")


def read_without(reader: Reader) -> Clause | None:
    """Read "without any orders", "with no email", "that have a rating"."""
    start = reader.at
    if reader.take(*sorted(WITHOUT, key=len, reverse=True)) and not _begins_name(reader):
        noun = reader.noun()
        if noun and not reader.word().startswith("%"):
            return with_time(reader, Present(noun, False, phrase=reader.text(start)), start)
    reader.at = start
    return None


def _begins_name(reader: Reader) -> bool:
    """Whether the "no" that was read begins a name: "emergencies and | no-shows"."""
    found = reader.lexicon.mention(reader.tokens, reader.at - 1) if reader.word(-1) == "no" else None
    return found is not None and found.end > reader.at and found.best >= WHOLE_NAME


def with_time(reader: Reader, clause: Present, start: int) -> Present:
    """The clause with the time directly behind it: "without any order in 2023"."""
    reader.take("at all")
    found = read_when(reader)
    return replace(clause, filters=(*clause.filters, found), phrase=reader.text(start)) if found else clause


def read_except(reader: Reader) -> Clause | None:
    """Read "except store 330", "excluding cancelled rides"."""
    start = reader.at
    if not (reader.take(*sorted(EXCEPT, key=len, reverse=True)) or (_all_but(reader) and reader.take("but"))):
        return None
    if read_period(reader.tokens, reader.at):
        found = read_when(reader)
        if found:
            return replace(found, negated=not found.negated, phrase=reader.text(start))
    reader.skip(DETERMINERS | {"from", "for", "in", "those", "ones", "with", "that", "were", "are", "was"})
    clause = read_value(reader)
    if clause and isinstance(clause, Is) and not _is_deed(reader, clause):
        return replace(clause, negated=not clause.negated, phrase=reader.text(start))
    reader.at = start
    return None


def _is_deed(reader: Reader, clause: Is) -> bool:
    """Whether a participle is the name of a time rather than a value that is called similarly: "but not picked up"."""
    tables = reader.lexicon.catalog.tables
    value = clause.values[0]
    if len(clause.values) > 1 or not isinstance(value, Mention) or not is_past_form(value.words[0]):
        return False
    best = value.best_of("value")
    named = [s for s in value.of_kind("column") if s.quality >= WHOLE_NAME and s.quality > best]
    return any(tables[s.table].column(s.column).type in TIMES for s in named)


_ALL = frozenset("all any every each everything everyone everybody anything anyone anybody".split())


def _all_but(reader: Reader) -> bool:
    """Whether "but" leaves something out: "all types but sedans", "any song but rock"."""
    return reader.word() == "but" and any(reader.word(-back) in _ALL for back in range(1, 4))


def read_when(reader: Reader, verb: Mention | None = None) -> When | None:
    """Read a time: "in March 2017", "on weekends"."""
    found = read_period(reader.tokens, reader.at)
    if not found:
        return None
    start = reader.at
    period, length = found
    reader.at += length
    both = other_side(reader, period, verb, start)
    negated, reader.negated = reader.negated, False
    return When(both or period, verb, negated, reader.text(start))


def keep_around(reader: Reader, noun: Noun) -> None:
    """Keep what stands before a time: its thing, or what is said as well: "marked" of "marked queen from 2025"."""
    thing = next((mention for mention in noun.around if mention.of_kind("table")), None)
    if thing is not None:
        reader.draft.nouns.append(Noun(thing, tuple(mention for mention in noun.around if mention is not thing)))
        return
    for mention in noun.around:
        reader.keep(Present(Noun(mention), True, phrase=mention.text))


def read_value(reader: Reader) -> Clause | None:
    """Read values: "cancelled", "Berlin or Hamburg", "store 330", "status 'open'"."""
    start = reader.at
    noun = reader.noun()
    if noun is None:
        token = reader.tokens[reader.at] if not reader.done else None
        if token and token.kind == "quoted":
            reader.at += 1
            return _with_more(reader, Is((token.word,), None, reader.negated, token.text), start)
        return None
    of, values = _designated(reader, noun)
    if not values:
        reader.at = start
        return None
    clause = Is(tuple(values), of, reader.negated, reader.text(start), cues=noun.cues)
    return _with_more(reader, clause, start)


def _designated(reader: Reader, noun: Noun) -> tuple[Noun | None, list[Mention | str]]:
    """Split "status open", "open status", "store 330" into the column and its values."""
    mentions = sorted(noun.mentions, key=lambda one: one.start)
    names = [one for one in mentions if not one.of_kind("value")]
    values: list[Mention | str] = [one for one in mentions if one.of_kind("value")]
    literal = read_literal(reader) if mentions[-1].of_kind("column", "table") else None
    if literal is not None:
        if len(mentions) > 1:
            reader.draft.nouns.append(Noun(mentions[0], tuple(mentions[1:-1])))
        return Noun(mentions[-1], (), noun.cues), [literal]
    if not names:
        return None, values
    of = Noun(names[-1], tuple(names[:-1]), noun.cues)
    return (of, values) if values else (None, [])


def read_literal(reader: Reader) -> str | None:
    """Read a value that no catalog knows, directly behind its column: a number, a code, a quoted text."""
    start = reader.at
    reader.take("number", "no", "#", "id", "code", "=", "is", "called", "named", "equals", "equal to")
    if reader.done:
        reader.at = start
        return None
    token = reader.tokens[reader.at]
    is_code = token.kind == "word" and any(map(str.isdigit, token.word))
    if token.kind == "quoted" or is_code:
        reader.at += 1
        return token.word if token.kind == "quoted" else token.text
    number = read_number(reader.tokens, reader.at)
    if number and token.kind == "number" and not token.money:
        after = reader.at + number[1]
        following = reader.tokens[after] if after < len(reader.tokens) else None
        if read_unit(reader.tokens, after)[0] is None and not (following and _open_number(reader, after)):
            reader.at = after
            return str(number[0])
    reader.at = start
    return None


def _open_number(reader: Reader, after: int) -> bool:
    """Whether a number goes on as "10 or more", or "10 %"."""
    words = [token.word for token in reader.tokens[after : after + 2]]
    return words[:1] == ["%"] or " ".join(words) in {phrase for phrase, _ in AFTER_NUMBER}


def _with_more(reader: Reader, clause: Is, start: int) -> Clause:
    """Read further values of a list: "Berlin, Hamburg or Munich"."""
    values = list(clause.values)
    others: list[Clause] = []
    both = anded = False
    said = _is_said(reader, start)
    while True:
        back = reader.at
        joiner = reader.take(", or", ", and", "or", "and", "nor", ",", "/")
        again = reader.take("in", "from", "at", "by", "with", "to")
        both = both or bool(again and "and" in joiner)
        anded = anded or "and" in joiner
        reader.skip(DETERMINERS | {"were", "was", "are", "is"} if "or" in joiner else DETERMINERS)
        token = reader.tokens[reader.at] if not reader.done else None
        if not joiner or token is None:
            reader.at = back
            break
        mention = reader.mention()
        if token.kind == "quoted":
            values.append(token.word)
            reader.at += 1
            continue
        if (
            mention
            and mention.of_kind("value", "column")
            and read_period(reader.tokens, mention.end)
            and _done(mention)
        ):
            reader.at = back
            break  # "lost or delivered before May": the time belongs to one of them
        if mention and mention.of_kind("value") and _same_column(values, mention, clause.of):
            values.append(mention)
            reader.at = mention.end
            continue
        if mention is None and clause.of is not None and isinstance(values[-1], str):
            literal = read_literal(reader)
            if literal is not None:
                values.append(literal)
                continue
        if joiner.endswith("or") and mention and mention.of_kind("value"):
            reader.at = mention.end
            others.append(Is((mention,), None, clause.negated, mention.text))
            continue
        reader.at = back
        break
    several = len(values) > 1
    begin = start - _said_of_both(reader, start)
    whole = replace(clause, values=tuple(values), phrase=reader.text(begin), both=both and several)
    whole = replace(whole, said=said and anded and several)
    return Either((whole, *others)) if others else whole


def _is_said(reader: Reader, start: int) -> bool:
    """Whether "are" stands before a value, or before the values that "and" joins to it: "are open and late"."""
    filters = reader.draft.filters if reader.local is None else reader.local
    last = filters[-1] if filters else None
    if start > 1 and reader.tokens[start - 1].word == "and" and isinstance(last, Is) and not last.negated:
        begin = start - 1 - len(last.phrase.split())
        if begin > 0 and reader.text(begin, start - 1) == last.phrase:
            start = begin
    start -= _said_of_both(reader, start)
    return start > 0 and reader.tokens[start - 1].word in _SAYING


def _said_of_both(reader: Reader, start: int) -> bool:
    """Whether "both" stands behind "are" and before values: "were both cancelled and completed"."""
    words = [token.word for token in reader.tokens[max(start - 2, 0) : start]]
    return words[-1:] == ["both"] and words[0] in _SAYING


_SAYING = frozenset({"is", "are", "was", "were", "be", "been", "being", "got", "gets", "get"})


def _done(mention: Mention) -> bool:
    return len(mention.words) == 1 and mention.words[0].endswith("ed")


def _same_column(values: list[Mention | str | Decimal], mention: Mention, of: Noun | None) -> bool:
    if of is not None:
        return True
    first = values[0]
    if not isinstance(first, Mention):
        return False
    known = {(sense.table, sense.column) for sense in first.of_kind("value")}
    return any((sense.table, sense.column) in known for sense in mention.of_kind("value"))


def skip_auxiliaries(reader: Reader) -> bool:
    """Read "is", "that were", "which have not": a negation among them waits for the next clause."""
    start = reader.at
    while reader.word() in AUXILIARIES or reader.word() in {"not", "never", "yet"}:
        if reader.word() in {"not", "never"}:
            reader.negated = True
        reader.at += 1
    return reader.at > start
