"""What every answer is made of: the base, errors, and what the page is about."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """Base of all answers: made once, never changed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ProblemDetail(Answer):
    """One error of ours: what, where, and what to do about it."""

    code: str
    message: str
    hint: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None


class Problem(Answer):
    """An answer that is none (RFC 9457), with the parts of our errors; `errors` holds several found at once."""

    type: str = "about:blank"
    title: str
    status: int
    code: str
    detail: str
    hint: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    errors: tuple[ProblemDetail, ...] = ()


class ShortcutsAnswer(Answer):
    """Which shortcuts the last Spark session of the project took (docs/shortcuts.md)."""

    spark: str  # version
    on: tuple[str, ...]
    off: dict[str, str]  # name → why


class About(Answer):
    """The project, and what the person who asks may do."""

    name: str
    root: str
    version: str
    where: Literal["alone", "airflow"]
    person: str
    may_decide: bool
    may_query: bool
    may_ask: bool  # for flows, in plain words
    engine_note: str = ""  # why rows can be neither read nor written; empty: there is an engine
    query_note: str = ""  # why nothing can be asked; empty: it can
    broken: tuple[ProblemDetail, ...]  # files that cannot be read
    not_looked_at: dict[str, str] = Field(default_factory=dict)  # tier → why it was not looked at for lost rows
    shortcuts: ShortcutsAnswer | None = None  # None: there was no Spark session yet
