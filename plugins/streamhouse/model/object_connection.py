"""Object stores whose objects flows read as files, as `connections:` of streamhouse.yaml names them."""

import re
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from streamhouse.model.connection import SecretPlace
from streamhouse.model.types import Frozen

S3 = "s3://"
"""How the path of a source begins that is in an object store."""

OBJECTS = "s3"
"""Kind of these connections."""

_ODD = frozenset(("", ".", ".."))  # parts of a path

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


class S3Connection(Frozen):
    """An object store that speaks S3, and the part of it that flows may read."""

    kind: Literal["s3"] = Field(description="of the connection")
    paths: tuple[str, ...] = Field(
        min_length=1, description="what flows may read: a bucket, or folders of it, such as [s3://landing/orders]"
    )
    endpoint: str | None = Field(default=None, pattern=r"^https?://[^\s@/]+/?$", description="absent: Amazon's")
    region: str = Field(default="us-east-1", min_length=1, description="of the buckets")
    path_style: bool = Field(default=True, description="the bucket is in the path, not in the host's name")
    access_key: SecretPlace | None = Field(
        default=None, description="where the id of the key is: {environment: NAME}; absent: AWS_ACCESS_KEY_ID"
    )
    secret_key: SecretPlace | None = Field(
        default=None, description="where the secret of the key is: {environment: NAME}; absent: AWS_SECRET_ACCESS_KEY"
    )
    session_token: SecretPlace | None = Field(
        default=None, description="where the token of a key for some hours is: {environment: NAME}"
    )

    @field_validator("paths")
    @classmethod
    def _are_folders(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for path in value:
            bucket = path.removeprefix(S3).partition("/")[0]
            if not path.startswith(S3) or not _BUCKET.fullmatch(bucket):
                raise ValueError(f"'{path}' is no folder of a bucket; write s3://BUCKET or s3://BUCKET/FOLDER")
            if not _ODD.isdisjoint(path.removeprefix(S3).rstrip("/").split("/")):
                raise ValueError(f"'{path}' has an empty part, '.' or '..'; write the folder itself")
            if any(mark in path for mark in "*?["):
                raise ValueError(f"'{path}' is a pattern; name the folder that it begins with")
        return value

    @model_validator(mode="after")
    def _both_halves_of_the_key(self) -> Self:
        if (self.access_key is None) != (self.secret_key is None):
            raise ValueError("'access_key' and 'secret_key' belong together")
        if self.session_token is not None and self.access_key is None:
            raise ValueError("'session_token' belongs to 'access_key' and 'secret_key'")
        return self

    def permits(self, path: str) -> bool:
        """Whether flows may read a path, or the objects of a pattern; it begins with `s3://`.

        One with an empty part, `.` or `..` is never permitted: what carries it to the server may lead it elsewhere.

        Example:
            >>> one = S3Connection(kind="s3", paths=("s3://landing/orders",))
            >>> one.permits("s3://landing/orders/*.csv"), one.permits("s3://landing/orders-of-others/a.csv")
            (True, False)
            >>> one.permits("s3://landing/orders/../a.csv"), one.permits("s3://landing/orders//a.csv")
            (False, False)
        """
        if not _ODD.isdisjoint(path.removeprefix(S3).split("/")[:-1]) or path.rpartition("/")[2] in (".", ".."):
            return False
        return any(path == one.rstrip("/") or path.startswith(f"{one.rstrip('/')}/") for one in self.paths)
