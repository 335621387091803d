"""Takes secrets, and names of tables that may not be shared, out of texts for a model. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self
from urllib.parse import unquote, urlsplit

from streamhouse.planner.catalog import Catalog
from streamhouse.planner.sharing import Names
from streamhouse.project.settings import Settings
from streamhouse.secret import HIDDEN, masked, names_secret

KEY = "STREAMHOUSE_MODEL_KEY"
_SHORTEST = 6  # a shorter secret is a word like any other


@dataclass(frozen=True)
class Mask:
    """Takes names of hidden tables and secrets out of texts.

    Attributes:
        secrets: Values that must never leave, the longest first.
    """

    names: Names = field(default_factory=Names)
    secrets: tuple[str, ...] = ()

    @classmethod
    def of(cls, catalog: Catalog, settings: Settings, environment: Mapping[str, str]) -> Self:
        """For a project on this machine; `catalog` has all its tables."""
        secrets = {value for value in _secrets(settings, environment) if len(value) >= _SHORTEST}
        return cls(Names.of(catalog), tuple(sorted(secrets, key=len, reverse=True)))

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
        return masked(self._any_secret.sub(HIDDEN, text) if self._any_secret is not None else text)

    @cached_property
    def _any_secret(self) -> re.Pattern[str] | None:
        # Names are kept in lower case, and so may be a secret that somebody wrote as one.
        return re.compile("(?i)" + "|".join(map(re.escape, self.secrets))) if self.secrets else None


def _secrets(settings: Settings, environment: Mapping[str, str]) -> Iterator[str]:
    """Values of the environment and of the settings that are secret, and passwords in their URLs."""
    for name, value in environment.items():
        yield from (value,) if name == KEY or names_secret(name) else _passwords(value)
    yield settings.spark.secret or ""
    yield from (value for name, value in settings.spark.conf.items() if names_secret(name))
    for url in (settings.state, settings.cold.catalog):
        yield from _passwords(url or "")
    credential = settings.cold.credential or ""
    yield from (credential, credential.partition(":")[2])


def _passwords(url: str) -> tuple[str, ...]:
    """The password of a URL as it is written there, and as it is."""
    try:
        found = urlsplit(url).password or ""
    except ValueError:  # no URL
        return ()
    return found, unquote(found)
