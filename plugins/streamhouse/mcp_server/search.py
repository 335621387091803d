"""Finds tables, actions and flows by words: a hit need not have all of them, and may have them almost."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from rapidfuzz import fuzz
from snowballstemmer import stemmer

from streamhouse.mcp_server.answers import Hit, SearchAnswer
from streamhouse.mcp_server.arguments import SearchArguments
from streamhouse.mcp_server.health import loss_line, losses
from streamhouse.mcp_server.shareable import Shared
from streamhouse.model.action import Action
from streamhouse.model.flow import Flow
from streamhouse.model.meaning import DimensionMeaning, MeasureMeaning
from streamhouse.planner.catalog import CatalogTable
from streamhouse.ui.answers import LossAnswer
from streamhouse.ui.losses import losses_by_flow

if TYPE_CHECKING:
    from streamhouse.runtime.lost_tables import SeenLosses

_NAME, _SYNONYM, _DESCRIPTION, _REST = 8.0, 6.0, 3.0, 1.0
_ALMOST = 85.0  # of 100: letters that agree
_LEAST_LETTERS = 4  # of a word that is looked for almost
_DESCRIPTION_LENGTH = 500

Fields = Iterable[tuple[float, Iterable[str]]]
"""Weight → texts."""
Thing = tuple[str, str, str, Fields]
"""Kind, name, description, and the texts that words are looked for in."""


def search(shared: Shared, request: SearchArguments, seen: "SeenLosses | None" = None) -> SearchAnswer:
    """The best hits; with equal scores by kind and name.

    Args:
        shared: What may be shown.
        request: What is looked for.
        seen: What flows lost; None: nothing.
    """
    words = tuple(dict.fromkeys(_tokens(request.text)))
    scored = []
    for order, (kind, name, description, fields) in enumerate(_things(shared)):
        if kind not in request.kinds:
            continue
        score, found = _score(words, fields)
        if found or not words:
            hit = Hit.model_validate(
                {"kind": kind, "name": name, "description": description[:_DESCRIPTION_LENGTH], "words": found}
            )
            scored.append((-score, order, hit))
    scored.sort(key=lambda one: one[:2])
    hits = (hit for *_, hit in scored[: request.limit])
    lost = losses_by_flow(seen) if seen is not None else {}
    return SearchAnswer(hits=tuple(_with_losses(hit, shared, lost) for hit in hits), more=len(scored) > request.limit)


def _with_losses(hit: Hit, shared: Shared, lost: Mapping[str, tuple[LossAnswer, ...]]) -> Hit:
    """A hit with what is lost of the flow, or of the table in each flow that has it."""
    found = lost.get(hit.name, ()) if hit.kind == "flow" else ()
    if hit.kind == "table":
        found = tuple(one for every in lost.values() for one in every if hit.name in one.tables)
    return hit.model_copy(update={"lost": tuple(map(loss_line, losses(found, shared)))}) if found else hit


def _things(shared: Shared) -> Iterator[Thing]:
    yield from (_table(name, table) for name, table in sorted(shared.tables.items()))
    yield from (_action(name, action, shared) for name, action in sorted(shared.actions.items()))
    yield from (_flow(name, flow, shared) for name, flow in sorted(shared.flows.items()))


def _table(name: str, table: CatalogTable) -> Thing:
    columns = table.columns
    figures: tuple[MeasureMeaning | DimensionMeaning, ...] = (*table.measures.values(), *table.dimensions.values())
    rest = [
        table.action,
        *(text for one in columns for text in (one.description, *one.synonyms)),
        *(text for one in columns for words in one.values.values() for text in words),
        *(text for one in figures for text in (one.description, *one.synonyms)),
    ]
    fields = (
        (_NAME, [name]),
        (_SYNONYM, [*table.synonyms, *table.measures, *table.dimensions]),
        (_DESCRIPTION, [table.description, *(one.name for one in columns)]),
        (_REST, rest),
    )
    return "table", name, table.description, fields


def _action(name: str, action: Action, shared: Shared) -> Thing:
    description = shared.masked(action.description)
    ports = [column for port in action.inputs.values() for column in port]
    fields = (
        (_NAME, [name]),
        (_DESCRIPTION, [description, *action.inputs, *action.params]),
        (_REST, [action.step.value, *ports, *action.output.primary_key]),
    )
    return "action", name, description, fields


def _flow(name: str, flow: Flow, shared: Shared) -> Thing:
    tables = [step.writes for step in flow.steps if shared.sees(step.writes)]
    fields = (
        (_NAME, [name]),
        (_DESCRIPTION, map(shared.masked, [flow.description, flow.owner, *flow.tags])),
        (_REST, [*tables, *(flow.sources[source].kind for source in shared.sources_of(flow))]),
    )
    return "flow", name, shared.masked(flow.description), fields


def _score(words: tuple[str, ...], fields: Fields) -> tuple[float, tuple[str, ...]]:
    """How well a thing fits, and which of the words it has."""
    tokens = [(weight, {token for text in texts for token in _tokens(text)}) for weight, texts in fields]
    score, found = 0.0, list[str]()
    for word in words:
        best = max((weight * _likeness(word, some) for weight, some in tokens), default=0.0)
        if best:
            score, found = score + best, [*found, word]
    return score * (len(found) / len(words) if words else 1.0), tuple(found)


def _likeness(word: str, tokens: Iterable[str]) -> float:
    stem, best = _stem(word), 0.0
    for token in tokens:
        if token == word:
            return 1.0
        if _stem(token) == stem:
            best = max(best, 0.9)
        elif len(word) >= _LEAST_LETTERS and (like := fuzz.ratio(word, token)) >= _ALMOST:
            best = max(best, like / 200)
    return best


def _tokens(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower(), re.UNICODE)


_english: Callable[[str], str] = stemmer("english").stemWord


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    return _english(word)
