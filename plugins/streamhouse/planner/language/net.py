"""The last check of a reading: no number, negation or comparison of a wish is lost, and its rows are what it lists."""

import re
from decimal import Decimal
from itertools import pairwise

from streamhouse.planner.language.draft import Draft, Is, Noun
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.second_sums import lost_sum
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import COMPARATIVES, MONTHS, NEGATIONS
from streamhouse.planner.request import ColumnRef, Condition

_NEGATIVE = ('"<>"', '"not in"', '"is null"', '"exists":false', '"values":[false]', '"<="', '">="', '"any"', '"<"',
             '">"')  # fmt: skip
_BEING = frozenset({"is", "are", "was", "were", "been", "be", "have", "has", "had"})
_SCALES = tuple(map(Decimal, ("1", "100", "0.01", "1000", "0.001", "60", "3600", "24", "86400", "10", "7", "12")))
_AROUND = (0, 1, -1, 11, 12, 13)  # "until 2024" is before 2025; "10 pm" is 22


def lost(tokens: tuple[Token, ...], draft: Draft, found: Shaped) -> str:
    """The words of a wish that its reading lacks; empty: none."""
    text = found.block.model_dump_json() + (found.ranking.model_dump_json() if found.ranking else "")
    return (
        _quantifier(draft)
        or _number(tokens, draft, text)
        or _negation(draft, text)
        or _comparison(draft, text)
        or _rows(draft, found)
        or _letter(tokens, draft)
        or _shown_twice(draft, found)
        or _particle(tokens, draft)
        or lost_sum(tokens, draft, found)
    )


_PARTICLES = frozenset({"out", "up", "down", "off", "back", "away", "over", "through"})


def _particle(tokens: tuple[Token, ...], draft: Draft) -> str:
    """A participle with a word behind it that changes what was done: "sold out", where "sold" was read."""
    read = {place for mention in mentions_of(draft) for place in range(mention.start, mention.end)}
    for mention in mentions_of(draft):
        behind = tokens[mention.end].word if mention.end < len(tokens) else ""
        if is_participle(mention) and behind in _PARTICLES and mention.end not in read:
            follows = tokens[mention.end + 1].kind if mention.end + 1 < len(tokens) else "symbol"
            if behind not in {"over", "through"} or follows == "symbol":
                return f"{mention.text} {behind}"
    return ""


def _letter(tokens: tuple[Token, ...], draft: Draft) -> str:
    """A capital "A" within a wish is a code, and no article: "departments A and B"."""
    if all(token.text.isupper() for token in tokens if token.kind == "word"):
        return ""
    read = {place for mention in mentions_of(draft) for place in range(mention.start, mention.end)}
    strings = {value for clause in draft.filters if isinstance(clause, Is) for value in clause.values}
    for at, (before, token) in enumerate(pairwise(tokens), start=1):
        begins = before.kind == "symbol" and before.text not in {",", "/", "&", "-"}
        if token.text == "A" and not begins and at not in read and "A" not in strings:
            return token.text
    return ""


def _shown_twice(draft: Draft, found: Shaped) -> str:
    """A word whose column is shown already: "play" of "names and instruments of those who play" asks for no column."""
    shown = [one.of for one in found.block.columns if isinstance(one.of, ColumnRef)]
    twice = {one.column for one in shown if shown.count(one) > 1}
    said = [one for one in mentions_of(draft) if any(sense.column in twice for sense in one.of_kind("column"))]
    return max(said, key=lambda one: one.start).text if len(said) > 1 else ""


def _quantifier(draft: Draft) -> str:
    """As in "whose orders were all late": what is said of all rows of a thing, a condition on one row does not say."""
    for before, word, after in zip(draft.words, draft.words[1:], [*draft.words[2:], ""], strict=False):
        if word in {"all", "always", "only"} and before in _BEING and after not in {"of", "in", "the"}:
            return word
    return ""


def _number(tokens: tuple[Token, ...], draft: Draft, text: str) -> str:
    there = {Decimal(part) for part in re.findall(r"(?<![\w.])\d+(?:\.\d+)?|(?<=-)\d+|(?<=T)\d+", text)}
    there |= {Decimal(part) for part in re.findall(r"\d+(?:\.\d+)?", text)}
    if draft.freshness is not None or draft.sessions is not None:
        return ""  # a number may belong to these
    for at, token in enumerate(tokens):
        near = {one.word for one in tokens[max(at - 2, 0) : at + 3]}
        if near & set(MONTHS):
            continue  # a day of a month: its end is the next day
        if token.kind != "number" or not isinstance(token.value, Decimal):
            continue
        wanted = {token.value * scale for scale in _SCALES} | {token.value + more for more in _AROUND}
        if not wanted & there:
            return token.text
    return ""


def _negation(draft: Draft, text: str) -> str:
    named = {word for one in mentions_of(draft) if one.of_kind("value") for word in one.words}
    said = [word for word in draft.words if word in NEGATIONS - named]
    if "still" in draft.words and not any(
        mark in text for mark in ('null"', '"="', '"in"', '"<>"', '"not in"', "false")
    ):
        return "still"
    if {"never", "nobody"} & set(said) and not any(mark in text for mark in ('"exists":false', '"is null"')):
        return "never"
    return said[0] if said and not any(mark in text for mark in (*_NEGATIVE, '"until"')) else ""


def _comparison(draft: Draft, text: str) -> str:
    marks = ('"<', '">', '"at_least":', '"during"', "above_average", '"calendar"', '"cut"')
    for word, following in zip(draft.words, draft.words[1:], strict=False):
        if word in COMPARATIVES and following == "than" and not any(mark in text for mark in marks):
            return f"{word} than"
    return ""


def _rows(draft: Draft, found: Shaped) -> str:
    """A thing that is listed without figures: its rows, its key or one of its columns are the result."""
    block = found.block
    nouns = [noun for noun in draft.nouns if not noun.predicate]
    if draft.words[:1] == ["who"] and block.measures and not (block.dimensions or draft.best or block.inner):
        return "who"  # it asks for people, and has a figure
    if _asks_which(draft) and block.measures and not (block.dimensions or draft.figures or draft.best or block.inner):
        return draft.openers[0]  # it asks for things, and has a figure
    if not block.measures and (total := _total(draft)):
        return total
    if lost_count := _second_count(nouns, draft, found):
        return lost_count
    if nouns and not block.measures and (done := _done_to(nouns[0], found)):
        return done
    if nouns and _things_lost(nouns[0], draft, found):
        return nouns[0].text
    if block.measures or block.derived or block.inner is not None or not nouns or draft.pick is not None:
        return ""
    if draft.words[:1] == ["what"] and draft.words[1:2] in (["did"], ["do"], ["does"]) and not block.dimensions:
        return "what"  # it asks for a figure
    first = nouns[0]
    if draft.subject is not None and draft.subject.start < first.head.start:
        first = Noun(draft.subject)
    never = any(word in {"never", "nobody"} for word in draft.words) and '"exists":false' not in block.model_dump_json()
    tables = first.head.tables(WHOLE_NAME)
    if first.head is draft.subject:
        tables = _tables_with(first.head, found)
    if not tables or block.base in tables or found.bench.places.is_base(first.head):
        return ""
    if never:
        return "never"  # of one row it says nothing about the thing that is listed
    if any(one.of == ColumnRef(column=key) for one in block.columns for key in found.bench.base.primary_key):
        return first.text  # rows of another table
    shown = [one.of for one in (*block.columns, *block.dimensions) if isinstance(one.of, ColumnRef)]
    reaches = found.bench.places.scope.reaches
    for column in shown:
        reach = reaches.get(column.role)
        if reach is None:
            return ""
        target = reach.table.column(column.column).references
        if reach.table.name in tables or (target and target[0] in tables):
            return ""
    return first.text


def _total(draft: Draft) -> str:
    """As in "total of unpaid bills", which is a figure; a column may be called so, too."""
    read = {word for mention in mentions_of(draft) for word in mention.words}
    return next((word for word in draft.words[:2] if word in {"total", "totals", "sum"} and word not in read), "")


def _second_count(nouns: list[Noun], draft: Draft, found: Shaped) -> str:
    """A thing of "orders and reviews per store" that is not counted; empty: each is."""
    block = found.block
    if not draft.groups or not block.measures or draft.figures or draft.best is not None or len(nouns) < _PAIR:
        return ""
    grouped = {one.of.column for one in block.dimensions if isinstance(one.of, ColumnRef)}
    first, second = nouns[:_PAIR]
    if second.head.start != first.head.end + 1 or first.around or second.around or not second.listed:
        return ""  # only "orders and reviews" are two of the same sort
    for noun in (first, second):
        named = [sense for sense in noun.head.of_kind("table") if sense.quality >= WHOLE_NAME]
        keys = {s.column for s in noun.head.of_kind("column")} & grouped
        if named and not keys and not found.bench.places.is_base(noun.head):
            return noun.text
    return ""


_PAIR = 2


def _done_to(noun: Noun, found: Shaped) -> str:
    """The things of "films shown in IMAX", where rows of the base are called as what was done to them; else empty."""
    word = noun.head.words[-1] if noun.head.words else ""
    if not is_participle(noun.head) or stem(word) == word or not found.bench.places.is_base(noun.head):
        return ""
    things = [one for one in noun.around if one.end == noun.head.start and one.of_kind("table")]
    return next((one.text for one in things if not found.bench.places.is_base(one)), "")


def _things_lost(first: Noun, draft: Draft, found: Shaped) -> bool:
    """Whether a wish begins with things, of which its figures say nothing: "guests from Oslo, their revenue"."""
    block = found.block
    if not block.measures or block.dimensions or block.derived or block.inner is not None or draft.figures:
        return False
    named = any(sense.quality >= WHOLE_NAME for sense in first.head.of_kind("table"))
    return named and first.head.start <= 1 and not first.linked and not found.bench.places.is_base(first.head)


def _asks_which(draft: Draft) -> bool:
    """Whether a wish asks for things: "which books did children borrow"."""
    first = next((noun for noun in draft.nouns if not noun.predicate), None)
    return draft.openers[:1] == ["which"] and first is not None and bool(first.head.of_kind("table"))


def _tables_with(value: Mention, found: Shaped) -> set[str]:
    """Tables whose column was compared with a value: those of which "children" are rows."""
    reaches, tables = found.bench.places.scope.reaches, set()
    for one in found.block.filters:
        if isinstance(one, Condition) and isinstance(one.left, ColumnRef) and one.left.role in reaches:
            table = reaches[one.left.role].table.name
            compared = {str(constant) for constant in one.values}
            senses = [s for s in value.of_kind("value") if s.table == table and s.column == one.left.column]
            if any(s.value in compared for s in senses):
                tables.add(table)
    return tables
