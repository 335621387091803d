"""Files that land in a folder or an object store: each row is read once, in the order of their names."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.bad_rows import BadRow, Letter, Split
from streamhouse.ingest.columnar import columnar_names, columnar_rows, is_columnar, refuse_other_columns
from streamhouse.ingest.counted_files import Counted
from streamhouse.ingest.csv_file import csv_lacking
from streamhouse.ingest.csv_header import CsvRules
from streamhouse.ingest.file_places import check_files, file_place
from streamhouse.ingest.file_split import FileSplit, file_of, files_again, split_columnar, split_text
from streamhouse.ingest.files_options import FilesOptions
from streamhouse.ingest.formats import Format, infer_columns, read_file
from streamhouse.ingest.json_file import json_file
from streamhouse.ingest.json_rows import json_lacking
from streamhouse.ingest.lacking import begun, lacking_text
from streamhouse.ingest.listing import in_order
from streamhouse.ingest.not_null import required, required_of_those
from streamhouse.ingest.options import check_options
from streamhouse.ingest.other_fields import of_fields, with_other_fields
from streamhouse.ingest.stored_object import AnyFile, StoredObject, replaced
from streamhouse.model.bad_rows import OnBadRows
from streamhouse.model.table import Column
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa


class FilesSource:
    """The rows of all files that match a pattern; the position is `{file: rows taken}`.

    Files are read in the order of their names, where numbers count as numbers; a file that comes later than one that
    sorts after it is read when it comes. A file must not change once it is there: write it elsewhere, then move it in.
    Files without a byte, and those whose name begins with `.` or `_`, are passed over. The position keeps one
    entry for each file ever read. Of a Parquet file only the row groups of a range are read. A CSV, JSON or
    Avro file is in memory as a whole while it is read, and each one is read once to count its rows when the
    process first sees it. Columns that a file lacks are null in its rows; one that has none of them is refused.

    Args:
        options: What to read.
        root: The folder to which `options.path` is relative.
        columns: Types fixed by a plan. None: the declared ones, else those of the first file.
        optional: Of declared ones, those whose absence is no slip of the pen where a file has a similar name.
        at: Where the source is defined.
    """

    def __init__(
        self,
        options: FilesOptions,
        root: Path,
        *,
        columns: tuple[Column, ...] | None = None,
        optional: tuple[str, ...] = (),
        at: Location | None = None,
    ) -> None:
        self._options = options
        self._at = at
        declared = tuple(Column(name=name, type=type_) for name, type_ in options.columns.items())
        known = columns or (declared and (*declared, *options.metadata_columns))
        self._columns = self._complete(required_of_those(known, self._never_null))
        self._optional = optional
        self._declared = bool(declared)
        self._place = file_place(options, root, at)
        self._counts = self._place.counts()
        self._lock = Lock()

    @property
    def on_bad_rows(self) -> OnBadRows:
        """What the flow says of rows that cannot be read."""
        return self._options.on_bad_rows

    def columns(self) -> tuple[Column, ...]:
        """The planned or declared columns, else those that the first file by name has.

        Raises:
            SourceError: none are declared and there is no file, or it cannot be read.
        """
        if not self._columns:
            names = self._names()
            if not names:
                raise SourceError(
                    f"no file matches '{self._options.path}'",
                    at=self._at,
                    hint="put a first file there, or declare its columns: {name: type}",
                )
            path, options = self._place.file(names[0]), self._options
            found = infer_columns(path, options.kind, names[0], options.csv)
            found = (*found, *options.metadata_columns)
            self._columns = self._complete(required(found, self._never_null, self._at))
        return self._columns

    def _complete(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """Columns that know what they are.

        Raises:
            SourceError: the files have a column with the name of metadata.
        """
        names = [column.name for column in columns]
        if twice := next((name for name in self._options.metadata if names.count(name) > 1), None):
            hint = "give the column of metadata another name"
            raise SourceError(f"metadata names '{twice}', and the files have such a column", at=self._at, hint=hint)
        by_fields = [name for name in names if name not in self._options.metadata]
        return with_other_fields(columns, self._options.named("other_fields"), by_fields)

    @property
    def _never_null(self) -> tuple[str, ...]:
        return (*self._options.not_null, *self._options.named("file"))

    @property
    def _read(self) -> tuple[Column, ...]:
        """The columns that are read from a file."""
        return tuple(column for column in self.columns() if self._options.metadata.get(column.name) != "file")

    def available(self) -> Position:
        """Every file that is there now, with all its rows.

        Raises:
            SourceError: a file is malformed, or is not as it was when it was first seen.
        """
        with self._lock:
            return {name: self._count(name) for name in self._names()}

    def advance(self, start: Position, max_rows: int) -> Position:
        """At most `max_rows` further, file by file in the order of their names; may end within a file."""
        end = dict(start)
        for name, rows in self.available().items():
            taken = start.get(name, 0)
            step = min(max(0, rows - taken), max_rows)
            if step:
                end[name] = taken + step
                max_rows -= step
        return end

    def rows_between(self, start: Position, end: Position) -> int:
        """How many rows `[start, end)` has."""
        return sum(max(0, rows - start.get(name, 0)) for name, rows in end.items())

    def read(self, start: Position, end: Position, columns: tuple[str, ...] | None = None) -> "pa.Table":
        """The rows of `[start, end)`, by file name, then in the order of the file.

        Raises:
            RowsLostError: a file of the range is gone or shorter than it was.
            SourceError: a file is malformed.
        """
        import pyarrow as pa

        if self._tolerant:
            return self.read_split(start, end, columns).rows
        wanted = tuple(c for c in self.columns() if columns is None or c.name in columns)
        parts = [arrow_schema(wanted).empty_table()]
        for name in sorted(end, key=in_order):
            first = start.get(name, 0)
            if end[name] > first:
                rows = self._load(name, wanted, first, end[name])
                if rows.num_rows < end[name] - first:
                    there = first + rows.num_rows
                    raise RowsLostError(f"file '{name}' has {there} rows, but {end[name]} were counted")
                parts.append(rows)
        return pa.concat_tables(parts)

    def read_split(
        self,
        start: Position,
        end: Position,
        columns: tuple[str, ...] | None = None,
        without: Collection[str] = frozenset(),
    ) -> Split:
        """See `SplitSource`.

        Raises:
            RowsLostError: a file of the range is gone or shorter than it was.
            SourceError: a file cannot be read at all.
        """
        import pyarrow as pa

        parts = [arrow_schema(self.columns()).empty_table()]
        bad: list[BadRow] = []
        for name in sorted(end, key=in_order):
            first = start.get(name, 0)
            if end[name] > first:
                found = self._split(name, (first, end[name]))
                if found.records < end[name]:
                    raise RowsLostError(f"file '{name}' has {found.records} rows, but {end[name]} were counted")
                split = found.between(first, end[name], name, without)
                parts.append(self._with_files(split.rows, self.columns(), [name]))
                bad += split.bad
        rows = pa.concat_tables(parts)
        return Split(rows if columns is None else rows.select(self._names_of(columns)), (), tuple(bad))

    def bad_rows(self, start: Position, end: Position) -> tuple[BadRow, ...]:
        """See `LetterSource`."""
        return self.read_split(start, end).bad

    def read_again(self, letters: Sequence[Letter], columns: tuple[str, ...] | None) -> Split:
        """See `LetterSource`."""
        found = files_again(letters, self._options.kind, self._read, self._may_lack, self._options.csv)
        wanted = tuple(c for c in self.columns() if columns is None or c.name in columns)
        rows = self._with_files(found.rows, wanted, [file_of(place) for place in found.places])
        return Split(rows, found.places, found.bad)

    def lacking(self, start: Position, end: Position) -> Iterator[str]:
        """See `LackingSource`."""
        for name in begun(start, end):
            if found := self._lacking(name):
                yield lacking_text(name, found)

    def _lacking(self, name: str) -> Sequence[str]:
        path, options, columns = self._place.file(name), self._options, of_fields(self._read)
        if is_columnar(kind := options.kind):
            there = columnar_names(path, kind, columns, Location(name))
            return [column.name for column in columns if column.name not in there]
        if kind == "json":
            rows = self._split(name).rows if self._tolerant else self._whole(name)
            return json_lacking(json_file(path, name).texts, rows.select([column.name for column in columns]))
        return csv_lacking(path, name, options.csv, columns) if options.header else ()

    def _names_of(self, wanted: tuple[str, ...]) -> list[str]:
        return [c.name for c in self.columns() if c.name in wanted]

    @property
    def _tolerant(self) -> bool:
        return self._options.on_bad_rows.action == "dead_letter"

    def _split(self, name: str, span: tuple[int, int] = (0, 0)) -> FileSplit:
        path, kind = self._there(name), self._options.kind
        if is_columnar(kind):
            return split_columnar(path, kind, self._read, name, span)
        return split_text(path, kind, self._read, self._may_lack, name, self._options.csv)

    @property
    def _may_lack(self) -> tuple[str, ...]:
        """Columns that a file may lack beside a similar name: where none is declared, writers add and drop some."""
        return self._optional if self._declared else tuple(column.name for column in self.columns())

    def _names(self) -> list[str]:
        return self._place.names()

    def _count(self, name: str) -> int:
        known = self._counts.get(name)
        if known is None:
            path = self._place.file(name)
            size, etag, mtime_ns = self._place.facts(name, path)
            if is_columnar(kind := self._options.kind):
                refuse_other_columns(path, kind, self._read, self._may_lack, Location(name))
                rows = columnar_rows(path, kind, Location(name)).rows
            else:
                rows = self._split(name).records if self._tolerant else self._whole(name).num_rows
            known = Counted(rows, size, etag, mtime_ns)
            self._counts.put(name, known)
        self._place.check_same(name, known, self._counts)
        return known.rows

    def _load(self, name: str, wanted: tuple[Column, ...], first: int, last: int) -> "pa.Table":
        """The rows `[first, last)` of a file that are there."""
        read = tuple(c for c in self._read if c in wanted) or self._read[:1]  # rows without a column have no number
        if is_columnar(kind := self._options.kind):
            rows = read_file(self._there(name), kind, read, name, (first, last))
        else:
            rows = self._whole(name).select([c.name for c in read]).slice(first, last - first)
        return self._with_files(rows, wanted, [name])

    def _with_files(self, rows: "pa.Table", wanted: tuple[Column, ...], files: Sequence[str]) -> "pa.Table":
        """Rows with the name of its file in each.

        Args:
            rows: As they were read.
            wanted: The columns to give.
            files: Of each row; one name is that of all.
        """
        import pyarrow as pa

        if not self._options.named("file"):
            return rows.select([column.name for column in wanted])
        names = pa.array(files * rows.num_rows if len(files) == 1 else files, pa.string())
        arrays = [rows.column(c.name) if c in self._read else names for c in wanted]
        return pa.table(arrays, schema=arrow_schema(wanted))

    def _there(self, name: str) -> AnyFile:
        file, known = self._place.there(name), self._counts.get(name)
        if isinstance(file, StoredObject) and known is not None and known.etag != file.etag:
            raise replaced(name)
        return file

    def _whole(self, name: str) -> "pa.Table":
        path, options = self._there(name), self._options
        stat = path.stat()
        stamp = (stat.st_size, stat.st_mtime_ns)
        return _rows_of(path, options.kind, self._read, self._may_lack, name, options.csv, *stamp)


@lru_cache(maxsize=2)  # an epoch may end within a file, and the next one goes on there
def _rows_of(
    path: AnyFile,
    kind: Format,
    columns: tuple[Column, ...],
    optional: tuple[str, ...],
    name: str,
    rules: CsvRules,
    *_stamp: int,
) -> "pa.Table":
    return read_file(path, kind, columns, name, optional=optional, rules=rules)


def open_files(
    options: Mapping[str, Any],
    root: Path,
    *,
    columns: tuple[Column, ...] | None = None,
    optional: tuple[str, ...] = (),
    at: Location | None = None,
) -> FilesSource:
    """Check the options and that there is a folder to watch; no file is read, and no object store is asked.

    Raises:
        SourceError: an option is wrong, the file or folder does not exist, or there is no such connection.
    """
    checked = check_options(FilesOptions, "files", options, at)
    check_files(checked, root, at)
    return FilesSource(checked, root, columns=columns, optional=optional, at=at)
