"""Schema registries that Kafka sources ask, as `connections:` of streamhouse.yaml names them."""

from typing import Literal, Self

from pydantic import Field, model_validator

from streamhouse.model.connection import SecretPlace
from streamhouse.model.types import Frozen


class SchemaRegistry(Frozen):
    """One server that speaks Confluent's API."""

    kind: Literal["schema_registry"] = Field(description="of the connection")
    url: str = Field(
        pattern=r"^https?://[^\s/@?#]+(/[^\s@?#]*)?$", description="of its API, such as https://registry.example:8081"
    )
    user: str | None = Field(default=None, min_length=1, pattern=r"^[^:]+$", description="who logs in, or an API key")
    password: SecretPlace | None = Field(
        default=None, description="where the user's password is: {environment: NAME} or {file: PATH}"
    )
    token: SecretPlace | None = Field(
        default=None, description="where a bearer token is, instead of user and password: {environment: NAME}"
    )
    ca: str | None = Field(
        default=None,
        min_length=1,
        description="file with the authorities of its certificate; absent: the system's",
    )
    certificate: str | None = Field(
        default=None,
        min_length=1,
        description="file with our certificate and its private key, where it asks for one",
    )

    @model_validator(mode="after")
    def _one_login(self) -> Self:
        if (self.user is None) != (self.password is None):
            raise ValueError("'user' and 'password' belong together")
        if self.token is not None and self.user is not None:
            raise ValueError("write either 'token', or 'user' and 'password'")
        if (self.ca or self.certificate) and not self.url.startswith("https:"):
            raise ValueError("'ca' and 'certificate' need a URL that begins with https:")
        return self
