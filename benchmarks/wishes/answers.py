"""What the planner says to a wish, and whether that is right."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .judge import Rules
from .wish import PLAIN_ROWS, Wish

if TYPE_CHECKING:
    from streamhouse.planner.catalog import Catalog


@dataclass(frozen=True)
class Answer:
    """What the planner said.

    Attributes:
        sql: Of the query; None: it did not accept the wish.
        said: Refusal, or questions with their choices; empty: it accepted.
        seconds: To understand and to compose.
        understood: How the wish was read, as JSON with sorted keys.
        error: An exception, which is never right.
    """

    sql: str | None = None
    said: str = ""
    seconds: float = 0.0
    understood: str = ""
    error: str = ""

    @property
    def accepted(self) -> bool:
        """Whether there is a query, and nothing was asked."""
        return self.sql is not None


@dataclass(frozen=True)
class Judged:
    """A wish, its answer, and what became of it.

    Attributes:
        reason: Why the verdict is not "right"; of a refusal that is one, what was said.
        right: Of a wish to answer: equal rows. Of one to refuse: refused, and everything that must be was named.
    """

    wish: Wish
    answer: Answer
    right: bool
    reason: str = ""


def rules_of(wish: Wish, labels: Collection[str]) -> Rules:
    """What may differ from the reference of a wish."""
    return Rules(
        one_of=wish.one_of,
        optional=wish.optional,
        or_times=wish.or_times,
        ordered=wish.ordered,
        labels=labels,
        further=wish.kind in PLAIN_ROWS,
    )


def labels_of(catalog: "Catalog") -> frozenset[str]:
    """Names of columns that are a key, or point to one."""
    keys = {name for table in catalog.tables.values() for name in table.primary_key}
    return frozenset(keys | {name for key in catalog.keys for name in key.columns})


def judge_refusal(wish: Wish, answer: Answer) -> Judged:
    """Whether a wish that must not be answered was refused, with words that tell why."""
    if answer.error:
        return Judged(wish, answer, right=False, reason=answer.error)
    if answer.accepted:
        return Judged(wish, answer, right=False, reason=f"accepted, and is to be refused: {wish.refuse}")
    said = answer.said.casefold()
    unnamed = [word for word in wish.words if not re.search(word.casefold(), said)]
    if unnamed:
        return Judged(wish, answer, right=False, reason=f"does not name {', '.join(unnamed)}: {answer.said}")
    return Judged(wish, answer, right=True, reason=answer.said)
