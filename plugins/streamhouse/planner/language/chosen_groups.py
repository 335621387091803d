"""Groups that no word of a wish chose, or that a word may have chosen otherwise: each is asked back."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Noun, Time
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention, Sense
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import singular, stem
from streamhouse.planner.language.words import GRAINS
from streamhouse.planner.request import ColumnRef, Condition, Question

_BOTH = frozenset({"without", "vs", "versus", "whether", "not", "against", "compared", "or"})


def column_of_several(wish: AnsweredWish) -> Question | None:
    """A column that two joined tables have alike: "revenue per city" by the city of the customer, or of the shop."""
    scope = wish.scope
    for mention in wish.mentions if wish.block.inner is None else ():
        senses = [one for one in mention.of_kind("column") if one.quality >= max(mention.best, WHOLE_NAME)]
        taken = [one for one in senses if (one.table, one.column) in wish.shown and one.table != wish.base.name]
        if not taken or len(mention.words) != 1 or mention.of_kind("table", "measure"):
            continue
        if taken[0].table in _filtered_tables(wish):
            continue  # "water used at fires in each borough": a word names rows of the same table
        others = [one for one in senses if one.table in scope.by_table and _is_other(wish, one, taken[0])]
        said = {stem(token.word) for token in wish.tokens}
        if others and not any(_is_said(one.table, said) for one in (*taken, *others)):
            choices = tuple(f"{mention.text} of the {_thing(one.table)}" for one in (taken[0], others[0]))
            names = " or ".join(f"{one.table}.{one.column}" for one in (taken[0], others[0]))
            return Question(text=f"'{mention.text}' may mean {names}: which one?", phrase=mention.text, choices=choices)
    return None


def _filtered_tables(wish: AnsweredWish) -> set[str]:
    """The tables of which a column decides which rows count."""
    left = (one.left for one in wish.block.filters if isinstance(one, Condition))
    refs = [one for one in left if isinstance(one, ColumnRef)]
    return {wish.scope.reaches[one.role].table.name for one in refs if one.role in wish.scope.reaches}


def _is_other(wish: AnsweredWish, sense: Sense, taken: Sense) -> bool:
    """Whether a sense is a column with other values, of another table than the base and the one that was taken.

    A table behind the one that was taken is further away, so the nearer one is meant.
    """
    chains = [wish.scope.chain(one.role) for one in wish.scope.by_table[sense.table]]
    if sense.table in {taken.table, wish.base.name} or all(
        taken.table in {step.table.name for step in chain} for chain in chains
    ):
        return False
    tables, root = wish.lexicon.catalog.tables, wish.scope.root
    targets = [tables[one.table].column(one.column).references or (one.table, one.column) for one in (sense, taken)]
    return root(*targets[0]) != root(*targets[1])


def _thing(table: str) -> str:
    return singular(table.split(".")[1]).replace("_", " ")


def _is_said(table: str, said: set[str]) -> bool:
    """Whether a word of the wish is a part of a table's name."""
    return bool({stem(part) for part in table.split(".")[1].split("_")} & said)


def flag_as_group(wish: AnsweredWish) -> Question | None:
    """A flag that is grouped by, and that no word of a group names: "companies with more than 5 flats"."""
    if set(wish.words) & _BOTH:
        return None
    best = wish.draft.best
    near = [group for figure in wish.draft.figures for group in (*figure.near, *figure.inner)]
    groups = mentions_of([*wish.draft.groups, *near, *(best.per if best is not None else ())])
    for one in wish.block.dimensions if wish.block.inner is None else ():
        if not isinstance(one.of, ColumnRef) or one.of.role not in wish.scope.reaches:
            continue
        table = wish.scope.reaches[one.of.role].table
        if table.column(one.of.column).type != "boolean":
            continue
        if not any(_names(mention, table.name, one.of.column) for mention in groups):
            said = next((m.text for m in wish.mentions if _names(m, table.name, one.of.column)), one.of.column)
            text = f"'{said}': only rows that are so, or a group for yes and one for no?"
            return Question(text=text, phrase=said)
    return None


def _names(mention: Mention, table: str, column: str) -> bool:
    return any((one.table, one.column) == (table, column) for one in mention.of_kind("column", "value"))


def average_of_groups(wish: AnsweredWish) -> Question | None:
    """One average over two kinds of groups: "average revenue per order and brand", where each brand may have one."""
    block = wish.block
    inner = block.inner
    if inner is None or len(inner.dimensions) < _TWO or block.dimensions or block.pick is not None:
        return None
    if not any(one.function in {"avg", "median"} for one in block.measures):
        return None
    words = wish.words
    at = next((at for at in range(len(words) - 3) if words[at] in {"per", "by"} and words[at + 2] == "and"), None)
    if at is None or words[at + 3] in GRAINS:
        return None  # "per member and month" is how often a member comes in a month
    last = wish.tokens[at + 3].text
    text = f"'per {wish.tokens[at + 1].text} and {last}': one average over all of them, or one for each {last}?"
    return Question(text=text, phrase=f"and {last}", choices=(f"for each {last}",))


def plural_group(wish: AnsweredWish) -> Question | None:
    """As in "revenue per shop and orders": a group for each order, or the number of orders of each shop?"""
    groups = [one for one in wish.draft.groups if isinstance(one, Noun)]
    if wish.block.inner is not None or not wish.block.measures or len(wish.draft.groups) < _TWO:
        return None
    tables = wish.lexicon.catalog.tables
    for group in groups:
        before, first = wish.word(group.start - 1), wish.word(group.start - 2)
        joined = before == "and" and singular(first) == first
        several = group.head.is_plural and group.head.words[-1].endswith("s")
        times = [one for one in group.head.of_kind("column") if tables[one.table].column(one.column).type in TIMES]
        if joined and several and (times or group.head.tables(WHOLE_NAME)):
            text = f"'{group.text}': a group for each of them, or their number as well?"
            return Question(text=text, phrase=group.text, choices=(singular(group.text), f"number of {group.text}"))
    return None


def plural_time(wish: AnsweredWish) -> Question | None:
    """As in "shifts per driver and hours", where a number of each shift is called its hours."""
    times = [one for one in wish.draft.groups if isinstance(one, Time)]
    for at in range(1, len(wish.tokens)):
        named = wish.lexicon.mention(wish.tokens, at, 1) if wish.word(at - 1) == "and" else None
        own = named.of_kind("column", "measure") if named is not None and wish.word(at).endswith("s") else ()
        if any(one.quality >= WHOLE_NAME for one in own) and wish.word(at) in {one.phrase for one in times}:
            said = wish.tokens[at].text
            text = f"'{said}': a group for each of them, or the number that is called so?"
            return Question(text=text, phrase=said, choices=(singular(said), f"total {said}"))
    return None


_TWO = 2


def added_or_both(wish: AnsweredWish) -> Question | None:
    """As in "rent plus heating per district": two sums beside each other, where one number may be meant."""
    measured = {one.of.column: one.unit for one in wish.block.measures if isinstance(one.of, ColumnRef)}
    ends = {one.end: one for one in wish.mentions}
    starts = {one.start: one for one in wish.mentions}
    for at, token in enumerate(wish.tokens):
        first, last = ends.get(at), starts.get(at + 1)
        if token.word != "plus" or first is None or last is None:
            continue
        units = [measured[sense.column] for one in (first, last) for sense in one.of_kind("column")[:1]
                 if sense.column in measured]  # fmt: skip
        if len(units) == _TWO and units[0] == units[1]:
            said = f"{first.text} plus {last.text}"
            text = f"'{said}': both beside each other, or added up? Only the former can be planned"
            return Question(text=text, phrase=said, choices=(f"{first.text} and {last.text}",))
    return None
