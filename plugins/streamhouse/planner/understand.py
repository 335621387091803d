"""Read a wish without any model: plain English to a Request over the tables of a catalog, or why that is not possible.

Pure and deterministic: equal wishes over equal catalogs are read alike. What has no place is named, never guessed.
"""

import re
from collections.abc import Iterator

from pydantic import ValidationError

from streamhouse.errors.base import printable
from streamhouse.model.types import format_duration
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.language.account import unaccounted
from streamhouse.planner.language.adjectives import with_nouns_of_adjectives
from streamhouse.planner.language.always_done import with_plain_groups
from streamhouse.planner.language.articles_in_names import without_articles
from streamhouse.planner.language.average_behind import with_average_first
from streamhouse.planner.language.bounded_numbers import with_bounded_numbers
from streamhouse.planner.language.bounds_behind_groups import with_bounds_first, with_one_period_last
from streamhouse.planner.language.compounds_of_empty import with_compounds_of_empty
from streamhouse.planner.language.counted_first import with_counts_first
from streamhouse.planner.language.counted_sides import with_counts_of_values
from streamhouse.planner.language.countries import with_countries
from streamhouse.planner.language.courtesies import without_courtesies
from streamhouse.planner.language.days_of_rows import with_days_of_rows
from streamhouse.planner.language.days_without_year import day_without_year
from streamhouse.planner.language.deadlines import with_deadlines
from streamhouse.planner.language.deeds_had import with_deeds
from streamhouse.planner.language.deeds_in_words import with_deeds_in_words
from streamhouse.planner.language.deeds_of_agents import with_agents
from streamhouse.planner.language.denied_values import with_denied_values
from streamhouse.planner.language.designators import with_plain_values
from streamhouse.planner.language.distances import with_distances
from streamhouse.planner.language.done_things import with_done_things
from streamhouse.planner.language.doubtful import doubt
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.each_does import with_each_doing
from streamhouse.planner.language.ended_as import with_ended_as
from streamhouse.planner.language.ends_of_validity import with_ends
from streamhouse.planner.language.excused import restricts_rows, said_of_all
from streamhouse.planner.language.failed_rows import with_failed_rows
from streamhouse.planner.language.flags_apart import with_whole_flags
from streamhouse.planner.language.flags_before_bounds import with_bounds_before_flags
from streamhouse.planner.language.grammar import read_wish
from streamhouse.planner.language.how_much import with_sums
from streamhouse.planner.language.how_often import with_how_often
from streamhouse.planner.language.impossible import impossible
from streamhouse.planner.language.joined_flags import with_both_flags
from streamhouse.planner.language.key_names import with_key_names
from streamhouse.planner.language.kilos import with_kilos, with_units_of_values
from streamhouse.planner.language.last_names import with_last_names
from streamhouse.planner.language.lexicon import Lexicon, Mention, lexicon_of
from streamhouse.planner.language.measured_adjectives import with_measured_adjectives
from streamhouse.planner.language.measures_in_units import with_measures_in_units
from streamhouse.planner.language.money_of_rows import with_income
from streamhouse.planner.language.most_done import with_most_of
from streamhouse.planner.language.most_recently import with_latest_rows
from streamhouse.planner.language.names_behind_numbers import with_names_before_numbers
from streamhouse.planner.language.names_with_per import with_names_with_per
from streamhouse.planner.language.net import lost
from streamhouse.planner.language.never_done import with_never_done
from streamhouse.planner.language.newcomers import with_newcomers
from streamhouse.planner.language.no_such_day import no_such_day
from streamhouse.planner.language.nouns_of_deeds import with_verbs_of_nouns
from streamhouse.planner.language.nouns_of_times import with_done_moments
from streamhouse.planner.language.numbers_per_row import with_numbers_per_row
from streamhouse.planner.language.objects_of_deeds import without_objects
from streamhouse.planner.language.open_amounts import with_rows_of_amounts
from streamhouse.planner.language.options import read_options
from streamhouse.planner.language.other_words import other_words
from streamhouse.planner.language.over_channels import with_channels
from streamhouse.planner.language.passed_over import passed_over
from streamhouse.planner.language.people import named_people
from streamhouse.planner.language.phrasing import rephrased
from streamhouse.planner.language.pieces_sold import with_pieces
from streamhouse.planner.language.place import NotPlacedError, UnclearError
from streamhouse.planner.language.plain_columns import with_plain_columns
from streamhouse.planner.language.plain_folds import in_units_of_measures
from streamhouse.planner.language.priced_things import with_prices_of_things
from streamhouse.planner.language.rates_as_rows import with_rates_as_rows
from streamhouse.planner.language.rates_of_flags import with_shares_of_flags
from streamhouse.planner.language.rates_of_pay import with_rates
from streamhouse.planner.language.reader import MEANINGFUL
from streamhouse.planner.language.resolve import Failed, mentions_of, resolved
from streamhouse.planner.language.roles import unseen
from streamhouse.planner.language.running_things import with_running_things
from streamhouse.planner.language.said_by_opposite import with_denial_first, with_denied_shares, with_opposites
from streamhouse.planner.language.said_of_each import without_said_of_each
from streamhouse.planner.language.said_of_empty import with_empty_said
from streamhouse.planner.language.said_of_groups import says_of_group
from streamhouse.planner.language.scope import default_time, is_number
from streamhouse.planner.language.screen import screened
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.shared_conditions import with_shared_conditions
from streamhouse.planner.language.shared_heads import with_shared_heads
from streamhouse.planner.language.shares_in_sums import with_shares_of_sums
from streamhouse.planner.language.shown_columns import with_columns_apart
from streamhouse.planner.language.spelling import respelled_words
from streamhouse.planner.language.spent_on import with_sums_spent
from streamhouse.planner.language.split_names import with_names_joined
from streamhouse.planner.language.states_joined import with_both_states
from streamhouse.planner.language.sums_in_periods import with_sums_in_periods
from streamhouse.planner.language.sums_of_things import with_sums_of_things
from streamhouse.planner.language.thing_values import with_values_of_things
from streamhouse.planner.language.tokens import Token, singular, stem, tokenize
from streamhouse.planner.language.total_amounts import with_totals
from streamhouse.planner.language.turned_names import with_turned_kinds, with_turned_names
from streamhouse.planner.language.until_done import with_time_until
from streamhouse.planner.language.vague_lengths import vague_length
from streamhouse.planner.language.values_as_things import with_things_of_values
from streamhouse.planner.language.values_before_columns import with_values_of_columns
from streamhouse.planner.language.values_not_known import with_values_not_known
from streamhouse.planner.language.values_who_did import with_doers_of_values
from streamhouse.planner.language.verbs_in_names import with_verbs_in_names
from streamhouse.planner.language.verbs_of_rows import with_verbs_of_rows
from streamhouse.planner.language.versus_rest import with_both_sides
from streamhouse.planner.language.whether import with_groups_of_flags
from streamhouse.planner.language.who_did import with_who
from streamhouse.planner.language.whose_values import with_values_of_whose
from streamhouse.planner.language.without_doer import without_doer
from streamhouse.planner.language.without_rows import with_missing_rows
from streamhouse.planner.language.without_values import with_values_left_out
from streamhouse.planner.request import ColumnRef, Question, Reading, Request, Understood


def understand(wish: str, catalog: Catalog) -> Understood:
    """Read a wish.

    Args:
        wish: English, one request for data; what it says of freshness, layer and name of the result is read, too.
        catalog: The tables it may be about. Its index is built when it is read for the first time.

    Returns:
        A Request, or questions, or a refusal that names the words without a place and what comes nearest.
    """
    try:
        return _escaped(with_shared_conditions(in_units_of_measures(_best(wish, lexicon_of(catalog)), catalog)))
    except (ArithmeticError, ValidationError):  # "since 9999-12-31" has no day behind it, "over 0 weeks" no row
        numbers = " or ".join(f"'{one}'" for one in dict.fromkeys(_NUMBER.findall(wish)))
        return _escaped(Understood(refusal=f"a number, date or time is too small or too large: {numbers or wish}"))


_NUMBER = re.compile(r"-?\d[\w.,:-]*\w|-?\d")


def _best(wish: str, lexicon: Lexicon) -> Understood:
    """The best reading of a wish, if the same wish in other words is read alike."""
    found = _accounted(wish, lexicon)
    if found.request is None:
        return found
    question = other_words(wish, found.request, lexicon.catalog, lambda other: _accounted(other, lexicon))
    return found if question is None else Understood(questions=(question,))


def _accounted(wish: str, lexicon: Lexicon) -> Understood:
    """The best reading of a wish in which no word is passed over."""
    missing = ""
    for found, draft in _readings(wish, lexicon):
        if found.request is not None:
            missing = passed_over(wish, found, draft.unread, lexicon, lambda other: next(_readings(other, lexicon))[0])
        if found.request is None or not missing:
            return found
    return Understood(refusal=_no_place(missing))


def _escaped(found: Understood) -> Understood:
    """The same for people: they quote words of the wish, which may turn text around or command a terminal.

    The phrase of a question stays as it is, for an answer names it.
    """
    questions = tuple(one.model_copy(update={"text": printable(one.text)}) for one in found.questions)
    return found.model_copy(update={"refusal": printable(found.refusal), "questions": questions})


def _readings(wish: str, lexicon: Lexicon) -> Iterator[tuple[Understood, Draft]]:
    """How a wish can be read, with the draft of each reading, best first; at least one. Only the last may be refused.

    The first is the one with the columns that it begins with apart from their things; the last takes it as it is.
    """
    draft = Draft()
    refusal = screened(wish) or impossible(wish) or no_such_day(wish)
    tokens = () if refusal else _tokens(wish, lexicon, draft)
    if not tokens:
        yield Understood(refusal=refusal or "the wish is empty"), draft
        return
    parts = with_columns_apart(tokens, lexicon)
    if parts is not None:
        apart = draft.copied()
        apart.shown, apart.keyed = parts.shown, parts.keyed
        found = _read(wish, parts.tokens, apart, lexicon)
        if found.request is not None:
            yield found, apart
    yield _read(wish, tokens, draft, lexicon), draft


def _no_place(words: str) -> str:
    return f"'{words}' of the wish has no place in what can be read of it"


def _read(wish: str, tokens: tuple[Token, ...], draft: Draft, lexicon: Lexicon) -> Understood:
    """A wish as the rules read its tokens; its clauses are in the draft then."""
    rated = _rate(tokens, lexicon)
    if isinstance(rated, Question):
        return Understood(questions=(rated,))
    read_wish(rated, lexicon, draft)
    if draft.questions:
        return Understood(questions=tuple(Question(text=t, phrase=p, choices=c) for t, p, c in draft.questions))
    return _checked(wish, rated, draft, lexicon)


def _tokens(wish: str, lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens that say what is wanted; what is said of the result, and around the wish, is in the draft."""
    plain_wish, courtesies = without_courtesies(wish)
    draft.assumptions += [f"'{said}' says nothing of the data" for said in courtesies]
    tokens, slips = respelled_words(read_options(tokenize(rephrased(plain_wish)), draft), lexicon)
    draft.assumptions += slips
    tokens = with_both_states(tokens, lexicon)
    for said_and_noted in _OTHERWISE_AND_NOTED:
        tokens = said_and_noted(tokens, lexicon, draft)
    for said_otherwise in _OTHERWISE:
        tokens = said_otherwise(tokens, lexicon)
    return tokens


_OTHERWISE_AND_NOTED = (
    named_people,
    with_last_names,
    with_who,
    with_time_until,
    without_said_of_each,
    with_distances,
    with_ends,
    with_never_done,
    with_measured_adjectives,
    with_empty_said,
    without_doer,
    with_sums_of_things,
    without_objects,
    with_counts_of_values,
    with_values_of_things,
    with_plain_columns,
    with_agents,
    with_prices_of_things,
    with_rates_as_rows,
    with_bounded_numbers,
    with_names_with_per,
)
"""Rules that say a part of a wish otherwise, and note in the draft what they assume; each takes what the last gave."""

_OTHERWISE = (
    with_sums_spent,
    with_values_not_known,
    with_deeds_in_words,
    with_bounds_before_flags,
    with_sums_in_periods,
    with_doers_of_values,
    with_names_before_numbers,
    with_values_of_whose,
    with_values_of_columns,
    with_bounds_first,
    with_one_period_last,
    without_articles,
    with_names_joined,
    with_channels,
    with_how_often,
    with_numbers_per_row,
    with_newcomers,
    with_days_of_rows,
    with_measures_in_units,
    with_things_of_values,
    with_kilos,
    with_units_of_values,
    with_denied_values,
    with_values_left_out,
    with_shared_heads,
    with_key_names,
    with_countries,
    with_opposites,
    with_failed_rows,
    with_denial_first,
    with_denied_shares,
    with_nouns_of_adjectives,
    with_ended_as,
    with_both_sides,
    with_groups_of_flags,
    with_whole_flags,
    with_average_first,
    with_shares_of_sums,
    with_plain_values,
    with_done_moments,
    with_deeds,
    with_plain_groups,
    with_most_of,
    with_turned_names,
    with_turned_kinds,
    with_deadlines,
    with_done_things,
    with_verbs_in_names,
    with_missing_rows,
    with_rates,
    with_shares_of_flags,
    with_income,
    with_each_doing,
    with_sums,
    with_totals,
    with_verbs_of_rows,
    with_counts_first,
    with_running_things,
    with_rows_of_amounts,
    with_pieces,
    with_verbs_of_nouns,
    with_both_flags,
    with_latest_rows,
    with_compounds_of_empty,
)


def _checked(wish: str, tokens: tuple[Token, ...], draft: Draft, lexicon: Lexicon) -> Understood:
    """The best reading of a draft, if all words have a place in it, and each has one scope."""
    found = resolved(draft, lexicon)
    unread = _unread(draft, found, lexicon)
    length = vague_length(draft, lexicon) if unread else None
    if length is not None:
        return Understood(questions=(length,))
    yearless = day_without_year(tokens) if unread else None
    if yearless is not None:
        return Understood(questions=(yearless,))
    if unread:
        return Understood(refusal=_unplaced(unread, "", lexicon, draft))
    if isinstance(found, Failed):
        return _failed(found, lexicon, draft)
    tokens = tokens[: draft.ordered_at]  # an order of rows adds and restricts nothing
    missing = lost(tokens, draft, found) or unseen(tokens, draft, found) or unaccounted(draft, found)
    if missing:
        return Understood(refusal=_no_place(missing))
    question = doubt(wish, tokens, draft, found)
    if question is not None:
        return Understood(questions=(question,))
    return _understood(wish, draft, found)


def _rate(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...] | Question:
    """The tokens with "A per B" as one name where that can only be the measure of that name; else a question.

    "revenue per household" is one number for each household, or the average over all; "fare per km" is a measure, for
    nothing is grouped by km.
    """
    rate = lexicon.rate(tokens)
    if rate is None:
        return tokens
    before, after = tokens[: rate.first], tokens[rate.end :]
    of = lexicon.mention(tokens, rate.per + 1, rate.end - rate.per - 1)
    if {token.word for token in tokens} & {"average", "avg", "mean"}:
        return tokens  # the average over all, as of any other number
    if of is None or not _is_thing(of, lexicon):
        name = f"{rate.sense.table}.{rate.sense.measure}"
        first, last = tokens[rate.first], tokens[rate.end - 1]
        return (*before, Token(name, name, name, "name", first.start, last.end), *after)
    what, thing = (
        " ".join(t.text for t in part) for part in (tokens[rate.first : rate.per], tokens[rate.per + 1 : rate.end])
    )
    return Question(
        text=f"'{what} per {thing}': one number for each {thing}, or the average over all?",
        phrase=f"{what} per {thing}",
        choices=(f"{what} for each {thing}", f"average {what} per {thing}"),
    )


def _is_thing(mention: Mention, lexicon: Lexicon) -> bool:
    """Whether rows can be grouped by what a mention means: a table, or a column that is no plain number."""
    tables = lexicon.catalog.tables
    return bool(mention.of_kind("table")) or any(
        not is_number(column) or column.references or column.name in tables[sense.table].primary_key
        for sense in mention.of_kind("column")
        for column in (tables[sense.table].column(sense.column),)
    )


def _understood(wish: str, draft: Draft, found: Shaped) -> Understood:
    request = Request(
        wish=wish,
        block=found.block,
        ranking=found.ranking,
        alert=draft.alert,
        freshness=draft.freshness,
        layer=draft.layer,
        name=draft.name,
    )
    readings = list(found.bench.places.readings)
    if draft.freshness is not None:
        readings.append(
            Reading(phrase="freshness", became=f"at most {format_duration(draft.freshness)} behind the source")
        )
    assumptions = (*draft.assumptions, *found.bench.places.assumptions)
    return Understood(request=request, readings=tuple(readings), assumptions=tuple(dict.fromkeys(assumptions)))


def _failed(found: Failed, lexicon: Lexicon, draft: Draft) -> Understood:
    error = found.error
    if isinstance(error, UnclearError):
        return Understood(questions=(Question(text=error.text, phrase=error.phrase, choices=error.choices),))
    if isinstance(error, NotPlacedError):
        return Understood(
            refusal=_unplaced([error.phrase] if error.phrase else [], error.why, lexicon, draft, found.base)
        )
    return Understood(refusal=str(error))


def _unread(draft: Draft, found: Shaped | Failed, lexicon: Lexicon) -> list[str]:
    """Words that no rule read and that no description of what was chosen has."""
    if not isinstance(found, Shaped):
        return draft.unread
    base, text = found.bench.base.name, found.block.model_dump_json()
    measured = {one.of.column for one in found.block.measures if isinstance(one.of, ColumnRef)}
    left = []
    for phrase in draft.unread:
        if phrase.lower() in {"new", "newly"} and _counts_rows(found):
            continue
        if says_of_group(phrase, draft, found, lexicon):
            continue
        senses = lexicon.described.get(stem(phrase), [])
        is_described = any(
            sense.table == base
            and (f'"{sense.column}"' in text if sense.column else not restricts_rows(phrase, draft.words))
            and (said_of_all(phrase, sense, lexicon.catalog) or sense.column in measured)
            for sense in senses
        )
        if not is_described or not phrase.isalpha() or phrase.lower() in MEANINGFUL or singular(phrase) in MEANINGFUL:
            left.append(phrase)
    return left


def _counts_rows(found: Shaped) -> bool:
    """Whether rows of a table with a time are counted, each of which is new once."""
    block = found.block
    return (
        bool(block.measures)
        and default_time(found.bench.base) is not None
        and all(one.function == "count" and one.of is None for one in block.measures)
    )


def _unplaced(phrases: list[str], why: str, lexicon: Lexicon, draft: Draft, base: str = "") -> str:
    if not phrases:
        return why or "the wish does not say which figures or rows are wanted"
    parts = []
    for phrase in phrases:
        near = lexicon.nearest(phrase.lower())
        described = list(
            dict.fromkeys(lexicon.places(s) for w in phrase.split() for s in lexicon.described.get(stem(w), []))
        )[:3]
        hint = f"; nearest are {', '.join(described or near)}" if described or near else ""
        place = f" near {base}" if base else ""
        parts.append(f"nothing{place} is called '{phrase}'{': ' + why if why else ''}{hint}")
    if not base and (tables := _tables(draft)):
        parts.append(f"the wish is about {', '.join(tables)}")
    return "; ".join(parts)


def _tables(draft: Draft) -> list[str]:
    names = [m.of_kind("table")[0].table for m in mentions_of(draft) if m.of_kind("table")]
    return list(dict.fromkeys(names))[:3]
