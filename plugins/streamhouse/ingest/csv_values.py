"""The values of CSV: texts as columns of declared types, as Spark's reader takes them, or refused. Pure."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.ingest.csv_options import CsvForm
from streamhouse.ingest.csv_remedies import remedy
from streamhouse.ingest.csv_times import days, instants, local_times
from streamhouse.stores.arrow import arrow_type
from streamhouse.stores.decimals import PLAIN_NUMBER, texts_as_decimals, without_room

_WHOLE = r"^[+-]?[0-9]+$"
_NUMBER = f"^{PLAIN_NUMBER}$"
_COMMA_NUMBER = r"^-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:E-?[0-9]+)?$"
"""A number with a comma, which stands as a point here: what Spark's reader takes with the locale of Germany."""
_FLOATING = f"^(NaN|-?Inf|[+-]?Infinity|{PLAIN_NUMBER})$"
_ENDLESS = r"(Inf|NaN)"
_BLANKS = " \t"
_FIRST_DAY, _LAST_DAY = date(1, 1, 1), date(9999, 12, 31)
_FIRST_TIME = datetime(1, 1, 1)
_LAST_TIME = datetime(9999, 12, 31, 23, 59, 59, 999_999)
_LONGEST_SHOWN = 60
_MOST_DIGITS = 19


class UnfitError(ValueError):
    """A value does not fit its type.

    Attributes:
        row: Which one, from 0.
        text: What is wrong, for people.
        hint: What to do.
    """

    def __init__(self, row: int, text: str, hint: str) -> None:
        super().__init__(text)
        self.row = row
        self.text = text
        self.hint = hint


def typed(texts: pa.Array, name: str, type_: str, form: CsvForm) -> pa.Array:
    """Texts as the values of a column.

    Args:
        texts: NULL where there is no value.
        name: Of the column.
        type_: Its type.
        form: How numbers and times are written.

    Raises:
        UnfitError: a text is no value of the type.
    """
    values, odd = _converted(texts, type_, form)
    row = pc.index(odd, True).as_py()
    if row >= 0:
        raise _unfit(row, texts[row].as_py(), name, type_, form)
    return values


def unfit(texts: pa.Array, name: str, type_: str, form: CsvForm) -> Iterator[UnfitError]:
    """Of each text that is no value of a type the error that `typed` raises of it, in order."""
    _, odd = _converted(texts, type_, form)
    for row in (row for row, is_odd in enumerate(odd.to_pylist()) if is_odd):
        yield _unfit(row, texts[row].as_py(), name, type_, form)


def _converted(texts: pa.Array, type_: str, form: CsvForm) -> "Converted":
    convert = _CONVERTERS.get(type_.partition("(")[0])
    assert convert is not None, "the options refuse other types"
    return convert(texts, arrow_type(type_), form)


def _unfit(row: int, text: str, name: str, type_: str, form: CsvForm) -> UnfitError:
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    return UnfitError(row, f"column '{name}' is no {type_}: '{shown}'", remedy(text, name, type_, form))


def as_iso(texts: pa.Array, form: CsvForm) -> pa.Array:
    """Texts that are all days, times or numbers as `form` writes them, in the form of ISO 8601 and with a point."""
    for type_, is_written in (
        ("date", form.date_format),
        ("timestamp", form.timestamp_format),
        ("double", form.decimal),
    ):
        if is_written not in (None, ".") and texts.null_count < len(texts):
            try:
                values = typed(texts, "", type_, form)
            except UnfitError:
                continue
            return _point(texts, form) if type_ == "double" else values.cast(pa.string())
    return texts


Converted = tuple[pa.Array, pa.Array]


def _same(texts: pa.Array, target: pa.DataType, form: CsvForm) -> Converted:  # noqa: ARG001  as the others
    return texts.cast(target), _nothing(texts)


def _boolean(texts: pa.Array, target: pa.DataType, form: CsvForm) -> Converted:  # noqa: ARG001
    words = pc.utf8_lower(texts)
    true, false = pc.equal(words, "true"), pc.equal(words, "false")
    return true, pc.invert(pc.or_(true, false))


def _whole(texts: pa.Array, target: pa.DataType, form: CsvForm) -> Converted:  # noqa: ARG001
    odd = _unlike(texts, _WHOLE)
    numbers = pc.utf8_ltrim(pc.if_else(odd, "0", texts), "+")
    try:
        return numbers.cast(target), odd
    except pa.ArrowInvalid:
        large = _too_large(numbers, target)
        return pc.if_else(large, None, numbers).cast(target), pc.or_(odd, large)


def _too_large(numbers: pa.Array, target: pa.DataType) -> pa.Array:
    """Which whole numbers a type does not have."""
    end = 1 << target.bit_width - 1

    def is_large(text: str) -> bool:
        digits = text.lstrip("-").lstrip("0")
        return len(digits) > _MOST_DIGITS or not -end <= int(f"{text[:1].strip('0123456789')}{digits or 0}") < end

    return pa.array([text is not None and is_large(text) for text in numbers.to_pylist()], pa.bool_())


def _floating(texts: pa.Array, target: pa.DataType, form: CsvForm) -> Converted:
    trimmed = _point(pc.utf8_trim(texts, _BLANKS), form)
    odd = _unlike(trimmed, _FLOATING)
    values = pc.if_else(odd, "0", trimmed).cast(target)
    overflown = pc.and_(pc.is_inf(values), pc.invert(pc.match_substring_regex(trimmed, _ENDLESS)))
    return values, pc.or_(odd, overflown)


def _decimal(texts: pa.Array, target: pa.DataType, form: CsvForm) -> Converted:
    numbers = _point(texts, form)
    odd = _unlike(numbers, _NUMBER if form.decimal == "." else _COMMA_NUMBER)
    numbers = pc.if_else(odd, "0", numbers)
    try:
        return texts_as_decimals(numbers, target), odd
    except pa.ArrowInvalid:
        large = without_room(numbers, target)
        return texts_as_decimals(pc.if_else(large, None, numbers), target), pc.or_(odd, large)


def _point(texts: pa.Array, form: CsvForm) -> pa.Array:
    """Numbers with a point; those that have one where the comma is it become no numbers."""
    if form.decimal == ".":
        return texts
    return pc.replace_substring(pc.replace_substring(texts, ".", "_"), ",", ".")


def _date(texts: pa.Array, target: pa.DataType, form: CsvForm) -> Converted:  # noqa: ARG001
    values, odd = days(texts, form.days)
    return values, pc.or_(odd, _outside(values, _FIRST_DAY, _LAST_DAY))


def _timestamp(texts: pa.Array, target: pa.DataType, form: CsvForm) -> Converted:  # noqa: ARG001
    values, odd = instants(texts, form.times)
    first, last = _FIRST_TIME.replace(tzinfo=UTC), _LAST_TIME.replace(tzinfo=UTC)
    return values, pc.or_(odd, _outside(values, first, last))


def _local(texts: pa.Array, target: pa.DataType, form: CsvForm) -> Converted:  # noqa: ARG001
    values, odd = local_times(texts)
    return values, pc.or_(odd, _outside(values, _FIRST_TIME, _LAST_TIME))


def _outside(values: pa.Array, first: date, last: date) -> pa.Array:
    lowest, highest = pa.scalar(first, values.type), pa.scalar(last, values.type)
    return pc.fill_null(pc.or_(pc.less(values, lowest), pc.greater(values, highest)), False)


def _unlike(texts: pa.Array, pattern: str) -> pa.Array:
    return pc.fill_null(pc.invert(pc.match_substring_regex(texts, pattern)), False)


def _nothing(texts: pa.Array) -> pa.Array:
    return pc.and_(texts.is_null(), False)


_CONVERTERS: dict[str, Callable[[pa.Array, pa.DataType, CsvForm], Converted]] = {
    "string": _same,
    "binary": _same,
    "boolean": _boolean,
    "tinyint": _whole,
    "smallint": _whole,
    "int": _whole,
    "bigint": _whole,
    "float": _floating,
    "double": _floating,
    "decimal": _decimal,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp_ntz": _local,
}
