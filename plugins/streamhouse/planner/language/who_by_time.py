"""As in "who checked the most lifts": people, where only a time is called so, and the days would be compared."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.request import ColumnRef, Question


def people_by_time(wish: AnsweredWish) -> Question | None:
    """People at the begin of a wish, of which the answer has a time alone: nothing in it says who they are."""
    if wish.word(0) != "who" or not wish.block.dimensions:
        return None
    reaches = wish.scope.reaches
    for one in wish.block.dimensions:
        if not isinstance(one.of, ColumnRef) or one.of.role not in reaches:
            return None
        if reaches[one.of.role].table.column(one.of.column).type not in TIMES:
            return None
    verb = wish.word(1)
    return Question(text=f"'who {verb}': which people are meant? Only a time is called '{verb}'", phrase=f"who {verb}")
