"""What to do about values of CSV that do not fit their types. Pure."""

import re

from streamhouse.ingest.csv_options import CsvForm

_MEANS_NULL = ("na", "n/a", "null", "none", "nil", "\\n", "nan", "-", "?")
_THOUSANDS = re.compile(
    r"[+-]?\d{1,3}(?P<mark>[.,' \u00a0\u2019\u202f])\d{3}(?:(?P=mark)\d{3})*(?P<fraction>(?!(?P=mark))[.,]\d*)?",
    re.ASCII,
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


def remedy(text: str, name: str, type_: str, form: CsvForm) -> str:
    """What to do about a text that is no value of a type.

    Args:
        text: The value.
        name: Of its column.
        type_: Of the column.
        form: How numbers and times are written.

    Example:
        >>> remedy("1.5 EUR", "price", "decimal(8,2)", CsvForm())
        'mend the file, or declare the column as string and convert it in the action'
    """
    stays = f"mend the file, or declare the column as string{' and convert it in the action' * (type_ != 'string')}"
    if text.lower() in _MEANS_NULL and text != form.null_value:
        return f"null_value: '{text}', if it means NULL; or {stays}"
    if text.strip() != text:
        return f"there are spaces around the value; {stays}"
    if type_.partition("(")[0] in _NUMBERS:
        return _of_number(text, name, type_, form, stays)
    if type_ == "date":
        return "date_format: 'dd.MM.yyyy', for example, says how days are written; they lie in 0001..9999"
    if type_ == "timestamp":
        return "timestamp_format: 'MM/dd/yyyy HH:mm', for example, says how times are written; they lie in 0001..9999"
    if type_ == "timestamp_ntz":
        return "a time of a wall clock is 2026-01-31 10:30:00, without a zone; with a zone it is a timestamp"
    if type_ == "boolean":
        return f"a boolean is true or false; {stays}"
    return stays


def _of_number(text: str, name: str, type_: str, form: CsvForm, stays: str) -> str:
    is_whole = not type_.startswith(("decimal", "double", "float"))
    found = _THOUSANDS.fullmatch(text)
    if found and (found["mark"] != form.decimal or found["fraction"] or text.count(found["mark"]) > 1):
        return _of_thousands(text, found, name, type_, is_whole=is_whole)
    other = "," if form.decimal == "." else "."
    if not is_whole and other in text:
        return f"decimal: '{other}', if the {_CALLED[other]} begins the fraction; or {stays}"
    if form.decimal == "," and text.startswith("+") and type_.startswith("decimal"):
        return f"Spark's reader takes no + before a decimal with a comma; {stays}"
    if type_.startswith("decimal") and _NUMBER.fullmatch(text.replace(form.decimal, ".")):
        return "mend the file, or declare a decimal with more digits, as many as the values have"
    if is_whole and type_ != "bigint":
        return f"declare a wider type, such as bigint, if the number is too large; {stays}"
    return stays


def _of_thousands(text: str, found: re.Match[str], name: str, type_: str, *, is_whole: bool) -> str:
    """What to do about separators of thousands, or what may be one of them."""
    mark = found["mark"]
    plain = f"replace({name}, '{mark if mark != chr(39) else chr(39) * 2}', '')"
    if (found["fraction"] or "")[:1] == ",":
        plain = f"replace({plain}, ',', '.')"
    way = f"take it out of the file, or declare the column as string and write CAST({plain} AS {type_}) in the action"
    if not is_whole and mark in ",." and not found["fraction"] and text.count(mark) == 1:
        return f"decimal: '{mark}', if the {_CALLED[mark]} begins the fraction; if it separates thousands, {way}"
    return f"'{mark}' separates thousands, and no number may have it: {way}"


_CALLED = {",": "comma", ".": "point"}
