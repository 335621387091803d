"""Columns of a source that every row has: how a person declares them, and what becomes of a row that lacks one."""

from collections.abc import Collection, Iterable
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, model_validator

from streamhouse.errors import Location, SourceError, did_you_mean
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.table import Column
from streamhouse.model.types import Frozen
from streamhouse.sql.types import split_not_null

REASON = "null"
"""Of a dead letter: its row lacks a value that every row has."""
HINT = (
    "mend the row; or let the column be without a value: declare it without 'not null', and say in the action what "
    "such rows mean, COALESCE(…) or WHERE … IS NOT NULL"
)


class NotNull(Frozen):
    """The option `not_null` of a source, and `not null` behind the types of its columns."""

    not_null: tuple[str, ...] = Field(
        default=(),
        description="columns that every row has: a row without one is refused, as one whose value does not fit its "
        "type; short for it, behind the type of a column: {id: bigint not null}",
    )

    @model_validator(mode="before")
    @classmethod
    def _behind_the_types(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        given, found = _split(data)
        if isinstance(data.get("key"), dict):
            of_key, more = _split(data["key"])
            given, found = {**given, "key": of_key}, [*found, *more]
        if not found:
            return data
        named = data.get("not_null") or ()
        return {
            **given,
            "not_null": tuple(dict.fromkeys([*(named if isinstance(named, list | tuple) else ()), *found])),
        }

    @model_validator(mode="after")
    def _are_columns(self) -> Self:
        declared = {
            name for part in ("columns", "key_columns", "headers", "metadata") for name in getattr(self, part, ())
        }
        for name in self.not_null if declared else ():
            if name not in declared:
                raise ValueError(f"not_null names '{name}', which is not among the columns")
        return self


def _split(data: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Options with plain types under `columns`, and the columns that every row has."""
    columns = data.get("columns")
    if not isinstance(columns, dict):
        return data, []
    split = {name: split_not_null(text) for name, text in columns.items() if isinstance(text, str)}
    types = {name: split[name][0] if name in split else text for name, text in columns.items()}
    return {**data, "columns": types}, [name for name, (_, is_required) in split.items() if is_required]


def required(columns: Iterable[Column], names: Collection[str], at: Location | None) -> tuple[Column, ...]:
    """The columns of a source, those with these names never NULL and all others perhaps.

    Raises:
        SourceError: the source has no column of a name.
    """
    found = tuple(column.model_copy(update={"nullable": column.name not in names}) for column in columns)
    there = [column.name for column in found]
    for name in names:
        if name not in there:
            hint = did_you_mean(name, there, f"its columns are: {', '.join(there)}")
            raise SourceError(f"not_null names '{name}', which the source does not have", at=at, hint=hint)
    return found


def required_of_those(columns: Iterable[Column], names: Collection[str]) -> tuple[Column, ...]:
    """As `required`, where a name may be of a column that is not read any more."""
    return tuple(column.model_copy(update={"nullable": column.name not in names}) for column in columns)


def first_null(rows: pa.Table, columns: Iterable[Column]) -> tuple[int, str] | None:
    """The first row that lacks a value it must have, from 0, and what is wrong with it; None: every row has them."""
    found: tuple[int, str] | None = None
    for column in columns:
        if column.nullable or column.name not in rows.column_names:
            continue
        values = rows.column(column.name)
        if values.null_count:
            number = pc.index(pc.is_null(values), value=True).as_py()
            if found is None or number < found[0]:
                found = (number, no_value(column))
    return found


def no_value(column: Column) -> str:
    """What is wrong with a row that lacks the value of a column."""
    return f"column '{column.name}' has no value, and it is declared as not null"


class NoValueError(UnreadableError):
    """A row lacks a value that every row has.

    Attributes:
        number: Which row, from 0.
    """

    def __init__(self, number: int, text: str) -> None:
        super().__init__(REASON, text)
        self.number = number


def refuse_nulls(rows: pa.Table, columns: Iterable[Column]) -> pa.Table:
    """The rows.

    Raises:
        NoValueError: one lacks a value that it must have.
    """
    if found := first_null(rows, columns):
        raise NoValueError(*found)
    return rows
