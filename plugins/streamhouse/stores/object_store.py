"""How the lakes reach an object store that speaks S3.

Keys are never part of the settings: both libraries get those that every AWS tool reads from the environment.
"""

import os
from collections.abc import Mapping

from pydantic import Field

from streamhouse.model.types import Frozen

_SCHEMES = ("s3://", "s3a://", "s3n://")


class ObjectStore(Frozen):
    """Where it is; what is absent is that of Amazon."""

    endpoint: str | None = Field(default=None, pattern=r"^https?://\S+$", description="absent: Amazon's")
    region: str = Field(default="us-east-1", min_length=1, description="of the object store")
    path_style: bool = Field(default=True, description="the bucket is in the path, not in the host's name")

    def paimon_options(self, warehouse: str, environment: Mapping[str, str] | None = None) -> dict[str, str]:
        """Options of a Paimon catalog, in Python as in Java; empty for a warehouse that is elsewhere.

        Args:
            warehouse: A folder or a URL.
            environment: Holds `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, and `AWS_SESSION_TOKEN` if there is
                one; None: that of the process.
        """
        if not is_object_store(warehouse):
            return {}
        variables = os.environ if environment is None else environment
        options = {
            "s3.endpoint": self.endpoint,
            "s3.region": self.region,
            "s3.path.style.access": str(self.path_style).lower(),
            "s3.access-key": variables.get("AWS_ACCESS_KEY_ID"),
            "s3.secret-key": variables.get("AWS_SECRET_ACCESS_KEY"),
            "s3.session-token": variables.get("AWS_SESSION_TOKEN"),
        }
        return {key: value for key, value in options.items() if value}

    def iceberg_options(self) -> dict[str, str]:
        """Options of an Iceberg catalog whose tables are in it; the JVM finds the keys by itself."""
        return {"io-impl": "org.apache.iceberg.aws.s3.S3FileIO", **self.iceberg_client()}

    def iceberg_client(self) -> dict[str, str]:
        """Options of an Iceberg catalog some of whose tables may be in it."""
        options = {"client.region": self.region, "s3.path-style-access": str(self.path_style).lower()}
        return options | ({"s3.endpoint": self.endpoint} if self.endpoint else {})


def is_object_store(warehouse: str) -> bool:
    """Whether a warehouse is in an object store that speaks S3.

    Example:
        >>> is_object_store("s3://lake/warm"), is_object_store("/srv/lake/warm")
        (True, False)
    """
    return warehouse.startswith(_SCHEMES)
