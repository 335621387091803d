"""The requests that we send, and the versions of them that a server and we both speak."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Self

from streamhouse.errors import StoreError
from streamhouse.stores.fluss.wire import proto


class Api(Enum):
    """A kind of request: its key, and the lowest and highest version that we speak.

    Source: `ApiKeys.java` of Fluss 0.9.1; the bodies are those of its `FlussApi.proto`.
    """

    API_VERSIONS = (1000, 0, 0)
    CREATE_DATABASE = (1001, 0, 0)
    LIST_DATABASES = (1003, 0, 0)
    CREATE_TABLE = (1005, 0, 0)
    DROP_TABLE = (1006, 0, 0)
    GET_TABLE_INFO = (1007, 0, 0)
    LIST_TABLES = (1008, 0, 0)
    LIST_PARTITION_INFOS = (1009, 0, 0)
    GET_TABLE_SCHEMA = (1011, 0, 0)
    GET_METADATA = (1012, 0, 0)
    FETCH_LOG = (1015, 0, 0)
    LIST_OFFSETS = (1021, 0, 0)
    CREATE_PARTITION = (1036, 0, 0)
    DROP_PARTITION = (1037, 0, 0)
    AUTHENTICATE = (1038, 0, 0)
    ALTER_TABLE = (1044, 0, 0)
    RELEASE_KV_SNAPSHOT_LEASE = (1057, 0, 0)

    def __init__(self, key: int, lowest: int, highest: int) -> None:
        self.key = key
        self.lowest = lowest
        self.highest = highest


@dataclass(frozen=True)
class OfferedVersions:
    """What one server offers.

    Attributes:
        versions: Key of a request → lowest and highest version.
    """

    versions: Mapping[int, tuple[int, int]]

    @classmethod
    def read(cls, answer: proto.Message) -> Self:
        """From an `ApiVersionsResponse`."""
        listed = proto.messages(answer, 1)
        return cls({proto.number(one, 1): (proto.number(one, 2), proto.number(one, 3)) for one in listed})

    def version(self, api: Api, server: str) -> int:
        """The highest version of a request that the server and we both speak.

        Args:
            api: Which request.
            server: For the error, such as `localhost:9123`.

        Raises:
            StoreError: there is none.
        """
        if api.key not in self.versions:
            raise _unknown(api, server, "does not offer it")
        lowest, highest = self.versions[api.key]
        if lowest > api.highest or highest < api.lowest:
            raise _unknown(api, server, f"speaks {_range(lowest, highest)}, we speak {_range(api.lowest, api.highest)}")
        return min(highest, api.highest)


def _range(lowest: int, highest: int) -> str:
    return f"version {lowest}" if lowest == highest else f"versions {lowest} to {highest}"


def _unknown(api: Api, server: str, why: str) -> StoreError:
    return StoreError(
        f"Fluss at {server} cannot answer {api.name} ({api.key}): it {why}",
        hint="connect to a server of Fluss 0.9.1, or of a version that still offers the requests of 0.9.1",
    )
