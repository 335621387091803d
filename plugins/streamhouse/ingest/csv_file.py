"""Reads a file of CSV or other delimited text as Arrow rows, as Spark's reader reads it."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.csv_header import CsvRules, check_separator, names_of, places_of
from streamhouse.ingest.csv_text import (
    OTHER_ENCODING,
    NoRowError,
    canonical,
    even_lines,
    first_record,
    grammar,
    is_plain,
    other_ends,
    records_of,
    utf8_text,
)
from streamhouse.ingest.csv_values import UnfitError, typed
from streamhouse.ingest.not_null import HINT, REASON, first_null
from streamhouse.ingest.other_fields import OtherFields, csv_other_fields, joined, of_fields
from streamhouse.ingest.packed_file import first_bytes, text_bytes
from streamhouse.ingest.records import Records
from streamhouse.ingest.stored_object import AnyFile
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_type

_BLANK_LINE = re.compile(rb"\n[\x00-\x09\x0b-\x20]+(?=\n|\Z)")
_INFERRED_BYTES, _NAMES_BYTES = 1 << 20, 1 << 16
_MOST_BLOCK_BYTES = 1 << 30
_TEXT = pa.string()
_TRIED = ("bigint", "double", "boolean", "date", "timestamp")

CsvError = (NoRowError, UnfitError, pa.ArrowInvalid)
"""What reading some records raises where one is no row."""


@dataclass(frozen=True)
class CsvRows:
    """Reads records of one file.

    Attributes:
        columns: What the rows have.
        names: What the file has.
        places: Of each of `columns` that a field makes, which of `names` it is; None: the file lacks it.
        rules: How the file is read.
        multi_line: Whether values go over line ends.
    """

    columns: tuple[Column, ...]
    names: tuple[str, ...]
    places: tuple[int | None, ...]
    rules: CsvRules
    multi_line: bool

    def of(self, records: Sequence[bytes]) -> pa.Table:
        """The rows of records.

        Raises:
            CsvError: one of them is none; `reason` says why, where it is alone.
        """
        text = canonical(records, self.rules.form, multi_line=self.multi_line, width=len(self.names))
        return self.of_text(text)

    def of_text(self, text: bytes) -> pa.Table:
        """The rows of a text that Arrow reads as Spark does, without the line of names.

        Raises:
            pa.ArrowInvalid: a row has too many or too few values, or is no UTF-8.
            UnfitError: a value does not fit its type.
            NoRowError: a row lacks a value that every row has.
        """
        others = [column for column in self.columns if isinstance(column, OtherFields)]
        if others:
            fields = replace(self, columns=of_fields(self.columns)).of_text(text)
            texts = self.values(text, range(len(self.names)))
            known = pa.table([self.without_nulls(values) for values in texts.columns], texts.column_names)
            found = [csv_other_fields(self.names, known, column.named) for column in others]
            return joined(fields, self.columns, found)
        there = self.read_places
        texts = self.values(text, there)
        arrays = []
        for column, place in zip(self.columns, self.places, strict=True):
            if place is None:
                arrays.append(pa.chunked_array([pa.nulls(texts.num_rows, arrow_type(column.type))]))
            else:
                arrays.append(self._typed(texts.column(there.index(place)), column))
        rows = pa.table(arrays, schema=pa.schema([(c.name, arrow_type(c.type)) for c in self.columns]))
        if lacks := first_null(rows, self.columns):
            raise NoRowError(REASON, lacks[1], HINT)
        return rows

    @property
    def read_places(self) -> list[int]:
        """Which of `names` are read for the columns that fields make."""
        return sorted({place for place in self.places if place is not None}) or [0]

    def values(
        self,
        text: bytes,
        places: Sequence[int],
        kind: pa.DataType = _TEXT,
        skipped: Callable[[pa_csv.InvalidRow], str] | None = None,
    ) -> pa.Table:
        """The values of a text that Arrow reads as Spark does, without the line of names.

        Args:
            text: Of some rows.
            places: Which of `names` are wanted; they rise.
            kind: Texts, or bytes.
            skipped: Says what becomes of a row with too many or too few values; None: it is an error.

        Raises:
            pa.ArrowInvalid: of a row with too many or too few values; of texts that are no UTF-8.
        """
        form = self.rules.form
        wanted = [str(place) for place in places]
        if not text:
            return pa.schema([(name, kind) for name in wanted]).empty_table()
        return pa_csv.read_csv(
            pa.BufferReader(text),
            # A record must not be longer than a block. One thread: rows stay in order.
            read_options=pa_csv.ReadOptions(
                column_names=[str(place) for place in range(len(self.names))],
                use_threads=False,
                block_size=min(len(text) + 1, _MOST_BLOCK_BYTES),
            ),
            parse_options=pa_csv.ParseOptions(
                delimiter=form.separator,
                quote_char=form.quote or False,
                double_quote=True,
                escape_char=False,
                newlines_in_values=self.multi_line,
                invalid_row_handler=skipped,
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(wanted, kind),
                include_columns=wanted,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=not form.null_value,
            ),
        )

    def _typed(self, texts: pa.ChunkedArray, column: Column) -> pa.ChunkedArray:
        arrays = []
        before = 0
        for chunk in texts.chunks:
            try:
                arrays.append(typed(self.without_nulls(chunk), column.name, column.type, self.rules.form))
            except UnfitError as error:
                raise UnfitError(before + error.row, error.text, error.hint) from error
            before += len(chunk)
        return pa.chunked_array(arrays, arrow_type(column.type))

    def without_nulls(self, texts: pa.Array) -> pa.Array:
        """Texts of which those that mean NULL are NULL."""
        null = self.rules.form.null_value
        return pc.if_else(pc.equal(texts, null), None, texts) if null else texts

    def reason(self, record: bytes, error: Exception) -> NoRowError:
        """Why a record is no row, by the error of reading it alone."""
        if isinstance(error, NoRowError):
            return error
        try:
            record.decode()
        except UnicodeDecodeError as wrong:
            text = f"it is no UTF-8: {wrong.reason} at byte {wrong.start}"
            return NoRowError("encoding", text, OTHER_ENCODING)
        if isinstance(error, UnfitError):
            return NoRowError("type", error.text, error.hint)
        values = grammar(self.rules.form, multi_line=self.multi_line).values(record)
        if len(values) != len(self.names):
            there = "the first line names" if self.rules.form.header else "the columns are"
            text = f"the row has {len(values)} value{'s' * (len(values) != 1)}, and {there} {len(self.names)}"
            return NoRowError("malformed", text, self._width_remedy(values))
        return NoRowError("malformed", str(error))

    def _width_remedy(self, values: Sequence[bytes]) -> str:
        """What to do about a row with another number of values than names."""
        above = "; lines above the names have to go, such as five of them: tail -n +6 FILE" * self.rules.form.header
        if len(values) < len(self.names):
            return f"mend the line, or let such lines go to a table of their own: on_bad_rows: dead_letter{above}"
        if len(values) == len(self.names) + 1 and not values[-1]:
            return "the line ends with a separator: let the first line end with one, or take it away from all lines"
        return f"mend the line: values with a separator in them need quotes{above}"


def rows_reader(
    first: bytes, columns: tuple[Column, ...], rules: CsvRules, optional: Collection[str], *, multi_line: bool
) -> CsvRows:
    """What reads the records of a file, by its first one.

    Raises:
        NoRowError: it has not the columns.
    """
    names = names_of(first, rules)
    if rules.form.header:
        check_separator(names, first, rules, [column.name for column in columns])
    places = places_of(of_fields(columns), names, first, rules, optional)
    return CsvRows(columns, names, places, rules, multi_line)


def read_csv(
    path: AnyFile, columns: tuple[Column, ...], name: str, rules: CsvRules, optional: Collection[str] = ()
) -> pa.Table:
    """All rows of a file with exactly these columns; one that is `optional` and absent is NULL.

    Raises:
        SourceError: the file cannot be read, or a row of it; `name` is what the message calls the file.
        OSError: it cannot be opened.
    """
    text = csv_bytes(path, name, rules)
    rows = _at_once(text, columns, rules, optional)
    if rows is not None:
        return rows
    records, multi_line = csv_records(text, name, rules)
    first = records.header if rules.form.header else next(iter(records.texts), b"")
    if not first:
        return pa.schema([(c.name, arrow_type(c.type)) for c in columns]).empty_table()
    try:
        reader = rows_reader(first, columns, rules, optional, multi_line=multi_line)
    except NoRowError as error:
        raise SourceError(str(error), at=Location(name, 1), hint=error.hint) from error
    try:
        return reader.of(records.texts)
    except CsvError:
        place = first_wrong(records.texts, reader)
        raise _of_record(records, place, reader, name) from None


def _at_once(text: bytes, columns: tuple[Column, ...], rules: CsvRules, optional: Collection[str]) -> pa.Table | None:
    """The rows, where Arrow reads the text as it is; None: it does not, or something is wrong with a row."""
    multi_line = rules.form.lines_may_break is True
    even = even_lines(text, multi_line=multi_line)
    if not is_plain(even, rules.form, multi_line=multi_line) or (multi_line and other_ends(text)):
        return None
    first, behind = first_record(even, rules.form, multi_line=multi_line)
    try:
        reader = rows_reader(first, columns, rules, optional, multi_line=multi_line)
        body = even[behind:] if rules.form.header else even
        if not multi_line:
            body = _BLANK_LINE.sub(b"\n", b"\n" + body)
        return reader.of_text(body if body.strip(b"\n") else b"")
    except CsvError:
        return None


def first_wrong(records: Sequence[bytes], reader: CsvRows) -> int:
    """The first record that is no row, where one is none."""
    fits, too_many = 0, len(records)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        try:
            reader.of(records[fits:middle])
        except CsvError:
            too_many = middle
        else:
            fits = middle
    return fits


def _of_record(records: Records, place: int, reader: CsvRows, name: str) -> SourceError:
    record = records.texts[place]
    try:
        reader.of([record])
    except CsvError as error:
        why = reader.reason(record, error)
        return SourceError(str(why), at=Location(name, records.lines[place]), hint=why.hint)
    return SourceError("a row cannot be read", at=Location(name, records.lines[place]))


def csv_bytes(path: AnyFile, name: str, rules: CsvRules) -> bytes:
    """The text of a file as UTF-8.

    Raises:
        SourceError: it is of another encoding, or cannot be unpacked.
        OSError: it cannot be opened.
    """
    try:
        return utf8_text(text_bytes(path, name), rules.form)
    except NoRowError as error:
        raise SourceError(str(error), at=Location(name, error.line), hint=error.hint) from error


def csv_records(text: bytes, name: str, rules: CsvRules) -> tuple[Records, bool]:
    """The records of a file, and whether values of it go over line ends.

    Raises:
        SourceError: records end in two ways.
    """
    try:
        return records_of(text, rules.form)
    except NoRowError as error:
        raise SourceError(str(error), at=Location(name, error.line), hint=error.hint) from error


def csv_names(path: AnyFile, name: str, rules: CsvRules) -> tuple[str, ...]:
    """The names of the columns of a file.

    Raises:
        SourceError: they cannot be read, or one is there twice.
    """
    return _sample(path, name, rules, _NAMES_BYTES)[0].names


def has_no_line(path: AnyFile, name: str, rules: CsvRules) -> bool:
    """Whether a file has neither names nor a row, but at most lines of blanks and comments.

    Raises:
        SourceError: it is of another encoding, or is no text.
        OSError: it cannot be opened.
    """
    if first_bytes(path, name, _NAMES_BYTES)[1]:
        return False
    records, _ = csv_records(csv_bytes(path, name, rules), name, rules)
    return not records.header and not records.texts


def csv_lacking(path: AnyFile, name: str, rules: CsvRules, columns: tuple[Column, ...]) -> list[str]:
    """The columns that a file lacks.

    Raises:
        SourceError: its first line cannot be read.
    """
    there = {one.lower() for one in csv_names(path, name, rules)}
    return [column.name for column in columns if column.name.lower() not in there]


def refuse_other_csv(path: AnyFile, name: str, rules: CsvRules, columns: tuple[Column, ...]) -> None:
    """Check that a file is one of a source with these columns, all of them declared.

    Raises:
        SourceError: it has none of them, or a similar name in place of one.
    """
    try:
        places_of(columns, csv_names(path, name, rules), b"", rules, ())
    except NoRowError as error:
        raise SourceError(str(error), at=Location(name, 1), hint=error.hint) from error


def csv_columns(path: AnyFile, name: str, rules: CsvRules) -> tuple[Column, ...]:
    """The columns of a file by its first MiB.

    Raises:
        SourceError: it cannot be read.
    """
    reader, records = _sample(path, name, rules)
    try:
        texts = reader.of(records)
    except CsvError:
        texts = reader.of(records[: first_wrong(records, reader)])  # the reader of rows refuses it with its line
    return tuple(Column(name=one, type=_type_of(texts.column(one), reader)) for one in reader.names)


def _type_of(texts: pa.ChunkedArray, reader: CsvRows) -> str:
    values = texts.combine_chunks().drop_null()
    for type_ in _TRIED if len(values) else ():
        try:
            typed(values, "", type_, reader.rules.form)
        except UnfitError:
            continue
        return type_
    return "string"


def _sample(path: AnyFile, name: str, rules: CsvRules, most: int = _INFERRED_BYTES) -> tuple[CsvRows, list[bytes]]:
    """What reads the beginning of a file as texts, and its records."""
    try:
        is_utf8 = rules.form.encoding == "utf-8"
        begins, goes_on = first_bytes(path, name, most) if is_utf8 else (text_bytes(path, name), False)
        records, multi_line = records_of(utf8_text(begins, rules.form), rules.form)
        if goes_on and not records.texts[1:]:
            return _sample(path, name, rules, most * 16)  # the first line may go on
        whole = records.texts[:-1] if goes_on else records.texts
        first = records.header if rules.form.header else next(iter(whole), b"")
        if not first:
            hint = "put a line with the names of the columns there, or declare the columns"
            raise NoRowError("malformed", "the file has no line", hint)
        columns = tuple(Column(name=one, type="string") for one in names_of(first, rules))
        if rules.form.header:
            check_separator(tuple(c.name for c in columns), first, rules, rules.order)
        reader = rows_reader(first, columns, rules, (), multi_line=multi_line)
    except NoRowError as error:
        raise SourceError(str(error), at=Location(name, error.line), hint=error.hint) from error
    except OSError as error:
        raise SourceError(f"the file cannot be read: {error.strerror or error}", at=Location(name)) from error
    return reader, list(whole)
