"""The topics whose messages have a schema in a registry, as tables that can be imported."""

from collections.abc import Callable

from streamhouse.ingest.message_formats import LANGUAGES
from streamhouse.ingest.registered_columns import registered_columns
from streamhouse.ingest.schema_registry import NotRegistered, RegistryClient, SubjectVersion
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.planner.found_tables import FoundColumn, FoundTable

_VALUES = "-value"
_FORMATS = {language: form for form, language in LANGUAGES.items()}


def registered_topics(
    client: RegistryClient, connection: str, servers: str, is_wanted: Callable[[str], bool]
) -> list[FoundTable]:
    """The topics that are wanted, by name: those with a subject `TOPIC-value`, each by its newest version.

    Keys of messages are not looked at: a topic has no primary key.

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
    options = {"servers": servers, "topic": topic}
    try:
        found = client.latest(f"{topic}{_VALUES}")
        columns = _columns(found)
    except (NotRegistered, UnreadableError) as error:
        return FoundTable(topic, "kafka", options, refusal=f"its schema makes no rows: {error}")
    form = _FORMATS[found.schema.language]
    return FoundTable(topic, "kafka", {**options, "format": form, "registry": connection}, columns)


def _columns(found: SubjectVersion) -> tuple[FoundColumn, ...]:
    there = registered_columns(found.schema)
    readable = [FoundColumn(column.name, column.type, column.type) for column in there.columns]
    refused = [FoundColumn(name, found.schema.language, None, why) for name, why in there.refusals.items()]
    return (*readable, *refused)
