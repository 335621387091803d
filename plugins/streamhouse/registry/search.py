"""Finds actions and flows by words."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from streamhouse.errors import Location
from streamhouse.model.action import Action
from streamhouse.model.flow import Flow

_EXACT, _NAME, _DESCRIPTION, _REST = 8, 4, 2, 1


@dataclass(frozen=True)
class SearchHit:
    """One definition that holds every word."""

    kind: Literal["action", "flow"]
    name: str
    description: str
    at: Location
    score: int  # higher is better; comparable within one search


def search(text: str, actions: Iterable[Action], flows: Iterable[Flow]) -> tuple[SearchHit, ...]:
    """Definitions in which every word of `text` stands somewhere, as part of a word, in any case.

    A name counts more than a description, and that more than columns, parameters, tables, tags and SQL.

    Returns:
        Best first, then by name; all of them when `text` is empty.
    """
    words = text.lower().split()
    hits = [
        *(_hit("action", a.action, a.description, a.at, _words_of_action(a), words) for a in actions),
        *(_hit("flow", f.flow, f.description, f.at, _words_of_flow(f), words) for f in flows),
    ]
    return tuple(sorted((h for h in hits if h), key=lambda h: (-h.score, h.name, h.kind)))


def _hit(
    kind: Literal["action", "flow"], name: str, description: str, at: Location, rest: str, words: list[str]
) -> SearchHit | None:
    scores = [_score(word, name, description.lower(), rest) for word in words]
    return SearchHit(kind, name, description, at, sum(scores)) if all(scores) else None


def _score(word: str, name: str, description: str, rest: str) -> int:
    return (
        _EXACT * (word == name) + _NAME * (word in name) + _DESCRIPTION * (word in description) + _REST * (word in rest)
    )


def _words_of_action(action: Action) -> str:
    columns = (column for port in action.inputs.values() for column in port)
    parts = [action.step.value, *action.inputs, *columns, *action.params, *action.output.primary_key, action.sql]
    return " ".join(parts).lower()


def _words_of_flow(flow: Flow) -> str:
    tables = (name for step in flow.steps for name in (step.use, step.writes, *(r.table for r in step.reads.values())))
    kinds = (word for source in flow.sources.values() for word in (source.name, source.kind))
    return " ".join([flow.owner, *flow.tags, *tables, *kinds]).lower()
