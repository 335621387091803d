"""As in "parcels sent and received per month": two times that verbs name, of which the answer goes by one alone."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.levels import ANY_FORM
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import form
from streamhouse.planner.language.words import is_past_form
from streamhouse.planner.request import AnyOf, ColumnRef, Condition, Cut, During, Filter, Question

_WAS = frozenset({"were", "was", "then", "also", "got"})


def deeds_of_two_times(wish: AnsweredWish) -> Question | None:
    """Two participles that "and" joins, and that name times of the rows, where a period goes by one of them alone."""
    if wish.block.inner is not None:
        return None
    used = _used(wish)
    for at in range(1, len(wish.tokens) - 1):
        if wish.word(at) != "and" or not is_past_form(wish.word(at - 1)):
            continue
        second = at + 1
        while wish.word(second) in _WAS:
            second += 1
        first, last = _time(wish, at - 1), _time(wish, second)
        if not first or not last or first == last or len({first, last} & used) != 1:
            continue
        return _asked(wish, at, second, (first, last))
    return None


def _time(wish: AnsweredWish, at: int) -> str:
    """The one time of the rows that a participle names; empty: it names none, or several."""
    if not is_past_form(wish.word(at)):
        return ""
    token, base = wish.tokens[at], wish.base
    senses = wish.lexicon.meanings((token.stem,), (form(token.word),))
    times = {one.column for one in senses if one.kind == "column" and one.table == base.name
             and one.quality >= ANY_FORM and base.column(one.column).type in TIMES}  # fmt: skip
    return times.pop() if len(times) == 1 else ""


def _used(wish: AnsweredWish) -> set[str]:
    """The columns of the rows that a period goes by, or that must be there or not."""
    cuts = {one.of.of.column for one in wish.block.dimensions if isinstance(one.of, Cut) and not one.of.of.role}
    return cuts | {name for one in wish.block.filters for name in _columns(one)}


def _columns(one: Filter) -> set[str]:
    if isinstance(one, AnyOf):
        return {name for part in one.of for name in _columns(part)}
    of = one.left if isinstance(one, Condition) else one.of if isinstance(one, During) else None
    return {of.column} if isinstance(of, ColumnRef) and not of.role else set()


def _asked(wish: AnsweredWish, at: int, second: int, times: tuple[str, str]) -> Question | None:
    names = [f"{wish.base.name}.{one}" for one in times]
    first, last = wish.tokens[at - 1].text, wish.tokens[second].text
    said = " ".join(token.text for token in wish.tokens[at - 1 : second + 1])
    text = f"'{said}': {names[0]} and {names[1]}, of which one time alone counts: which one?"
    if any(isinstance(one.of, Cut) for one in wish.block.dimensions):
        return Question(text=text, phrase=said, choices=(first, last))
    period = read_period(wish.tokens, second + 1)
    if period is None:
        return None
    when = " ".join(token.text for token in wish.tokens[second + 1 : second + 1 + period[1]])
    return Question(text=text, phrase=said, choices=(f"{first} {when} and {last}", last))
