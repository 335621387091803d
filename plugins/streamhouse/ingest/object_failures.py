"""What Arrow raises of an object store, as errors that say what to do."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from streamhouse.errors import Location, SourceError, StoreUnavailableError, StreamhouseError
from streamhouse.ingest.project_file import SETTINGS

_HIDDEN = "***"
_WORD = re.compile(r"AWS Error ([A-Z_]+)")
_CODE = re.compile(r"HTTP response code (\d{3})|(?:HTTP|http) status (\d{3})", re.ASCII)
_AWAY = frozenset(
    ("NETWORK_CONNECTION", "INTERNAL_FAILURE", "SERVICE_UNAVAILABLE", "SLOW_DOWN", "THROTTLING", "REQUEST_TIMEOUT")
)
_REFUSED = frozenset(
    (
        *("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "INVALID_CLIENT_TOKEN_ID"),
        *("MISSING_AUTHENTICATION_TOKEN", "INVALID_SIGNATURE", "REQUEST_EXPIRED", "UNRECOGNIZED_CLIENT"),
    )
)
_REGION = re.compile("PermanentRedirect|AuthorizationHeaderMalformed|endpoint|region", re.IGNORECASE | re.ASCII)
_FROM_SERVER_ERRORS = 500


class ObjectFailures:
    """Says what went wrong with the objects of one connection.

    Args:
        connection: Its name.
        secrets: Texts that no message may show.
    """

    def __init__(self, connection: str, secrets: Sequence[str]) -> None:
        self._connection = connection
        self._secrets = secrets

    @contextmanager
    def translated(self, path: str, at: Location | None = None) -> Iterator[None]:
        """Translate what Arrow raises in the block, but for an object that is not there.

        Args:
            path: What is asked for, with its bucket.
            at: Where the source is defined.

        Raises:
            StoreUnavailableError: the object store does not answer.
            SourceError: it refuses us, or there is no such bucket.
            FileNotFoundError: there is no such object.
        """
        try:
            yield
        except (StreamhouseError, FileNotFoundError):
            raise
        except OSError as error:
            raise self._of(error, path, at) from None  # the text of the cause may have what no message may show

    def no_bucket(self, bucket: str, at: Location | None) -> SourceError:
        """The error of a bucket that is not there."""
        what = f"connection '{self._connection}' has no bucket '{bucket}'"
        return SourceError(what, at=at, hint="create it, or correct its name")

    def _of(self, error: OSError, path: str, at: Location | None) -> StreamhouseError:
        said = self._shown(str(error).splitlines()[0] if str(error) else type(error).__name__)
        found, of_code = _WORD.search(said), _CODE.search(said)
        word = found[1] if found else ""
        code = int(of_code[1] or of_code[2]) if of_code else 0
        bucket = path.partition("/")[0]
        entry = f"its entry under 'connections' in {SETTINGS}"
        if word in _AWAY or code >= _FROM_SERVER_ERRORS or "curlCode" in said:
            hint = f"does it run, and is the endpoint right? See {entry}"
            return StoreUnavailableError(f"connection '{self._connection}' does not answer: {said}", hint=hint)
        if word == "NO_SUCH_BUCKET":
            return self.no_bucket(bucket, at)
        if word in _REFUSED or code in (401, 403):
            what = f"connection '{self._connection}' may not read s3://{path}: {said}"
            return SourceError(what, at=at, hint=f"see the keys that {entry} names, and what they may list and read")
        what = f"s3://{path} cannot be read by connection '{self._connection}': {said}"
        hint = "is the bucket in another region, or at another endpoint? " if _REGION.search(said) else ""
        return SourceError(what, at=at, hint=f"{hint}See {entry}")

    def _shown(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return text
