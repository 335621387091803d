"""What libraries of lakes raise, as errors that name the table and its connection."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pydantic import ValidationError

from streamhouse.errors import Location, RowsLostError, SourceError, StoreUnavailableError, StreamhouseError
from streamhouse.ingest.project_file import SETTINGS

_HIDDEN = "***"
_AWAY = ("ServerError", "ServiceUnavailableError", "TooManyRequestsError", "ConnectionError", "Timeout")
_GONE = re.compile(r"No such file|NotFound|not found")


class Failures:
    """Says what went wrong with one table.

    Args:
        name: Of the table.
        connection: Its name.
        secrets: Texts that no message may show.
        at: Where the source is defined.
    """

    def __init__(self, name: str, connection: str, secrets: Sequence[str], at: Location | None) -> None:
        self._name = name
        self._connection = connection
        self._secrets = secrets
        self._at = at

    def missing(self) -> SourceError:
        """There is no such table."""
        return SourceError(
            f"connection '{self._connection}' has no table {self._name}",
            at=self._at,
            hint="name one that is there; Streamhouse does not create tables of others",
        )

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Translate what is raised in the block.

        Raises:
            RowsLostError: a file of the table is gone.
            StoreUnavailableError: the catalog or the object store does not answer.
            SourceError: it refuses us, or the table cannot be read.
        """
        try:
            yield
        except StreamhouseError:
            raise
        except Exception as error:  # also what a library stumbles over in damaged files
            raise self._of(error) from error

    def _of(self, error: BaseException) -> StreamhouseError:
        kinds = {one.__name__ for one in type(error).__mro__}
        said = self._shown(error)
        if isinstance(error, FileNotFoundError) or _GONE.search(said):
            return RowsLostError(
                f"a file of {self._name} is gone: {said}",
                hint="its owner removed it before it was read; let snapshots be kept for longer than the flow may rest",
            )
        if kinds & set(_AWAY):
            hint = f"does it run, and is its address under 'connections' in {SETTINGS} right?"
            return StoreUnavailableError(f"connection '{self._connection}' does not answer: {said}", hint=hint)
        hint = f"see its entry under 'connections' in {SETTINGS}, and what its user may read"
        return SourceError(
            f"{self._name} of connection '{self._connection}' cannot be read: {said}", at=self._at, hint=hint
        )

    def _shown(self, error: BaseException) -> str:
        first = next(iter(str(error).splitlines()), "") or type(error).__name__
        invalid = next((one for one in (error, *error.args) if isinstance(one, ValidationError)), None)
        if invalid is not None:  # its first line only counts what is wrong
            wrong = invalid.errors(include_url=False, include_input=False, include_context=False)[0]
            first = f"{'.'.join(map(str, wrong['loc'])) or 'its metadata'}: {wrong['msg']}"
        for secret in self._secrets:
            first = first.replace(secret, _HIDDEN)
        return first
