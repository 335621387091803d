"""The topics whose messages have a schema in a registry, as tables that can be imported."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamhouse.ingest.debezium_schema import columns_of_rows
from streamhouse.ingest.message_formats import LANGUAGES, connect_part
from streamhouse.ingest.registered_columns import registered_columns
from streamhouse.ingest.schema_registry import NotRegistered, RegisteredSchema, RegistryClient, SubjectVersion
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.planner.found_tables import FoundColumn, FoundTable

_VALUES, _KEYS = "-value", "-key"
_OF_CHANGES = {"before", "after", "op"}
_FORMATS = {language: form for form, language in LANGUAGES.items()}


def registered_topics(
    client: RegistryClient, connection: str, servers: str, is_wanted: Callable[[str], bool]
) -> list[FoundTable]:
    """The topics that are wanted, by name: those with a subject `TOPIC-value`, each by its newest version.

    Topics of Debezium's change events are tables with the key of `TOPIC-key`. Of others the fields of such a key are
    further columns, as far as values have none of their names.

    Args:
        client: Of the registry.
        connection: Its name in streamhouse.yaml.
        servers: Of Kafka, as the sources write them.
        is_wanted: Whether a topic is.

    Raises:
        StoreUnavailableError: the registry does not answer.
        SourceError: it refuses us, or is none.
        EnvironmentProblem: a secret or a certificate is not where the settings say.
        MissingPackageError: what reads the language of a schema is not installed.
    """
    topics = [one.removesuffix(_VALUES) for one in client.subjects() if one.endswith(_VALUES)]
    return [_topic(client, connection, servers, topic) for topic in topics if is_wanted(topic)]


def _topic(client: RegistryClient, connection: str, servers: str, topic: str) -> FoundTable:
    options: dict[str, Any] = {"servers": servers, "topic": topic}
    try:
        found = client.latest(f"{topic}{_VALUES}")
        columns = _columns(found)
    except (NotRegistered, UnreadableError) as error:
        return FoundTable(topic, "kafka", options, refusal=f"its schema makes no rows: {error}")
    options |= {"format": _FORMATS[found.schema.language], "registry": connection}
    key = _key(client, topic)
    if (row := _changed(found.schema)) is not None:
        return _changes(topic, options, row, key)
    names = {column.name for column in columns}
    further = {name: type_ for name, type_ in key.columns.items() if name not in names}
    if further:
        options["key"] = {"format": key.form, "columns": further} if key.form != "json" else {"columns": further}
    return FoundTable(topic, "kafka", options, columns)


@dataclass(frozen=True)
class _Key:
    """What a registry knows of keys: column → type; none: nothing, or they are no records."""

    form: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


def _key(client: RegistryClient, topic: str) -> _Key:
    try:
        found = client.latest(f"{topic}{_KEYS}").schema
        columns = registered_columns(found).columns
    except (NotRegistered, UnreadableError):
        return _Key()
    return _Key(_FORMATS[found.language], {column.name: column.type for column in columns})


def _changed(schema: RegisteredSchema) -> tuple[FoundColumn, ...] | None:
    """The columns of the rows that a schema of change events has; None: it has none."""
    try:
        part = connect_part(schema)
    except UnreadableError:  # of several types, which change events never have
        return None
    if not {one["field"] for one in part.get("fields", ())} >= _OF_CHANGES:
        return None
    columns = columns_of_rows(part)
    return tuple(FoundColumn(c.name, c.type, c.type, nullable=c.nullable) for c in columns) or None


def _changes(topic: str, options: dict[str, Any], row: tuple[FoundColumn, ...], key: _Key) -> FoundTable:
    if not key.columns or not key.columns.keys() <= {column.name for column in row}:
        why = f"it has change events, and no subject '{topic}{_KEYS}' names columns of their rows"
        return FoundTable(topic, "cdc", {}, refusal=why)
    return FoundTable(topic, "cdc", {"kafka": options}, row, tuple(key.columns))


def _columns(found: SubjectVersion) -> tuple[FoundColumn, ...]:
    there = registered_columns(found.schema)
    readable = [FoundColumn(column.name, column.type, column.type) for column in there.columns]
    refused = [FoundColumn(name, found.schema.language, None, why) for name, why in there.refusals.items()]
    return (*readable, *refused)
