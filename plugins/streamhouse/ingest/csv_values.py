"""The values of CSV: texts as columns of declared types, as Spark's reader takes them, or refused. Pure."""

from collections.abc import Callable
from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.ingest.csv_options import CsvForm
from streamhouse.ingest.csv_remedies import remedy
from streamhouse.ingest.csv_times import days, instants, local_times
from streamhouse.stores.arrow import arrow_type
from streamhouse.stores.decimals import PLAIN_NUMBER, texts_as_decimals

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
    convert = _CONVERTERS.get(type_.partition("(")[0])
    assert convert is not None, "the options refuse other types"
    target = arrow_type(type_)
    try:
        values, odd = convert(texts, target, form)
    except pa.ArrowInvalid:
        row = _first_unfit(texts, lambda some: convert(some, target, form))
    else:
        row = pc.index(odd, True).as_py()
        if row < 0:
            return values
    text = texts[row].as_py()
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    raise UnfitError(row, f"column '{name}' is no {type_}: '{shown}'", remedy(text, name, type_, form))


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


def _first_unfit(texts: pa.Array, convert: Callable[[pa.Array], object]) -> int:
    """The first text that cannot be converted, where some cannot."""
    fits, too_many = 0, len(texts)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        try:
            convert(texts.slice(fits, middle - fits))
        except pa.ArrowInvalid:
            too_many = middle
        else:
            fits = middle
    return fits


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
    return numbers.cast(target), odd


def _floating(texts: pa.Array, target: pa.DataType, form: CsvForm) -> Converted:
    trimmed = _point(pc.utf8_trim(texts, _BLANKS), form)
    odd = _unlike(trimmed, _FLOATING)
    values = pc.if_else(odd, "0", trimmed).cast(target)
    overflown = pc.and_(pc.is_inf(values), pc.invert(pc.match_substring_regex(trimmed, _ENDLESS)))
    return values, pc.or_(odd, overflown)


def _decimal(texts: pa.Array, target: pa.DataType, form: CsvForm) -> Converted:
    numbers = _point(texts, form)
    odd = _unlike(numbers, _NUMBER if form.decimal == "." else _COMMA_NUMBER)
    return texts_as_decimals(pc.if_else(odd, "0", numbers), target), odd


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
