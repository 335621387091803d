"""One object of an object store, as the readers of files take it."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from threading import Lock
from typing import IO, TYPE_CHECKING, Literal, cast

from streamhouse.errors import Location, RowsLostError, SourceError

if TYPE_CHECKING:
    from streamhouse.ingest.object_reader import ObjectReader

CHANGED = "write new rows to a new file"
"""What to do instead of changing a file that was read."""

_KEPT_BYTES = 64 << 20


@dataclass(frozen=True)
class ObjectStat:
    """What a file system says of a file, of an object."""

    st_size: int
    st_mtime_ns: int


@dataclass(frozen=True)
class StoredObject:
    """An object as it was at one moment. Equal are those with the same name and content.

    Attributes:
        url: With its bucket.
        size: In bytes.
        mtime_ns: When it was written.
        etag: Another one for another content.
        reader: Reads objects.
    """

    url: str
    size: int
    mtime_ns: int
    etag: str
    reader: "ObjectReader" = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """The last part of its name."""
        return PurePosixPath(self.url).name

    @property
    def suffix(self) -> str:
        """The ending of its name, with the point."""
        return PurePosixPath(self.url).suffix

    def stat(self) -> ObjectStat:
        """Its size and time; nothing is asked."""
        return ObjectStat(self.size, self.mtime_ns)

    def open(self, mode: Literal["rb"] = "rb") -> IO[bytes]:  # noqa: ARG002  as a path opens
        """Reads ranges of it.

        Raises:
            StoreUnavailableError: the object store does not answer.
            SourceError: it refuses us, or the object is another one by now.
            RowsLostError: the object is gone.
        """
        return cast("IO[bytes]", self.reader.opened(self))

    def read_bytes(self) -> bytes:
        """All of it; what was read last stays in memory, up to `_KEPT_BYTES` of all objects.

        Raises:
            StoreUnavailableError: the object store does not answer.
            SourceError: it refuses us, or the object is another one by now.
            RowsLostError: the object is gone.
        """
        found = _kept.get(self)
        if found is None:
            with self.open() as opened:
                found = opened.read()
            _kept.put(self, found)
        return found


class _Kept:
    """The bytes of objects that were read last. Safe for threads."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._found: OrderedDict[StoredObject, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: StoredObject) -> bytes | None:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, key: StoredObject, data: bytes) -> None:
        with self._lock:
            if key in self._found or len(data) > self._most_bytes:
                return
            self._found[key] = data
            self._bytes += len(data)
            while self._bytes > self._most_bytes:
                self._bytes -= len(self._found.popitem(last=False)[1])


_kept = _Kept(_KEPT_BYTES)

AnyFile = Path | StoredObject
"""What the readers of files read."""


def replaced(name: str) -> SourceError:
    """Another object is there under the name of one that was read."""
    return SourceError("the object was replaced after it was first read", at=Location(name), hint=CHANGED)


def lost(name: str) -> RowsLostError:
    """A file, or an object, that is not there any more."""
    return RowsLostError(f"file '{name}' is gone, with rows not read yet", hint="put it back")


@contextmanager
def on_disk(file: AnyFile) -> Iterator[Path]:
    """A file, of an object a copy of it for as long as the block lasts.

    Raises:
        StoreUnavailableError: the object store does not answer.
        SourceError: it refuses us.
        RowsLostError: the object is gone, or is another one by now.
    """
    if isinstance(file, Path):
        yield file
        return
    with NamedTemporaryFile(suffix=file.suffix) as copy:
        copy.write(file.read_bytes())
        copy.flush()
        yield Path(copy.name)
