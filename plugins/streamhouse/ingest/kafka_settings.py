"""The settings that librdkafka gets: those of a source, each of a kind that `doors/kafka.py` names."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from streamhouse.doors.kafka import KAFKA
from streamhouse.doors.setting import Kind, RefusedSetting
from streamhouse.errors import Location, SourceError
from streamhouse.ingest.broker_options import BrokerOptions
from streamhouse.ingest.folders import project_file
from streamhouse.ingest.permitted import check_variable, value_of
from streamhouse.ingest.wrong_option import of_option


def check_settings(options: BrokerOptions, root: Path, at: Location | None) -> None:
    """Check what the settings of a source name: files of the project, and variables that it permits.

    Raises:
        SourceError: a setting or its value is not taken, a file is outside of the project, or a variable is not
            permitted.
    """
    for name, value in options.properties.items():
        with of_option(f"properties.{name}"):
            _check_property(name, value, root, at)
    for name, variable in options.secrets.items():
        with of_option(f"secrets.{name}"):
            check_variable(variable, _servers(options), root, at)


def _check_property(name: str, value: str, root: Path, at: Location | None) -> None:
    try:
        if KAFKA.check(name, value).kind is Kind.FILE:
            project_file(root, value, at)
    except RefusedSetting as error:
        raise SourceError(f"option 'properties' of kafka: {error}", at=at, hint=error.hint) from error


def client_settings(options: BrokerOptions, root: Path, at: Location | None) -> dict[str, str | int | float | bool]:
    """What librdkafka gets; paths of files are absolute, with no link.

    Raises:
        SourceError: as `check_settings`, or a variable is not set.
    """
    check_settings(options, root, at)
    servers = _servers(options)
    secrets = {name: value_of(variable, name, servers, root, at) for name, variable in options.secrets.items()}
    return {"bootstrap.servers": options.servers, **dict(_properties(options, root, at)), **secrets}


def _properties(options: BrokerOptions, root: Path, at: Location | None) -> Iterator[tuple[str, str]]:
    for name, value in options.properties.items():
        is_file = KAFKA.check(name, value).kind is Kind.FILE
        yield name, str(project_file(root, value, at)) if is_file else value


def _servers(options: BrokerOptions) -> list[str]:
    """`host:port` of each server that could get a secret."""
    found = options.servers.split(",")
    if url := options.properties.get("sasl.oauthbearer.token.endpoint.url"):
        parts = urlsplit(url)
        found.append(f"{parts.hostname}:{parts.port or 443}")
    return found
