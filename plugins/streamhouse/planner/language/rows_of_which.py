"""Rows of another table than the thing that a wish names: parts of an order for orders, tests for what was tested."""

from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import SAME_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.people import names_people
from streamhouse.planner.language.scope import TIMES, is_number, spoken
from streamhouse.planner.language.tokens import singular
from streamhouse.planner.language.words import is_past_form
from streamhouse.planner.request import ColumnRef, Question

_DISTINCT = frozenset({"different", "distinct", "unique"})


def parts_listed(wish: AnsweredWish) -> Question | None:
    """Things of which each row is only a part: "orders with more than 50 bottles" by the lines of orders."""
    block, base = wish.block, wish.base
    shown = {one.of.column for one in block.columns if isinstance(one.of, ColumnRef) and not one.of.role}
    part = shown & set(base.primary_key)
    plain = not (block.measures or block.dimensions or block.inner or block.pick)
    if not plain or not part or part == set(base.primary_key) or base.event_time in part:
        return None
    if set(wish.words) & _DISTINCT or any(base.column(one).references for one in part):
        return None
    said = next((one.text for one in wish.mentions for s in one.of_kind("column") if s.column in part), "")
    if base.name in wish.things:
        return None
    text = f"'{said}': a row of {base.name} is only a part of one: each such row, or each {spoken(min(part))} once?"
    return Question(text=text, phrase=said) if said else None


def average_of_parts(wish: AnsweredWish) -> Question | None:
    """As in "average bottles per order", where a row is a line of an order: of its lines, or of the orders' totals?"""
    block, base = wish.block, wish.base
    keys = {one.of.column for one in block.dimensions if isinstance(one.of, ColumnRef) and not one.of.role}
    if block.inner is not None or len(block.dimensions) != 1 or not keys:
        return None
    key = min(keys)
    part = keys < set(base.primary_key) and base.column(key).references is None and key != base.event_time
    if not part and not _are_lines(base, key):
        return None
    if not any(one.function == "avg" and one.named is None for one in block.measures):
        return None
    said = next((one.text for one in wish.mentions for s in one.of_kind("column") if s.column == key), spoken(key))
    text = f"'{said}': the average over the rows of each {said}, or over the totals of all of them?"
    return Question(text=text, phrase=said)


def _are_lines(base: CatalogTable, key: str) -> bool:
    """Whether a table is called after the one that a column points to, and has no time of its own: `order_lines`."""
    target = base.column(key).references if any(one.name == key for one in base.columns) else None
    if target is None or base.event_time is not None:
        return False
    whole, part = (name.rsplit(".", 1)[-1] for name in (target[0], base.name))
    return part.startswith(f"{singular(whole)}_")


def thing_and_deed(wish: AnsweredWish) -> Question | None:
    """Things with what was done to them, read as one name: "wines tasted" by the rows of wine tastings."""
    for mention in wish.mentions:
        done = mention.words[-1] if len(mention.words) > 1 else ""
        if not is_past_form(done) or mention.best >= SAME_FORM:
            continue
        if not any(one.table == wish.base.name for one in mention.of_kind("table")):
            continue
        thing = wish.lexicon.mention(wish.tokens, mention.start, len(mention.words) - 1)
        others = thing.tables(WHOLE_NAME) - {wish.base.name} if thing is not None else set()
        if others:
            text = f"'{mention.text}': rows of {wish.base.name}, or of {min(others)}?"
            return Question(text=text, phrase=mention.text)
    return None


def rows_of_another(wish: AnsweredWish) -> Question | None:
    """Whole rows of a table, where the wish begins with things that name another one better: "wines with a score"."""
    block, base = wish.block, wish.base
    if block.measures or block.dimensions or block.columns or block.inner is not None or block.pick is not None:
        return None
    for noun in wish.draft.nouns:
        if noun.predicate or not noun.listed or not noun.head.is_plural:
            continue
        named = {one.table: one.quality for one in reversed(noun.head.of_kind("table"))}
        better = [
            one for one, quality in named.items() if quality >= WHOLE_NAME and quality > named.get(base.name, 0.0)
        ]
        if better and base.name not in wish.things and not _is_of_base(noun.head, base.name):
            text = f"'{noun.text}': rows of {min(better)}, or of {base.name}?"
            return Question(text=text, phrase=noun.text)
    return None


def _is_of_base(mention: Mention, base: str) -> bool:
    """Whether words are a value of the rows that are listed as well: "crowns" of the cases of a laboratory."""
    return any(one.table == base and one.quality >= WHOLE_NAME for one in mention.of_kind("value", "measure"))


def of_some(wish: AnsweredWish) -> Question | None:
    """Rows "of" things that not each of them has: "washes of members", where the rest are those of guests."""
    base = wish.base
    read = wish.block.model_copy(update={"columns": ()}).model_dump_json()
    for noun in wish.draft.nouns:
        for mention in noun.around:
            before = wish.word(mention.start - 1)
            tables = mention.tables()
            keys = [one for one in base.columns if one.references and one.references[0] in tables and may_be_empty(one)]
            if before != "of" or not keys or base.name not in noun.head.tables(WHOLE_NAME):
                continue
            if not any(f'"column":"{one.name}"' in read or f'"table":"{one.references[0]}"' in read
                       for one in keys if one.references):  # fmt: skip
                text = f"'of {mention.text}': only rows with {base.name}.{keys[0].name}, or all rows?"
                return Question(text=text, phrase=f"of {mention.text}")
    return None


def people_as_number(wish: AnsweredWish) -> Question | None:
    """As in "passengers who waited", where only a number of rows is called so: how many passengers each row has."""
    block = wish.block
    if block.measures or block.dimensions or block.inner is not None or block.pick is not None:
        return None
    refs = [one.of for one in block.columns if isinstance(one.of, ColumnRef)]
    if not refs or len(refs) != len(block.columns):
        return None
    shown = [(wish.scope.reaches[of.role].table if of.role else wish.base).column(of.column) for of in refs]
    if not all(is_number(one) and one.references is None for one in shown):
        return None
    for noun in wish.draft.nouns:
        columns = {one.column for one in noun.head.of_kind("column")} & {one.name for one in shown}
        if wish.base.name in noun.head.tables(WHOLE_NAME):
            continue  # "drivers with their pay"
        if columns and noun.head.words and names_people(noun.head.words[-1]) and not noun.predicate:
            text = f"'{noun.text}': {min(columns)} is only a number; rows of {wish.base.name}?"
            rows = spoken(wish.base.name.split(".")[1])
            return Question(text=text, phrase=noun.text, choices=(rows,))
    return None


def are_or_were(wish: AnsweredWish) -> Question | None:
    """As in "pools that are closed", by any row that says so, where rows have an end: at present, or ever?"""
    block, base = wish.block, wish.base
    if block.measures or block.filters or block.having or not block.dimensions or block.inner is not None:
        return None
    ends = [one for one in base.columns if one.type in TIMES and one.name != base.event_time and may_be_empty(one)]
    for at in range(1, len(wish.tokens)):
        token, before = wish.tokens[at], wish.tokens[at - 1].word
        done = is_past_form(token.word)
        if ends and done and before in {"are", "is"}:
            said, end = f"{before} {token.text}", f"{base.name}.{ends[0].name}"
            text = f"'{said}': at present, or whenever it was so? {end} says when it ends"
            return Question(text=text, phrase=said, choices=(f"were {token.text}",))
    return None
