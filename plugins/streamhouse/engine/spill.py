"""Rows that are too many for this process: DuckDB writes them to a Parquet file, which Spark's tasks read."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from streamhouse.engine.bits import Decode
from streamhouse.errors import DiskFullError
from streamhouse.model.table import Column
from streamhouse.spark.frame import frame_schema
from streamhouse.stores.arrow import arrow_schema, conform

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import DataFrame, SparkSession

_BATCH_ROWS = 16_384
# A row group is what one task reads at least, and what DuckDB holds of each of its threads.
_ROW_GROUP = 65_536
_PARQUET = {
    "format": "parquet",
    "row_group_size": _ROW_GROUP,
    "compression": "uncompressed",
    "dictionary_size_limit": 0,
}


@dataclass(frozen=True)
class Bound:
    """How many rows of one read this process takes into memory; with either more, they go to a file.

    Up to about here a file costs more than it saves. Rows below it are here twice, as Arrow and as bytes in the
    JVM, for each read of each step that runs at a time.
    """

    rows: int = 200_000
    bytes: int = 64 << 20


@dataclass(frozen=True)
class Spilled:
    """Rows in a file, with these columns in this order."""

    file: Path
    columns: tuple[Column, ...]

    def remove(self) -> None:
        """Delete the file; DataFrames over it can no longer be read."""
        self.file.unlink(missing_ok=True)


class SpillFolder:
    """A folder for files that live no longer than this object. Safe for threads.

    Executors on other machines must see it under the same path, as they must see the files of the project's sources.
    """

    def __init__(self, path: Path) -> None:
        """Take the folder over, without what a process that died left there."""
        self._path = path
        self._numbers = count()
        self.remove()

    def new_file(self) -> Path:
        """A path that no file had before."""
        self._path.mkdir(parents=True, exist_ok=True)
        return self._path / f"{next(self._numbers)}.parquet"

    def remove(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self._path, ignore_errors=True)


def read_bounded(
    cursor: "DuckDBPyConnection",
    query: exp.Query,
    columns: tuple[Column, ...],
    folder: SpillFolder,
    bound: Bound,
    decode: Decode | None = None,
    text: str | None = None,
) -> pa.Table | Spilled:
    """The rows of a query in this process or, when they are more than `bound`, in a file.

    Args:
        cursor: Where it runs.
        query: Gives `columns`, by name, in any order when the rows stay here, in this order for a file.
        columns: With their types.
        folder: Where a file is made.
        bound: How many rows may stay here.
        decode: Makes rows with `columns` of what the query gives; None: it gives these.
        text: Of the query for DuckDB, where it is known.

    Raises:
        DiskFullError: there is no room for the file.
    """
    found: list[pa.RecordBatch] = []
    rows = buffered_bytes = 0
    reader = cursor.sql(query.sql("duckdb") if text is None else text).to_arrow_reader(_BATCH_ROWS)
    for batch in reader:
        found.append(batch)
        rows += batch.num_rows
        buffered_bytes += batch.nbytes
        if rows > bound.rows or buffered_bytes > bound.bytes:
            del found, batch, reader  # what runs ends here
            with _room(file := folder.new_file()):
                if decode is None:
                    _write(cursor, query, file)
                else:
                    _write_decoded(cursor, query, columns, file, decode)
            return Spilled(file, columns)
    rows_here = pa.Table.from_batches(found, schema=reader.schema)
    return conform(rows_here, columns) if decode is None else decode(rows_here)


def spilled_frame(spark: "SparkSession", spilled: Spilled) -> "DataFrame":
    """A DataFrame over the rows, with the schema that they would have if they came from this process.

    Rows come in no order.
    """
    schema = frame_schema(arrow_schema(spilled.columns))
    # Days before 1582 are as they are: DuckDB has one calendar.
    reader = spark.read.schema(schema).option("datetimeRebaseMode", "CORRECTED")
    return reader.parquet(f"file://{_without_pattern(spilled.file)}")


def _write(cursor: "DuckDBPyConnection", query: exp.Query, file: Path) -> None:
    """Write the file.

    Neither compressed nor with dictionaries: it is read once or twice; Spark takes the size of a file for that of
    its rows when it decides what to broadcast; and with a dictionary Parquet's readers skip -0.0 when asked for 0.0.
    """
    copy = exp.Copy(
        this=query.subquery(),
        kind=False,
        files=[exp.Literal.string(str(file))],
        params=[exp.CopyParameter(this=exp.var(k), expression=exp.convert(v)) for k, v in _PARQUET.items()],
    )
    cursor.execute(copy.sql("duckdb"))


def _write_decoded(
    cursor: "DuckDBPyConnection", query: exp.Query, columns: tuple[Column, ...], file: Path, decode: Decode
) -> None:
    """As `_write`, of rows that are decoded on their way.

    Arrow leaves NaN out of the bounds of a column, and Spark would skip rows by them: only other types have bounds.
    """
    schema = arrow_schema(columns)
    bounded = [
        field.name for field in schema if not (pa.types.is_nested(field.type) or pa.types.is_floating(field.type))
    ]
    with pq.ParquetWriter(
        file, schema, compression="none", use_dictionary=False, write_statistics=bounded or False
    ) as writer:
        for batch in cursor.sql(query.sql("duckdb")).to_arrow_reader(_ROW_GROUP):
            writer.write_table(decode(pa.Table.from_batches([batch])))


@contextmanager
def _room(file: Path) -> Iterator[None]:
    import duckdb

    try:
        yield
    except (duckdb.IOException, OSError) as error:
        file.unlink(missing_ok=True)
        if "No space left" not in str(error):
            raise
        raise DiskFullError("the disk is full", hint="free some space; the flow goes on where it stopped") from error


def _without_pattern(file: Path) -> str:
    """The path as Hadoop takes it for itself, where it would see a pattern."""
    return "".join(f"\\{letter}" if letter in "\\*?[]{}," else letter for letter in str(file.absolute()))
