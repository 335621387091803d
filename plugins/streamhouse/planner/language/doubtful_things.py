"""Words about things of which rows tell: what one row says is not what is true of the thing, so it is asked back."""

from itertools import pairwise

from streamhouse.planner.language.account import tables_with_sources
from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Compared, Figure, Is, Noun, When
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import LAST_WORD, NAME, NEARLY_NAME, SAME_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.named_sums import is_count
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.language.used import used_by
from streamhouse.planner.language.words import VERB_NOUNS, is_past_form
from streamhouse.planner.request import Between, Block, ColumnRef, Condition, Cut, Question

_DOERS = frozenset({"who", "that", "which", "have", "has", "had"})
_FEW = frozenset({"<", "<="})


def listed_thing(found: Shaped) -> str:
    """The table whose things a reading lists by rows that point to them; empty: it lists no such things."""
    block = found.block
    if block.base is None or len(block.dimensions) != 1 or not isinstance(block.dimensions[0].of, ColumnRef):
        return ""
    of = block.dimensions[0].of
    reach = found.bench.places.scope.reaches.get(of.role)
    column = reach.table.column(of.column) if reach is not None else None
    return column.references[0] if column is not None and column.references else ""


def few_of_things(wish: AnsweredWish) -> Question | None:
    """As in "books with fewer than two copies": whether books without any copy count."""
    thing = listed_thing(wish.found)
    few = any(isinstance(one, Condition) and one.operator in _FEW and _counts(wish.found, one)
              for one in wish.block.having)  # fmt: skip
    if not thing or not few or _bounded_below(wish.block):
        return None
    clause = next((one for one in wish.draft.filters if isinstance(one, Compared) and one.operator in _FEW), None)
    phrase = clause.phrase if clause is not None else ""
    return Question(
        text=f"'{phrase}': do rows of {thing} without any count, too? Only those with at least one can be listed",
        phrase=phrase,
        choices=(f"at least 1 and {phrase}",),
    )


def _counts(found: Shaped, bound: Condition) -> bool:
    measure = next((one for one in found.block.measures if one.name == bound.left), None)
    return measure is not None and is_count(measure, found.bench.base)


def _bounded_below(block: Block) -> bool:
    return any(isinstance(one, Condition) and one.operator in {">", ">=", "="} for one in block.having)


def values_of_thing(wish: AnsweredWish) -> Question | None:
    """Values that a thing's rows have: "who ordered both carrots and potatoes", "who booked no suite"."""
    thing = listed_thing(wish.found)
    if not thing or wish.block.measures:
        return None
    for clause in (one for one in wish.draft.filters if isinstance(one, Is)):
        bound = _bound(clause, thing, wish.found)
        if bound is None:
            continue
        if clause.negated:
            text = f"'{clause.phrase}': never, or at least once something else?"
            return Question(text=text, phrase=clause.phrase)
        if len(bound.values) > 1 and " and " in f" {clause.phrase.lower()} ":
            text = f"'{clause.phrase}': either of them, or both? Only either of them can be listed"
            return Question(text=text, phrase=clause.phrase, choices=(clause.phrase.replace(" and ", " or "),))
    return None


def times_of_thing(wish: AnsweredWish) -> Question | None:
    """Several times of a thing's rows, as in "guests who booked in 2024 and 2025": in either of them, or in both."""
    if not (listed_thing(wish.found) and not wish.block.measures) and not _counts_things(wish.found):
        return None
    for clause in (one for one in wish.draft.filters if isinstance(one, When)):
        words = clause.phrase.lower().split()
        if "and" in words and not {"between", "from"} & set(words):
            text = f"'{clause.phrase}': in either of them, or in both? Only either of them can be asked for"
            return Question(text=text, phrase=clause.phrase, choices=(clause.phrase.replace(" and ", " or "),))
    return None


def _counts_things(found: Shaped) -> bool:
    """Whether a reading counts different things, of which several rows tell."""
    return any(measure.function == "count distinct" for measure in found.block.measures)


def _bound(clause: Is, thing: str, found: Shaped) -> Condition | None:
    """The condition that a clause became, where it is no condition on the thing itself."""
    texts = {str(value) for value in clause.values}
    for value in clause.values:
        if isinstance(value, Mention):
            texts |= {sense.value for sense in value.of_kind("value")}
    reaches = found.bench.places.scope.reaches
    for one in found.block.filters:
        if isinstance(one, Condition) and isinstance(one.left, ColumnRef) and texts & {str(v) for v in one.values}:
            reach = reaches.get(one.left.role)
            if reach is not None and reach.table.name != thing:
                return one
    return None


def lasting_state(wish: AnsweredWish) -> Question | None:
    """As in "holds waiting for more than a week": what goes on has no end yet, so it depends on the day."""
    lasts = [one for one in wish.block.filters if isinstance(one, Condition) and isinstance(one.left, Between)]
    for before, token in pairwise(wish.tokens):
        if lasts and token.word == "for" and before.word.endswith("ing"):
            text = f"'{before.text} for': until it ended, or until today? The latter depends on the day it is asked"
            return Question(text=text, phrase=before.text)
    return None


def pieces_or_rows(wish: AnsweredWish) -> Question | None:
    """As in "how many snacks were sold", where a row is a sale that says of how many pieces."""
    pieces = next((c for c in wish.base.columns if c.name in _PIECES and is_number(c)), None)
    counted = any(one.counts_rows for one in wish.block.measures)
    traded = next((token.word for token in wish.tokens if token.word in _TRADED), "")
    if pieces is None or not counted or not traded or wish.block.derived:
        return None
    name = f"{wish.base.name}.{pieces.name}"
    text = f"'{traded}': the number of rows of {wish.base.name}, or the sum of {name}?"
    return Question(text=text, phrase=traded, choices=(f"total {pieces.name}", f"number of {wish.base.name}"))


_PIECES = frozenset({"quantity", "qty", "pieces", "units", "units_sold", "pieces_sold"})
_TRADED = frozenset({"sold", "bought", "purchased", "delivered", "shipped", "sell", "buy"})


def finer_group(wish: AnsweredWish) -> Question | None:
    """As in "which course has the most absences per lesson", where a course has many lessons: of each, or of all?"""
    best = wish.draft.best
    if best is None or not isinstance(best.target, Noun):
        return None
    keys = wish.lexicon.keys
    wanted = best.target.head.tables()
    for group in (one for one in (*wish.draft.groups, *best.per) if isinstance(one, Noun)):
        for sense in group.head.of_kind("table"):
            if sense.quality >= LAST_WORD and any(key.to in wanted for key in keys.get(sense.table, [])):
                text = f"'per {group.text}': of each single one, or the average over those of one {best.target.text}?"
                return Question(text=text, phrase=f"per {group.text}")
    return None


def other_deed(wish: AnsweredWish) -> Question | None:
    """As in "who borrowed the most books", read over reservations, where loans are rows of another table."""
    lexicon = wish.lexicon
    read = tables_with_sources(used_by(wish.block, lexicon).tables, lexicon)
    named = {word for one in wish.mentions if len(one.words) > 1 and one.best >= WHOLE_NAME for word in one.words}
    named |= {one.words[0] for one in wish.mentions for sense in one.of_kind("column")
              if len(one.words) == 1 and sense.quality >= NAME and sense.table in read}  # fmt: skip
    named |= {token.word for at, token in enumerate(wish.tokens) if _when_rows_came(wish, at)}
    for word in wish.draft.words:
        if word in named or not is_past_form(word):
            continue
        done = {sense.table for noun in VERB_NOUNS.get(stem(word), ()) for sense in lexicon.meanings(stems(noun))
                if sense.kind == "table" and sense.quality >= WHOLE_NAME}  # fmt: skip
        if done and not done & read:
            names = sorted(done)
            text = f"'{word}': rows of {' or '.join(names)}? They are not what is counted over {wish.base.name}"
            return Question(text=text, phrase=word, choices=tuple(names))
    return None


def _when_rows_came(wish: AnsweredWish, at: int) -> bool:
    """Whether a word names the time that each row of the base has: "sold" of bar sales and their `sold_at`."""
    base = wish.base
    mention = wish.lexicon.mention(wish.tokens, at, 1)
    times = [s for s in mention.of_kind("column") if s.table == base.name] if mention is not None else []
    own = any(s.column == base.event_time and s.quality >= max(NEARLY_NAME, mention.best) for s in times if mention)
    return own and base.event_time is not None and not may_be_empty(base.column(base.event_time))


def earned(wish: AnsweredWish) -> Question | None:
    """As in "presenters who earn 120 euros": what a thing earns is not for certain what is sold by it."""
    keys = {column.name for column in wish.base.columns if column.references}
    far = any(isinstance(one.of, ColumnRef) and (one.of.role or one.of.column in keys) for one in wish.block.dimensions)
    for one in (one for one in wish.draft.filters if isinstance(one, Compared)):
        head = one.left.head if isinstance(one.left, Noun) else None
        soft = (
            head is not None
            and head.senses[0].kind == "measure"
            and head.best < LAST_WORD
            and stem(head.words[0]) == "earn"
        )
        if head is not None and soft and far and wish.block.having:
            measure = f"{head.senses[0].table}.{head.senses[0].measure}"
            return Question(
                text=f"'{head.text}': is {measure} meant?", phrase=head.text, choices=(head.senses[0].measure,)
            )
    return None


def times_of_other_rows(wish: AnsweredWish) -> Question | None:
    """As in "couriers who were late 5 times", by what reviews of their orders say: no word names the reviews."""
    block, base = wish.block, wish.base
    times = next((one for one in wish.draft.filters if isinstance(one, Compared) and _is_times(one)), None)
    far = [one.of for one in block.dimensions if isinstance(one.of, ColumnRef) and one.of.role]
    if times is None or not far or base.name in wish.things:
        return None
    if any(sense.table == base.name for one in wish.mentions for sense in one.of_kind("table", "measure")):
        return None
    values = (one for one in block.filters if isinstance(one, Condition) and isinstance(one.left, ColumnRef))
    said = [str(value) for one in values if not one.left.role for value in one.values if isinstance(value, str)]  # type: ignore[union-attr]
    if not said:
        return None
    text = f"'{times.phrase}': rows of {base.name} with '{said[0]}'? The wish does not name them"
    return Question(text=text, phrase=times.phrase)


def _is_times(one: Compared) -> bool:
    return isinstance(one.left, Figure) and one.left.function == "rows"


def verb_as_value(wish: AnsweredWish) -> Question | None:
    """As in "customers who phoned us", where a phone is what a value is called: they may have done it otherwise."""
    for clause in (one for one in wish.draft.filters if isinstance(one, Is)):
        for value in clause.values:
            if not isinstance(value, Mention) or len(value.words) != 1 or not value.words[0].endswith("ed"):
                continue
            before = wish.word(value.start - 1)
            if before in _DOERS and value.best < SAME_FORM:
                said = f"{before} {value.text}"
                best = value.of_kind("value")[0]
                text = f"'{said}': {best.table}.{best.column} is '{best.value}', or something that they did?"
                return Question(text=text, phrase=said, choices=(f"with {best.column.replace('_', ' ')} {best.value}",))
    return None


def split_name(wish: AnsweredWish) -> Question | None:
    """As in "a departure delay of more than 30 minutes", where a delay is known, and a departure, but not that."""
    bounds = [one.left for one in wish.draft.filters if isinstance(one, Compared) and isinstance(one.left, Noun)]
    shown = [one for one in wish.draft.nouns if one.head.senses[0].kind == "column" and not one.around]
    for noun in shown:
        bound = next((one for one in bounds if isinstance(one, Noun) and one.head.start == noun.head.end), None)
        if bound is not None and not wish.found.bench.places.is_base(noun.head):
            said = f"{noun.text} {bound.text}"
            return Question(text=f"'{said}': no column is called so; which figure is meant?", phrase=said)
    return None


def bound_of_periods(wish: AnsweredWish) -> Question | None:
    """As in "monthly revenue per store, only stores with 20 sales": in each month, or in all of them?"""
    block = wish.block
    timed = [one for one in block.dimensions if isinstance(one.of, Cut)]
    if not block.having or not timed or len(block.dimensions) < 2:
        return None
    words = wish.words
    if "only" not in words:
        return None
    said = " ".join(words[words.index("only") :])
    name = timed[0].name.replace("_", " ")
    return Question(text=f"'{said}': in each {name}, or over all of them? Only in each can be planned", phrase=said)
