"""What a table or source looks like at one moment."""

from streamhouse.model.table import Column
from streamhouse.model.types import Frozen, Tier


class SeenColumn(Frozen):
    """One column as it is seen. `id` stays when the column is renamed; empty: it has none."""

    name: str
    type: str
    nullable: bool = True
    id: str = ""
    default: str | None = None  # as SQL
    comment: str = ""

    @property
    def column(self) -> Column:
        """As plans have it."""
        return Column(name=self.name, type=self.type, nullable=self.nullable)


class Shape(Frozen):
    """The schema of one thing that a flow reads.

    Attributes:
        object: A table `dwd.sales`, or a source `retail:transactions`.
        identity: Another one when it was dropped and made again; empty: unknown.
        version: Equal versions of one identity have equal columns.
        layout: Partitions, buckets, sort order, in any form.
        inferred: Types are taken from the rows there are: a narrower one says nothing.
        unknown: Columns that rows have and nobody declared; with how many of the rows looked at.
        shards: Column → its type in each part of the source, where these disagree.
        renames: Column → the name it had, where a message says so.
        at: Which version of a table it is, from 1; another one is another table that the table's name means.
        truncated: Ids of the last times that all rows were removed, `4f2a91c0,07b3d411`; empty: never.
    """

    object: str
    version: str
    columns: tuple[SeenColumn, ...]
    tier: Tier | None = None
    identity: str = ""
    primary_key: tuple[str, ...] = ()
    layout: str = ""
    inferred: bool = False
    unknown: tuple[tuple[SeenColumn, int], ...] = ()
    shards: tuple[tuple[str, tuple[str, ...]], ...] = ()
    renames: tuple[tuple[str, str], ...] = ()
    at: int = 1
    truncated: str = ""
