"""What drivers of databases raise, as errors that name the table and its connection."""

from streamhouse.errors import Location, SourceError, StoreUnavailableError
from streamhouse.ingest.tables.database_troubles import NO_ANSWER, code_of, explained, trouble_of

_HIDDEN = "***"


class DatabaseFailures:
    """Says what went wrong with one table.

    Args:
        name: Of the table.
        connection: Its name.
        password: No message may show it; empty: there is none.
        at: Where the source is defined.
    """

    def __init__(self, name: str, connection: str, password: str, at: Location | None) -> None:
        self._name = name
        self._connection = connection
        self._password = password
        self._at = at

    def missing(self) -> SourceError:
        """There is no such table, or the user may not see it."""
        return SourceError(
            f"connection '{self._connection}' has no table {self._name}",
            at=self._at,
            hint="name one that is there and that the user may read; Streamhouse does not create tables of others",
        )

    def away(self, error: BaseException) -> StoreUnavailableError:
        """The database does not answer."""
        said = self._said(error)
        trouble = trouble_of(said, code_of(error)) or NO_ANSWER
        return StoreUnavailableError(f"connection '{self._connection}': {trouble.what}: {said}", hint=trouble.remedy)

    def refused(self, error: BaseException, *, is_session: bool = False) -> SourceError:
        """The database refuses us, or a value cannot be read.

        Args:
            error: What the driver raised.
            is_session: Whether there is no session at all.
        """
        said, hint = explained(
            self._said(error),
            "see what the user of the connection may read; name under 'columns' what to take of each row",
            code_of(error) if is_session else None,
        )
        return SourceError(
            f"{self._name} of connection '{self._connection}' cannot be read: {said}", at=self._at, hint=hint
        )

    def _said(self, error: BaseException) -> str:
        said = error.args[1] if len(error.args) > 1 else error
        first = next((line.strip() for line in str(said).splitlines() if line.strip()), type(error).__name__)
        return first.replace(self._password, _HIDDEN) if self._password else first
