"""Which tables of others a mode fits. Pure."""

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.tables.options import Mode
from streamhouse.model.connection import DATABASES

_OF_KINDS = {
    ("iceberg", "upsert"): (
        "tables of Iceberg have no changelog, which mode upsert reads",
        "compare their snapshots instead: mode: snapshot_diff",
    ),
    ("fluss", "snapshot_diff"): (
        "tables of Fluss have no snapshots, which mode snapshot_diff compares",
        "follow the changelog of a table with a primary key: mode: upsert",
    ),
    **{
        (kind, mode): (
            "a database says which rows a table has now, and not which ones came",
            f"compare copies of them: mode: snapshot_diff; or follow the log of the database: cdc: {{{kind}: …}}",
        )
        for kind in DATABASES
        for mode in ("append", "upsert")
    },
}
"""Kind of connection and mode → why they do not go together, and the remedy."""


def refuse_kind(kind: str, mode: Mode, at: Location | None) -> None:
    """Refuse a mode that fits no table of a kind of connection.

    Raises:
        SourceError: it fits none.
    """
    if (why := _OF_KINDS.get((kind, mode))) is not None:
        raise SourceError(why[0], at=at, hint=why[1])


def refuse_table(
    name: str, mode: Mode, primary_key: tuple[str, ...], at: Location | None, *, others: str, is_hidden: bool = False
) -> None:
    """Refuse a mode that does not fit a table, whose kind it fits.

    Args:
        name: Of the table.
        mode: As the source names it.
        primary_key: Of the table; empty: it has none.
        at: Where the source is defined.
        others: The modes for a table without a primary key.
        is_hidden: Whether its rows are seen only after a compaction, or are hidden without a snapshot that says so.

    Raises:
        SourceError: it does not fit.
    """
    if mode == "append" and primary_key:
        hint = f"follow its changes: mode: upsert, primary_key: [{', '.join(primary_key)}]"
        raise SourceError(f"{name} has a primary key, so its rows change", at=at, hint=hint)
    if mode == "append" and is_hidden:
        hint = "mode: snapshot_diff, with the columns that tell its rows apart as primary_key"
        raise SourceError(f"rows of {name} are removed by deletion vectors", at=at, hint=hint)
    if mode == "upsert" and not primary_key:
        raise SourceError(f"{name} has no primary key", at=at, hint=f"mode: {others}")
    if mode == "upsert" and is_hidden:
        why = "its new rows are seen only after a compaction, which no changelog has"
        raise SourceError(f"the changes of {name} cannot be followed: {why}", at=at, hint="mode: snapshot_diff")
