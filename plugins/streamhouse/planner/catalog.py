"""What the planner knows of a project: its tables with what they mean, how they join, its actions. Pure data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamhouse.model.action import Action
from streamhouse.model.meaning import DimensionMeaning, MeasureMeaning, Sharing
from streamhouse.model.types import Layer


@dataclass(frozen=True)
class CatalogColumn:
    """One column of a table.

    Attributes:
        type: Spark SQL type in canonical lower case, as of `model.table.Column`.
        unit: Of its numbers, as somebody wrote it; None: nobody did.
        values: Known value, as text → the words for it; its own text is always one of them.
        open_values: Whether it may have values that `values` lacks. Unknown counts as open.
        references: `(table, column)` of the key it points to.
        origin: `(table, column)` upstream that it is copied from unchanged.
    """

    name: str
    type: str
    nullable: bool = True
    description: str = ""
    synonyms: tuple[str, ...] = ()
    unit: str | None = None
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    open_values: bool = True
    references: tuple[str, str] | None = None
    origin: tuple[str, str] | None = None


@dataclass(frozen=True)
class CatalogTable:
    """One table that a flow of the project writes.

    Attributes:
        name: `layer.name`.
        flow: That writes it.
        action: Name of the action that makes it; with several writers, of the first.
        columns: In the order of the table; names of bookkeeping columns are left out.
        primary_key: Empty: rows are only appended.
        event_time: The default time column; None: it has none, and the only column of a time type stands for it.
        upstream: Tables that its step reads, in the order of ports.
        rows: How many it has, as far as known.
        sharing: What may be sent to a model.
    """

    name: str
    flow: str
    action: str
    columns: tuple[CatalogColumn, ...]
    primary_key: tuple[str, ...] = ()
    event_time: str | None = None
    description: str = ""
    synonyms: tuple[str, ...] = ()
    measures: Mapping[str, MeasureMeaning] = field(default_factory=dict)
    dimensions: Mapping[str, DimensionMeaning] = field(default_factory=dict)
    upstream: tuple[str, ...] = ()
    rows: int | None = None
    sharing: Sharing = field(default_factory=Sharing)

    @property
    def layer(self) -> Layer:
        """The first part of the name."""
        return Layer(self.name.split(".")[0])

    def column(self, name: str) -> CatalogColumn:
        """The column called `name`.

        Raises:
            KeyError: the table has no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


@dataclass(frozen=True)
class ForeignKey:
    """Rows of `table` that point to at most one row of `to`.

    Attributes:
        columns: Of `table`, in the order of `to_columns`.
        to_columns: The primary key of `to`, all of it.
        declared: Whether somebody wrote `references:`; else it follows from names, types and lineage.
    """

    table: str
    columns: tuple[str, ...]
    to: str
    to_columns: tuple[str, ...]
    declared: bool = False


@dataclass(frozen=True)
class Catalog:
    """Everything the planner may use, in a fixed order: equal projects give equal catalogs."""

    tables: Mapping[str, CatalogTable]
    keys: tuple[ForeignKey, ...] = ()
    actions: Mapping[str, Action] = field(default_factory=dict)
