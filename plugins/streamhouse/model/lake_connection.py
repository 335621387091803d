"""Lakes and clusters whose tables flows read and others own, as `connections:` of streamhouse.yaml names them."""

from typing import Literal, Self

from pydantic import Field, model_validator

from streamhouse.model.connection import SecretPlace
from streamhouse.model.place import is_local
from streamhouse.model.types import Frozen


class _Lake(Frozen):
    endpoint: str | None = Field(
        default=None, pattern=r"^https?://[^\s@]+$", description="of its object store; absent: Amazon's"
    )
    region: str = Field(default="us-east-1", min_length=1, description="of its object store")
    path_style: bool = Field(default=True, description="the bucket is in the path, not in the host's name")


class IcebergConnection(_Lake):
    """The tables of one Iceberg catalog."""

    kind: Literal["iceberg"] = Field(description="of the connection")
    warehouse: str | None = Field(
        default=None,
        min_length=1,
        description="a folder with tables, relative to the project; with a catalog what that one knows it by",
    )
    catalog: str | None = Field(
        default=None,
        pattern=r"^(https?://[^\s@?]+|jdbc:postgresql://[^\s@?]+)$",
        description="URL of a REST catalog, or of a database (jdbc:postgresql://db/iceberg); absent: a folder",
    )
    name: str = Field(
        default="cold", min_length=1, description="of a catalog in a database: the name that its tables have it under"
    )
    user: str | None = Field(default=None, min_length=1, description="of a catalog in a database")
    password: SecretPlace | None = Field(default=None, description="where the user's password is: {environment: NAME}")
    credential: SecretPlace | None = Field(
        default=None, description="where 'id:secret' of OAuth2 is, for a REST catalog: {environment: NAME}"
    )
    token: SecretPlace | None = Field(
        default=None, description="where a bearer token is, for a REST catalog: {environment: NAME}"
    )
    scope: str | None = Field(default=None, min_length=1, description="of OAuth2")

    @model_validator(mode="after")
    def _says_where(self) -> Self:
        if self.catalog is None and (self.warehouse is None or not is_local(self.warehouse)):
            raise ValueError("say where the tables are: 'warehouse' is a folder of this machine, or write 'catalog'")
        if (self.credential or self.token or self.scope) and not self.is_rest:
            raise ValueError("credential, token and scope are for a REST catalog; write 'catalog: https://…'")
        if self.credential is not None and self.token is not None:
            raise ValueError("write either 'credential' or 'token'")
        if (self.user or self.password) and (self.catalog is None or self.is_rest):
            raise ValueError("user and password are for a catalog in a database; write 'catalog: jdbc:postgresql://…'")
        return self

    @property
    def is_rest(self) -> bool:
        """Whether a REST catalog knows which tables there are, and where."""
        return self.catalog is not None and not self.catalog.startswith("jdbc:")


class PaimonConnection(_Lake):
    """The tables of one Paimon warehouse."""

    kind: Literal["paimon"] = Field(description="of the connection")
    warehouse: str = Field(
        min_length=1, description="a folder, relative to the project, or the URL of an object store: s3://lake/warm"
    )


class FlussConnection(Frozen):
    """The tables of one Fluss cluster."""

    kind: Literal["fluss"] = Field(description="of the connection")
    servers: str = Field(
        pattern=r"^[^\s:,]+:[0-9]+(,[^\s:,]+:[0-9]+)*$", description="host:port of some of its servers"
    )
    user: str | None = Field(default=None, min_length=1, description="who logs in; absent: no login")
    password: SecretPlace | None = Field(default=None, description="where the user's password is: {environment: NAME}")

    @model_validator(mode="after")
    def _one_login(self) -> Self:
        if (self.user is None) != (self.password is None):
            raise ValueError("'user' and 'password' belong together")
        return self


TablesConnection = IcebergConnection | PaimonConnection | FlussConnection
"""Those whose tables have snapshots or a changelog."""

TABLES = ("iceberg", "paimon", "fluss")
"""Kinds of these connections."""
