"""The time that a wish names where it groups by time."""

from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.draft import Noun, Time
from streamhouse.planner.language.offered_times import group_choices
from streamhouse.planner.language.place import Placed, UnclearError

_LIKELY = 1.3  # what a time may cost that a word names


def named_time(bench: Bench) -> Placed | None:
    """The time that a participle or a noun names where rows are grouped by time: "tickets closed per day".

    Raises:
        UnclearError: several are named.
    """
    draft = bench.draft
    groups = [
        *draft.groups,
        *(g for one in draft.figures for g in (*one.near, *one.inner)),
        *(draft.best.per if draft.best else ()),
    ]
    unnamed = next((group for group in groups if isinstance(group, Time) and group.of is None), None)
    if unnamed is None:
        return None
    nouns = [*draft.nouns, *(one.noun for one in draft.figures if isinstance(one.noun, Noun))]
    mentions = [mention for noun in nouns for mention in noun.mentions]
    named = [one for one in mentions if not (bench.places.is_base(one) or one.of_kind("value"))]
    places = [placed for one in named for placed in bench.places.columns(Noun(one), want="time")]
    found: dict[str, Placed] = {}
    for placed in places:
        if not placed.of.role and placed.cost <= _LIKELY:
            found.setdefault(placed.column.name, placed)
    if len(found) > 1:
        names = [placed.name for placed in found.values()]
        raise UnclearError(f"which time counts: {' or '.join(names)}?", unnamed.phrase, group_choices(unnamed, names))
    return next(iter(found.values()), None)
