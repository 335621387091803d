"""What the state store knows of tables besides how many rows they have: versions, readers, writers, columns, tiers."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from streamhouse.model.types import Tier
from streamhouse.state import epochs, meanings, plans, versions
from streamhouse.state.connect import Database
from streamhouse.state.outdated_reads import OutdatedRead, outdated_flows, outdated_reads
from streamhouse.state.records import MeaningSince, RetiredVersion, VersionSince


class TableRecords:
    """Tables of one project that were applied; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        """Touches nothing yet."""
        self._database = database

    def known(self) -> set[str]:
        """Every table that was ever applied."""
        with self._database.read() as connection:
            return versions.known(connection)

    def columns_ever(self, flow: str) -> dict[str, set[str]]:
        """Table → every column that some revision of a flow wrote: what its steps gave up, stores still hold."""
        with self._database.read() as connection:
            return plans.columns_ever(connection, flow)

    def tier_age(self, flow: str, table: str, tier: Tier) -> timedelta | None:
        """For how long a table of a flow has had a tier without a break; None: it has none."""
        with self._database.read() as connection:
            since = plans.tier_since(connection, flow, table, tier)
        return None if since is None else datetime.now(UTC) - since

    def meanings(self, table: str) -> dict[str, MeaningSince]:
        """Column of a table → since when it means what is applied; absent: in all its rows."""
        with self._database.read() as connection:
            return meanings.of_table(connection, table)

    def generation(self, flow: str) -> int:
        """How many times a flow took up a plan or versions of tables, or more: see `versions.generation`."""
        with self._database.read() as connection:
            return versions.generation(connection, flow)

    def readers(self, table: str) -> dict[str, int]:
        """Other flow → the version at which it reads a table."""
        with self._database.read() as connection:
            return {flow: read[table] for flow, read in versions.readers(connection, [table]).items()}

    def outdated_reads(self, flow: str) -> list[OutdatedRead]:
        """What a flow reads of other flows at versions that no longer serve, by table; see `state.outdated_reads`."""
        with self._database.read() as connection:
            return outdated_reads(connection, flow)

    def outdated_flows(self) -> set[str]:
        """The flows that have `outdated_reads`."""
        with self._database.read() as connection:
            return outdated_flows(connection)

    def has_rows_of(self, flow: str, table: str) -> bool:
        """Whether an epoch of a flow ever wrote rows to a table, as stores call it."""
        with self._database.read() as connection:
            return epochs.wrote_rows(connection, flow, table)

    def retired(self) -> list[RetiredVersion]:
        """Versions of tables that no longer serve and are not dropped, oldest first."""
        with self._database.read() as connection:
            return versions.retired(connection)

    def served(self) -> dict[str, tuple[VersionSince, ...]]:
        """Table → the versions that served, oldest first; the last one serves."""
        with self._database.read() as connection:
            return versions.served(connection)

    def remove_deleted(self) -> None:
        """Remove from the files of the state store what was deleted; see `Database.remove_deleted`."""
        self._database.remove_deleted()

    def dropped(self, table: str, version: int) -> None:
        """Record that a retired version is gone."""

        def work(connection: Connection) -> None:
            versions.dropped(connection, table, version)
            meanings.forget(connection, table, version)

        self._database.write(work)
