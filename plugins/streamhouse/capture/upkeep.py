"""A capture keeps its journals short: every few seconds it replaces segments that nobody needs by a base."""

import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from streamhouse.capture.database import CapturedDatabase, DatabaseAway
from streamhouse.capture.fold import Ending, IsRemoved
from streamhouse.capture.journal import has_begun
from streamhouse.capture.readers import JournalReader, readers_of
from streamhouse.capture.shorten import (
    Hold,
    Shortening,
    droppable,
    hold_of,
    is_worth_it,
    remove_leftovers,
)
from streamhouse.errors import RowsLostError, StreamhouseError
from streamhouse.ingest.journal import Group, TableJournal, groups, journal_folder
from streamhouse.ingest.journal_base import files_of
from streamhouse.project.check import load_registry
from streamhouse.project.project import Project
from streamhouse.runtime.owner import is_alive
from streamhouse.state.plans import Unreadable
from streamhouse.state.store import StateStore

_EVERY_S = 10.0


def journals_of(project: Project, name: str, group: Group) -> dict[str, TableJournal]:
    """Table → its journal, of each table of a group.

    Args:
        project: Its settings have the connection.
        name: Of the connection.
        group: One of its journal.
    """
    has_schema = project.settings.databases[name].kind == "postgres"
    return {table: TableJournal(project.root, name, table, has_schema=has_schema) for table in group.tables}


def holds_of(project: Project, name: str, state: StateStore, unreadable: Unreadable | None = None) -> tuple[Hold, ...]:
    """Who has yet to read segments of a connection to which no event is added, the one furthest behind first.

    Args:
        project: Its settings have the connection.
        name: Of the connection.
        state: Of the project.
        unreadable: As of `readers_of`.

    Raises:
        StateConflictError: as of `readers_of`.
    """
    readers = readers_of(state, name, flows_with_files(project), is_alive, unreadable)
    found: list[Hold] = []
    for folder, group in groups(journal_folder(project.root, name)).items():
        if has_begun(folder):
            journals = journals_of(project, name, group)
            with suppress(RowsLostError):  # a segment goes at this moment, so nobody needs it
                mine = [one for one in readers if one.table in journals]
                found += [hold for one in mine if (hold := hold_of(one, journals[one.table])) is not None]
    return tuple(sorted(set(found), key=lambda hold: (hold.segment, hold.by)))


def flows_with_files(project: Project) -> set[str] | None:
    """The flows that the project's files define; None: a file cannot be read, so nobody knows."""
    try:
        return set(load_registry(project).flows)
    except StreamhouseError:
        return None


class JournalUpkeep:
    """Shortens the journals of a connection, in a thread of its own.

    Args:
        project: Its settings have the connection.
        name: Of the connection.
        database: Is asked what it may send again.
        folder: Of the connection's journal, of which this process is the only writer.
        state: Of the project.
    """

    def __init__(
        self, project: Project, name: str, database: CapturedDatabase, folder: Path, state: StateStore
    ) -> None:
        self.trouble = ""  # why a journal was not shortened the last time; empty: nothing is wrong
        self._project = project
        self._name = name
        self._database = database
        self._folder = folder
        self._state = state
        self._journals: dict[Path, dict[str, TableJournal]] = {}
        self._looked_at = float("-inf")
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """Begin to look, unless it is too early; returns at once."""
        is_busy = self._thread is not None and self._thread.is_alive()
        if not is_busy and time.monotonic() - self._looked_at >= _EVERY_S:
            self._looked_at = time.monotonic()
            self._thread = threading.Thread(target=self._look, name="journal-upkeep", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Wait until nothing is written any more; what was not replaced by then stays."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        try:
            self.shorten()
        except DatabaseAway:
            return  # the capture says so
        except (StreamhouseError, OSError) as error:
            self.trouble = self._database.masked(str(error).splitlines()[0])
        else:
            self.trouble = ""

    def shorten(self) -> None:
        """Replace what nobody needs, in each journal.

        Raises:
            DatabaseAway: the database does not answer.
            StreamhouseError: the state store does not answer, or a file of a journal is gone.
            OSError: the disk is full.
        """
        for folder, group in groups(self._folder).items():
            if has_begun(folder) and len(files_of(folder).segments) > 1:
                self._shorten(folder, group)

    def _shorten(self, folder: Path, group: Group) -> None:
        remove_leftovers(folder)
        base, segments = files_of(folder)
        settled = self._database.settled(group, folder, segments)
        if not is_worth_it(segments[:settled], base):
            return
        journals = self._journals.setdefault(folder, journals_of(self._project, self._name, group))
        readers = readers_of(self._state, self._name, flows_with_files(self._project), is_alive)
        found = droppable(segments, settled, readers, journals)
        if is_worth_it(found, base):
            removed = _removed(readers)
            try:
                Shortening(folder, journals, removed, self._over.is_set).replace(found)
            except Ending:
                remove_leftovers(folder)


def _removed(readers: Collection[JournalReader]) -> Callable[[str], IsRemoved]:
    """Table → whether every reader of it follows a removal of all rows."""

    def of(table: str) -> IsRemoved:
        policies = [one.truncations for one in readers if one.table == table]
        return lambda truncation: all(one.of(truncation) == "removed" for one in policies)

    return of
