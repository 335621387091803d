"""What a model may answer: how a wish is read, or one action's SQL. Nothing else is ever taken from it."""

import re
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, Field

from streamhouse.errors import RequestShapeError
from streamhouse.model.types import NAME, Frozen, Layer, Pace
from streamhouse.planner.request import Understood

SQL_PLACE = "the SQL"
"""What stands for the file in places of errors."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_MOST_NOTES = 20
_LONGEST_NOTE = 500
Name = Annotated[str, Field(pattern=NAME)]
Row = dict[str, Any]
_M = TypeVar("_M", bound=BaseModel)


def _not_ingested(layer: Layer) -> Layer:
    if layer is Layer.ODS:
        raise ValueError("results belong to dwd, dws or ads")
    return layer


class DraftExample(Frozen):
    """Rows that an action is given, and the rows that it is to make of them.

    Attributes:
        given: `layer.name` → rows.
    """

    given: dict[str, tuple[Row, ...]]
    expect: tuple[Row, ...]


class ActionDraft(Frozen):
    """One action's SQL, for a wish that no Request can say.

    Attributes:
        name: Of the action and of its table, without the layer.
        description: One sentence that says what its rows are.
        sql: One Spark SELECT over `layer.table` names.
        columns: Output column → one sentence on what it is, with its unit.
        primary_key: Output columns that tell its rows apart.
        event_time: Output column that says when a row belongs to; null: none does.
        examples: Small ones that show what the SQL does; they are run.
        assumptions: What the wish leaves open.
    """

    name: Name
    layer: Annotated[Layer, AfterValidator(_not_ingested)]
    description: str = Field(min_length=1, max_length=_LONGEST_NOTE)
    sql: str = Field(min_length=1, max_length=20_000)
    columns: dict[str, str] = Field(default_factory=dict)
    primary_key: tuple[str, ...] = ()
    event_time: str | None = None
    freshness: Pace | None = None
    examples: tuple[DraftExample, ...] = Field(default=(), max_length=3)
    assumptions: tuple[str, ...] = ()


Answer = Understood | ActionDraft


def checked(answer: Answer) -> Answer:
    """An answer that says one thing, in texts that a terminal may show.

    Raises:
        RequestShapeError: it says several things or none, or a text that becomes part of a file has characters that
            nobody sees.
    """
    if isinstance(answer, ActionDraft):
        _refuse_control(answer.model_dump(mode="json", exclude={"assumptions"}))
        return answer.model_copy(update={"assumptions": _notes(answer.assumptions)})
    said = [bool(answer.request), bool(answer.questions), bool(answer.refusal)]
    if sum(said) != 1:
        raise RequestShapeError("give just one of request, questions and refusal")
    if answer.request is not None:
        if answer.request.layer is Layer.ODS:
            raise RequestShapeError("a result cannot belong to ods", hint="leave 'layer' out, or take dwd, dws or ads")
        _refuse_control(answer.request.model_dump(mode="json", exclude={"wish"}))
    return Understood(
        request=answer.request,
        readings=tuple(_plain(one) for one in answer.readings[:_MOST_NOTES]),
        assumptions=_notes(answer.assumptions),
        questions=tuple(_plain(one) for one in answer.questions[:_MOST_NOTES]),
        refusal=shown(answer.refusal),
    )


def shown(text: str) -> str:
    """A text of a model as one that a person may be shown: one line, no control characters, not endless."""
    return " ".join(_CONTROL.sub("", text).split())[:_LONGEST_NOTE]


def _notes(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(None, map(shown, texts[:_MOST_NOTES])))


def _plain(part: _M) -> _M:
    found = {name: _shown_all(value) for name, value in part.model_dump().items()}
    return part.model_copy(update=found)


def _shown_all(value: str | tuple[str, ...]) -> str | tuple[str, ...]:
    return shown(value) if isinstance(value, str) else tuple(map(shown, value))


def _refuse_control(data: Any) -> None:
    if isinstance(data, str) and _CONTROL.search(data):
        raise RequestShapeError("a text has invisible characters", hint="write letters, digits and signs only")
    if isinstance(data, dict):
        for name, value in data.items():
            _refuse_control(name)
            _refuse_control(value)
    elif isinstance(data, list | tuple):
        for value in data:
            _refuse_control(value)
