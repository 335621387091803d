"""Whether a wish names the rows that its answer is read from."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.language.words import VERB_NOUNS
from streamhouse.planner.request import ColumnRef


def names_rows(wish: AnsweredWish) -> bool:
    """Whether a word of the wish names the rows of the base: the table, a measure, a verb, or a column of their own."""
    base = wish.base
    own = {column.name for column in base.columns if column.references is None} - set(base.primary_key)
    if wish.draft.unread:  # a word that only a description has may say what was done to other things than are counted
        own -= {one.of.column for one in wish.block.measures if isinstance(one.of, ColumnRef)}
    for mention in wish.mentions:
        for sense in mention.senses:
            if sense.table == base.name and (sense.kind in {"table", "measure", "value"} or sense.column in own):
                return True
    return base.name in tables_of_verbs(wish)


def tables_of_verbs(wish: AnsweredWish) -> frozenset[str]:
    """The tables whose rows are there when something was done: "sold" names those of sales and of orders."""
    said = {noun for word in wish.draft.words for noun in VERB_NOUNS.get(stem(word), ())}
    meanings = wish.lexicon.meanings
    return frozenset(sense.table for noun in said for sense in meanings(stems(noun)))
