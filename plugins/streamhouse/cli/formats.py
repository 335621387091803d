"""Results in forms for other programs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from streamhouse.cli.output import json_text
from streamhouse.errors import QueryRefusedError
from streamhouse.install.disk import writing_to

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("table", "csv", "json", "arrow", "parquet")
"""`table` is for people; `json` has an object on each line; `arrow` is a stream for `pyarrow.ipc.open_stream`."""

BINARY = frozenset({"arrow", "parquet"})
_BY_SUFFIX = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".parquet": "parquet",
}
_BATCH_ROWS = 10_000


def format_of(path: Path) -> str | None:
    """The format that the end of a file's name says; None: it says none."""
    return _BY_SUFFIX.get(path.suffix.lower())


def write(rows: "pa.Table", form: str, target: Path | None) -> None:
    """Write all rows.

    Args:
        rows: What a query gave.
        form: One of `FORMATS`, but not `table`.
        target: A file, which appears as a whole; None: standard output.
    """
    with _opened(target) as file:
        if form == "csv":
            _csv(rows, file)
        elif form == "json":
            _json(rows, file)
        elif form == "arrow":
            _arrow(rows, file)
        else:
            _parquet(rows, file)


@contextmanager
def _opened(target: Path | None) -> Iterator[IO[bytes]]:
    if target is None:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = target.with_name(f".{target.name}.part")
    with writing_to(target.parent):
        try:
            with part.open("wb") as file:
                yield file
            part.replace(target)
        finally:
            with suppress(OSError):
                part.unlink()


def _csv(rows: "pa.Table", file: IO[bytes]) -> None:
    """With a header; null is an empty field, an empty text `""`; nested values are JSON, bytes hexadecimal."""
    import pyarrow as pa
    import pyarrow.csv

    from streamhouse.stores.arrow_values import python_values

    plain = [
        pa.chunked_array([[_cell(value) for value in python_values(column)]], pa.string())
        if pa.types.is_nested(column.type) or pa.types.is_binary(column.type)
        else column
        for column in rows.columns
    ]
    pyarrow.csv.write_csv(pa.table(plain, names=rows.column_names), file)


def _cell(value: object) -> str | None:
    if value is None or isinstance(value, bytes):
        return None if value is None else value.hex()
    return json_text(value)


def _json(rows: "pa.Table", file: IO[bytes]) -> None:
    for start in range(0, rows.num_rows, _BATCH_ROWS):
        for row in objects(rows.slice(start, _BATCH_ROWS)):
            file.write((json_text(row) + "\n").encode())


def objects(rows: "pa.Table") -> list[dict[str, Any]]:
    """Rows as JSON has them.

    Raises:
        QueryRefusedError: two columns have one name, and an object has room for one of them.
    """
    from streamhouse.stores.arrow_values import python_rows

    names = rows.column_names
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise QueryRefusedError(
            f"the result has two columns '{twice}', of which JSON could show one",
            hint="give one of them another name with AS",
        )
    return [dict(zip(names, row, strict=True)) for row in python_rows(rows)]


def _arrow(rows: "pa.Table", file: IO[bytes]) -> None:
    import pyarrow as pa

    with pa.ipc.new_stream(file, rows.schema) as stream:
        stream.write_table(rows)


def _parquet(rows: "pa.Table", file: IO[bytes]) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(rows, file)
