"""Leaves the rows of persons out of what Spark reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from streamhouse.model.forgetting import Forgetting, KeyPart
from streamhouse.model.plan import QUARANTINE, PlannedSource
from streamhouse.model.table import Column, Table
from streamhouse.model.version import table_name
from streamhouse.sql.values import typed_value

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class LeftOut:
    """The rows that are left out of the tables and sources of one flow; by default none.

    Attributes:
        tables: Table, as people know it → the parts of the key.
        sources: Source → the same.
    """

    tables: Mapping[str, tuple[KeyPart, ...]] = field(default_factory=dict)
    sources: Mapping[str, tuple[KeyPart, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, forgetting: Forgetting | None, flow: str) -> "LeftOut":
        """Those of a change of a flow."""
        if forgetting is None:
            return cls()
        return cls(forgetting.tables, forgetting.sources.get(flow, {}))

    def of_table(self, table: Table, rows: "DataFrame") -> "DataFrame":
        """The other rows of a table, or of its quarantine."""
        parts = self.tables.get(table_name(table.name.removesuffix(QUARANTINE)), ())
        return rows.where(~matching(parts, table.columns)) if parts else rows

    def of_source(self, source: PlannedSource, rows: "DataFrame") -> "DataFrame":
        """The other rows of a source; `columns` of it must be there."""
        parts = self.sources.get(source.name, ())
        return rows.where(~matching(parts, source.columns)) if parts else rows

    def columns(self, source: PlannedSource) -> tuple[str, ...]:
        """The columns that decide which rows of a source are left out."""
        return key_columns(self.sources.get(source.name, ()))


def key_columns(parts: Sequence[KeyPart]) -> tuple[str, ...]:
    """The columns that some parts of a key look at, each once."""
    return tuple(dict.fromkeys(name for part in parts for name in part.columns))


def matching(parts: Sequence[KeyPart], columns: Sequence[Column]) -> "SparkColumn":
    """Whether a row is one of a person's; never NULL.

    Args:
        parts: Of the key, at least one.
        columns: Of the table or source, with those of `parts` among them.
    """
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    kinds = {column.name: column.type for column in columns}

    def has(name: str, values: tuple[str, ...]) -> "SparkColumn":
        found = F.col(name).isin([F.lit(typed_value(value, kinds[name])).cast(kinds[name]) for value in values])
        return F.coalesce(found, F.lit(False))

    return reduce(and_, (reduce(or_, (has(name, part.values) for name in part.columns)) for part in parts))
