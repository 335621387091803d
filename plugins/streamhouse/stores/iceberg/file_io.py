"""Files of Iceberg tables, read and written by PyArrow: in a folder of this machine, or in a store that speaks S3."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from streamhouse.model.place import is_local, local_path
from streamhouse.stores.base import NeedsSparkError
from streamhouse.stores.iceberg.checksums import prove, record
from streamhouse.stores.iceberg.light_failures import no_bucket
from streamhouse.stores.object_store import is_object_store

if TYPE_CHECKING:
    from pyiceberg.io.pyarrow import PyArrowFileIO

_S3_FILE_IO = "org.apache.iceberg.aws.s3.S3FileIO"
_SIGNED = "s3.remote-signing-enabled"
_SAME = (  # in Iceberg's Java and in PyIceberg
    "s3.endpoint",
    "client.region",
    "s3.access-key-id",
    "s3.secret-access-key",
    "s3.session-token",
)
_PATH_STYLE, _VIRTUAL = "s3.path-style-access", "s3.force-virtual-addressing"


def file_io(location: str, options: Mapping[str, str]) -> "PyArrowFileIO":
    """What reads and writes the files of a table.

    Args:
        location: Of the table, or of a file of it.
        options: As a `FileIO` of Iceberg's Java takes them. Keys that they lack are those of the environment.

    Raises:
        NeedsSparkError: Iceberg's Java reaches the place in a way that PyArrow does not.
    """
    if not is_local(location) and not is_object_store(location):
        raise NeedsSparkError(f"files of the cold tier are at {location.partition('://')[0]}://")
    if options.get("io-impl", _S3_FILE_IO) != _S3_FILE_IO:
        raise NeedsSparkError("the catalog reads files in a way of its own")
    if str(options.get(_SIGNED, "false")).lower() == "true":
        raise NeedsSparkError("the catalog signs each request to the object store")
    known = {key: options[key] for key in _SAME if options.get(key)}
    if str(options.get(_PATH_STYLE, "true")).lower() == "false":
        known[_VIRTUAL] = "true"
    return _opened(tuple(sorted(known.items())))


@contextmanager
def source(location: str, options: Mapping[str, str]) -> Iterator[Any]:
    """A file that is read, closed after the block; arguments and errors are those of `file_io`."""
    if is_local(location):
        prove(local_path(location))
        with local_path(location).open("rb") as opened:
            yield opened
        return
    with file_io(location, options).new_input(location).open() as opened:
        yield opened


@contextmanager
def sink(location: str, options: Mapping[str, str]) -> Iterator[Any]:
    """A new file that is written, whole after the block; arguments and errors are those of `file_io`."""
    if is_local(location):  # without PyIceberg, which takes a moment to import
        path = local_path(location)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as opened:
            yield opened
        record(path)
        return
    with file_io(location, options).new_output(location).create(overwrite=True) as opened:
        yield opened


def refuse_lost_bucket(files: "PyArrowFileIO", location: str) -> None:
    """Refuse a location whose bucket does not exist.

    Raises:
        StoreError: the object store has no such bucket.
    """
    from pyarrow.fs import FileType

    scheme, bucket, _ = files.parse_location(location)
    if bucket and files.fs_by_scheme(scheme, bucket).get_file_info(bucket).type is FileType.NotFound:
        raise no_bucket(bucket)


@lru_cache(maxsize=8)
def _opened(options: tuple[tuple[str, str], ...]) -> "PyArrowFileIO":
    from streamhouse.stores.iceberg.proven_io import ProvenFileIO

    return ProvenFileIO(dict(options))
