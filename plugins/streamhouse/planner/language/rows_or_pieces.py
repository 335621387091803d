"""As in "cappuccinos per month" of bar sales that say of how many cups each is: the sales, or the cups?"""

from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.levels import LAST_WORD
from streamhouse.planner.language.named_sums import factors
from streamhouse.planner.language.scope import is_quantity
from streamhouse.planner.language.words import COUNTING
from streamhouse.planner.request import Condition, Question

_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})


def rows_or_pieces(wish: AnsweredWish) -> Question | None:
    """Rows that a wish calls by a value of theirs alone, and of which a measure multiplies a number by a price."""
    block, base = wish.block.inner or wish.block, wish.base
    pieces = _pieces(base)
    counts = any(one.counts_rows for one in block.measures)
    if not pieces or not counts or _names_rows(wish):
        return None
    bound = [one for one in block.filters if isinstance(one, Condition)]
    bound += [one for measure in block.measures for one in measure.where if isinstance(one, Condition)]
    values = {str(value) for one in bound for value in one.values}
    for mention in wish.mentions:
        own = [one for one in mention.of_kind("value") if one.table == base.name and one.value in values]
        if own and mention.is_plural:
            name = f"{base.name}.{pieces}"
            text = f"'{mention.text}': the number of rows of {base.name}, or the sum of {name}?"
            before = " ".join(wish.words[max(mention.start - 2, 0) : mention.start])
            counted = tuple(before.split()) in COUNTING
            phrase = f"{before} {mention.text}" if counted else mention.text
            figures = (f"total {pieces.replace('_', ' ')}", f"number of {base.name}")
            return Question(text=text, phrase=phrase, choices=tuple(f"{one} of {mention.text}" for one in figures))
    return None


def _pieces(table: CatalogTable) -> str:
    """The whole number without a unit that a measure multiplies by another one; empty: none does, or several do."""
    multiplied = factors(table)
    counting = [one for one in table.columns if one.name in multiplied and one.type in _WHOLE and is_quantity(one)]
    plain = [one.name for one in counting if unit_of_column(one) is None and "price" not in one.name]
    return plain[0] if len(plain) == 1 else ""


def _names_rows(wish: AnsweredWish) -> bool:
    """Whether a word names the rows, or a number of theirs, and no value."""
    senses = (sense for one in wish.mentions for sense in one.of_kind("table", "measure"))
    return any(sense.table == wish.base.name and sense.quality >= LAST_WORD for sense in senses)
