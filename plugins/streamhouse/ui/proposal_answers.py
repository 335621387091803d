"""What the page "Ask" receives and sends, as JSON."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from streamhouse.model.environment_name import environment_name
from streamhouse.planner.proposal import Proposal, Status
from streamhouse.ui.answers import Answer

Edits = dict[str, Any]
"""Path of a part of the Request → what it is to be; sent back as it is, or with the value that a person typed."""


class Choice(Answer):
    """Something that a part of the Request could be instead."""

    text: str
    edits: Edits
    chosen: bool = False


class Menu(Answer):
    """Choices of one sort for one part."""

    label: str
    choices: tuple[Choice, ...]


class Entry(Answer):
    """A value of a part that a person may type; `path` is where it belongs, an empty text means None."""

    label: str
    kind: Literal["number", "text", "time", "duration", "name"]
    path: str
    value: str
    optional: bool = False
    known: tuple[str, ...] = ()  # values that the column is known to have


class Chip(Answer):
    """One part of a Request in words, and how it can be changed."""

    group: Literal["figure", "group", "column", "filter", "order", "source", "result"]
    text: str
    removal: Edits | None = None  # None: it cannot be removed
    menus: tuple[Menu, ...] = ()
    entries: tuple[Entry, ...] = ()
    set: bool = True  # False: nobody asked for it, and it is chosen by what is asked


class DiffLine(Answer):
    """One line of a diff: `+` new, `-` gone, ` ` as before, `@` where the next lines stand."""

    sign: Literal["+", "-", " ", "@"]
    text: str


class FileDiff(Answer):
    """A file as it would be, against what it is."""

    path: str
    is_new: bool
    added: int
    removed: int
    lines: tuple[DiffLine, ...]
    after: str


class ProposalEvent(Answer):
    """What became of a proposal at some time."""

    at: datetime
    what: str
    detail: str


class ProposalPage(Answer):
    """A proposal with everything that the page shows of it.

    Attributes:
        proposal: Its preview has rows only for who may query.
        written: The project's files say what the proposal's say.
        built: The environment that has its table, with its history; None: none has.
        apply: What to type once they are written, in this order: if an environment has them, it is promoted.
    """

    proposal: Proposal
    chips: tuple[Chip, ...]
    diffs: tuple[FileDiff, ...]
    events: tuple[ProposalEvent, ...]
    written: bool
    built: str | None
    apply: tuple[str, ...]


class ProposalSummary(Answer):
    """A proposal in the history."""

    id: str
    wish: str
    sentence: str
    status: Status
    table: str
    became: str  # the last thing that happened to it
    detail: str
    at: datetime | None


class Written(Answer):
    """Files that were written into the project, and the environment that their tables were built in."""

    files: tuple[str, ...]
    built: str | None
    said: str  # the last message while it was done


class Progress(Answer):
    """What is being done for a proposal; empty: nothing, or it has just begun."""

    said: str


class WishRequest(BaseModel):
    """A wish; the planner says how long it may be."""

    model_config = ConfigDict(extra="forbid")

    wish: str = Field(min_length=1)


class AnswersRequest(BaseModel):
    """Answers to questions of a proposal: phrase → choice."""

    model_config = ConfigDict(extra="forbid")

    answers: dict[str, str] = Field(min_length=1, max_length=20)


class EditsRequest(BaseModel):
    """What a person changed in a Request."""

    model_config = ConfigDict(extra="forbid")

    edits: dict[str, Any] = Field(min_length=1, max_length=50)


class WriteRequest(BaseModel):
    """Where the new tables are to be built once the files are written; None: nowhere."""

    model_config = ConfigDict(extra="forbid")

    environment: Annotated[str, AfterValidator(environment_name)] | None = None


class NoneRequest(BaseModel):
    """A request that says nothing."""

    model_config = ConfigDict(extra="forbid")
