"""Words behind a noun whose meaning another row, another person or another figure would give.

As in "panels sold per month", where two rows away an enquiry is sold; "customers who delivered the most orders", where
a crew delivers to them; and "peak power accepted per month", where "peak" is a part of the name and no maximum.
"How many nights does a booking take" is about one of them.
"""

import re
from collections.abc import Iterator

from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.account import tables_with_sources
from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Figure, Noun
from streamhouse.planner.language.levels import ANY_FORM, LAST_WORD, WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention, Sense
from streamhouse.planner.language.people import names_people
from streamhouse.planner.language.scope import TIMES, is_number, spoken
from streamhouse.planner.language.tokens import stems, tokenize
from streamhouse.planner.language.words import is_past_form
from streamhouse.planner.request import ColumnRef, Condition, Question

_TO_WHOM = frozenset({"to", "for", "at", "from", "with"})
_BEING_DONE = frozenset({"that", "which", "was", "were", "is", "are", "been", "have", "has", "had", "not", "never"})
_ARTICLES = frozenset({"a", "an", "the", "our", "one"})
_EXTREME = {"max": "highest", "min": "lowest"}
_OF_ONE = re.compile(r"\bhow (?:many|much) [a-z]+ (?:does|did) (?:an?|one) [a-z]+\b", re.IGNORECASE)


def value_of_farther_row(wish: AnsweredWish) -> Question | None:
    """A participle beside a number or rows that is a value of another row, which no word of the wish names.

    As in "panels sold", and "cancelled tickets", where only the sailing of a ticket is cancelled.
    """
    for table, column, value, denied in _conditions_elsewhere(wish):
        if any(table in one.tables(LAST_WORD) for one in wish.mentions):
            continue
        for mention in wish.mentions:
            values = {(one.table, one.column, one.value) for one in mention.of_kind("value")}
            done = len(mention.words) == 1 and is_past_form(mention.words[0])
            if not done or (table, column, value) not in values:
                continue
            number = _number_that_ends_at(wish, mention.start)
            beside = number or _rows_beside(wish, mention)
            if beside is None:
                continue
            start, end = min(beside.start, mention.start), max(beside.end, mention.end)
            said = " ".join(token.text for token in wish.tokens[start:end])
            text = f"'{said}': of which {table} says so? No row of {wish.base.name} does"
            choices = () if denied else (f"{beside.text} with {table}.{column} '{value}'",)
            return Question(text=text, phrase=said, choices=choices)
    return None


def _rows_beside(wish: AnsweredWish, done: Mention) -> Mention | None:
    """The rows that are read, where they stand beside a participle: "cancelled tickets"; None: they do not."""
    begin = done.start
    while begin and wish.word(begin - 1) in _BEING_DONE:
        begin -= 1
    rows = (one for one in wish.mentions if wish.base.name in one.tables(WHOLE_NAME))
    return next((one for one in rows if one.start == done.end or one.end == begin), None)


def _conditions_elsewhere(wish: AnsweredWish) -> Iterator[tuple[str, str, str, bool]]:
    """Table, column, value and denial of each condition on a row that the rows which are read point to."""
    reaches = wish.scope.reaches
    of_figures = (one for measure in wish.block.measures for one in measure.where)
    for one in (*wish.block.filters, *of_figures):
        left = one.left if isinstance(one, Condition) else None
        if isinstance(one, Condition) and isinstance(left, ColumnRef) and left.role in reaches and left.role:
            denied = one.operator in {"<>", "not in"}
            yield from ((reaches[left.role].table.name, left.column, str(value), denied) for value in one.values)


def _number_that_ends_at(wish: AnsweredWish, end: int) -> Mention | None:
    """The number of a row that stands before a word; None: something else does, such as the rows themselves."""
    tables = wish.lexicon.catalog.tables
    for mention in wish.mentions:
        columns = [tables[one.table].column(one.column) for one in mention.of_kind("column") if one.quality >= ANY_FORM]
        named = mention.of_kind("measure") or any(map(is_number, columns))
        if mention.end == end and named and not mention.tables(LAST_WORD):
            return mention
    return None


def deed_of_others(wish: AnsweredWish) -> Question | None:
    """People behind whom a verb of rows stands that do not point to them, and whose description has other doers."""
    tokens = wish.tokens
    for mention in wish.mentions:
        people = {one for one in mention.tables(WHOLE_NAME) if one != wish.base.name}
        at = mention.end + 1
        if wish.word(mention.end) not in {"who", "that"} or not people or not names_people(mention.words[-1]):
            continue
        verb = wish.lexicon.mention(tokens, at, 1) if at < len(tokens) and is_past_form(tokens[at].word) else None
        if verb is None or not _says_deed(wish, verb) or _point_to(wish, people) or _did(wish, mention):
            continue
        said = f"{mention.text} {wish.tokens[mention.end].text} {verb.text}"
        text = (
            f"'{said}': no row of {wish.base.name} says that {mention.text} did; are those meant for whom it was done?"
        )
        return Question(text=text, phrase=said)
    return None


def _says_deed(wish: AnsweredWish, verb: Mention) -> bool:
    """Whether a verb names the rows that are read, or a time of them."""
    own = tables_with_sources({wish.base.name}, wish.lexicon)
    tables = wish.lexicon.catalog.tables
    return any(
        one.table in own
        and one.quality >= ANY_FORM
        and (one.kind == "table" or (one.kind == "column" and tables[one.table].column(one.column).type in TIMES))
        for one in verb.senses
    )


def _point_to(wish: AnsweredWish, people: set[str]) -> bool:
    return any(one.references is not None and one.references[0] in people for one in wish.base.columns)


def _did(wish: AnsweredWish, people: Mention) -> bool:
    """Whether the description of the rows has the people as doers: "pieces that customers sent back"."""
    names = {part for name in people.tables(WHOLE_NAME) for part in stems(spoken(name.split(".")[1]))}
    names |= set(stems(people.words[-1]))
    own = tables_with_sources({wish.base.name}, wish.lexicon)
    return any(_is_doer(wish.lexicon.catalog.tables[name], names) for name in own if _rows_of_deed(wish, name))


def _rows_of_deed(wish: AnsweredWish, name: str) -> bool:
    """Whether a table is the one that is read, or one of whose rows it has the key."""
    return name == wish.base.name or wish.lexicon.catalog.tables[name].primary_key == wish.base.primary_key


def _is_doer(table: CatalogTable, names: set[str]) -> bool:
    tokens = tokenize(table.description)
    for at, token in enumerate(tokens):
        before = [one.word for one in tokens[:at] if one.word not in _ARTICLES]
        if token.stem in names and not (before and before[-1] in _TO_WHOM):
            return True
    return False


def extreme_in_name(wish: AnsweredWish) -> Question | None:
    """A maximum that a word of the column's own name says, where a measure of its table adds that column up."""
    for figure in wish.draft.figures:
        noun = figure.noun if isinstance(figure.noun, Noun) and figure.function in _EXTREME else None
        if noun is None or noun.head.start == 0:
            continue
        start = noun.head.start - 1
        whole = wish.lexicon.mention(wish.tokens, start, noun.head.end - start)
        if whole is None or not figure.phrase.startswith(wish.tokens[start].text):
            continue
        for one in whole.of_kind("column"):
            if one.quality >= WHOLE_NAME and _is_taken(wish, figure, one.column) and _is_added_up(wish, one):
                text = f"'{whole.text}': the {_EXTREME[figure.function]} or the total of {one.table}.{one.column}?"
                choices = (f"total {whole.text}", f"{_EXTREME[figure.function]} {whole.text}")
                return Question(text=text, phrase=whole.text, choices=choices)
    return None


def total_of_one(wish: AnsweredWish) -> Question | None:
    """As in "how many nights does a booking take per channel", by the total of all bookings."""
    said = _OF_ONE.search(wish.text)
    if said is None or wish.block.inner is not None or not wish.block.measures:
        return None
    functions = [
        one.function if one.named is None else _function_of(wish.base.measures[one.named].sql)
        for one in wish.block.measures
    ]
    if not all(one in {"sum", "count"} for one in functions) or wish.block.derived:
        return None
    text = f"'{said.group()}': on average, or all of them together?"
    return Question(text=text, phrase=said.group())


def _function_of(sql: str) -> str:
    return sql.lower().partition("(")[0].strip()


def _is_taken(wish: AnsweredWish, figure: Figure, column: str) -> bool:
    return any(one.function == figure.function and isinstance(one.of, ColumnRef) and one.of.column == column
               for one in wish.block.measures)  # fmt: skip


def _is_added_up(wish: AnsweredWish, sense: Sense) -> bool:
    measures = wish.lexicon.catalog.tables[sense.table].measures.values()
    return any(one.sql.lower().startswith(f"sum({sense.column.lower()})") for one in measures)
