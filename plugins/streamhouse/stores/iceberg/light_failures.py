"""Exceptions of PyIceberg, and of what it reads through, as ours."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streamhouse.errors import StoreError, StoreUnavailableError, StreamhouseError
from streamhouse.stores.base import NeedsSparkError, UnknownFormError

if TYPE_CHECKING:
    from pyiceberg.exceptions import RESTError
    from sqlalchemy.exc import DBAPIError

_HIDDEN = "***"
_STORE_AWAY = re.compile(r"curlCode: (6|7|28)\b|AWS Error (SLOW_DOWN|SERVICE_UNAVAILABLE)")  # name, connect, time
_STORE_REFUSES = re.compile(
    r"AWS Error (ACCESS_DENIED|INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH|INVALID_CLIENT_TOKEN_ID)"
    r"|AWS Error \[code 15\]|HTTP response code 40[13]|access denied"
)
_NO_BUCKET = "AWS Error NO_SUCH_BUCKET"
_DATABASE_REFUSES = re.compile(r"authentication failed|no password supplied|permission denied|does not exist")
_REFUSING_STATES = ("28", "3D", "42")
"""Classes of SQLSTATE: who may come in, which database, what there is and who may read it."""
_CATALOG_AWAY = "does it run, and is cold.catalog (STREAMHOUSE_COLD_CATALOG) its address?"
_STORE_AWAY_HINT = "does it run, and is object_store.endpoint (STREAMHOUSE_S3_ENDPOINT) its address?"
_CREDENTIAL = (
    "STREAMHOUSE_COLD_CREDENTIAL is the 'id:secret' of one who may read, with the scope STREAMHOUSE_COLD_SCOPE"
)
_PASSWORD = "user and password stand in STREAMHOUSE_COLD_CATALOG: jdbc:postgresql://db/iceberg?user=…&password=…"
_KEYS = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment are those of one who may read the bucket"
_BUCKET = "cold.warehouse (STREAMHOUSE_COLD), or the catalog, names the bucket; is the object store the right one?"


@contextmanager
def left_to_spark(name: str, secrets: Sequence[str] = ()) -> Iterator[None]:
    """Leave to Spark what PyIceberg cannot read in the block; tell what Spark could not read either.

    Args:
        name: Of the table.
        secrets: Texts that no message may show.

    Raises:
        StoreUnavailableError: the catalog or the object store does not answer.
        StoreError: one of them refuses us; a bucket or a file is not there.
        UnknownFormError: Python stumbles over what a file says: it may be damaged.
        NeedsSparkError: anything else: Spark can read it, or says what is wrong.
    """
    from pyiceberg.exceptions import RESTError

    try:
        yield
    except FileNotFoundError as error:
        raise StoreError(
            f"a file of {name} in the cold tier is gone: {_shown(error, secrets)}",
            hint="upkeep removed it meanwhile: ask again",
        ) from error
    except RESTError as error:
        raise _of_catalog(error, secrets) from error
    except OSError as error:
        raise _of_place(error, secrets) from error
    except (StreamhouseError, NeedsSparkError):
        raise
    except Exception as error:  # also whatever Python stumbles over in files that are damaged
        raise UnknownFormError(f"what PyIceberg says: {_shown(error, secrets)}") from error


def no_bucket(name: str) -> StoreError:
    """A bucket is not there."""
    return StoreError(f"the object store has no bucket {name}", hint=_BUCKET)


def of_database(error: "DBAPIError", secrets: Sequence[str]) -> Exception:
    """What the database of a catalog says."""
    said = _shown(error.orig or error, secrets)
    sqlstate = getattr(error.orig, "sqlstate", None) or ""
    if sqlstate.startswith(_REFUSING_STATES) or _DATABASE_REFUSES.search(str(error.orig)):
        return StoreError(f"the database with the catalog of the cold tier refuses: {said}", hint=_PASSWORD)
    return StoreUnavailableError(
        f"the database with the catalog of the cold tier does not answer: {said}", hint=_CATALOG_AWAY
    )


def of_object_store(error: OSError, secrets: Sequence[str] = ()) -> StoreError | None:
    """What an object store says; None: it is not one that spoke, or Java may get another answer."""
    said = _shown(error, secrets)
    if _NO_BUCKET in str(error):
        return StoreError(f"the object store lacks a bucket: {said}", hint=_BUCKET)
    if _STORE_REFUSES.search(str(error)):
        return StoreError(f"the object store refuses us files of the cold tier: {said}", hint=_KEYS)
    if _STORE_AWAY.search(str(error)):
        return StoreUnavailableError(f"the object store does not answer: {said}", hint=_STORE_AWAY_HINT)
    return None


def _of_catalog(error: "RESTError", secrets: Sequence[str]) -> Exception:
    from pyiceberg import exceptions as told

    said = _shown(_catalog_message(error), secrets)
    if isinstance(error, told.OAuthError | told.UnauthorizedError | told.AuthorizationExpiredError):
        return StoreError(f"the catalog of the cold tier does not let us in: {said}", hint=_CREDENTIAL)
    if isinstance(error, told.ForbiddenError):
        return StoreError(f"the catalog of the cold tier forbids it: {said}", hint=_CREDENTIAL)
    if isinstance(error, told.ServerError | told.ServiceUnavailableError | told.TooManyRequestsError):
        return StoreUnavailableError(f"the catalog of the cold tier fails: {said}", hint="ask again; its log says why")
    return NeedsSparkError(f"what the catalog says: {said}")


def _catalog_message(error: "RESTError") -> object:
    """What the catalog itself says, of which PyIceberg understands one form of two."""
    try:
        answer = error.__cause__.response.json()  # type: ignore[union-attr]  # of requests
        found = answer["error"]
        return found["message"] if isinstance(found, dict) else answer.get("error_description", found)
    except (AttributeError, ValueError, KeyError, TypeError):
        return error


def _of_place(error: OSError, secrets: Sequence[str]) -> Exception:
    from requests import ConnectionError as NoAnswerError
    from requests import Timeout
    from requests.exceptions import ProxyError, SSLError

    said = _shown(error, secrets)
    if isinstance(error, ProxyError | SSLError):  # of Python: Java has certificates and proxies of its own
        return NeedsSparkError(f"the catalog is not reached from Python: {said}")
    if isinstance(error, NoAnswerError | Timeout):
        return StoreUnavailableError("the catalog of the cold tier does not answer", hint=_CATALOG_AWAY)
    return of_object_store(error, secrets) or NeedsSparkError(f"what PyIceberg says: {said}")


def _shown(error: object, secrets: Sequence[str]) -> str:
    """The first line of what an error says, without what nobody may see."""
    first = next(iter(str(error).splitlines()), type(error).__name__)
    for secret in secrets:
        first = first.replace(secret, _HIDDEN)
    return first
