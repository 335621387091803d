"""The secrets of a project on this machine, and texts without them: no model and no client of one may see them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from streamhouse.doors.variables import PREFIX
from streamhouse.errors import StreamhouseError
from streamhouse.ingest.secret_place import secret_at
from streamhouse.model.connection import SecretPlace
from streamhouse.model.flow import Flow
from streamhouse.model.types import Frozen
from streamhouse.project.settings import Settings
from streamhouse.secret import HIDDEN, masked, names_secret, url_holds_secret

KEY = "STREAMHOUSE_MODEL_KEY"
_SHORTEST = 6  # a shorter secret is a word like any other
_SHORTEST_WORD = 3  # of a declared one: it is left out where it is a word of its own


@dataclass(frozen=True)
class Secrets:
    """Values that must never leave.

    Attributes:
        values: Left out wherever they are, the longest first.
        words: Short ones, left out where they are no part of another word.
    """

    values: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Settings, root: Path, flows: Iterable[Flow], environment: Mapping[str, str]) -> Self:
        """Those of a project.

        Args:
            settings: Its connections say where their secrets are, whatever the place is called.
            root: Its folder.
            flows: Their sources may name variables of the environment that have secrets.
            environment: Of this process. What a name says to be a secret is one.
        """
        declared = {*_of_connections(settings, root, environment), *_of_sources(flows, environment)}
        every = declared.union(_of_environment(environment), _of_settings(settings))
        return cls(
            tuple(sorted((one for one in every if len(one) >= _SHORTEST), key=_longest_first)),
            tuple(sorted((one for one in declared if _SHORTEST_WORD <= len(one) < _SHORTEST), key=_longest_first)),
        )

    def without(self, text: str) -> str:
        """A text with `***` for each secret in it."""
        return self._any.sub(HIDDEN, text) if self._any is not None else text

    def without_in(self, value: Any) -> Any:
        """Plain data with `***` for each secret in its texts, and in URLs in them; keys are texts too."""
        if isinstance(value, str):
            found = self.without(value)
            return masked(found) if url_holds_secret(found) else found
        if isinstance(value, dict):
            return {self.without_in(key): self.without_in(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.without_in(one) for one in value]
        return value

    @cached_property
    def _any(self) -> re.Pattern[str] | None:
        # Names are kept in lower case, and so may be a secret that was written as a name.
        parts = [*map(re.escape, self.values), *(rf"(?<!\w){re.escape(word)}(?!\w)" for word in self.words)]
        return re.compile("(?i)" + "|".join(parts)) if parts else None


def _longest_first(text: str) -> tuple[int, str]:
    return -len(text), text


def _of_connections(settings: Settings, root: Path, environment: Mapping[str, str]) -> Iterator[str]:
    for name, connection in settings.connections.items():
        for place in _places(connection):
            if place.environment is not None:
                yield from _spellings(environment.get(place.environment, ""))
                continue
            try:
                yield from _spellings(secret_at(place, f"a secret of connection '{name}'", root))
            except StreamhouseError:  # there is none, so none can leave
                continue


def _places(value: object) -> Iterator[SecretPlace]:
    """Each place of a secret that a setting names, however deep."""
    if isinstance(value, SecretPlace):
        yield value
    elif isinstance(value, Frozen):
        for _, one in value:
            yield from _places(one)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _places(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _places(one)


def _of_sources(flows: Iterable[Flow], environment: Mapping[str, str]) -> Iterator[str]:
    for flow in flows:
        for source in flow.sources.values():
            for variable in _variables(source.options, names_them=False):
                yield from _spellings(environment.get(variable, ""))


def _variables(options: Any, *, names_them: bool) -> Iterator[str]:
    """Names of variables that options of a source have under `secrets`."""
    if isinstance(options, Mapping):
        for key, value in options.items():
            yield from _variables(value, names_them=names_them or key == "secrets")
    elif isinstance(options, list | tuple):
        for value in options:
            yield from _variables(value, names_them=names_them)
    elif names_them and isinstance(options, str):
        yield options


def _of_environment(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        is_secret = name == KEY or name.startswith(PREFIX) or names_secret(name)
        yield from _spellings(value) if is_secret else _passwords(value)


def _of_settings(settings: Settings) -> Iterator[str]:
    yield settings.spark.secret or ""
    yield from (value for name, value in settings.spark.conf.items() if names_secret(name))
    for text in (settings.state, settings.cold.catalog, settings.models.url, *settings.spark.conf.values()):
        yield from _passwords(text or "")
    credential = settings.cold.credential or ""
    yield from (credential, credential.partition(":")[2])


def _spellings(secret: str) -> Iterator[str]:
    """A secret as it is, its lines, and its passwords if it is a URL: a part of it may be shown as well."""
    yield secret
    yield from secret.splitlines()
    yield from _passwords(secret)


def _passwords(url: str) -> Iterator[str]:
    """The passwords of a URL as they are written there, and as they are."""
    try:
        parts = urlsplit(url.removeprefix("jdbc:"))
        found = parts.password or ""
    except ValueError:  # no URL
        return
    yield from (found, unquote(found))
    if parts.scheme and parts.netloc:
        yield from (value for name, value in parse_qsl(parts.query) if names_secret(name))
