"""Whether a wish names the rows that its answer is read from."""

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.language.words import VERB_NOUNS
from streamhouse.planner.request import ColumnRef


def names_rows(draft: Draft, found: Shaped) -> bool:
    """Whether a word of the wish names the rows of the base: the table, a measure, a verb, or a column of their own."""
    base, lexicon = found.bench.base, found.bench.places.scope.lexicon
    own = {column.name for column in base.columns if column.references is None} - set(base.primary_key)
    if draft.unread:  # a word that only a description has may say what was done to other things than are counted
        own -= {one.of.column for one in found.block.measures if isinstance(one.of, ColumnRef)}
    for mention in mentions_of(draft):
        for sense in mention.senses:
            if sense.table == base.name and (sense.kind in {"table", "measure", "value"} or sense.column in own):
                return True
    said = {noun for word in draft.words for noun in VERB_NOUNS.get(stem(word), ())}
    return any(sense.table == base.name for noun in said for sense in lexicon.meanings(stems(noun)))
