"""A figure that a wish names by the last word of several measures: "income", of berth income and fuel income."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Noun
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.request import ColumnRef, Question


def one_of_several_measures(wish: AnsweredWish) -> Question | None:
    """A column was taken for a word that is the last one of two measures of other tables: which of them is meant?

    A measure that is called exactly so is what the wish says, and nothing is asked.
    """
    totals = {one.of.column for one in wish.block.measures
              if one.named is None and one.function == "sum" and isinstance(one.of, ColumnRef)}  # fmt: skip
    for noun in (*(figure.noun for figure in wish.draft.figures), *wish.draft.nouns):
        if not isinstance(noun, Noun) or noun.around or len(noun.head.words) != 1 or noun.head.of_kind("measure"):
            continue
        taken = sorted({sense.column for sense in noun.head.of_kind("column")} & totals)
        measures = _ending_with(noun.head, wish.found)
        if taken and len(measures) > 1:
            names = " or ".join((*measures, taken[0]))
            text = f"'{noun.text}' may be {names}: which is meant?"
            return Question(text=text, phrase=noun.text, choices=(*measures, taken[0].replace("_", " ")))
    return None


def _ending_with(head: Mention, found: Shaped) -> tuple[str, ...]:
    """Names of measures of other tables whose last word is the one of a mention, in the order of the alphabet."""
    word = stem(head.words[0])
    tables = found.bench.places.scope.lexicon.catalog.tables.values()
    names = {name for table in tables if table.name != found.bench.base.name for name in table.measures}
    return tuple(sorted(name.replace("_", " ") for name in names if stems(name)[1:] and stems(name)[-1] == word))
