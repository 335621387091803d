"""A column of what rows have besides the columns that a source names: no field of a new version is lost in silence."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence

import pyarrow as pa

from streamhouse.ingest.json_text import Cursor, decoded
from streamhouse.model.table import Column

_EMPTY = "{}"


class OtherFields(Column):
    """A column of text: a JSON object of the fields that no column names; NULL where a row has none.

    Attributes:
        named: The columns of the source that fields make, also those that a reader does not want.
    """

    named: frozenset[str]


def with_other_fields(
    columns: Iterable[Column], other_fields: Collection[str], of_fields: Collection[str]
) -> tuple[Column, ...]:
    """The columns, those called as in `other_fields` as what they are.

    Args:
        columns: Of the rows.
        other_fields: The names of columns of other fields.
        of_fields: The names of columns that fields make.
    """
    named = frozenset(of_fields)
    return tuple(
        OtherFields(**dict(column), named=named) if column.name in other_fields else column for column in columns
    )


def of_fields(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns that a field makes."""
    return tuple(column for column in columns if not isinstance(column, OtherFields))


def joined(rows: pa.Table, columns: Sequence[Column], others: Sequence[pa.Array]) -> pa.Table:
    """Rows of all columns, in their order.

    Args:
        rows: Of the columns that fields make.
        columns: All.
        others: The values of each column of other fields, in their order.
    """
    values = iter(others)
    arrays = [next(values) if isinstance(column, OtherFields) else rows.column(column.name) for column in columns]
    return pa.table(arrays, names=[column.name for column in columns])


def json_other_fields(records: Iterable[bytes], named: Collection[str]) -> pa.Array:
    """The other fields of each object, their values as they are written; of a name that comes twice, the last counts.

    Raises:
        UnreadableError: a record is no object.
    """
    return pa.array([_others(record, named) for record in records], pa.string())


def _others(record: bytes, named: Collection[str]) -> str | None:
    cursor = Cursor(decoded(record))
    found: dict[str, str] = {}
    for name in cursor.names():
        value = cursor.skip()
        if name not in named:
            found[name] = value
    return _object(found.items())


def csv_other_fields(names: Sequence[str], texts: pa.Table, named: Collection[str]) -> pa.Array:
    """The other values of each row as texts, by their names; those that are NULL are left out.

    Args:
        names: Of the columns of `texts`.
        texts: The rows.
        named: The columns of the source, whose case makes no difference.
    """
    known = {name.lower() for name in named}
    others = [(name, texts.column(at).to_pylist()) for at, name in enumerate(names) if name.lower() not in known]
    return pa.array([_object(_there(others, row)) for row in range(texts.num_rows)], pa.string())


def _there(others: Sequence[tuple[str, list[str | None]]], row: int) -> Iterator[tuple[str, str]]:
    for name, values in others:
        if (value := values[row]) is not None:
            yield name, json.dumps(value, ensure_ascii=False)


def _object(fields: Iterable[tuple[str, str]]) -> str | None:
    text = "{" + ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {value}" for name, value in fields) + "}"
    return None if text == _EMPTY else text
