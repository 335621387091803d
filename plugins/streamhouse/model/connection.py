"""Databases that captures read from, as `connections:` of streamhouse.yaml names them."""

import re
from typing import Any, Literal, Self

from pydantic import ByteSize, Field, model_validator

from streamhouse.model.types import Frozen

DATABASES = ("postgres", "mariadb", "mysql")
"""Kinds of databases; each is also the option of `cdc` that names a table of one."""

CHECKED = ("verify-ca", "verify-full")
"""Values of `tls` with which the server's certificate is checked."""

_ENVIRONMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACE = "say where the secret is: either {environment: NAME} or {file: PATH}"


class SecretPlace(Frozen):
    """Where a secret is; never the secret itself."""

    environment: str | None = Field(default=None, description="name of the environment variable that has it")
    file: str | None = Field(
        default=None, description="file that has it, such as /run/secrets/shop; relative to the project"
    )

    @model_validator(mode="before")
    @classmethod
    def _one_place(cls, value: Any) -> Any:
        # Whatever stands here may be the secret, so no message may repeat it: each misfit is found here.
        place = value if isinstance(value, dict) else {}
        named = [place[name] for name in ("environment", "file") if place.get(name) is not None]
        if len(named) != 1 or not isinstance(named[0], str) or not named[0]:
            raise ValueError(_PLACE)
        if "environment" in place and place["environment"] is not None and not _ENVIRONMENT.fullmatch(named[0]):
            raise ValueError("environment is no name of an environment variable; " + _PLACE)
        return value


class Connection(Frozen):
    """One database."""

    kind: Literal["postgres", "mariadb", "mysql"] = Field(description="of the database")
    host: str = Field(
        pattern=r"^([A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\[?[0-9A-Fa-f:.]{2,45}\]?)$",
        description="name or address of its server",
    )
    port: int | None = Field(default=None, ge=1, le=65535, description="absent: 5432; of mariadb and mysql 3306")
    database: str | None = Field(
        default=None,
        min_length=1,
        max_length=63,
        pattern=r"^[^\x00-\x20\x7f/?&=;#%:\\]+$",
        description="of postgres, which needs it; others have none",
    )
    user: str = Field(min_length=1, description="may log in, replicate, and read the tables")
    password: SecretPlace | None = Field(
        default=None, description="where it is: {environment: NAME} or {file: PATH}; absent: none is asked for"
    )
    tls: Literal["disable", "prefer", "require", "verify-ca", "verify-full"] = Field(
        default="prefer", description="whether the connection is encrypted, and the server's certificate checked"
    )
    ca: str | None = Field(
        default=None,
        min_length=1,
        description="file with the authorities of the server's certificate, in PEM format; relative to the project; "
        "needs tls: verify-ca or verify-full",
    )
    warn_at: ByteSize = Field(
        default=ByteSize(1 << 30), ge=1 << 20, description="log that the database may keep for us before we warn"
    )

    @model_validator(mode="after")
    def _database_where_it_is_needed(self) -> Self:
        if self.kind == "postgres" and self.database is None:
            raise ValueError("a connection of kind postgres needs 'database'")
        if self.kind != "postgres" and self.database is not None:
            raise ValueError(f"a connection of kind {self.kind} has no 'database': tables are named database.table")
        return self

    @model_validator(mode="after")
    def _authorities_where_they_are_asked(self) -> Self:
        if self.ca is not None and self.tls not in CHECKED:
            raise ValueError(f"'ca' needs tls: {' or '.join(CHECKED)}; 'tls: {self.tls}' checks no certificate")
        return self

    @property
    def port_number(self) -> int:
        """The port, or the usual one."""
        return self.port or (5432 if self.kind == "postgres" else 3306)
