"""What names mean at one place of a query: columns by role, each with its tree and its type."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from sqlglot import exp

from streamhouse.errors import UnknownWordError
from streamhouse.planner.request import ColumnRef, Grain, Related
from streamhouse.sql.spark_type import SparkType


@dataclass(frozen=True)
class Value:
    """A part of a query.

    Attributes:
        type: None: it is unknown.
        grain: Of a time that is the begin of a period.
    """

    tree: exp.Expr
    type: SparkType | None = None
    grain: Grain | None = None

    def copy(self) -> exp.Expr:
        """The tree, for another place."""
        return self.tree.copy()


@dataclass(frozen=True)
class Scope:
    """Columns that expressions may use.

    Attributes:
        values: `(role, column)` → what stands for it; the base has an empty role.
    """

    values: Mapping[tuple[str, str], Value] = field(default_factory=dict)

    def of(self, column: ColumnRef) -> Value:
        """What stands for a column.

        Raises:
            UnknownWordError: nothing does.
        """
        found = self.values.get((column.role, column.column))
        if found is None:
            known = [name for role, name in self.values if role == column.role]
            where = f"'{column.role}' has no" if column.role else "there is no"
            raise UnknownWordError(f"{where} column '{column.column}'", column.column, known)
        return found

    def names(self, role: str = "") -> tuple[str, ...]:
        """Columns of one role, in order."""
        return tuple(name for owner, name in self.values if owner == role)


def columns_in(part: Any) -> tuple[ColumnRef, ...]:
    """Every column that a part of a Request uses, each once, in order; columns of other tables left out."""
    return tuple(dict.fromkeys(_columns_in(part)))


def _columns_in(part: Any) -> Iterable[ColumnRef]:
    if isinstance(part, ColumnRef):
        yield part
    elif isinstance(part, Related):
        for name in part.on:
            yield ColumnRef(column=name)
    elif isinstance(part, BaseModel):
        for name in type(part).model_fields:
            yield from _columns_in(getattr(part, name))
    elif isinstance(part, tuple | list):
        for item in part:
            yield from _columns_in(item)
