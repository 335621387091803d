"""As in "revenue per order by shop", where each order has one shop: one number for each order, or the average?"""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.request import ColumnRef, Question

_PER = frozenset({"per", "by"})
_AVERAGES = frozenset({"average", "avg", "mean", "median"})


def rates_of_rows(wish: AnsweredWish) -> Question | None:
    """A figure of each row of another table, and behind it "by" something that each of these rows has one of."""
    block = wish.block
    if block.inner is not None or not block.measures or _AVERAGES & set(wish.words):
        return None
    shown = [one.of for one in block.dimensions if isinstance(one.of, ColumnRef)]
    keys = {of.column: wish.base.column(of.column).references for of in shown if not of.role}
    rows = {target[0] for target in keys.values() if target is not None}
    if not any(of.role in wish.scope.reaches and wish.scope.reaches[of.role].table.name in rows
               for of in shown if of.role):  # fmt: skip
        return None
    for at in range(1, len(wish.tokens) - 2):
        thing = wish.lexicon.mention(wish.tokens, at + 1) if wish.word(at) == "per" else None
        if thing is None or wish.word(thing.end) not in _PER or not thing.tables() & rows:
            continue
        said = " ".join(token.text for token in wish.tokens[: thing.end + 1])
        plain = " ".join(token.text for token in wish.tokens[: thing.end])
        text = f"'{plain}': one number for each {thing.text}, or the average?"
        return Question(text=text, phrase=said, choices=(f"average {said}", f"{plain} and"))
    return None
