"""Every flow on one look, in few queries however many flows there are."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from streamhouse.state import changes, progress
from streamhouse.state.connect import Database
from streamhouse.state.records import AppliedChange, EpochRecord, FlowProgress, Owner


@dataclass(frozen=True)
class FlowSight:
    """One flow of many.

    Attributes:
        progress: Its freshness is that of `recent` alone.
        recent: Its last finished epochs, the last one first.
    """

    progress: FlowProgress
    recent: tuple[EpochRecord, ...]


class Overview:
    """The flows of one project; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        """Touches nothing yet."""
        self._database = database

    def flows(
        self, limit: int, now: datetime | None = None, *, alive: Callable[[Owner], bool] | None = None
    ) -> dict[str, FlowSight]:
        """Flow → how it is doing, of all that were applied or run.

        Args:
            limit: So many of its last epochs are read.
            now: The clock.
            alive: Must answer True for processes of other hosts, of which it cannot know; None: as all do.
        """
        with self._database.read() as connection:
            found = progress.of_every_flow(connection, now or datetime.now(UTC), alive, limit)
        return {flow: FlowSight(one, tuple(recent)) for flow, (one, recent) in found.items()}

    def rows_written(self) -> dict[str, int]:
        """Table → rows written to it since it was first applied, over all its versions."""
        with self._database.read() as connection:
            return progress.rows_written(connection)

    def newest_applied_change(self, flow: str) -> AppliedChange | None:
        """The change of a flow that was applied last, also by a person; None: the journal has none."""
        with self._database.read() as connection:
            return changes.newest_applied(connection, flow)
