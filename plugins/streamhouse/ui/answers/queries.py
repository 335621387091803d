"""Queries and their rows."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from streamhouse.ui.answers.base import Answer

Cell = str | int | float | bool | None
"""A value of a row as JSON has it."""


class QueryRequest(BaseModel):
    """A query that a person typed."""

    model_config = ConfigDict(extra="forbid")

    sql: str
    limit: int = 100


class ExportRequest(BaseModel):
    """A query whose rows are wanted as a file."""

    model_config = ConfigDict(extra="forbid")

    sql: str
    format: Literal["csv", "parquet"]


class ReadsRequest(BaseModel):
    """A query of which a person wants to know what it reads."""

    model_config = ConfigDict(extra="forbid")

    sql: str


class QueryColumn(Answer):
    """A column of an answer; `type` is Spark's."""

    name: str
    type: str


class PageQueryAnswer(Answer):
    """Rows of a query. Numbers that JavaScript would round, and nested values, are text."""

    columns: tuple[QueryColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: bool  # there are more rows than were asked for
    seconds: float


class TablePartRead(Answer):
    """What a query read of one table in one tier, as `query.explain.TableRead` has it."""

    table: str
    moment: str  # as of when; empty: now
    tier: str | None  # null: the state store
    columns: tuple[str, ...]
    of_columns: int
    where: tuple[str, ...]  # conditions that reach the store
    rows: int | None
    of_rows: int | None
    files: int | None
    of_files: int | None
    bytes: int | None
    of_bytes: int | None


class QueryReads(Answer):
    """What computed a query, and what was read for it."""

    engine: str
    reason: str  # why it was Spark; empty: it was not
    reads: tuple[TablePartRead, ...]
