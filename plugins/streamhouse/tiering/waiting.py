"""How far a lake's copy of a table is behind the tier that the flow writes."""

from dataclasses import dataclass

from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.model.version import table_name
from streamhouse.stores.base import LakeStore, Store
from streamhouse.stores.ledger import verify
from streamhouse.stores.mark import read_mark


@dataclass(frozen=True)
class Waiting:
    """What a lake lacks.

    Attributes:
        rows: About how many were written since; None: nothing was copied yet.
    """

    table: str
    source: Tier
    target: Tier
    rows: int | None


def waiting(table: Table, source: Store, lake: LakeStore) -> Waiting:
    """What waits to be copied into a lake; moves nothing.

    Raises:
        TableLostError: the table or its copy is gone, is another one, or is older than what was recorded.
        RowsLostError: the source dropped rows before they were tiered.
        TableMissingError: the flow has not made the table yet.
    """
    verify(source, table)
    mark = read_mark(lake, table.replica, source.tier)
    end = source.end(table)
    rows = source.rows_between(table, mark.offsets, end) if mark is not None else None
    return Waiting(table_name(table.name), source.tier, lake.tier, rows)
