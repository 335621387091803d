"""The action registry, and what a search finds."""

from typing import Any, Literal

from streamhouse.ui.answers.base import Answer
from streamhouse.ui.answers.tables import MeaningOfTable, Rule


class ActionSummary(Answer):
    """An action in the list."""

    action: str
    version: str
    step: str
    layer: str
    description: str
    examples: int
    used_by: tuple[str, ...]
    deprecated: str | None


class Port(Answer):
    """An input of an action; no columns: it takes any."""

    port: str
    columns: dict[str, str]


class ParameterAnswer(Answer):
    """A value that a step may set."""

    name: str
    type: str
    required: bool
    default: Any
    description: str


class Use(Answer):
    """A step that uses an action."""

    flow: str
    writes: str


class ExampleAnswer(Answer):
    """A unit test of an action."""

    given: dict[str, list[dict[str, Any]]]
    params: dict[str, Any]
    expect: list[dict[str, Any]]


class ActionPage(Answer):
    """Everything of one action."""

    summary: ActionSummary
    file: str
    line: int
    fingerprint: str
    versions: tuple[str, ...]
    inputs: tuple[Port, ...]
    params: tuple[ParameterAnswer, ...]
    primary_key: tuple[str, ...]
    event_time: str | None
    extra_columns: str
    expectations: tuple[Rule, ...]
    uses: tuple[Use, ...]
    examples: tuple[ExampleAnswer, ...]
    sql: str
    meaning: MeaningOfTable


class SearchResult(Answer):
    """A hit of a search."""

    kind: Literal["flow", "action", "table"]
    name: str
    description: str
