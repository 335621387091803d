"""As in "how many members never borrowed": of the members it is said, and not of rows that point to them."""

from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.draft import Noun, Present
from streamhouse.planner.language.levels import WHOLE_NAME


def said_of_others(bench: Bench, clause: Present) -> bool:
    """Whether the thing before "never" is counted or listed, and is no row of the base."""
    draft = bench.draft
    nouns = [*draft.nouns, *(one.noun for one in draft.figures if isinstance(one.noun, Noun))]
    before = [one.head for one in nouns if not one.predicate and one.head.end <= clause.noun.head.start]
    if not before:
        return False
    nearest = max(before, key=lambda head: head.end)
    thing = any(sense.quality >= WHOLE_NAME for sense in nearest.of_kind("table"))
    return thing and not bench.places.is_base(nearest)
