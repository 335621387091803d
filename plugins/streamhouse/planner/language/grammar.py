"""The grammar of a wish: from tokens to clauses, left to right, the more particular rule first."""

from collections.abc import Callable
from dataclasses import replace

from streamhouse.planner.language.asking import read_figure
from streamhouse.planner.language.condition_rules import (
    read_compared_rule,
    read_except_rule,
    read_numbered_value_rule,
    read_periods_meeting_rule,
    read_timed_rule,
    read_versus_rule,
    read_without_rule,
)
from streamhouse.planner.language.coordinated import join_values
from streamhouse.planner.language.counted_periods import read_counted_periods_rule
from streamhouse.planner.language.draft import (
    Draft,
    Figure,
    Group,
    Noun,
    Time,
)
from streamhouse.planner.language.falling import read_falling_rule, read_moving_periods_rule
from streamhouse.planner.language.figure_rules import (
    read_changed_rule,
    read_counted_rule,
    read_distinct_rule,
    read_extremes_rule,
    read_lasting_rule,
    read_numbered_rule,
    read_rated_rule,
    read_result_unit_rule,
)
from streamhouse.planner.language.grouping import read_adverb, read_groups
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.numbers import read_number, read_quantity
from streamhouse.planner.language.per_many import read_per_many
from streamhouse.planner.language.picking import read_pick
from streamhouse.planner.language.quotients import read_quotient
from streamhouse.planner.language.ranking import read_best, read_ranked_noun
from streamhouse.planner.language.reader import Reader
from streamhouse.planner.language.sides import read_sides
from streamhouse.planner.language.silent import conditions_of, passes_over
from streamhouse.planner.language.sorting import read_order
from streamhouse.planner.language.statements import having, state, unmade, valued
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.words import COMPOUND_HEADS, DIRECTIONS, FILLERS, STATES

_LISTING = frozenset({"list", "show", "display", "give", "find", "which", "get", "return", "print", "fetch", "who"})


def read_wish(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> Draft:
    """Read all of a wish into `draft`; what no rule takes lands in `unread`."""
    reader = Reader(tokens, lexicon, draft)
    draft.listing = any(token.word in _LISTING for token in tokens[:3])
    draft.words = [token.word for token in tokens if token.kind == "word"]
    draft.said = tuple(token.word for token in tokens)
    draft.openers = [word for word in draft.words[:2] if word in {"which", "what", "whose"}]
    while not reader.done:
        if not _read(reader):
            _unread(reader)
    if reader.negated:  # no clause took it, and what it negates would be turned round in silence
        draft.unread.append("never" if reader.never else "not")
    draft.unread += [said for _, said, before in draft.clauses if conditions_of(reader) == before]
    _settle_distinct(draft)
    join_values(draft, tokens)
    draft.cues += [token.word for token in reader.tokens if token.word in DIRECTIONS and token.kind == "word"]
    draft.assumptions += [
        f"'{tokens[at].text}' is read as '{spelled}'" for at, spelled in sorted(reader.respelled.items())
    ]
    return draft


def _read(reader: Reader) -> bool:
    """Let the first rule that fits read on; one that does not fit leaves the place as it was."""
    start = reader.at
    if start in reader.passed:
        reader.at += 1
        return True
    for rule in _RULES:
        if rule(reader):
            return True
        reader.at = start
    return False


def _settle_distinct(draft: Draft) -> None:
    listed = [one for one in draft.figures if one.function == "distinct"]
    if not listed:
        return
    if draft.groups or len(draft.figures) > 1:
        draft.figures = [replace(one, function="count distinct") if one in listed else one for one in draft.figures]
        return
    draft.figures, draft.distinct = [], True
    draft.groups += [one.noun for one in listed if isinstance(one.noun, Noun)]


def _punctuation(reader: Reader) -> bool:
    if reader.tokens[reader.at].kind != "symbol" or reader.word() in {"<", ">", "=", "<=", ">=", "<>", "!="}:
        return False
    reader.at += 1
    return True


def _adverb(reader: Reader) -> bool:
    time = read_adverb(reader)
    if time:
        reader.draft.groups.append(time)
    return time is not None


def _picked(reader: Reader) -> bool:
    if reader.draft.pick is not None:
        return False
    reader.draft.pick = read_pick(reader)
    return reader.draft.pick is not None


def _ranked(reader: Reader) -> bool:
    if reader.draft.best is not None:
        return False
    reader.draft.best = read_ranked_noun(reader) or read_best(reader)
    return reader.draft.best is not None


def _grouped(reader: Reader) -> bool:
    start = reader.at
    best = reader.draft.best
    if reader.word() == "by" and best is not None and best.by is None:
        reader.at += 1
        figure = read_figure(reader)
        noun = None if figure else reader.noun()
        if figure or (noun and noun.head.of_kind("measure", "column")):
            by = figure or Figure("", noun, phrase=noun.text if noun else "")
            reader.draft.best = replace(best, by=by)
            return True
        reader.at = start
    if read_order(reader):
        return True
    if reader.word() == "by" and reader.draft.nouns and not (reader.draft.groups or reader.draft.figures or best):
        reader.at += 1
        figure = read_figure(reader)
        if figure:
            reader.draft.groups.append(reader.draft.nouns.pop())
            reader.draft.figures.append(figure)
            return True
        reader.at = start
    groups = read_groups(reader)
    if not groups:
        return False
    reader.draft.groups.extend(_new(groups, reader.draft.groups))
    last = groups[-1]
    reader.head = last if isinstance(last, Noun) else reader.head
    return True


def _new(groups: tuple[Group, ...], known: list[Group]) -> list[Group]:
    grains = {group.grain for group in known if isinstance(group, Time) and group.of is None}
    return [g for g in groups if not (isinstance(g, Time) and g.of is None and g.grain in grains)]


def _auxiliary(reader: Reader) -> bool:
    if reader.word() == "still" and (reader.word(1) in {"not", "in", "on", "without", "has",
    "have"} or reader.word(1) in STATES or reader.word(1).startswith("un")
                                     or reader.mention(1) is not None):  # fmt: skip
        reader.at += 1
        return True
    named = reader.mention() if reader.word() in {"nobody", "no"} else None
    if named is not None and named.of_kind("value"):
        return False
    if reader.negated and reader.word() in {"not", "never", "nobody"}:
        return False  # twice not is no wish that one reads with certainty
    if reader.word() in {"not", "never", "nobody", "yet", "ever"}:
        reader.never = reader.never or reader.word() in {"never", "nobody"}
        reader.negated = reader.negated or reader.word() not in {"yet", "ever"}
        reader.at += 1
        return True
    if reader.word() == "no" and reader.word(1) == "one":
        reader.negated = reader.never = True
        reader.at += 2
        return True
    return False


def _filler(reader: Reader) -> bool:
    """Words that say nothing; "un" before a name says that it is not so: "unpaid"."""
    token = reader.tokens[reader.at]
    if token.kind != "word":
        return False
    return passes_over(reader) or unmade(reader)


def _unread(reader: Reader) -> None:
    token = reader.tokens[reader.at]
    if token.kind != "symbol":
        quantity = read_quantity(reader.tokens, reader.at) if read_number(reader.tokens, reader.at) else None
        length = quantity.length if quantity else 1
        _note_unread(reader, reader.text(reader.at, reader.at + length))
        reader.at += length
        return
    reader.at += 1


def _note_unread(reader: Reader, text: str) -> None:
    """Words without a place; those that stand together are one phrase."""
    unread = reader.draft.unread
    if (
        text.lower() in COMPOUND_HEADS
        and reader.at
        and not (
            reader.tokens[reader.at - 1].word in FILLERS
            or (unread and unread[-1].endswith(reader.tokens[reader.at - 1].text))
        )
    ):
        text = reader.text(reader.at - 1, reader.at + 1)  # "phone numbers" is one thing
    before = reader.tokens[reader.at - 1].text if reader.at else ""
    if unread and before and unread[-1].split()[-1] == before:
        unread[-1] = f"{unread[-1]} {text}"
    else:
        unread.append(text)


_RULES: tuple[Callable[[Reader], bool], ...] = (
    read_counted_periods_rule, read_except_rule, read_quotient, read_per_many,
    read_sides, read_without_rule, read_distinct_rule, read_lasting_rule,
    read_extremes_rule, read_moving_periods_rule, read_falling_rule, read_periods_meeting_rule,
    read_versus_rule, read_numbered_value_rule, read_changed_rule,
    _punctuation, read_rated_rule, read_order, read_timed_rule, _picked, _ranked, read_counted_rule,
    read_numbered_rule, _adverb,
    read_result_unit_rule, read_compared_rule, _grouped, _auxiliary, having, state, valued, _filler,
)  # fmt: skip


__all__ = ["read_wish"]
