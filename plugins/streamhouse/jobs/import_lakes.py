"""The tables of a lake of others, as tables that can be imported."""

from collections.abc import Callable
from pathlib import Path

from streamhouse.errors import SourceError, StoreError, StoreUnavailableError
from streamhouse.ingest.tables.fluss import FlussLook, FlussTable, fluss_table
from streamhouse.ingest.tables.iceberg import IcebergLook, IcebergTable, iceberg_table
from streamhouse.ingest.tables.paimon import PaimonLook, PaimonTable, paimon_table
from streamhouse.ingest.tables.types import has_type
from streamhouse.model.lake_connection import FlussConnection, IcebergConnection, TablesConnection
from streamhouse.model.shape import SeenColumn
from streamhouse.planner.found_tables import FoundColumn, FoundTable

_ANY = "database.table"  # a lake is asked for the names of its tables by way of one of them


def lake_tables(
    connection: str, place: TablesConnection, root: Path, is_wanted: Callable[[str], bool]
) -> list[FoundTable]:
    """The tables that are wanted, by name.

    Args:
        connection: Its name in streamhouse.yaml.
        place: Where the tables are.
        root: The project's folder.
        is_wanted: Whether a table is.

    Raises:
        StoreUnavailableError: the catalog does not answer.
        SourceError: it refuses us.
        EnvironmentProblem: a secret is not where the settings say.
    """

    def named(name: str) -> IcebergTable | PaimonTable | FlussTable:
        if isinstance(place, FlussConnection):
            return fluss_table(name, connection, place, root)
        if isinstance(place, IcebergConnection):
            return iceberg_table(name, connection, place, root)
        return paimon_table(name, connection, place, "snapshot_diff", root)

    return [_table(connection, named(name)) for name in named(_ANY).names() if is_wanted(name)]


def _table(connection: str, table: IcebergTable | PaimonTable | FlussTable) -> FoundTable:
    options = {"connection": connection, "table": table.name}
    try:
        look = table.look()
        columns = tuple(_column(one) for one in look.columns)
    except StoreUnavailableError:
        raise
    except (SourceError, StoreError) as error:
        return FoundTable(table.name, "table", options, refusal=error.message)
    mode, key = _followed(look)
    return FoundTable(table.name, "table", {**options, "mode": mode}, columns, key)


def _followed(look: IcebergLook | PaimonLook | FlussLook) -> tuple[str, tuple[str, ...]]:
    """The mode that fits a table, and its key."""
    if isinstance(look, IcebergLook):
        return ("snapshot_diff", look.named_key) if look.named_key else ("append", ())
    if not look.primary_key:
        return "append", ()
    is_hidden = isinstance(look, PaimonLook) and look.is_hidden
    return ("snapshot_diff" if is_hidden else "upsert"), look.primary_key


def _column(seen: SeenColumn) -> FoundColumn:
    readable = has_type(seen)
    why = "" if readable else "Spark does not have the type"
    return FoundColumn(
        seen.name, seen.type, seen.type if readable else None, why, nullable=seen.nullable, description=seen.comment
    )
