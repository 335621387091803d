"""What a wish says of a noun: values, comparisons, negations, states."""

from dataclasses import replace
from decimal import Decimal

from streamhouse.planner.language.amounts_behind import amount_behind
from streamhouse.planner.language.clauses import (
    keep_around,
    read_columns_compared,
    read_compared,
    read_lasted,
    read_literal,
    read_value,
    read_when,
    with_time,
)
from streamhouse.planner.language.draft import (
    Clause,
    Compared,
    Figure,
    Is,
    Noun,
    Present,
    State,
)
from streamhouse.planner.language.levels import LAST_WORD, NEARLY_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.numbers import Quantity
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.reader import AUXILIARIES, Reader, is_done, is_verb
from streamhouse.planner.language.restricting import restricts_rows
from streamhouse.planner.language.said_columns import said_with_column
from streamhouse.planner.language.scope import is_number, is_year
from streamhouse.planner.language.tokens import stem
from streamhouse.planner.language.words import NEGATED, STATES, is_past_form

_TIMES = frozenset({"timestamp", "date", "timestamp_ntz"})


def noun_next(reader: Reader) -> bool:
    """Whether what a number counts stands directly behind it."""
    mention = reader.mention()
    return mention is not None and bool(mention.senses) and reader.word() not in {"by", "per"}


def valued(reader: Reader) -> bool:
    """A noun: a condition when a comparison, a value or a time follows it, else something the wish is about."""
    start = reader.at
    said = not reader.asks_what() and (
        reader.word(-1) in _SAYING
        or (reader.word(-1) in {"still", "already", "yet", "currently"} and reader.word(-2) in _SAYING)
    )
    noun = reader.noun()
    if noun is None:
        return _quoted(reader)
    if (
        said
        or restricts_rows(reader, start)
        or is_verb(noun.head)
        or (is_done(noun.head) and reader.draft.nouns and not noun.around)
    ):
        noun = replace(noun, predicate=True)
    end = reader.at
    back = reader.at
    lasted = read_lasted(reader, noun) if _names_time(noun, reader.lexicon) else None
    if lasted:
        reader.keep(lasted)
        return True
    reader.skip(AUXILIARIES)
    negated = bool(reader.take("not")) or reader.negated
    if noun.head.of_kind("column") and read_period(reader.tokens, reader.at) and is_time(noun, reader.lexicon):
        reader.negated = negated
        found = read_when(reader, noun.head)
        if found:
            reader.keep(replace(found, phrase=reader.text(start)))
            keep_around(reader, noun)
            return True
    reader.at = back
    if noun.head.of_kind("column", "measure") and _compares(reader, noun, start):
        return True
    reader.at = start
    value = read_value(reader)
    if value is not None and reader.at >= end and (said_with_column(reader, noun, start) or not _is_thing(noun)):
        _note_subject(reader, value, noun)
        reader.negated = False
        reader.keep(value)
        return True
    if value is not None and isinstance(value, Is) and value.of is not None and isinstance(value.values[0], str):
        reader.negated = False
        reader.keep(value)
        reader.head = noun
        return True
    reader.at = end
    if reader.negated and noun.head.of_kind("table", "measure", "column", "value"):
        _not_there(reader, noun, start)
        return True
    if noun.predicate and said and not is_verb(noun.head) and _un(reader, noun):
        return True
    values = tuple(mention for mention in noun.around if mention.of_kind("value"))
    if reader.local is not None and values:
        for mention in values:
            reader.keep(Is((mention,), phrase=mention.text))
        return True
    if reader.local is not None and noun.linked and noun.head.of_kind("table"):
        reader.draft.unread.append(reader.text(start - 1, reader.at))  # "share of online channels in orders"
        return True
    if reader.local is not None:  # of a number's own conditions: "that contain a discount"
        reader.keep(Present(noun, True, phrase=noun.text))
        return True
    reader.draft.nouns.append(noun)
    reader.head = noun
    return True


_SAYING = frozenset({"is", "are", "was", "were", "be", "been", "being", "got", "gets", "get"})


def _object(reader: Reader, verb: Noun) -> Noun:
    """What a negated verb is about: the ride of "never taken a ride"; else the verb itself."""
    start = reader.at
    reader.skip({"any", "a", "an", "anything", "at", "all", "us", "with", "by"})
    found = reader.noun()
    if found is not None and found.head.of_kind("table") and found.head.of_kind("table")[0].quality >= LAST_WORD:
        return found
    reader.at = start
    return verb


def _note_subject(reader: Reader, value: Clause, noun: Noun) -> None:
    """Remember a value that the wish begins with: "children" of "children who borrowed something"."""
    draft = reader.draft
    begins = not (draft.nouns or draft.figures or draft.groups or draft.filters)
    if isinstance(value, Is) and value.of is None and begins:
        draft.subject = noun.head


def _not_there(reader: Reader, noun: Noun, start: int) -> None:
    """Keep what is not there, or was not done: "never returned", "not delivered, cancelled or lost"."""
    reader.negated = False
    other = None if reader.never else _value_behind(reader, noun)
    if other is not None:
        reader.keep(Is((other,), None, True, reader.text(start)))
        return
    said: tuple[Clause, ...] = ()
    if is_participle(noun.head) and not reader.done:
        verb, noun = noun, _object(reader, noun)
        said = (Present(verb, True, phrase=verb.text),) if _says_state(reader, verb, noun) else ()
        reader.skip({"anything", "any", "at", "all", "yet"})
    denied = "never" if reader.never else "not"
    clause = Present(noun, False, filters=said, phrase=f"{denied} {noun.text}", never=reader.never)
    reader.never = False
    flag = denied == "not" and not said and reader.is_yes_or_no(noun.head)  # it has no time: the rows have
    reader.keep(clause if flag else with_time(reader, clause, start))
    _go_on_negated(reader)


def _says_state(reader: Reader, verb: Noun, thing: Noun) -> bool:
    """Whether rows of a thing say if it was done: "passed" of "not passed a test", which may be there all the same.

    A time says so, too, unless it is when each row came to be: "paid" of "never paid a fine".
    """
    tables = thing.head.tables()
    known = reader.lexicon.catalog.tables
    for sense in verb.head.of_kind("column") if thing is not verb else ():
        kind = known[sense.table].column(sense.column).type if sense.table in tables else ""
        if kind == "boolean" or (kind in _TIMES and sense.column != known[sense.table].event_time):
            return True
    return False


def _value_behind(reader: Reader, noun: Noun) -> Mention | None:
    """The value of "not paid by card", where a column is called "paid by"."""
    back = reader.at
    columns = {(sense.table, sense.column) for sense in noun.head.of_kind("column")}
    if len(noun.around) == 1 and any((s.table, s.column) in columns for s in noun.around[0].of_kind("value")):
        return noun.around[0]
    reader.take("by", "with", "in", "via", "at", "on", "through")
    reader.skip({"a", "an", "the"})
    found = reader.mention()
    if found is None or not columns or not found.of_kind("value") or noun.around:
        reader.at = back
        return None
    if not any((sense.table, sense.column) in columns for sense in found.of_kind("value")):
        reader.at = back
        return None
    reader.at = found.end
    return found


def _go_on_negated(reader: Reader) -> None:
    """Of "not delivered, cancelled or lost" all is negated: the next of the list waits for its negation."""
    joined = next((n for n in (reader.length_of(one) for one in (", or", "or", ",")) if n), 0)
    following = reader.mention(joined) if joined else None
    if following is None or not (following.of_kind("value") or is_done(following)):
        return
    if reader.word() == "," and reader.word(1) != "or":
        after = following.end - reader.at
        if not (reader.length_of("or", after) or reader.length_of(", or", after)):
            return
    reader.at += joined
    reader.negated = True


def _un(reader: Reader, noun: Noun) -> bool:
    """As in "Unpaid" behind "are", where the catalog has no such value: not paid."""
    word = noun.head.words[0] if noun.head.words else ""
    if noun.head.of_kind("value") or not word.startswith("un"):
        return False
    back, reader.at = reader.at, noun.head.start
    done = unmade(reader)
    if not done:
        reader.at = back
    return done


def _is_thing(noun: Noun) -> bool:
    """Whether the head of a noun is a thing or a number, and not only a value."""
    value = noun.head.best_of("value")
    table = noun.head.best_of("table")
    return bool(noun.head.of_kind("table", "column", "measure")) and (
        noun.head.senses[0].kind != "value" or table >= value - 0.05
    )


def is_time(noun: Noun, lexicon: Lexicon) -> bool:
    """Whether a noun may name a moment."""
    for sense in noun.head.of_kind("column"):
        column = lexicon.catalog.tables[sense.table].column(sense.column)
        if sense.quality < noun.head.best_of("table") - 0.05:
            continue
        if column.type in _TIMES or is_year(column):
            return True
    return False


def _counts_years(reader: Reader, noun: Noun) -> bool:
    """Whether what looks like years behind a noun is a number: "price between 1900 and 2000"."""
    for sense in noun.head.of_kind("column"):
        column = reader.lexicon.catalog.tables[sense.table].column(sense.column)
        found = read_period(reader.tokens, reader.at)
        hours = found is not None and bool(found[0].calendar)
        if sense.quality >= NEARLY_NAME and is_number(column) and not is_year(column) and not hours:
            return True
    return False


def _names_time(noun: Noun, lexicon: Lexicon) -> bool:
    """Whether a noun is the name of a moment rather than of a thing."""
    last = noun.head.words[-1] if noun.head.words else ""
    return bool(is_verb(noun.head) or is_past_form(last)) and is_time(noun, lexicon)


def _compares(reader: Reader, noun: Noun, start: int) -> bool:
    back = reader.at
    reader.skip(AUXILIARIES)
    if reader.period_here() and not _counts_years(reader, noun):
        reader.at = back
        return False
    found = read_compared(reader, noun)
    if found is not None and found.left is not noun:
        reader.at = back
        return False
    thing = noun.head.best_of("table")
    plain = found is not None and found.low is not None and found.low.unit is None and not found.hint
    if found is not None and plain and noun_next(reader):
        reader.at = back
        return False
    if found is not None and thing >= noun.head.best_of("column", "measure") - 0.25:
        _restrict_by_done(reader, noun)
        draft = reader.draft
        known = any(not one.predicate for one in draft.nouns) or bool(draft.figures or draft.groups or draft.best)
        draft.nouns.append(replace(noun, predicate=True) if known else noun)
        reader.head = noun
        amount = amount_behind(reader, found.low) if not found.hint else None
        reader.keep(_denied(reader, replace(found, left=amount, subject=noun, phrase=reader.text(start))))
        return True
    if found is None:
        reader.at = back
        reader.skip(AUXILIARIES)
        found = read_columns_compared(reader, noun)
    if found is None:
        reader.at = back
        return False
    reader.keep(_denied(reader, replace(found, phrase=reader.text(start))))
    reader.head = noun
    return True


def _restrict_by_done(reader: Reader, rows: Noun) -> None:
    """Take a time directly before rows as said of them: "delivered" of "delivered jobs over 100 euros"."""
    before = reader.draft.nouns[-1] if reader.draft.nouns else None
    start = rows.start
    if before is not None and before.head.end == start and not before.around and _names_time(before, reader.lexicon):
        reader.draft.nouns[-1] = replace(before, predicate=True)


def _denied(reader: Reader, found: Compared) -> Compared:
    """The opposite of a comparison, where a negation waits for it: "who did not pay more than 50 dollars"."""
    if not reader.negated or found.operator not in NEGATED:
        return found
    reader.negated = False
    return replace(found, operator=NEGATED[found.operator])


def _quoted(reader: Reader) -> bool:
    value = read_value(reader)
    if value:
        reader.keep(value)
        reader.negated = False
    return value is not None


def having(reader: Reader) -> bool:
    """Read "with a rating", "that have a ticket"; behind a comma "with" only shows more: ", with department"."""
    start = reader.at
    if _one_more(reader):
        return True
    named = reader.draft.nouns or reader.draft.figures or reader.draft.groups
    if reader.word(-1) in {",", "together", "along"} or not (named or reader.draft.filters):
        return False
    if not reader.take(
        "with", "having", "that have", "who have", "that had", "who had", "which have", "that has", "who has"
    ):
        return False
    some = reader.take("at least one", "any", "some", "one or more", "an", "a")
    if not (named or some):
        reader.at = start
        return False
    if _single(reader, start):
        return True
    definite = reader.word() in _DEFINITE
    noun = None if reader.period_here() else reader.noun()
    if noun is None or not noun.head.of_kind("table", "column") or noun.head.senses[0].kind == "value":
        reader.at = start
        return False
    end = reader.at
    of_rows = noun.head.senses[0].kind == "column"
    if not some and (_lists_more(reader, also_things=of_rows) or (definite and of_rows)):
        reader.at = start
        return False
    if noun.around and any(m.of_kind("value") for m in noun.around) and not noun.head.of_kind("table"):
        reader.at = start
        return False
    relative = reader.word() in {"that", "which", "who"}
    timed = reader.word() == "in" and reader.period_here() and not is_time(noun, reader.lexicon)
    reader.skip(AUXILIARIES)
    denies = reader.word() == "not" and not (relative or reader.is_yes_or_no(noun.head))  # "with hall | not heated"
    if not timed and (read_compared(reader, noun) or reader.word() in {"=", "in"} or denies or _value_next(reader)):
        reader.at = start
        return False
    reader.at = end
    clause = Present(noun, True, phrase=reader.text(start), unsure=not some)
    reader.keep(clause if timed else with_time(reader, clause, start))
    return True


def _single(reader: Reader, start: int) -> bool:
    """Read "a single order" behind "with": one, and no more; where no value is called so."""
    back = reader.at
    if reader.is_named() or not reader.take("single", "only a single", "only one", "just one", "just a single"):
        return False
    noun = reader.noun()
    if noun is None or not noun.head.of_kind("table"):
        reader.at = back
        return False
    counted = Figure("number", noun, phrase=noun.text)
    reader.keep(Compared(counted, "=", Quantity(Decimal(1), None, 1), phrase=reader.text(start)))
    return True


def _one_more(reader: Reader) -> bool:
    """Read "and a comment" behind "with two stars or less": it must be there, too; "and the comment" may show it."""
    start = reader.at
    owned = reader.word(1) in _OWNED  # "with no manager and their town" shows the town
    if reader.word() != "and" or owned or not reader.draft.filters or not _behind_with(reader):
        return False
    reader.at += 1
    some = reader.take("an", "a", "any", "at least one", "some")
    definite = reader.word() in _DEFINITE
    noun = None if reader.period_here() or reader.number_here() else reader.noun()
    end = reader.at
    plain = noun is not None and noun.head.senses[0].kind == "column" and not noun.around
    if noun is None or not (some or definite) or not plain or _bound_next(reader, noun):
        reader.at = start
        return False
    reader.at = end
    said = reader.text(start)
    if not some:
        reader.draft.questions.append((f"'{said}': must it be there, or is it to be shown?", said,
                                       (f"and a {noun.text}", f", show {noun.text}")))  # fmt: skip
    reader.keep(Present(noun, True, phrase=said))
    return True


def _bound_next(reader: Reader, noun: Noun) -> bool:
    reader.skip(AUXILIARIES)
    return bool(read_compared(reader, noun)) or reader.word() in {"=", "in", "not", "of"} or _value_next(reader)


def _behind_with(reader: Reader) -> bool:
    """Whether "and" goes on with what "with" began."""
    for at in range(reader.at - 1, max(reader.at - 9, -1), -1):
        word = reader.tokens[at].word
        if word in {"with", "having", "have", "has", "had"}:
            return not at or reader.tokens[at - 1].word != ","  # ", with the name" shows more
        if word in {",", "per", "by", "each", "every", "and", "show", "list"}:
            return False
    return False


_OWNED = frozenset({"their", "its", "his", "her"})
_DEFINITE = _OWNED | {"the"}  # "with the title" shows it, "with a title" asks for one


def _lists_more(reader: Reader, *, also_things: bool) -> bool:
    """Whether what stands behind "with" is a list of columns to show: "with make, home depot and day"."""
    joined = next((n for n in (reader.length_of(one) for one in (", and", ",", "and", "&")) if n), 0)
    joined += bool(joined) and reader.word(joined) in _DEFINITE
    following = reader.mention(joined) if joined else None
    if following is None:
        return False
    if also_things and following.of_kind("column", "table"):
        return True
    return following.senses[0].kind == "column" and not following.of_kind("value", "table")


def _value_next(reader: Reader) -> bool:
    back = reader.at
    literal = read_literal(reader)
    mention = reader.mention()
    reader.at = back
    return literal is not None or (mention is not None and bool(mention.of_kind("value")))


def state(reader: Reader) -> bool:
    """Read "open", "still outstanding", "ongoing", where the catalog has no such value."""
    if reader.take("still going on", "going on", "in progress", "under way", "still running"):
        reader.keep(State("ongoing", phrase="ongoing"))
        return True
    if reader.take("still with us", "still here", "still around", "still employed", "still there", "still a member",
                   "still members", "still working for us", "still work for us", "still works for us",
                   "still work here", "still works here", "still working here"):  # fmt: skip
        reader.keep(State("active", reader.negated, phrase=reader.text(reader.at - 2)))
        reader.negated = False
        return True
    word = reader.word()
    if word not in STATES or (reader.mention() is not None and reader.mention().of_kind("value", "table")):  # type: ignore[union-attr]
        return False
    if reader.local is None and reader.word(1) in {"in", "at", "on"} and read_period(reader.tokens, reader.at + 1):
        return False
    reader.at += 1
    negated, reader.negated = reader.negated, False
    reader.keep(State(word, negated, word))
    return True


def _non(reader: Reader) -> bool:
    """Read "non-billable": a value that rows do not have, or what is yes or no of them."""
    start = reader.at
    reader.at += 1 + (reader.word(1) == "-")
    found = reader.mention()
    flag = found is not None and reader.is_yes_or_no(found)
    valued = found is not None and found.senses[0].kind == "value"
    if found is None or not (flag or valued):
        reader.at = start
        return False
    reader.at = found.end
    said = reader.text(start)
    reader.keep(Present(Noun(found), False, phrase=said) if flag else Is((found,), None, True, said))
    return True


def unmade(reader: Reader) -> bool:
    """Read "unpaid" where the catalog only knows "paid", and "non-billable" where it knows "billable"."""
    token = reader.tokens[reader.at]
    if token.word == "non":
        return _non(reader)
    if token.word.startswith("un") and len(token.word) > 5:
        rest = token.word[2:]
        changed = replace(token, word=rest, stem=stem(rest))
        tokens = (*reader.tokens[: reader.at], changed, *reader.tokens[reader.at + 1 :])
        found = reader.lexicon.mention(tokens, reader.at)
        if found and found.end == reader.at + 1:
            reader.keep(Present(Noun(found), False, phrase=token.text))
            reader.at += 1
            return True
    return False
