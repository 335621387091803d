"""Lists and reads the objects of one connection, by Arrow's client of S3."""

import io
import os
import time
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from streamhouse.errors import Location, SourceError, StoreUnavailableError
from streamhouse.ingest.listing import in_order, refuse_many
from streamhouse.ingest.named_connection import connection_named, connections_of
from streamhouse.ingest.object_failures import ObjectFailures
from streamhouse.ingest.object_pattern import matching
from streamhouse.ingest.project_file import SETTINGS
from streamhouse.ingest.secret_place import secret_at
from streamhouse.ingest.stored_object import StoredObject, lost, replaced
from streamhouse.model.object_connection import OBJECTS, S3, S3Connection

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.fs import S3FileSystem

_CONNECT_S, _ANSWER_S, _ATTEMPTS = 10.0, 30.0, 3
_MOST_LISTINGS = 64  # of patterns
Stamp = tuple[int, int]
"""Size in bytes, and the time in ns, as a listing has them: S3 knows whole seconds."""


class ObjectReader:
    """Reads objects of a connection. Safe for threads; nothing is asked before it has to be.

    Args:
        name: Of the connection.
        place: Where it is.
        root: The project's folder.
    """

    def __init__(self, name: str, place: S3Connection, root: Path) -> None:
        self.name = name
        self.place = place
        self._root = root
        self._lock = Lock()
        self._opened: tuple[S3FileSystem, ObjectFailures] | None = None
        self._listed: dict[str, tuple[float, dict[str, Stamp]]] = {}

    def listed(self, pattern: str, every_s: float = 0.0, at: Location | None = None) -> Mapping[str, Stamp]:
        """URL → size and time of each object that matches, sorted as files are (`in_order`).

        Objects without a byte, and those whose name begins with `.` or `_`, are passed over.

        Args:
            pattern: With `s3://` and its bucket.
            every_s: A listing that is not older than these seconds is given again.
            at: Where the source is defined.

        Raises:
            StoreUnavailableError: the object store does not answer.
            SourceError: it refuses us, or there is no such bucket.
            EnvironmentProblem: a key is not where the settings say.
        """
        with self._lock:
            known = self._listed.get(pattern)
        if known is not None and time.monotonic() - known[0] < every_s:
            return known[1]
        began = time.monotonic()
        found = self._list(pattern, at)
        with self._lock:
            if len(self._listed) >= _MOST_LISTINGS:
                self._listed.clear()
            self._listed[pattern] = (began, found)
        return found

    def _list(self, pattern: str, at: Location | None) -> dict[str, Stamp]:
        from pyarrow.fs import FileSelector, FileType

        files, failures = self._files()
        stamps: dict[str, Stamp] = {}

        def listing(folder: str, recursive: bool) -> Iterator[tuple[str, bool]]:
            selector = FileSelector(folder, recursive=recursive, allow_not_found=True)
            for one in files.get_file_info(selector):
                is_folder = one.type == FileType.Directory
                if not is_folder:
                    stamps[one.path] = (one.size or 0, one.mtime_ns or 0)
                yield one.path, is_folder

        with failures.translated(pattern.removeprefix(S3), at):
            names = set(matching(pattern.removeprefix(S3), listing))
            bucket = pattern.removeprefix(S3).partition("/")[0]
            if not stamps and files.get_file_info(bucket).type == FileType.NotFound:  # a listing of it is empty, too
                raise failures.no_bucket(bucket, at)
        for name in names:
            self._refuse_odd(f"{S3}{name}", at)
        kept = (name for name in names if stamps[name][0] and name.rpartition("/")[2][:1] not in (".", "_"))
        return {f"{S3}{name}": stamps[name] for name in sorted(kept, key=in_order)}

    def _refuse_odd(self, url: str, at: Location | None = None) -> None:
        if not self.place.permits(url):
            what = f"'{url}' lies outside of what connection '{self.name}' permits: {', '.join(self.place.paths)}"
            hint = f"a name with '..', '.' or '//' is never read; other folders belong under 'paths' in {SETTINGS}"
            raise SourceError(what, at=at, hint=hint)

    def object(self, url: str) -> StoredObject:
        """An object as it is now.

        Raises:
            RowsLostError: it is gone.
            StoreUnavailableError: the object store does not answer.
            SourceError: it refuses us.
            EnvironmentProblem: a key is not where the settings say.
        """
        _, found = self._look(url)
        return found

    def opened(self, known: StoredObject) -> "ObjectRanges":
        """Reads ranges of an object.

        Raises:
            RowsLostError: it is gone.
            StoreUnavailableError: the object store does not answer.
            SourceError: another one is in its place, or the object store refuses us.
        """
        file = self._same(known)
        return ObjectRanges(file, self._files()[1], known.url, lambda: self._same(known))

    def _same(self, known: StoredObject) -> "pa.NativeFile":
        file, found = self._look(known.url)
        if found != known:
            raise replaced(known.url)
        return file

    def _look(self, url: str) -> "tuple[pa.NativeFile, StoredObject]":
        self._refuse_odd(url)
        files, failures = self._files()
        path = url.removeprefix(S3)
        try:
            with failures.translated(path):
                file = files.open_input_file(path)
                facts: dict[str, bytes] = dict(file.metadata())
                size = file.size()
        except FileNotFoundError:
            raise lost(url) from None
        etag = facts.get("ETag", b"").decode(errors="replace")
        return file, StoredObject(url, size, 0, etag, self)

    def _files(self) -> "tuple[S3FileSystem, ObjectFailures]":
        with self._lock:
            if self._opened is None:
                self._opened = self._connected()
            return self._opened

    def _connected(self) -> "tuple[S3FileSystem, ObjectFailures]":
        from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

        place, keys = self.place, self._keys()
        failures = ObjectFailures(self.name, tuple(keys.values()))
        with failures.translated(""):
            files = S3FileSystem(
                **keys,
                endpoint_override=(place.endpoint or "").rstrip("/") or None,
                region=place.region,
                force_virtual_addressing=not place.path_style,
                connect_timeout=_CONNECT_S,
                request_timeout=_ANSWER_S,
                retry_strategy=AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
            )
        return files, failures

    def _keys(self) -> dict[str, str]:
        """What Arrow logs in with; nothing where it looks for keys itself, as every AWS tool does."""
        place, what = self.place, f"of connection '{self.name}'"
        if place.access_key is None or place.secret_key is None:
            found = {name: os.environ.get(f"AWS_{variable}", "") for name, variable in _VARIABLES.items()}
            return {name: value for name, value in found.items() if value} if found["secret_key"] else {}
        keys = {
            "access_key": secret_at(place.access_key, f"the access key {what}", self._root),
            "secret_key": secret_at(place.secret_key, f"the secret key {what}", self._root),
        }
        if place.session_token is not None:
            keys["session_token"] = secret_at(place.session_token, f"the session token {what}", self._root)
        return keys


class ObjectRanges(io.RawIOBase):
    """Reads ranges of an object, with errors that say what to do.

    Args:
        file: What Arrow reads.
        failures: Says what went wrong.
        url: Of the object.
        check: Raises if the object is not the same any more.
    """

    def __init__(self, file: "pa.NativeFile", failures: ObjectFailures, url: str, check: Callable[[], object]) -> None:
        self._file = file
        self._check = check
        self._failures = failures
        self._path = url.removeprefix(S3)

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Byte at which the next range begins."""
        return int(self._file.tell())

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a byte."""
        return int(self._file.seek(offset, whence))

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes; -1: all that are left.

        Raises:
            RowsLostError: the object is gone.
            StoreUnavailableError: the object store does not answer.
            SourceError: another one is in its place, or the object store refuses us.
        """
        try:
            with self._failures.translated(self._path):
                found = bytes(self._file.read(None if size < 0 else size))
        except FileNotFoundError:
            raise lost(f"{S3}{self._path}") from None
        except StoreUnavailableError:
            self._check()  # Arrow does not always say that an object is gone
            raise
        self._check()  # Arrow asks for a range without saying of which content
        return found


_VARIABLES = {
    "access_key": "ACCESS_KEY_ID",
    "secret_key": "SECRET_ACCESS_KEY",
    "session_token": "SESSION_TOKEN",
}


def object_reader(name: str, path: str, root: Path, at: Location | None = None) -> ObjectReader:
    """The reader of a connection of `streamhouse.yaml`; the same one until the file changes. Nothing is asked yet.

    Args:
        name: Of the connection.
        path: What is to be read: an object or a pattern, with `s3://`.
        root: The project's folder.
        at: Where the source is defined.

    Raises:
        SourceError: the settings have no such connection, it is no object store, or it does not permit the path.
    """
    refuse_many(path, at)
    place = connection_named(name, S3Connection, root, noun="object store", kind=OBJECTS, at=at)
    if not place.permits(path):
        what = f"'{path}' lies outside of what connection '{name}' permits: {', '.join(place.paths)}"
        raise SourceError(what, at=at, hint=f"name its folder under 'paths' of the connection, in {SETTINGS}")
    return _reader(name, place, root)


def connection_of(path: str, root: Path) -> str:
    """The connection that permits a path, where it is the only one.

    Raises:
        SourceError: none does, or several do.
    """
    found = [
        name for name, place in connections_of(S3Connection, root).items() if place is not None and place.permits(path)
    ]
    if len(found) == 1:
        return found[0]
    what = f"several connections permit '{path}': {', '.join(found)}" if found else f"no connection permits '{path}'"
    hint = "ask for FLOW.SOURCE, which names one" if found else f"name one in {SETTINGS}: kind: {OBJECTS}, paths: […]"
    raise SourceError(what, hint=hint)


@lru_cache(maxsize=64)
def _reader(name: str, place: S3Connection, root: Path) -> ObjectReader:
    return ObjectReader(name, place, root)
