"""Which records of delimited text are no rows, each as reading it alone says, by one reading of all of them. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.csv as pa_csv

from streamhouse.ingest.csv_file import CsvRows
from streamhouse.ingest.csv_text import NoRowError, canonical_apart, grammar
from streamhouse.ingest.csv_values import unfit
from streamhouse.ingest.not_null import HINT, REASON, no_value
from streamhouse.ingest.other_fields import OtherFields, of_fields
from streamhouse.model.table import Column


def wrong_records(reader: CsvRows, records: Sequence[bytes]) -> dict[int, Exception]:
    """Number of a record that is no row → the error of reading it alone.

    Args:
        reader: Of the file.
        records: Some of the file.

    Returns:
        Each of them is no row. One that is absent is a row as a rule, and reading it says so.
    """
    texts, wrong = canonical_apart(records, reader.rules.form, multi_line=reader.multi_line, width=len(reader.names))
    found_wrong: dict[int, Exception] = dict(wrong)
    for number, text in enumerate(texts):  # Arrow's handler of rows with another width fails at what is no UTF-8
        if text and not _is_utf8(records[number]) and _width(reader, records[number]) != len(reader.names):
            found_wrong[number] = pa.ArrowInvalid("the row has another number of values")
    numbers = [number for number, text in enumerate(texts) if text and number not in found_wrong]
    other_width: list[int] = []

    def skipped(row: pa_csv.InvalidRow) -> str:
        other_width.append(row.number - 1)
        return "skip"

    fields = reader.read_places
    has_others = any(isinstance(column, OtherFields) for column in reader.columns)
    places = range(len(reader.names)) if has_others else fields
    text = b"".join(texts[number] + b"\n" for number in numbers)
    values = reader.values(text, places, pa.binary(), skipped)
    if values.num_rows + len(other_width) != len(numbers):
        return found_wrong
    left = set(other_width)
    found = _WrongRecords(reader, [number for place, number in enumerate(numbers) if place not in left], found_wrong)
    for place in other_width:
        if _width(reader, records[numbers[place]]) != len(reader.names):
            found.wrong[numbers[place]] = pa.ArrowInvalid("the row has another number of values")
    found.look(dict(zip(places, values.columns, strict=True)), fields)
    return found.wrong


def _is_utf8(record: bytes) -> bool:
    try:
        record.decode()
    except UnicodeDecodeError:
        return False
    return True


def _width(reader: CsvRows, record: bytes) -> int:
    return len(grammar(reader.rules.form, multi_line=reader.multi_line).values(record))


@dataclass
class _WrongRecords:
    """What is wrong with records; of several errors of a record the one counts that was found first.

    Attributes:
        reader: Of the records.
        numbers: Of each row of the values, which record it is.
        wrong: Number of a record → its error.
    """

    reader: CsvRows
    numbers: list[int]
    wrong: dict[int, Exception] = field(default_factory=dict)

    def look(self, values: dict[int, pa.ChunkedArray], fields: Sequence[int]) -> None:
        """Look at the values in the order in which they are read.

        Args:
            values: Place of a column in the file → its bytes.
            fields: The places that columns with a type have.
        """
        texts = {place: self._texts(values[place]) for place in fields}
        columns = [
            (column, texts.get(-1 if place is None else place))
            for column, place in zip(of_fields(self.reader.columns), self.reader.places, strict=True)
        ]
        for column, there in columns:
            if there is not None:
                self._add(self._unfit(column, there))
        for column, there in columns:
            if not column.nullable:
                self._add(self._nulls(column, there))
        for place, others in values.items():
            if place not in texts:
                self._texts(others)

    def _add(self, errors: Iterable[tuple[int, Exception]]) -> None:
        for row, error in errors:
            self.wrong.setdefault(self.numbers[row], error)

    def _texts(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        """Values as texts, NULL where one is none, which is an error."""
        try:
            return values.cast(pa.string())
        except pa.ArrowInvalid:
            texts = [_decoded(value) for value in values.to_pylist()]
            self._add((row, text) for row, text in enumerate(texts) if isinstance(text, Exception))
            return pa.chunked_array([[None if isinstance(text, Exception) else text for text in texts]], pa.string())

    def _unfit(self, column: Column, texts: pa.ChunkedArray) -> Iterator[tuple[int, Exception]]:
        before = 0
        for chunk in texts.chunks:
            plain = self.reader.without_nulls(chunk)
            for error in unfit(plain, column.name, column.type, self.reader.rules.form):
                yield before + error.row, error
            before += len(chunk)

    def _nulls(self, column: Column, texts: pa.ChunkedArray | None) -> Iterator[tuple[int, Exception]]:
        error = NoRowError(REASON, no_value(column), HINT)
        if texts is None:
            yield from ((row, error) for row in range(len(self.numbers)))
            return
        before = 0
        for chunk in texts.chunks:
            there = self.reader.without_nulls(chunk).is_valid().to_pylist()
            yield from ((before + row, error) for row, is_there in enumerate(there) if not is_there)
            before += len(chunk)


def _decoded(value: bytes | None) -> "str | UnicodeDecodeError | None":
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError as error:
        return error
