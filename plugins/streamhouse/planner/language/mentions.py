"""All mentions in a part of a draft."""

from collections.abc import Iterable
from typing import Any

from streamhouse.planner.language.draft import (
    Bands,
    Best,
    Compared,
    Draft,
    Either,
    Figure,
    Is,
    Lasting,
    Noun,
    Present,
    Time,
    When,
)
from streamhouse.planner.language.lexicon import Mention


def mentions_of(part: Any) -> list[Mention]:
    """All mentions in a part of a draft, in a fixed order."""
    found: list[Mention] = []
    _collect(part, found)
    return list(dict.fromkeys(found))


def tables_named(mentions: Iterable[Mention], least: float, *kinds: str) -> set[str]:
    """The tables that some mentions name so well at least; of some kinds of senses, else by the name of the table."""
    senses = (sense for one in mentions for sense in one.of_kind(*(kinds or ("table",))))
    return {sense.table for sense in senses if sense.quality >= least}


def _collect(part: Any, found: list[Mention]) -> None:
    if isinstance(part, Mention):
        found.append(part)
    elif isinstance(part, list | tuple):
        for one in part:
            _collect(one, found)
    elif isinstance(part, Draft):
        _collect([part.figures, part.groups, part.filters, part.best, part.nouns, part.pick, part.shown], found)
    elif isinstance(part, Noun | Figure | Best | Is | Compared | Present | When | Either | Lasting | Time | Bands) or (
        hasattr(part, "noun") and hasattr(part, "per")
    ):
        for name in part.__dataclass_fields__:
            _collect(getattr(part, name), found)
