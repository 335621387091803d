"""A table that is there, and of which a store cannot say what it has: a file is damaged, for example."""

from dataclasses import dataclass

from streamhouse.errors import LoginRefusedError, StateConflictError, StoreError, StoreUnavailableError
from streamhouse.model.types import Tier
from streamhouse.stores.base import NeedsSparkError, UnknownFormError

_ODD = "see what Spark says of it: streamhouse query 'SELECT count(*) FROM {0}' --engine spark"


@dataclass(frozen=True)
class UnreadableTable:
    """A table that was looked at in vain.

    Attributes:
        table: As the store calls it.
        error: What the store says.
    """

    table: str
    tier: Tier
    error: StoreError | StateConflictError | NeedsSparkError

    @property
    def is_unseen(self) -> bool:
        """Whether the store says nothing of the table."""
        return says_nothing(self.error)

    @property
    def code(self) -> str:
        """Of the error that a command gives which needs the table."""
        return StoreError.code if isinstance(self.error, NeedsSparkError) else self.error.code

    @property
    def text(self) -> str:
        """What is wrong, as a sentence that names the table or its file."""
        if isinstance(self.error, NeedsSparkError):
            return f"{self.table} in the {self.tier} tier cannot be read: {self.error}"
        return self.error.message

    @property
    def hint(self) -> str:
        """What to type."""
        if isinstance(self.error, NeedsSparkError):
            return _ODD.format(self.table)
        return self.error.hint or ""


def says_nothing(error: StoreError | StateConflictError | NeedsSparkError) -> bool:
    """Whether a store says nothing of tables: it is away, does not let us in, or only Spark reads it."""
    is_away = isinstance(error, StoreUnavailableError | LoginRefusedError | NeedsSparkError)
    return is_away and not isinstance(error, UnknownFormError)


def why_nothing(error: StoreError | StateConflictError | NeedsSparkError) -> str:
    """The reason for people."""
    return str(error) if isinstance(error, NeedsSparkError) else f"{error.code} {error.message}"
