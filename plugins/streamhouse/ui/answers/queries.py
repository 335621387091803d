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
