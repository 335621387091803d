"""Where the files of a source are: in a folder, or in an object store."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.counted_files import Counted, FileCounts, counted_objects
from streamhouse.ingest.files_options import FilesOptions
from streamhouse.ingest.folders import data_path
from streamhouse.ingest.listing import check_place, list_files
from streamhouse.ingest.object_reader import ObjectReader, object_reader
from streamhouse.ingest.stored_object import CHANGED, AnyFile, StoredObject, lost, replaced
from streamhouse.ingest.wrong_option import of_option
from streamhouse.model.object_connection import S3


class FilePlace(Protocol):
    """The files of a pattern.

    All of it raises `SourceError` where the place refuses us, and of an object store `StoreUnavailableError` where
    that does not answer.
    """

    def names(self) -> list[str]:
        """Those that are there now, in their order; empty files are left out."""

    def file(self, name: str) -> AnyFile:
        """One of them."""

    def there(self, name: str) -> AnyFile:
        """One of them, to read rows of it.

        Raises:
            RowsLostError: it is gone.
        """

    def facts(self, name: str, file: AnyFile) -> tuple[int, str, int]:
        """Size, etag and time by which it is known again."""

    def check_same(self, name: str, known: Counted, counts: FileCounts) -> None:
        """Refuse a file that is not as it was when it was counted.

        Raises:
            SourceError: it is another one by now.
        """

    def counts(self) -> FileCounts:
        """What was counted."""


class FolderFiles:
    """See `FilePlace`."""

    def __init__(self, pattern: str, root: Path, at: Location | None = None) -> None:
        self._pattern = pattern
        self._root = root
        self._at = at

    def names(self) -> list[str]:
        """See `FilePlace.names`."""
        return list_files(self._pattern, self._root, self._at)

    def file(self, name: str) -> Path:
        """See `FilePlace.file`."""
        return data_path(self._root, name)

    def there(self, name: str) -> Path:
        """See `FilePlace.there`."""
        path = data_path(self._root, name)
        if not path.exists():
            raise lost(name)
        return path

    def facts(self, name: str, file: AnyFile) -> tuple[int, str, int]:  # noqa: ARG002  of the protocol
        """See `FilePlace.facts`: the size alone."""
        return file.stat().st_size, "", 0

    def check_same(self, name: str, known: Counted, counts: FileCounts) -> None:  # noqa: ARG002  of the protocol
        """See `FilePlace.check_same`."""
        size = data_path(self._root, name).stat().st_size
        if size != known.size:
            what = f"the file changed from {known.size} to {size} bytes after it was first read"
            raise SourceError(what, at=Location(name), hint=CHANGED)

    def counts(self) -> FileCounts:
        """See `FilePlace.counts`: in memory."""
        return FileCounts()


class ObjectFiles:
    """See `FilePlace`. A listing is given again for as long as `every_s`."""

    def __init__(self, options: FilesOptions, reader: ObjectReader, root: Path, at: Location | None) -> None:
        self._options = options
        self._reader = reader
        self._root = root
        self._at = at
        self._listed: Mapping[str, tuple[int, int]] = {}

    def names(self) -> list[str]:
        """See `FilePlace.names`; what is asked afterwards of one of them is compared with this listing."""
        self._listed = self._reader.listed(self._options.path, self._options.listed_every_s, self._at)
        return list(self._listed)

    def file(self, name: str) -> StoredObject:
        """See `FilePlace.file`."""
        return self._reader.object(name)

    def there(self, name: str) -> StoredObject:
        """See `FilePlace.there`."""
        return self._reader.object(name)

    def facts(self, name: str, file: AnyFile) -> tuple[int, str, int]:
        """See `FilePlace.facts`."""
        assert isinstance(file, StoredObject), "of this place"
        return file.size, file.etag, self._listed.get(name, (0, 0))[1]

    def check_same(self, name: str, known: Counted, counts: FileCounts) -> None:
        """Ask for the object only if the listing has another size or time; see `FilePlace.check_same`.

        Raises:
            SourceError: another one is in its place.
        """
        stamp = self._listed.get(name)
        if stamp is None or stamp == (known.size, known.mtime_ns):
            return
        found = self._reader.object(name)
        if (found.size, found.etag) != (known.size, known.etag):
            raise replaced(name)
        counts.moved(name, stamp[1])

    def counts(self) -> FileCounts:
        """See `FilePlace.counts`: also by earlier processes of the project."""
        options = self._options
        return counted_objects(
            self._root,
            self._reader.place.endpoint,
            options.kind,
            options.csv.form.model_dump(mode="json"),
            options.columns,
            sorted(options.not_null),
        )


def file_place(options: FilesOptions, root: Path, at: Location | None = None) -> FilePlace:
    """Where the files of a source are; an object store is not asked yet.

    Raises:
        SourceError: the settings have no such connection, or it does not permit the path.
    """
    if options.path.startswith(S3):
        return ObjectFiles(options, object_reader(options.connection or "", options.path, root, at), root, at)
    return FolderFiles(options.path, root, at)


def check_files(options: FilesOptions, root: Path, at: Location | None) -> None:
    """Check that there may be files: of a folder, that it is there; of an object store, without asking it.

    Raises:
        SourceError: there is none, it may not be read, or the columns of objects are not declared.
    """
    if not options.path.startswith(S3):
        with of_option("path"):
            check_place(options.path, root, at)
        return
    with of_option("connection"):
        object_reader(options.connection or "", options.path, root, at)
    if not options.columns:
        hint = "streamhouse source infer FLOW.SOURCE --write finds them, and writes them into the flow"
        raise SourceError("files in an object store need 'columns'", at=at, hint=hint)
