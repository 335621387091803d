"""The choices of a question about a time: each says the whole phrase again, with the column that it is about."""

from collections.abc import Iterable

from streamhouse.planner.language.draft import Draft, Time, When
from streamhouse.planner.language.words import ADVERB_GRAINS
from streamhouse.planner.request import Grain


def group_choices(group: Time, columns: Iterable[str]) -> tuple[str, ...]:
    """What takes the place of the phrase of a group: "month of ods.bills.paid_on" of "month", so that months stay.

    Args:
        group: Whose time column no word names.
        columns: Names with their tables.
    """
    said = f"per {group.grain.value}" if group.phrase.lower() in ADVERB_GRAINS else said_grain(group)
    return tuple(f"{said} of {column}" for column in columns)


def said_grain(group: Time) -> str:
    """The grain in the words of the wish; a date is a day there, for a time has a date only as a day."""
    return "day" if group.grain is Grain.DAY else group.phrase or group.grain.value


def condition_choices(phrase: str, columns: Iterable[str]) -> tuple[str, ...]:
    """What takes the place of a time that restricts rows: "with ods.bills.paid_on in May" of "in May"."""
    return tuple(f"with {column} {phrase}" for column in columns)


def unnamed_group(draft: Draft) -> Time | None:
    """The first group by a time whose column no word names."""
    return next((one for one in draft.groups if isinstance(one, Time) and one.of is None), None)


def unnamed_condition(draft: Draft) -> When | None:
    """The first condition on a time whose column no word names."""
    return next((one for one in draft.filters if isinstance(one, When) and one.of is None and one.phrase), None)
