"""The names in the first line of delimited text, and which of them the columns of a source are. Pure."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches

from streamhouse.errors import did_you_mean
from streamhouse.ingest.csv_options import CsvForm
from streamhouse.ingest.csv_text import OTHER_ENCODING, NoRowError, canonical, grammar
from streamhouse.model.table import Column

_SEPARATORS = (",", ";", "\t", "|")
_SHOWN = {"\t": "\\t"}
_MOST_NAMED = 8
_OBJECT = re.compile(rb'\s*(?:\[\s*)?\{\s*"[^"]*"\s*:')
_OF_EXCEL = re.compile(rb'"?sep=(.)"?[ \t,;]*', re.IGNORECASE)


@dataclass(frozen=True)
class CsvRules:
    """How the files of a source are read.

    Attributes:
        form: How they are written.
        order: The columns by their place, where the files have no first line with names.
    """

    form: CsvForm
    order: tuple[str, ...] = ()


def names_of(first: bytes, rules: CsvRules) -> tuple[str, ...]:
    """The names of the columns of a file, by its first record; a column without one is `_c0`, as in Spark.

    Raises:
        NoRowError: it cannot be read, or names a column twice.
    """
    form = rules.form
    multi_line = form.lines_may_break is not False
    _refuse_other_text(first)
    canonical([first], form.model_copy(update={"multi_line": multi_line}), multi_line=multi_line, width=0)
    try:
        values = [value.decode() for value in grammar(form, multi_line=multi_line).values(first)]
    except UnicodeDecodeError as error:
        raise NoRowError("encoding", f"the line is no UTF-8: {error.reason}", OTHER_ENCODING) from error
    if not form.header:
        if rules.order and len(values) != len(rules.order):
            text = f"the first line has {_values(len(values))}, and {len(rules.order)} columns are declared"
            raise NoRowError(
                "malformed", text, _other_separator(first, form, rules.order) or "header: true, or declare all"
            )
        return rules.order or tuple(f"_c{place}" for place in range(len(values)))
    names = tuple(value or f"_c{place}" for place, value in enumerate(values))
    seen: dict[str, str] = {}
    for name in names:
        if (known := seen.get(name.lower())) is not None:
            other = "" if known == name else f", once as '{known}': case makes no difference"
            raise NoRowError("malformed", f"the first line names '{name}' twice{other}", "rename one")
        seen[name.lower()] = name
    return names


def _refuse_other_text(first: bytes) -> None:
    """Refuse a first line that is none of delimited text: it would be the name of a column."""
    if _OBJECT.match(first):
        raise NoRowError("malformed", "the first line is an object of JSON", "format: json")
    if found := _OF_EXCEL.fullmatch(first):
        separator = found[1].decode(errors="replace")
        hint = f"take the line out: sed -i 1d FILE; separator: '{_SHOWN.get(separator, separator)}'"
        raise NoRowError("malformed", "the first line is for Excel, and the names follow in the second one", hint)


def _values(number: int) -> str:
    return f"{number} value{'s' * (number != 1)}"


def places_of(
    columns: tuple[Column, ...], names: tuple[str, ...], first: bytes, rules: CsvRules, optional: Collection[str]
) -> tuple[int | None, ...]:
    """Of each column its place in a file, by its name, whose case makes no difference; None: the file lacks it.

    Raises:
        NoRowError: all columns are absent, or one that is not optional, and the file has a similar name instead.
    """
    by_name = {name.lower(): place for place, name in enumerate(names)}
    wanted = {column.name.lower() for column in columns}
    found = tuple(by_name.get(column.name.lower()) for column in columns)
    absent = [column.name for column, place in zip(columns, found, strict=True) if place is None]
    if len(absent) == len(columns):
        shown = ", ".join(names[:_MOST_NAMED]) + ", …" * (len(names) > _MOST_NAMED)
        hint = _other_separator(first, rules.form, absent) or _of_none(absent, names)
        raise NoRowError("malformed", f"the file has none of the columns: the first line names {shown}", hint)
    others = {name.strip().lower(): name for name in names if name.lower() not in wanted}
    for name in absent:
        if name not in optional and (close := get_close_matches(name.strip().lower(), others, n=1)):
            text = f"a column is absent: the first line does not name '{name}'"
            raise NoRowError("malformed", text, f"did you mean '{others[close[0]]}'?")
    return found


def _of_none(absent: list[str], names: tuple[str, ...]) -> str:
    otherwise = "header: false, if the first line is a row; else declare the columns that it names"
    return did_you_mean(absent[0], names, otherwise) or otherwise


def check_separator(names: tuple[str, ...], first: bytes, rules: CsvRules, declared: Collection[str]) -> None:
    """Refuse a file whose separator is another one, so that it would be read as one column.

    Raises:
        NoRowError: it is.
    """
    if len(names) > 1 or any(name.lower() == names[0].lower() for name in declared):
        return
    if hint := _other_separator(first, rules.form, ()):
        raise NoRowError("malformed", f"the first line is one value: '{names[0]}'", hint)


def _other_separator(first: bytes, form: CsvForm, wanted: Collection[str]) -> str:
    """The separator that finds the most of wanted names, or the most values; empty: none is better than the present."""
    text = first.decode(errors="replace")
    wanted_names = {name.lower() for name in wanted}

    def score(separator: str) -> tuple[int, int]:
        values = [value.strip(form.quote or None).lower() for value in text.split(separator)]
        return sum(value in wanted_names for value in values), len(values)

    best = max(_SEPARATORS, key=score)
    if best == form.separator or score(best)[1] < 2 or score(best) <= score(form.separator):
        return ""
    return f"separator: '{_SHOWN.get(best, best)}'?"
