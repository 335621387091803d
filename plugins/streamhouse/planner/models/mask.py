"""Takes secrets, and names of tables that may not be shared, out of texts for a model. Pure."""

from dataclasses import dataclass, field
from typing import Self

from streamhouse.planner.catalog import Catalog
from streamhouse.planner.secrets import Secrets
from streamhouse.planner.sharing import Names
from streamhouse.secret import masked


@dataclass(frozen=True)
class Mask:
    """Takes names of hidden tables and secrets out of texts.

    Attributes:
        secrets: Values that must never leave.
    """

    names: Names = field(default_factory=Names)
    secrets: Secrets = field(default_factory=Secrets)

    @classmethod
    def of(cls, catalog: Catalog, secrets: Secrets) -> Self:
        """For a project on this machine; `catalog` has all its tables."""
        return cls(Names.of(catalog), secrets)

    def wish(self, text: str) -> str:
        """What a person wrote, without secrets and full names of hidden tables."""
        return self.names.without_tables(self._without_secrets(text))

    def text(self, text: str) -> str:
        """A description, also without names that only hidden tables have."""
        return self.names.masked(self._without_secrets(text))

    def message(self, text: str) -> str:
        """An error or a hint, also without names of columns that read as words."""
        return self.names.masked_message(self._without_secrets(text))

    def _without_secrets(self, text: str) -> str:
        return masked(self.secrets.without(text))
