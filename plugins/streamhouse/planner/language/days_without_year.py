"""As in "since 1 April": a day or a month that begins or ends a time, and of which the wish does not say the year."""

from decimal import Decimal

from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.words import MONTHS
from streamhouse.planner.request import Question

_BOUNDS = frozenset({"since", "until", "till", "before", "after", "from", "by", "to", "through"})
_FIRST_YEAR, _LAST_YEAR, _LAST_DAY = 1900, 2099, 31


def day_without_year(tokens: tuple[Token, ...]) -> Question | None:
    """A question for the year of a day, where a wish names no year at all; None: it names one, or no such day."""
    numbers = [token.value for token in tokens if isinstance(token.value, Decimal)]
    dated = any(token.kind == "date" for token in tokens)
    if dated or any(_FIRST_YEAR <= number <= _LAST_YEAR for number in numbers):
        return None
    for at, token in enumerate(tokens):
        if token.word not in MONTHS or token.kind != "word":
            continue
        first = at - 1 if at and _is_day(tokens[at - 1]) else at
        if first and first == at and tokens[at - 1].word in {"st", "nd", "rd", "th"}:
            first = at - 2
        end = at + 2 if first == at and at + 1 < len(tokens) and _is_day(tokens[at + 1]) else at + 1
        bound = first > 0 and tokens[first - 1].word in _BOUNDS
        if not bound and end - first == 1:
            continue  # "in March" is the month of each year
        said = " ".join(one.text for one in tokens[first - bound : end])
        return Question(
            text=(
                f"'{said}': of which year? Name it, as in '{said} 2017': "
                "the wish names none, and the answer must not depend on today"
            ),
            phrase=said,
        )
    return None


def _is_day(token: Token) -> bool:
    return isinstance(token.value, Decimal) and 1 <= token.value <= _LAST_DAY and token.kind == "number"
