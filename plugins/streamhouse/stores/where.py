"""Conditions on single columns that a store may use to leave rows out."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

Value = int | str | bool | Decimal | date | datetime
"""Of the type of its column; an instant is aware and in UTC, a `timestamp_ntz` is naive."""

COMPARISONS = ("=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class RowCondition:
    """`column operator values`, as SQL means it: a null fulfils `is null` only.

    Attributes:
        column: As the table spells it.
        operator: One of `COMPARISONS`, which have one value, `in`, `is null` or `is not null`.
        values: Never null, all of the column's type.
    """

    column: str
    operator: str
    values: tuple[Value, ...] = ()

    def __str__(self) -> str:
        shown = ", ".join(f"'{v}'" if isinstance(v, str | date) else str(v) for v in self.values)
        values = f"({shown})" if self.operator == "in" else shown
        return f"{self.column} {self.operator} {values}".rstrip()
