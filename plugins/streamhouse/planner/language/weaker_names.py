"""Of two tables a wish may be about: the one with a number of exactly that name, not the one with a longer name."""

from streamhouse.planner.language.draft import Compared, Figure, Noun
from streamhouse.planner.language.levels import NAME
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.request import ColumnRef, Condition


def has_weaker_name(best: Shaped, other: Shaped) -> bool:
    """Whether another reading compares a measure of which the wish says a part, and the best one a column called so.

    As in "pools with more than 5 lanes", where pools have lanes, and bookings have lane hours.
    """
    filters = [one.left for one in best.block.filters if isinstance(one, Condition)]
    columns = {left.column for left in filters if isinstance(left, ColumnRef) and not left.role}
    measures = {one.named for one in other.block.measures if one.named}
    for clause in best.bench.draft.filters:
        left = clause.left if isinstance(clause, Compared) else None
        noun = left.noun if isinstance(left, Figure) else left
        if not isinstance(noun, Noun):
            continue
        head = noun.head
        own = [s.quality for s in head.of_kind("column") if s.table == best.bench.base.name and s.column in columns]
        theirs = [s for s in head.of_kind("measure") if s.table == other.bench.base.name]
        taken = [s.quality for s in theirs if s.measure in measures]
        if own and taken and max(own) >= NAME > max(taken):
            return True
    return False
