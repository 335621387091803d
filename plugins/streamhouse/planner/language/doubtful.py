"""Words of a wish that were read, and whose scope is open: each is asked back, for the answers differ."""

from collections.abc import Iterable, Iterator

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.doubtful_parts import (
    among_rows,
    group_of_things,
    joined_deeds,
    measured_twice,
    restricted_whole,
)
from streamhouse.planner.language.doubtful_sums import (
    days_of_things,
    flag_first,
    percent_of_count,
    unnamed_money,
)
from streamhouse.planner.language.doubtful_things import (
    bound_of_periods,
    earned,
    few_of_things,
    finer_group,
    lasting_state,
    other_deed,
    pieces_or_rows,
    split_name,
    times_of_other_rows,
    times_of_thing,
    values_of_thing,
    verb_as_value,
)
from streamhouse.planner.language.doubtful_times import (
    period_left_out,
    starts_then,
    time_of_some,
    time_or_value,
    two_parts_of_day,
)
from streamhouse.planner.language.doubtful_verbs import deed_without_rows, shown_or_done
from streamhouse.planner.language.draft import Draft, Noun, Time, When
from streamhouse.planner.language.foreign_money import foreign_money
from streamhouse.planner.language.fresh_or_done import fresh_or_done
from streamhouse.planner.language.levels import LAST_WORD, SAME_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention, Sense
from streamhouse.planner.language.named_rows import names_rows
from streamhouse.planner.language.namesakes import one_of_several_measures
from streamhouse.planner.language.narrow_tables import narrow_table
from streamhouse.planner.language.offered_times import (
    condition_choices,
    group_choices,
    unnamed_condition,
    unnamed_group,
)
from streamhouse.planner.language.open_deeds import never_or_still_open, values_or_rows, without_some_rows
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.scope import TIMES, default_time
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.two_readings import TWO_READINGS
from streamhouse.planner.language.unasked import UNASKED
from streamhouse.planner.language.whether import groups_of_whether
from streamhouse.planner.language.words import ADVERB_GRAINS, GRAINS, SHARES
from streamhouse.planner.language.words_that_choose import WORDS_THAT_CHOOSE
from streamhouse.planner.request import (
    AnyOf,
    Block,
    ColumnRef,
    Condition,
    Cut,
    During,
    Filter,
    Grain,
    Question,
    Related,
)

_FINE = frozenset({Grain.MINUTE, Grain.HOUR, Grain.DAY})
_SAID_DAYS = frozenset({"calendar", "consecutive"})


def doubt(text: str, tokens: tuple[Token, ...], draft: Draft, found: Shaped) -> Question | None:
    """The first question about a scope; None: every word has one scope only."""
    wish = AnsweredWish(text, tokens, draft, found)
    for check in _CHECKS:
        question = check(wish)
        if question is not None:
            return question
    return None


def _unnamed_rows(wish: AnsweredWish) -> Question | None:
    """Things counted over rows that no word names: "films per cinema" by the tickets that were sold for them."""
    counts = [one for one in wish.block.measures if one.function == "count distinct" and one.named is None]
    if not counts or len(counts) != len(wish.block.measures) or names_rows(wish):
        return None
    base = wish.base.name
    thing = counts[0].name.removesuffix("_count")
    return Question(text=f"'{thing}' would be counted over the rows of {base}, which the wish does not name: "
                    f"say what they did, or what was done",
                    phrase=thing)  # fmt: skip


def _unnamed_time(wish: AnsweredWish) -> Question | None:
    """A time that no word names, where others may be meant.

    So it is with a table that is no list of events ("instructors of May" by when they were hired), with another time
    that a word names ("permits that expire in June"), and beside rows of another table ("who ordered nothing in May").
    """
    said = {(sense.table, sense.column) for one in wish.mentions for sense in _columns_said(one, strict=True)}
    strict = _restricts_other_time(wish)
    named = {(sense.table, sense.column) for one in wish.mentions for sense in _columns_said(one, strict=strict)}
    counted = _times_counted(wish)
    within = _named_within(wish)
    beside = tuple(_beside(wish.block.filters))
    done = [one.table for one in beside if one.exists and default_time(wish.lexicon.catalog.tables[one.table])]
    for column, filters in _times(wish.block):
        table = wish.scope.reaches[column.role].table
        known = {table.event_time, *table.primary_key, *(set(GRAINS) - ADVERB_GRAINS)}
        others = {
            one.name for one in table.columns if one.type in TIMES and (table.name, one.name) in said | within | counted
        }
        if (table.name, column.column) in named | within or (
            column.column in known and not (others or (beside if filters else done))
        ):
            continue
        return _which_time(wish, column, filters=filters)
    return None


def _which_time(wish: AnsweredWish, column: ColumnRef, *, filters: bool) -> Question:
    """The question that offers the time that was placed, and each other one of the tables that the answer reads."""
    names = tuple(_offered_times(wish, column))
    text = f"which time counts: {' or '.join(names)}, or one of something else?"
    clause, group = unnamed_condition(wish.draft), unnamed_group(wish.draft)
    if filters and clause is not None:
        return Question(text=text, phrase=clause.phrase, choices=condition_choices(clause.phrase, names))
    if not filters and group is not None:
        return Question(text=text, phrase=group.phrase, choices=group_choices(group, names))
    return Question(text=text, phrase="", choices=names)


def _offered_times(wish: AnsweredWish, column: ColumnRef) -> Iterator[str]:
    """All times of the table of a column, that one first, and the default times of the other tables."""
    catalog, own = wish.lexicon.catalog, wish.scope.reaches[column.role].table
    yield f"{own.name}.{column.column}"
    yield from (f"{own.name}.{one.name}" for one in own.columns if one.type in TIMES and one.name != column.column)
    beside = (one.table for one in _beside(wish.block.filters))
    for name in dict.fromkeys([wish.base.name, *(one.table for one in wish.block.joins), *beside]):
        time = default_time(catalog.tables[name]) if name != own.name else None
        if time is not None:
            yield f"{name}.{time.name}"


def _beside(filters: Iterable[Filter]) -> Iterator[Related]:
    """The rows of other tables that a condition is about, and those that their rows are about."""
    for one in filters:
        if isinstance(one, Related):
            yield one
            yield from _beside(one.filters)


def _restricts_other_time(wish: AnsweredWish) -> bool:
    """As in "bills paid late, per month": the time of what was done decides which rows, and none is said of groups."""
    said = any(isinstance(one, Time) and one.of is not None for one in wish.draft.groups)
    compared = (
        one for one in wish.block.filters if isinstance(one, Condition) and isinstance(one.other, ColumnRef | Cut)
    )
    return not said and any(isinstance(one.left, ColumnRef) and _is_time(wish, one.left) for one in compared)


def _times_counted(wish: AnsweredWish) -> set[tuple[str, str]]:
    """Times that rows are counted by: of "card payments per month" the day of the payment."""
    counts = (one.of for one in wish.block.measures if one.function == "count")
    return {(wish.base.name, of.column) for of in counts if isinstance(of, ColumnRef) and not of.role
            and _is_time(wish, of)}  # fmt: skip


def _is_time(wish: AnsweredWish, of: ColumnRef) -> bool:
    return wish.scope.reaches[of.role].table.column(of.column).type in TIMES


def _columns_said(mention: Mention, *, strict: bool) -> Iterator[Sense]:
    """The columns that words name; in a strict sense, "bills" are rows, although a day is called "billed"."""
    rows = mention.best_of("table")
    for sense in mention.of_kind("column"):
        if sense.quality >= LAST_WORD and not (strict and rows >= WHOLE_NAME and sense.quality < SAME_FORM):
            yield sense


def _named_within(wish: AnsweredWish) -> set[tuple[str, str]]:
    """Columns that a word of the name of a measure names: of "dues paid per month" the day of payment."""
    lexicon = wish.lexicon
    measures = [one for one in wish.mentions if one.of_kind("measure") and one.end - one.start > 1]
    words = (lexicon.mention(wish.tokens, at, 1) for one in measures for at in range(one.start, one.end))
    found = [sense for word in words if word is not None for sense in word.of_kind("column")]
    return {(sense.table, sense.column) for sense in found if sense.quality >= WHOLE_NAME}


def _times(block: Block) -> Iterator[tuple[ColumnRef, bool]]:
    """Columns of the base and of joined tables that times of the wish were placed on; whether they filter rows."""
    for one in block.filters:
        if isinstance(one, During):
            yield one.of, True
        if isinstance(one, Condition) and isinstance(one.left, Cut):
            yield one.left.of, True
    if block.base is not None:
        yield from ((one.of.of, False) for one in block.dimensions if isinstance(one.of, Cut))


def _each_period(wish: AnsweredWish) -> Question | None:
    """As in "learners with a lesson in every month": in one of them, or in all?"""
    words = wish.words
    exists = any(isinstance(one, Related) for one in wish.block.filters)
    if not (exists or wish.block.having):
        return None
    for at in range(1, len(words) - 1):
        if words[at] in {"each", "every"} and words[at + 1] in GRAINS and words[at - 1] in {"in", "on", "at", "for"}:
            said = " ".join(words[at - 1 : at + 2])
            bounds = [one for one in wish.block.having if isinstance(one, Condition) and one.operator in {">", ">="}]
            if exists or (bounds and "least" in words):
                text = f"'{said}': in all of them, or a row for each {words[at + 1]} in which it is so?"
                return Question(text=text, phrase=said, choices=(f"per {words[at + 1]}",))
    return None


def _moving_days(wish: AnsweredWish) -> Question | None:
    """A moving figure of days, some of which may have no rows: of so many days, or of the last that have rows?"""
    moving = next((one for one in wish.block.derived if one.kind == "moving"), None)
    grain = next((one.period_grain for one in wish.draft.figures if one.window == "moving"), None)
    if moving is None or grain not in _FINE or set(wish.words) & _SAID_DAYS:
        return None
    unit = grain.value
    return Question(
        text=f"'{moving.periods} {unit}s': so many calendar {unit}s, or the last {moving.periods} that have rows? "
        f"Only calendar {unit}s can be planned",
        phrase=f"{unit}",
        choices=(f"calendar {unit}",),
    )


def _last_period(wish: AnsweredWish) -> Question | None:
    """As in "compared with last month": this month with the last one, or each with the one before it?"""
    words = wish.words
    if not any(one.kind in {"change", "previous"} for one in wish.block.derived):
        return None
    for at in range(1, len(words) - 1):
        if words[at] == "last" and words[at + 1] in GRAINS and words[at - 1] in _BEFORE_LAST:
            said, unit = f"last {words[at + 1]}", GRAINS[words[at + 1]].value
            per = any(GRAINS.get(word) is GRAINS[words[at + 1]] for word in (*words[:at], *words[at + 2 :]))
            if not per:
                text = f"'{said}': this {unit} with the one before, or each {unit} with the one before it?"
                return Question(text=text, phrase=said, choices=(f"the previous {unit}, per {unit}",))
    return None


_BEFORE_LAST = frozenset({"with", "to", "against", "versus", "vs", "the", "than"})


def _mixed_or(wish: AnsweredWish) -> Question | None:
    """As in "gold ones from Oslo or silver ones from Rome": what "or" joins is open where a column is bound twice."""
    filters = wish.block.filters
    joined = {part.left for one in filters if isinstance(one, AnyOf) for part in one.of if isinstance(part, Condition)}
    bound = {one.left for one in filters if isinstance(one, Condition)}
    if joined & bound:
        return Question(text="what does 'or' join: two values, or two kinds of rows?", phrase="or", choices=())
    return None


def _not_then(wish: AnsweredWish) -> Question | None:
    """As in "rooms not booked in July": none of a thing's rows is then, which one row of another time does not say."""
    denied = next((one for one in wish.draft.filters if isinstance(one, When) and one.negated), None)
    block = wish.block
    things = [one for one in wish.draft.nouns if not one.predicate and not wish.found.bench.places.is_base(one.head)]
    if denied is None or block.measures or not block.dimensions or not things:
        return None
    text = f"'not {denied.phrase}': rows of {wish.base.name} of another time, or {things[0].text} without any then?"
    return Question(text=text, phrase=denied.phrase, choices=())


def _share_of_what(wish: AnsweredWish) -> Question | None:
    """As in "rejected share of intakes by farm": of each farm's intakes, or of all that were rejected?"""
    if not any(one.kind == "share" for one in wish.block.derived):
        return None
    for figure in wish.draft.figures if wish.block.dimensions and wish.block.filters else ():
        flag = figure.noun.head if figure.window == "share" and isinstance(figure.noun, Noun) else None
        if flag is not None and _is_flag(flag):
            text = f"'share of {flag.text}': of the rows of each group, or of all that are {flag.text}?"
            return Question(text=text, phrase=f"share of {flag.text}")
    timed = all(isinstance(one.of, Cut) for one in wish.block.dimensions)
    if timed and any(isinstance(one, Condition) and not isinstance(one.left, Cut) for one in wish.block.filters):
        text = "a share of what: of the rows of each period, or of all rows that are meant?"
        return Question(text=text, phrase="share")
    groups = [one.head.start for one in wish.draft.groups if isinstance(one, Noun)]
    for mention in wish.mentions:
        if groups and mention.start > max(groups) and is_participle(mention) and wish.block.filters:
            text = f"'{mention.text}': of the rows of each group, or of all that are {mention.text}?"
            return Question(text=text, phrase=mention.text)
        behind = wish.word(mention.end)
        if behind in SHARES and mention.of_kind("value") and not mention.of_kind("table", "measure"):
            said = f"{mention.text} {behind}"
            text = f"'{said}': of the rows of each group, or of all that are {mention.text}?"
            return Question(text=text, phrase=said, choices=(f"{behind} of {mention.text}",))
    return None


def _is_flag(mention: Mention) -> bool:
    """Whether words name what is yes or no of each row, and no rows: "emergencies"."""
    flags = any(sense.value == "true" for sense in mention.of_kind("value"))
    return flags and not mention.of_kind("table", "measure")


_CHECKS = (
    fresh_or_done,
    _unnamed_rows, _unnamed_time, _each_period, _moving_days, _last_period, _mixed_or, _not_then, _share_of_what,
    few_of_things, values_of_thing, times_of_thing, times_of_other_rows, bound_of_periods, lasting_state, split_name,
    verb_as_value, pieces_or_rows, period_left_out, finer_group, other_deed, earned, one_of_several_measures,
    narrow_table, groups_of_whether, never_or_still_open, without_some_rows, values_or_rows,
    deed_without_rows, shown_or_done,
    restricted_whole, joined_deeds, starts_then, time_of_some, time_or_value, two_parts_of_day,
    among_rows, group_of_things, measured_twice,
    foreign_money, unnamed_money, percent_of_count, days_of_things, flag_first,
    *UNASKED,
    *TWO_READINGS,
    *WORDS_THAT_CHOOSE,
)  # fmt: skip
