"""As in "donors who gave more than 500 euros in total": the sum over the rows of each thing, by its one measure."""

from dataclasses import dataclass, replace

from streamhouse.planner.language.bounds_said import bound_at, comparison_at
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.named_sums import is_sum
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.tokens import Token, stems
from streamhouse.planner.language.units import Unit, unit_of
from streamhouse.planner.language.words import COMPARISONS, LIGHT_STEMS, is_past_form

_LINKS = frozenset({"who", "that", "which", "have", "has", "had"})
_TOTALS = (["in", "total"], ["altogether"], ["overall"], ["in", "all"], ["all", "together"])
EARNING = frozenset("brought bring brings raised made generated spent took collected".split())
"""Verbs that say a sum, where they are said of things: "campaigns that raised more than 500 euros"."""
_BEFORE = frozenset({"with", "of", "having"})
_GOES_ON = frozenset({"of", "worth", "for", "on", "in", "or", "and", "per", "each", "every"})
_UPPER = frozenset({"<", "<=", "<>"})
_FROM = frozenset({"in", "from", "at"})


@dataclass(frozen=True)
class _Bound:
    """Tokens `first` to `end` that say a bound of things; the comparison begins at `at`, and ends at `behind`.

    An upper bound is one that things without any rows meet, too.
    """

    things: str
    verb: Token | None
    unit: Unit
    first: int
    at: int
    behind: int
    end: int
    upper: bool


def with_sums_of_things(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "with income more than 500 euros" for "who gave more than 500 euros in total"."""
    for at in range(1, len(tokens)):
        bound = _bound(tokens, at, lexicon)
        if bound is None:
            continue
        said = " ".join(token.text for token in tokens[bound.first : bound.end])
        name = _sum_of(bound, lexicon)
        if name:
            draft.assumptions.append(f"'{said}' is about {name} of each of {bound.things}")
            put = (replace(tokens[at], text="with", word="with", stem="with"),
                   replace(tokens[at], text=name.rsplit(".", 1)[1], word=name, stem=name, kind="name"))  # fmt: skip
            return (*tokens[: bound.first], *put, *tokens[at : bound.behind], *tokens[bound.end :])
        if _is_own(bound, lexicon):
            draft.questions.append((f"'{said}': the sum of what, for each of {bound.things}?", said, ()))
        return tokens
    return tokens


def _bound(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> _Bound | None:
    """Read a bound of the rows of things: with a verb before it, or "in total" behind it."""
    words = [token.word for token in tokens]
    compared = bound_at(tokens, at)
    unit = compared[1].unit if compared is not None else None
    if compared is None or unit is None:
        return None
    behind = compared[0]
    end = behind + next((len(one) for one in _TOTALS if words[behind : behind + len(one)] == one), 0)
    first, verb = _verb_before(tokens, at)
    things = _things_before(tokens, first, lexicon)
    linked = verb is not None or (end > behind and words[first] in _BEFORE)
    goes_on = end < len(words) and words[end] in _GOES_ON and read_period(tokens, end) is None
    if not things or not linked or goes_on:
        return None
    upper = COMPARISONS[comparison_at(words, at)] in _UPPER
    return _Bound(things, verb, unit, first, at, behind, end, upper)


def _verb_before(tokens: tuple[Token, ...], at: int) -> tuple[int, Token | None]:
    """Where "who gave" or "with" begins before a comparison, with the verb; None: there is no verb."""
    place = at - 1
    if tokens[place].word in {"in", "us", "out"} and place > 1:
        place -= 1
    verb = tokens[place]
    said = is_past_form(verb.word) or verb.word in EARNING or verb.stem in LIGHT_STEMS
    first, links = (place, _LINKS) if verb.kind == "word" and said else (at, _BEFORE)
    while first > 0 and tokens[first - 1].word in links:
        first -= 1
    return first, verb if links is _LINKS else None


def _things_before(tokens: tuple[Token, ...], end: int, lexicon: Lexicon) -> str:
    """The table whose things, and not events, a word before a place names: "donors in Lund"; empty: there is none."""
    for value in (2, 3):
        if end > value and tokens[end - value].word in _FROM:
            end -= value
            break
    found = lexicon.mention(tokens, end - 1, 1) if end else None
    tables = found.tables(WHOLE_NAME) if found is not None else set()
    tables = {one for one in tables if lexicon.catalog.tables[one].event_time is None}
    return tables.pop() if len(tables) == 1 else ""


def _sum_of(bound: _Bound, lexicon: Lexicon) -> str:
    """The full name of the only sum in the unit of a bound over rows that point to things; empty: not one."""
    tables = lexicon.catalog.tables
    rows = {key.table for key in lexicon.children.get(bound.things, ())}
    rows = {one for one in rows if not (rows | {bound.things}) & set(tables[one].upstream)}
    sums = (
        []
        if bound.upper
        else [
            (table, name)
            for table in sorted(rows)
            for name, one in tables[table].measures.items()
            if _same(unit_of(one.unit or ""), bound.unit) and is_sum(one)
        ]
    )
    if bound.verb is not None and sums:
        named = [one for one in sums if bound.verb.stem in _words(*one, lexicon)]
        if bound.end == bound.behind and not named and bound.verb.word not in EARNING:
            return ""  # "who gave more than 500 euros" may be at once
        if named:
            return ".".join(named[0]) if len(named) == 1 else ""
    others = rows - {table for table, _ in sums}
    if any(_same(unit_of(c.unit or ""), bound.unit) for one in others for c in tables[one].columns):
        return ""  # boats pay for fuel, and for stays whose fees no measure adds up
    return ".".join(sums[0]) if len(sums) == 1 else ""


def _same(one: Unit | None, other: Unit) -> bool:
    return one is not None and one.measures == other.measures


def _words(table: str, measure: str, lexicon: Lexicon) -> set[str]:
    """Stems of the names of a measure."""
    found = lexicon.catalog.tables[table].measures[measure]
    return {part for text in (measure, *found.synonyms) for part in stems(text)}


def _is_own(bound: _Bound, lexicon: Lexicon) -> bool:
    """Whether a number of the things themselves would be compared with what they earned: their goal."""
    columns = lexicon.catalog.tables[bound.things].columns
    return bound.verb is not None and bound.verb.word in EARNING and any(
        one.references is None and _same(unit_of(one.unit or ""), bound.unit) for one in columns
    )  # fmt: skip
