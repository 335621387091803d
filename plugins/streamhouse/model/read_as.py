"""How columns that steps know are made of what is upstream by now."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from streamhouse.model.table import Column
from streamhouse.model.types import Frozen

RESCUED = Column(name="_rescued", type="string")
"""Values that do not fit their columns, as a JSON object `{"n": "many"}`; NULL where all fit."""


class ReadAs(Frozen):
    """One column of a source, or of a table of another flow, as the steps of a flow know it.

    Attributes:
        column: Name and type that steps know.
        of: The columns it is made of, as they are there; the first that has a value counts. One that is not there, or
            not in every row, is NULL.
        required: NULL does not fit.
        misfit: What becomes of a value that does not fit `column`: NULL, or its row is left out, or NULL and the value
            is kept in `RESCUED`; all are counted.
        default: As SQL text of a literal: where there is no value; None: NULL.
        gone: The steps know it no more.
        rescues: Names of columns; it is `RESCUED` and made of what does not fit them.
    """

    column: Column
    of: tuple[Column, ...] = ()
    required: bool = False
    misfit: Literal["null", "discard", "rescue"] = "null"
    default: str | None = None
    gone: bool = False
    rescues: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)

    def __str__(self) -> str:
        """For a person: `n int of n bigint, what does not fit is null`."""
        if self.gone:
            return f"without {self.column.name}"
        if self.rescues:
            return f"{self.column.name} {self.column.type} of what does not fit {', '.join(self.rescues)}"
        of = " or ".join(f"{c.name} {c.type}" for c in self.of) or "nothing"
        default = f", else {self.default}" if self.default is not None else ""
        casts = any(column.type != self.column.type for column in self.of)
        misfit = f", what does not fit: {self.misfit}" if casts or self.required else ""
        return f"{self.column.name} {self.column.type} of {of}{default}{misfit}"


def as_read(columns: Iterable[Column], adapted: Iterable[ReadAs]) -> tuple[Column, ...]:
    """What steps know of something with these columns."""
    found = {column.name: column for column in columns}
    for one in adapted:
        if one.gone:
            found.pop(one.column.name, None)
        else:
            found[one.column.name] = one.column
    return tuple(found.values())


def as_stored(columns: Iterable[Column], adapted: Iterable[ReadAs]) -> tuple[Column, ...]:
    """What is to be read, where steps know `columns`."""
    by_name = {one.column.name: one for one in adapted}
    found: dict[str, Column] = {}
    for column in columns:
        one = by_name.get(column.name)
        parts = (column,) if one is None else one.of
        if one is not None and one.rescues:
            parts = tuple(part for name in one.rescues if name in by_name for part in by_name[name].of)
        for part in parts:
            found.setdefault(part.name, part)
    return tuple(found.values())
