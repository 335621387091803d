"""Asks a schema registry, by Confluent's API, for what it has."""

import json
import ssl
from base64 import b64encode
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from threading import Lock
from typing import Any, Literal, cast
from urllib.parse import quote, urlsplit

from streamhouse.errors import EnvironmentProblem, Location, SourceError, StoreUnavailableError
from streamhouse.ingest.named_connection import connection_named
from streamhouse.ingest.project_file import SETTINGS
from streamhouse.ingest.secret_place import secret_at
from streamhouse.model.schema_registry import SchemaRegistry

TIMEOUT_S = 10.0
Language = Literal["AVRO", "JSON", "PROTOBUF"]
_REFUSED = (401, 403)
_MISSING = 404
_BUSY = 429
_BROKEN = 500


class NotRegistered(ValueError):  # noqa: N818  it is a fact about a message or a subject; the caller says which
    """The registry does not have it."""


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema that a registry has.

    Attributes:
        id: By which messages name it.
        language: In which it is written.
        text: As it was registered.
        references: Name by which the text imports another schema → that one's text, each after those it needs.
    """

    id: int
    language: Language
    text: str
    references: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class SubjectVersion:
    """A schema as a version of a subject, counted from 1."""

    subject: str
    version: int
    schema: RegisteredSchema

    def __str__(self) -> str:
        return f"version {self.version} of '{self.subject}'"


class RegistryClient:
    """One connection to a registry, opened when it is needed; safe to use from several threads.

    A schema never changes under its id, so each is asked for once.

    Args:
        name: Of the connection in the settings.
        place: Where the registry is.
        root: The project's folder, to which paths of files are relative.
    """

    def __init__(self, name: str, place: SchemaRegistry, root: Path) -> None:
        self._name = name
        self._place = place
        self._root = root
        self._lock = Lock()
        self._connection: HTTPConnection | None = None
        self._headers: dict[str, str] = {}
        self._schemas: dict[int, RegisteredSchema] = {}
        self._versions: dict[tuple[str, int], int | None] = {}

    def schema(self, number: int) -> RegisteredSchema:
        """The schema of an id.

        Raises:
            NotRegistered: there is none.
            StoreUnavailableError: the registry does not answer.
            SourceError: it refuses us, or is none.
            EnvironmentProblem: a secret or a certificate is not where the settings say.
        """
        if number not in self._schemas:
            self._schemas[number] = self._schema_of(number, self._get(f"/schemas/ids/{number}"))
        return self._schemas[number]

    def latest(self, subject: str) -> SubjectVersion:
        """The newest version of a subject; asked for at each call.

        Raises:
            NotRegistered: it has none.
            StoreUnavailableError, SourceError, EnvironmentProblem: as `schema`.
        """
        found = self._get(f"/subjects/{quote(subject, safe='')}/versions/latest")
        number = _whole(found, "id")
        if number not in self._schemas:
            self._schemas[number] = self._schema_of(number, found)
        return SubjectVersion(subject, _whole(found, "version"), self._schemas[number])

    def subjects(self) -> list[str]:
        """All subjects that have a version, by name; asked for at each call.

        Raises:
            StoreUnavailableError, SourceError, EnvironmentProblem: as `schema`.
        """
        found = self._get("/subjects")
        return sorted(str(one) for one in found)

    def version(self, subject: str, number: int) -> int | None:
        """Which version of a subject has an id; None: none, or the registry is too old to tell.

        Raises:
            StoreUnavailableError, SourceError, EnvironmentProblem: as `schema`.
        """
        key = (subject, number)
        if key not in self._versions:
            try:
                found = self._get(f"/schemas/ids/{number}/versions")
            except NotRegistered:
                found = []
            pairs = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
            versions = [one.get("version") for one in pairs if one.get("subject") == subject]
            self._versions[key] = versions[0] if versions and isinstance(versions[0], int) else None
        return self._versions[key]

    def _schema_of(self, number: int, found: Any) -> RegisteredSchema:
        text, language = found.get("schema"), found.get("schemaType") or "AVRO"
        if not isinstance(text, str) or language not in ("AVRO", "JSON", "PROTOBUF"):
            raise SourceError(f"{self._where} has a schema {number} that is in no language known here: {language}")
        references: dict[str, str] = {}
        self._refer(found.get("references") or [], references)
        return RegisteredSchema(number, cast("Language", language), text, tuple(references.items()))

    def _refer(self, wanted: list[dict[str, Any]], into: dict[str, str]) -> None:
        for one in wanted:
            name, subject, version = str(one.get("name")), str(one.get("subject")), one.get("version")
            if name not in into:
                found = self._get(f"/subjects/{quote(subject, safe='')}/versions/{version}")
                self._refer(found.get("references") or [], into)
                into[name] = str(found.get("schema"))

    @property
    def _where(self) -> str:
        return f"the schema registry '{self._name}' at {self._place.url}"

    def _get(self, path: str) -> Any:
        with self._lock:
            status, body = self._answer(f"{urlsplit(self._place.url).path.rstrip('/')}{path}")
        if status in _REFUSED:
            raise SourceError(
                f"{self._where} refuses us (HTTP {status})",
                hint=f"see who logs in, under 'connections' in {SETTINGS}, and what they may read",
            )
        if status >= _BROKEN or status == _BUSY:
            raise self._away(f"HTTP {status}")
        try:
            found = json.loads(body)
        except ValueError:
            found = None
        if status == _MISSING and isinstance(found, dict) and "error_code" in found:
            raise NotRegistered(f"{self._where} has no {path.removeprefix('/')}")
        if status >= 300 or not isinstance(found, dict | list):
            raise SourceError(
                f"{self._where} does not answer like a schema registry (HTTP {status} for {path})",
                hint=f"correct its url under 'connections' in {SETTINGS}, with the path of its API",
            )
        return found

    def _answer(self, path: str) -> tuple[int, bytes]:
        """Status and body; a connection that the server closed meanwhile is opened a second time."""
        for attempt in (1, 2):
            is_old = self._connection is not None
            try:
                connection = self._opened()
                connection.request("GET", path, headers=self._headers)
                answer = connection.getresponse()
                return answer.status, answer.read()
            except ssl.SSLCertVerificationError as error:
                self._close()
                raise SourceError(
                    f"{self._where} shows a certificate that is not trusted: {error.verify_message}",
                    hint=f"name its authority's file as 'ca' under 'connections' in {SETTINGS}",
                ) from error
            except ValueError:  # a header has it, and so would the error
                self._close()
                raise EnvironmentProblem(
                    f"what we log in to {self._where} with has a character that no header of HTTP has",
                    hint=f"see the secret that it names under 'connections' in {SETTINGS}",
                ) from None
            except (OSError, HTTPException) as error:
                self._close()
                if not is_old or attempt > 1:
                    raise self._away(str(error) or type(error).__name__) from error
        raise AssertionError("the second attempt returns or raises")

    def _away(self, why: str) -> StoreUnavailableError:
        return StoreUnavailableError(f"{self._where} does not answer: {why}", hint="check that it runs; no row is lost")

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _opened(self) -> HTTPConnection:
        if self._connection is None:
            parts = urlsplit(self._place.url)
            assert parts.hostname is not None, "the settings ask for it"
            self._headers = self._login()  # a secret may be another one by now
            if parts.scheme == "https":
                context = self._context()
                self._connection = HTTPSConnection(parts.hostname, parts.port, timeout=TIMEOUT_S, context=context)
            else:
                self._connection = HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT_S)
        return self._connection

    def _login(self) -> dict[str, str]:
        place, found = self._place, {"Accept": "application/vnd.schemaregistry.v1+json, application/json"}
        if place.token is not None:
            token = secret_at(place.token, f"the token of connection '{self._name}'", self._root)
            return {**found, "Authorization": f"Bearer {token}"}
        if place.user is not None and place.password is not None:
            password = secret_at(place.password, f"the password of connection '{self._name}'", self._root)
            return {**found, "Authorization": f"Basic {b64encode(f'{place.user}:{password}'.encode()).decode()}"}
        return found

    def _context(self) -> ssl.SSLContext:
        place = self._place
        try:
            context = ssl.create_default_context(cafile=str(self._root / place.ca) if place.ca else None)
            if place.certificate:
                context.load_cert_chain(self._root / place.certificate)
        except (OSError, ssl.SSLError) as error:
            raise EnvironmentProblem(
                f"a certificate of connection '{self._name}' cannot be read: {error}",
                hint="name files in PEM format that we may read",
            ) from error
        return context


def registry_client(name: str, root: Path, at: Location | None = None) -> RegistryClient:
    """The client of a connection of `streamhouse.yaml`; the same one until the file changes. Nothing is asked yet.

    Raises:
        SourceError: the settings have no such connection, or it is no schema registry.
    """
    place = connection_named(name, SchemaRegistry, root, noun="schema registry", kind="schema_registry", at=at)
    return _client(name, place, root)


@lru_cache(maxsize=64)
def _client(name: str, place: SchemaRegistry, root: Path) -> RegistryClient:
    return RegistryClient(name, place, root)


def _whole(found: Any, key: str) -> int:
    value = found.get(key) if isinstance(found, dict) else None
    if not isinstance(value, int):
        raise SourceError(f"a schema registry answers without '{key}'", hint="it must speak Confluent's API")
    return value
