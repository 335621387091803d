"""Files of an Iceberg table in a folder of this machine, compared with what the table's metadata says of them.

Hadoop's checksums are beside the files, and get lost where files are copied without what begins with a dot. A file that
came from an older copy is whole: it has other bytes, rows or bounds than the metadata says. Damage that leaves all of
them as they were is not seen.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from streamhouse.errors import StoreError
from streamhouse.model.place import is_local, local_path
from streamhouse.model.types import Tier
from streamhouse.stores.data_check import remedy
from streamhouse.stores.file_memory import FileMemory
from streamhouse.stores.iceberg.data_files import FIELD_ID, POSITIONS

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile, ManifestFile

_WHOLE_NUMBERS = ("INT32", "INT64")
_PLAIN = ("NONE", "INT", "DATE")
_MICROSECONDS = '"timeUnit": "microseconds"'
_PATH_OF_DELETES = POSITIONS[0]


@dataclass(frozen=True)
class _Footer:
    """What a Parquet file says of itself: its rows, and by number of a column the least and the largest value.

    Of the columns that `_is_compared`: whole numbers, dates and microseconds as numbers, and a path as bytes.
    """

    rows: int
    bounds: Mapping[int, tuple[Any, Any]]


_footers: FileMemory[_Footer] = FileMemory()


def difference(file: "DataFile") -> str | None:
    """What a data or delete file has that its manifest does not say; None: they agree, or it is in an object store.

    Raises:
        OSError: it cannot be read.
        ArrowInvalid: pyarrow's: it is no Parquet file.
    """
    from pyiceberg.manifest import FileFormat

    if not is_local(file.file_path):
        return None
    place = local_path(file.file_path)
    if (size := place.stat().st_size) != file.file_size_in_bytes:
        return f"it has {size:,} bytes, its manifest says {file.file_size_in_bytes:,}"
    if file.file_format is not FileFormat.PARQUET:
        return None
    footer = _footer(place)
    if footer.rows != file.record_count:
        return f"it has {footer.rows:,} rows, its manifest says {file.record_count:,}"
    least, largest = file.lower_bounds or {}, file.upper_bounds or {}
    if any(
        number in least and number in largest and not _agree(bounds, (least[number], largest[number]))
        for number, bounds in footer.bounds.items()
    ):
        return "its values lie between other bounds than its manifest says"
    return None


def refuse_other_files(name: str, found: Iterable["DataFile"]) -> None:
    """Do nothing when data and delete files are those that the manifests describe.

    Args:
        name: Of the table.
        found: Of a plan.

    Raises:
        StoreError: one is another file.
        OSError, ArrowInvalid: as of `difference`.
    """
    for file in found:
        if (what := difference(file)) is not None:
            raise _damaged(name, file.file_path, what)


def refuse_other_manifests(name: str, manifests: Iterable["ManifestFile"]) -> None:
    """Do nothing when manifests have the sizes that their list says.

    Args:
        name: Of the table.
        manifests: Of a snapshot.

    Raises:
        StoreError: one has another size.
        OSError: one cannot be read.
    """
    for one in manifests:
        if not is_local(one.manifest_path):
            continue
        if (size := local_path(one.manifest_path).stat().st_size) != one.manifest_length:
            raise _damaged(
                name, one.manifest_path, f"it has {size:,} bytes, the list of manifests says {one.manifest_length:,}"
            )


def _damaged(name: str, place: str, what: str) -> StoreError:
    return StoreError(f"{name} in the cold tier is damaged: {local_path(place)}: {what}", hint=remedy(Tier.COLD))


def _footer(place: Path) -> _Footer:
    import pyarrow.parquet as pq

    status = place.stat()
    if (known := _footers.get(place, status)) is not None:
        return known
    with pq.ParquetFile(place) as opened:
        metadata, bounds = opened.metadata, {}
        for number, index in _plain_columns(opened.schema_arrow):
            if _is_compared(number, metadata.schema.column(index)) and (found := _bounds(metadata, index)) is not None:
                bounds[number] = found
    footer = _Footer(metadata.num_rows, bounds)
    _footers.put(place, status, footer)
    return footer


def _plain_columns(schema: pa.Schema) -> Iterator[tuple[int, int]]:
    """Of each column that Iceberg numbers and that has no parts: its number, and its place among Parquet's columns."""
    place = 0
    for field in schema:
        if not field.type.num_fields and field.metadata and FIELD_ID in field.metadata:
            yield int(field.metadata[FIELD_ID]), place
        place += _leaves(field.type)


def _leaves(kind: pa.DataType) -> int:
    """How many columns Parquet has for a column of this type."""
    return sum(_leaves(kind.field(part).type) for part in range(kind.num_fields)) or 1


def _is_compared(number: int, column: Any) -> bool:
    """Whether bounds are exact in both: texts are cut off, -0.0 and NaN of floats have rules of their own."""
    kind = column.logical_type
    exact = kind.type in _PLAIN or (kind.type == "TIMESTAMP" and _MICROSECONDS in kind.to_json())
    return (exact and column.physical_type in _WHOLE_NUMBERS) or number == _PATH_OF_DELETES


def _bounds(metadata: Any, index: int) -> tuple[Any, Any] | None:
    """The least and the largest value of a column over all groups of rows; None: one does not say."""
    found = [metadata.row_group(group).column(index).statistics for group in range(metadata.num_row_groups)]
    if not found or not all(one is not None and one.has_min_max for one in found):
        return None
    return min(one.min_raw for one in found), max(one.max_raw for one in found)


def _agree(found: tuple[Any, Any], said: tuple[bytes, bytes]) -> bool:
    """Whether a file can have the bounds that its manifest says.

    A file keeps the bounds of its numbers as they were when a column got a wider type. A path may be cut off in the
    file, and then the least and the largest differ: of a manifest that names one data file, its beginning is compared.
    """
    if isinstance(found[0], int):
        return found == tuple(int.from_bytes(one, "little", signed=True) for one in said)
    is_cut = found[0] != found[1] and found[0] != said[0] and said[0].startswith(found[0])
    return said[0] != said[1] or found == said or is_cut
