"""As in "contractors without urgent repairs", where contractors are only a column: by any row of another kind."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Is, Present
from streamhouse.planner.request import ColumnRef, Condition, Question

_NEVER = frozenset({"without", "never", "no", "none", "nothing", "lacking"})


def values_without(wish: AnsweredWish) -> Question | None:
    """Values of a column that are listed once, of which a row of another kind says that none is of this one."""
    block = wish.block
    if block.measures or block.inner is not None or block.having or len(block.dimensions) != 1:
        return None
    listed = block.dimensions[0].of
    denied = [one.left for one in block.filters if isinstance(one, Condition) and one.operator in {"<>", "not in"}]
    if not isinstance(listed, ColumnRef) or not any(of != listed for of in denied):
        return None
    for clause in wish.draft.filters:
        phrase = clause.phrase if isinstance(clause, Is | Present) else ""
        negated = clause.negated if isinstance(clause, Is) else isinstance(clause, Present) and not clause.present
        if negated and _NEVER & set(phrase.lower().split()):
            text = (
                f"'{phrase}': no row at all of each {listed.column.replace('_', ' ')}, "
                "or at least one of another kind? Only the latter can be listed"
            )
            return Question(text=text, phrase=phrase)
    return None
