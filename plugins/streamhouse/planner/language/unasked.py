"""Parts of an answer that no word of the wish asks for: totals, counts, a row for each.

Each check looks at the answer, and for the words that ask for its parts. A part without such words is a guess of the
rules that read the wish, so it is asked back.
"""

from collections.abc import Iterable, Iterator

from streamhouse.planner.language.amounts_listed import total_or_each
from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Figure, Noun
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.shares_of_what import part_or_whole, time_of_part
from streamhouse.planner.language.tokens import Token, singular
from streamhouse.planner.language.words import AGGREGATES, COMPARATIVES, SUPERLATIVES
from streamhouse.planner.request import ColumnRef, Condition, Dimension, Measure, Question

_SUMS = frozenset(
    """total totals sum sums altogether together combined overall cumulative cumulated summed aggregate all in-total
    per each every""".split()
)
_COUNTS = frozenset(
    """number numbers count counts counted counting many much most fewest least often frequent frequently frequency
    common popular times total totals rate share percentage percent ratio proportion average more less fewer
    headcount tally twice once volume only single several multiple any no
    busiest quietest top least rank ranked every per each""".split()
)
_EACH = frozenset("per each every by their respective within across daily weekly monthly hourly yearly".split())
_ONCE = frozenset({"different", "distinct", "unique"})
_BEFORE_COUNTED = frozenset({"number", "numbers", "count", "counts", "many", "of", "the", "and", "total"})
_LINKS = frozenset({"with", "that", "which", "whose", "who", "having", "has", "have", "had"})
_OWNING = frozenset({"have", "has", "had", "having", "with"})
_NOT_ENTITIES = frozenset({"and", "or", ","})
_SKIPPED = frozenset({"a", "an", "any", "some", "at", "least", "one", "the"})


def total_of_rows(wish: AnsweredWish) -> Question | None:
    """A total that decides although rows are named: "sizes of flats with more than 3 rooms" by all rooms of a size."""
    block, base = wish.block, wish.base
    words = set(wish.words)
    if block.inner is not None or words & _SUMS or _is_row(block.dimensions, base.primary_key):
        return None
    ranked = wish.found.ranking.by if wish.found.ranking is not None else ""
    bounds = {one.left for one in block.having if isinstance(one, Condition) and isinstance(one.left, str)}
    for measure in block.measures:
        summed = measure.function == "sum" and measure.named is None and isinstance(measure.of, ColumnRef)
        if not summed or measure.of.role or not (measure.name == ranked or measure.name in bounds):  # type: ignore[union-attr]
            continue
        rows = _rows_compared(wish)
        if rows is not None:
            group = ", ".join(one.name for one in block.dimensions) or "group"
            text = f"'{rows.text}': is {measure.of.column} of each of them meant, or the total for each {group}?"  # type: ignore[union-attr]
            return Question(text=text, phrase=rows.text)
    return None


def _is_row(dimensions: Iterable[Dimension], key: tuple[str, ...]) -> bool:
    """Whether groups are single rows of the base."""
    names = {one.of.column for one in dimensions if isinstance(one.of, ColumnRef) and not one.of.role}
    return bool(key) and set(key) <= names


def _rows_compared(wish: AnsweredWish) -> Mention | None:
    """The words for rows of the base of which a number is said next: "flats" of "flats with more than 3 rooms"."""
    tables = [one for one in wish.mentions if one.tables(WHOLE_NAME)]
    for mention in tables:
        if wish.base.name not in mention.tables(WHOLE_NAME):
            continue
        behind = [token.word for token in wish.tokens[mention.end : mention.end + _NEAR]]
        if not behind or behind[0] not in _LINKS:
            continue
        decides = next((n for n, word in enumerate(behind) if word in SUPERLATIVES or word in COMPARATIVES), None)
        if decides is None:
            continue
        between = range(mention.end, mention.end + decides)
        if not any(other.start in between for other in tables):
            return mention
    return None


_NEAR = 6


def uncounted(wish: AnsweredWish) -> Question | None:
    """A number of values that no word asks for: "the skipper with the highest rank" by how many ranks there are."""
    words = set(wish.words)
    if wish.block.inner is not None or _COUNTS & words:
        return None
    for measure in _counts(wish.block.measures):
        if isinstance(measure.of, ColumnRef) and not words & _ONCE:
            name = measure.of.column
            text = f"'{name}': how many there are, or each of them?"
            return Question(text=text, phrase=name, choices=(f"number of {name.replace('_', ' ')}",))
    return None


def different_ones(wish: AnsweredWish) -> Question | None:
    """Values that are counted, where they may be to be shown: "different colours and the average price"."""
    words = wish.words
    counted = [one for one in wish.block.measures if one.function == "count distinct" and one.named is None]
    places = [at for at, word in enumerate(words) if word in _ONCE]
    if not counted or not places or wish.block.inner is not None or any(_is_counted(words, at) for at in places):
        return None
    base = wish.base
    for measure in counted:
        of = measure.of
        own = isinstance(of, ColumnRef) and not of.role
        column = base.column(of.column) if own else None  # type: ignore[union-attr]
        thing = column is None or column.references is not None or column.name in base.primary_key
        if not thing or not wish.draft.groups:
            said = " ".join(words[places[0] : places[0] + 2])
            text = f"'{said}': how many there are, or a row for each of them?"
            return Question(text=text, phrase=said, choices=(f"number of {said}", f"per {singular(said.split()[-1])}"))
    return None


def _is_counted(words: list[str], at: int) -> bool:
    """Whether a word for counting is before "different": "number of the different", "count distinct"."""
    while at and words[at - 1] in _BEFORE_COUNTED:
        at -= 1
        if words[at] in _COUNTS:
            return True
    return False


def _counts(measures: Iterable[Measure]) -> Iterator[Measure]:
    yield from (one for one in measures if one.named is None and one.function.startswith("count"))


def ranked_in_groups(wish: AnsweredWish) -> Question | None:
    """The best of each group, where no word asks for groups: "names of the 3 ships with the highest speed"."""
    words = set(wish.words)
    if wish.found.ranking is None or not wish.found.ranking.per or words & _EACH:
        return None
    per = ", ".join(wish.found.ranking.per)
    text = f"the best {wish.found.ranking.count} of all, or of each {per}?"
    return Question(text=text, phrase="", choices=(f"of each {per}",))


def total_of_what(wish: AnsweredWish) -> Question | None:
    """As in "total amount of invoices": their number, or a number that they have?"""
    counts = [one for one in _counts(wish.block.measures) if one.of is None]
    if any(one.function == "sum" and one.named is None for one in wish.block.measures):
        return None  # of "number of orders and total amount" both are there
    for figure in wish.draft.figures:
        words = figure.phrase.lower().split()
        if _has_measure(wish, figure):
            continue
        asked = figure.function == "sum" and isinstance(figure.noun, Noun) and set(words) & {"amount", "value", "sum"}
        if asked and counts:
            text = f"'{figure.phrase}': how many there are, or the total of which number?"
            return Question(text=text, phrase=figure.phrase, choices=(f"number of {figure.noun.text}",))  # type: ignore[union-attr]
    return None


def _has_measure(wish: AnsweredWish, figure: Figure) -> bool:
    """Whether a figure is a measure of the answer: "sum of the monthly fees" beside a number of contracts."""
    named = {one.named for one in wish.block.measures if one.named is not None}
    return isinstance(figure.noun, Noun) and any(one.measure in named for one in figure.noun.head.of_kind("measure"))


def numbers_of(wish: AnsweredWish) -> Question | None:
    """As in "the numbers of our flights": how many there are, or the number that each has?"""
    words = wish.words
    at = next((n for n in range(len(words) - 1) if words[n : n + 2] == ["numbers", "of"]), None)
    if at is None or not any(one.of is None for one in _counts(wish.block.measures)) or "and" in words[at:]:
        return None
    said = "numbers of"
    return Question(text=f"'{said}': how many there are, or the number that each of them has?", phrase=said,
                    choices=("number of",))  # fmt: skip


def one_row_or_all(wish: AnsweredWish) -> Question | None:
    """A value, and another one that is denied, of one column: "in the choir but not in the band"."""
    equal = {repr(one.left): one for one in wish.block.filters
             if isinstance(one, Condition) and one.operator in {"=", "in"} and one.other is None}  # fmt: skip
    for one in wish.block.filters:
        if isinstance(one, Condition) and one.operator in {"<>", "not in"} and repr(one.left) in equal:
            other = equal[repr(one.left)]
            if set(one.values) & set(other.values):
                continue
            said = f"{_said(other)} but not {_said(one)}"
            return Question(text=f"'{said}': of one row, or of all rows of a thing?", phrase=said)
    return None


def _said(one: Condition) -> str:
    return " or ".join(map(str, one.values))


def rows_of_owners(wish: AnsweredWish) -> Question | None:
    """Rows of what things have, where the things are asked for: "names of owners that live here and have a boat"."""
    block, base = wish.block, wish.base
    if block.measures or block.inner is not None or block.pick is not None or not block.columns:
        return None
    named = [one for one in wish.mentions if any(s.table == base.name for s in one.of_kind("table"))]
    if not named or any(
        s.table == base.name for s in named[0].of_kind("value", "column") if s.quality >= named[0].best
    ):
        return None
    if all(_is_owned(wish.tokens, one.start) for one in named) and _shows_others(block.columns):
        text = f"'{named[0].text}': a row for each of them, or each thing once that has one?"
        return Question(text=text, phrase=named[0].text)
    return None


def _is_owned(tokens: tuple[Token, ...], at: int) -> bool:
    skipped = False
    while at and tokens[at - 1].word in _SKIPPED:
        at, skipped = at - 1, True
    before = tokens[at - 1].word if at else ""
    return before in _OWNING and (skipped or before != "with")


def _shows_others(columns: Iterable[Dimension]) -> bool:
    return any(isinstance(one.of, ColumnRef) and one.of.role for one in columns)


def counted_although_listed(wish: AnsweredWish) -> Question | None:
    """One number, where things are to be listed: "files with more than 1 copy; list file and number of copies"."""
    listed = [one for one in wish.draft.nouns if one.listed and not one.predicate]
    if wish.block.inner is None or wish.block.dimensions or not (wish.draft.listing and listed):
        return None
    counts = [one for one in wish.block.measures if one.function == "count"]
    if len(counts) != len(wish.block.measures):
        return None
    text = f"'{listed[0].text}': a row for each of them, or how many there are?"
    return Question(text=text, phrase=listed[0].text)


def across_things(wish: AnsweredWish) -> Question | None:
    """As in "total balance across accounts": a row for each, or all together?"""
    for at, token in enumerate(wish.tokens[:-1]):
        if token.word != "across" or not wish.block.dimensions or wish.tokens[at + 1].word in {"each", "every"}:
            continue
        near = [one for figure in wish.draft.figures for one in figure.near]
        groups = [one for one in (*wish.draft.groups, *near) if isinstance(one, Noun)]
        first = next((one for one in groups if one.start <= at + 2), None)
        if first is not None and first.head.of_kind("table") and first.head.is_plural:
            text = f"'across {first.text}': a row for each of them, or all of them together?"
            return Question(
                text=text, phrase=f"across {first.text}", choices=(f"per {singular(first.text)}", "in total")
            )
    return None


def count_of_one(wish: AnsweredWish) -> Question | None:
    """A count for each row, which is always one: "the part with the least amount" by how many amounts it has."""
    block, base = wish.block, wish.base
    if block.inner is not None or not _is_row(block.dimensions, base.primary_key):
        return None
    for one in _counts(block.measures):
        own = one.of is None or (isinstance(one.of, ColumnRef) and not one.of.role)
        if own and not one.where:
            name = one.of.column if isinstance(one.of, ColumnRef) else base.name
            return Question(text=f"each row of {base.name} has one {name}: what is to be counted?", phrase="")
    return None


def bound_of_what(wish: AnsweredWish) -> Question | None:
    """A bare number of things that was read of their count: "number of people who are under 40 per town"."""
    counts = {one.name for one in _counts(wish.block.measures)}
    if not any(isinstance(one, Condition) and one.left in counts for one in wish.block.having):
        return None
    words = wish.words
    if not {"number", "many", "count"} & set(words):
        return None
    for at in range(len(words) - 2):
        bare = words[at + 1] in _BARE or (words[at + 1] in COMPARATIVES and words[at - 1 : at] in (["who"], ["that"]))
        if words[at] not in _IS or not bare:
            continue
        end = at + 2 + (words[at + 2] == "than")
        if end < len(words) and wish.tokens[end].kind == "number" and (words[end + 1 : end + 2] or [""])[0] in _ENDS:
            said = " ".join(words[at + 1 : end + 1])
            return Question(text=f"'{said}': how many there are, or which number of each?", phrase=said)
    return None


_BARE = frozenset({"under", "over", "above", "below"})
_IS = frozenset({"is", "are", "was", "were"})
_ENDS = frozenset({"", "?", ".", ",", "for", "per", "in", "by", "of", "and", "at", "on", "with"})


def said_twice(wish: AnsweredWish) -> Question | None:
    """As in "friends of friends": the second time is other rows, which an answer by one of them lacks."""
    for at in range(len(wish.tokens) - 2):
        first, last = wish.tokens[at], wish.tokens[at + 2]
        plain = first.kind == "word" and first.word not in AGGREGATES
        if wish.tokens[at + 1].word == "of" and plain and first.stem == last.stem:
            said = " ".join(token.text for token in wish.tokens[at : at + 3])
            return Question(text=f"'{said}' needs the same rows twice, which cannot be planned", phrase=said)
    return None


UNASKED = (
    total_of_rows, uncounted, different_ones, ranked_in_groups, total_of_what, numbers_of, one_row_or_all,
    rows_of_owners, counted_although_listed, across_things, count_of_one, bound_of_what, said_twice,
    total_or_each, part_or_whole, time_of_part,
)  # fmt: skip
"""The checks, in the order in which they ask."""
