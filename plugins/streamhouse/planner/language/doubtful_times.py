"""Comparisons with a period that a condition leaves out, so that nothing is compared: each is asked back."""

from datetime import timedelta

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import When
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.scope import spoken
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import stem
from streamhouse.planner.language.used import used_by
from streamhouse.planner.language.words import GRAINS
from streamhouse.planner.request import Block, ColumnRef, Condition, Cut, During, Filter, Grain, Question

_GROUPING = frozenset({"per", "by", "each", "every"})
_LONGEST = {
    Grain.MINUTE: timedelta(minutes=1), Grain.HOUR: timedelta(hours=1), Grain.DAY: timedelta(days=1),
    Grain.WEEK: timedelta(days=7), Grain.MONTH: timedelta(days=31), Grain.QUARTER: timedelta(days=92),
    Grain.YEAR: timedelta(days=366),
}  # fmt: skip


def period_left_out(wish: AnsweredWish) -> Question | None:
    """As in "revenue in March compared with the month before", where only rows of March would be read."""
    compared = any(one.kind in {"change", "previous"} for one in wish.block.derived)
    cut = _cut(wish.block)
    if not compared or cut is None or not any(_is_one_period(one, cut) for one in wish.block.filters):
        return None
    phrase = next((one.phrase for one in wish.draft.figures if one.window in {"change", "previous"}), "")
    unit = cut.grain.value
    return Question(
        text=f"'{phrase}': the {unit} before is no part of the time that is asked for; "
        f"only {unit}s within it can be compared: name a longer time, or none",
        phrase=phrase,
    )


def starts_then(wish: AnsweredWish) -> Question | None:
    """As in "permits starting from 2025", where rows have a start: within that year, or from then on?"""
    for clause in wish.draft.filters:
        if not isinstance(clause, When) or not clause.phrase.lower().startswith(("starting in", "starting from")):
            continue
        for one in wish.block.filters:
            names = _names(wish.found, one.of) if isinstance(one, During) and one.until is None else ()
            if "start" in {stem(word) for name in names for word in name.replace("_", " ").split()}:
                when = clause.phrase.split(maxsplit=2)[-1]
                text = f"'{clause.phrase}': within {when}, or from then on?"
                return Question(text=text, phrase=clause.phrase, choices=(f"in {when}", f"since {when}"))
    return None


def time_of_some(wish: AnsweredWish) -> Question | None:
    """As in "tickets per month, only the refunded ones": the month of the refund, or that of the ticket?"""
    base, words = wish.base, wish.words
    cut = _cut(wish.block)
    if cut is None or cut.of.role or base.event_time in {None, cut.of.column}:
        return None
    condition = Condition(left=cut.of, operator="is not null")
    grouped = next((at for at, word in enumerate(words) if at and word in GRAINS and words[at - 1] in _GROUPING), None)
    if grouped is None or condition not in wish.block.filters:
        return None
    for mention in wish.mentions:
        named = any((one.table, one.column) == (base.name, cut.of.column) for one in mention.of_kind("column"))
        if named and mention.start > grouped:
            unit = f"{words[grouped - 1]} {words[grouped]}"
            choices = (f"{unit} of {spoken(base.event_time or '')}", f"{unit} of {spoken(cut.of.column)}")
            text = f"'{unit}': the {words[grouped]} of {base.event_time}, or of {cut.of.column}?"
            return Question(text=text, phrase=unit, choices=choices)
    return None


_PARTS_OF_DAYS = frozenset(
    f"{word}{ending}" for word in ("night", "evening", "morning", "afternoon") for ending in ("", "s")
)


def two_parts_of_day(wish: AnsweredWish) -> Question | None:
    """As in "at night (after 6 pm)": two bounds of the hour, of which one may say what the other means."""
    hours = [one.left for one in wish.block.filters if isinstance(one, Condition) and isinstance(one.left, Cut)
             and one.left.grain is Grain.HOUR_OF_DAY]  # fmt: skip
    said = next((token.word for token in wish.tokens if token.word in _PARTS_OF_DAYS), "")
    if not said or len(hours) == len(set(map(repr, hours))):
        return None
    return Question(
        text=f"'{said}': which hours? The wish says two bounds of them, and both would have to hold", phrase=said
    )


def time_or_value(wish: AnsweredWish) -> Question | None:
    """As in "weekend tariff", where the first word was read as a time and is a value of what the second one names."""
    lexicon = wish.lexicon
    used = used_by(wish.block, lexicon)
    for at in range(len(wish.tokens) - 1):
        value, thing = lexicon.mention(wish.tokens, at, 1), lexicon.mention(wish.tokens, at + 1, 1)
        if value is None or thing is None or read_period(wish.tokens, at) is None:
            continue
        senses = [sense for sense in value.of_kind("value") if sense.quality >= WHOLE_NAME]
        named = thing.tables(WHOLE_NAME)
        of_thing = [sense for sense in senses if sense.table in named]
        if of_thing and not any(used.has_value(sense) for sense in senses):
            said = f"{value.text} {thing.text}"
            return Question(text=f"'{said}': a time, or the {thing.text} of that name?", phrase=said)
    return None


def _names(found: Shaped, of: ColumnRef) -> tuple[str, ...]:
    column = found.bench.places.scope.reaches[of.role].table.column(of.column)
    return (column.name, *column.synonyms)


def _cut(block: Block) -> Cut | None:
    return next((one.of for one in block.dimensions if isinstance(one.of, Cut) and not one.of.grain.comes_again), None)


def _is_one_period(one: Filter, cut: Cut) -> bool:
    """Whether a condition leaves no more than one of the periods that are compared."""
    if isinstance(one, During) and one.of == cut.of and one.since is not None and one.until is not None:
        return one.until - one.since <= _LONGEST.get(cut.grain, timedelta(0))
    return isinstance(one, Condition) and isinstance(one.left, Cut) and one.left.of == cut.of and _same(one, cut)


def _same(one: Condition, cut: Cut) -> bool:
    """Whether only one month of each year, or one day of each week or month, is read."""
    assert isinstance(one.left, Cut)
    single = one.operator == "=" or len(one.values) == 1
    finer = {Grain.MONTH_OF_YEAR: {Grain.MONTH}, Grain.DAY_OF_WEEK: {Grain.DAY}, Grain.DAY_OF_MONTH: {Grain.DAY}}
    return single and cut.grain in finer.get(one.left.grain, set())
