"""As in "tram and bus trips", where a value of another column is called "tram and bus": that one, or either of them?"""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention, Sense
from streamhouse.planner.language.scope import spoken
from streamhouse.planner.request import Question

_JOINING = frozenset({"and", "or", "&"})


def value_of_two(wish: AnsweredWish) -> Question | None:
    """A value whose name joins the names of two other values of its column."""
    for mention in wish.mentions:
        values = [one for one in mention.of_kind("value") if one.quality >= WHOLE_NAME]
        at = next((n for n, word in enumerate(mention.words) if word in _JOINING and n), 0)
        if not values or not at or not all(_is_value(wish, values[0], mention, *part) for part in _parts(mention, at)):
            continue
        column = f"{spoken(values[0].column)} '{values[0].value}'"
        either = mention.text.replace(f" {mention.words[at]} ", " or ")
        text = f"'{mention.text}': {values[0].table}.{column}, or {either}?"
        return Question(text=text, phrase=mention.text, choices=(either,))
    return None


def _parts(mention: Mention, at: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where the names on both sides of a joining word begin, and how many words they have."""
    return (mention.start, at), (mention.start + at + 1, len(mention.words) - at - 1)


def _is_value(wish: AnsweredWish, value: Sense, mention: Mention, start: int, length: int) -> bool:
    """Whether some words of a mention name another value of the column of a value."""
    if start + length > mention.end or length < 1:
        return False
    found = wish.lexicon.mention(wish.tokens, start, length)
    values = found.of_kind("value") if found is not None and found.end == start + length else ()
    column = (value.table, value.column)
    return any(one.quality >= WHOLE_NAME and (one.table, one.column) == column for one in values)
