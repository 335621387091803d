"""As in "papers marked by freelancers per month", where each examiner is a freelancer or not."""

from collections.abc import Iterator

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.people import names_people
from streamhouse.planner.language.words import is_past_form
from streamhouse.planner.request import ColumnRef, Question


def flags_of_doers(wish: AnsweredWish) -> Question | None:
    """People that "by" puts behind what was done, where only yes and no of them are groups."""
    flags = set(_flags(wish))
    for mention in wish.mentions if flags else ():
        done = wish.word(mention.start - 2)
        if wish.word(mention.start - 1) != "by" or not is_past_form(done) or not mention.is_plural:
            continue
        named = {(one.table, one.column) for one in mention.of_kind("column", "value")}
        if named & flags and names_people(mention.words[-1]):
            said = f"{wish.tokens[mention.start - 2].text} by {mention.text}"
            text = f"'{said}': only what they did, or a group for yes and one for no?"
            return Question(text=text, phrase=said, choices=(f"of {mention.text}",))
    return None


def _flags(wish: AnsweredWish) -> Iterator[tuple[str, str]]:
    """Table and column of each dimension that is yes or no of a row."""
    for one in wish.block.dimensions if wish.block.inner is None else ():
        if isinstance(one.of, ColumnRef) and one.of.role in wish.scope.reaches:
            table = wish.scope.reaches[one.of.role].table
            if table.column(one.of.column).type == "boolean":
                yield table.name, one.of.column
