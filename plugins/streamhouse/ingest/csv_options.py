"""Options of CSV and other delimited text. Those that Spark has too mean what they mean there."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from streamhouse.ingest.csv_times import TimeFormat, time_format
from streamhouse.model.types import Frozen

ENCODINGS = {
    "utf-8": "utf-8",
    "us-ascii": "ascii",
    "iso-8859-1": "latin-1",
    "latin-1": "latin-1",
    "windows-1252": "cp1252",
    "utf-16": "utf-16",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "utf-32": "utf-32",
}
"""Encoding that Spark 4.1 reads → its name in Python.

`latin-1` is ours. Spark reads `windows-1252` where `spark.sql.legacy.javaCharsets` is set.
"""

_ONE = {"\\t": "\t"}


class CsvForm(Frozen):
    """How a text of rows is written."""

    separator: str = Field(default=",", description="of csv: the character between two values; '\\t' is a tab")
    quote: str = Field(default='"', description="of csv: the character around a value; '' for none")
    escape: str = Field(
        default="\\",
        description="of csv: the character before a quote that belongs to a value in quotes; "
        "'\"' where such quotes are doubled; '' for none",
    )
    encoding: str = Field(default="utf-8", description=f"of csv: {', '.join(ENCODINGS)}")
    decimal: Literal[".", ","] = Field(default=".", description="of csv: the character before the fraction of a number")
    date_format: str | None = Field(
        default=None, description="of csv: how a date is written, such as dd.MM.yyyy; absent: yyyy-MM-dd"
    )
    timestamp_format: str | None = Field(
        default=None, description="of csv: how a time is written, such as MM/dd/yyyy HH:mm; absent: ISO 8601"
    )
    header: bool = Field(
        default=True, description="of csv: whether the first line names the columns; else 'columns' names them in order"
    )
    comment: str = Field(
        default="", description="of csv: lines that begin with this character are left out; '' for none"
    )
    null_value: str = Field(default="", description="of csv: the text that means NULL, beside a value of no characters")
    multi_line: bool | None = Field(
        default=None,
        description="of csv: whether a value in quotes may go over line ends; absent: it may where the lines "
        "alone are no rows",
    )

    @field_validator("separator", "quote", "escape", "comment")
    @classmethod
    def _is_one_character(cls, value: str) -> str:
        found = _ONE.get(value, value)
        if len(found) > 1 or found > "\x7f" or found in ("\n", "\r", "\0"):
            raise ValueError(f"'{value}' is not one character of ASCII")
        return found

    @field_validator("separator")
    @classmethod
    def _is_there(cls, value: str) -> str:
        if value == " ":
            raise ValueError(
                "a space is none here: where no value has one, make tabs of them, tr -s ' ' '\\t' < FILE > NEW, and "
                "write '\\t'"
            )
        if not value:
            raise ValueError("it needs one character, such as ',' or '\\t'")
        return value

    @field_validator("encoding")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if value.lower() not in ENCODINGS:
            known = ", ".join(ENCODINGS)
            raise ValueError(f"'{value}' is none of {known}; convert the file: iconv -f {value} -t utf-8 FILE > NEW")
        return value.lower()

    @field_validator("null_value")
    @classmethod
    def _is_in_one_line(cls, value: str) -> str:
        if "\n" in value or "\r" in value:
            raise ValueError("it has a line end")
        return value

    @field_validator("date_format")
    @classmethod
    def _is_of_days(cls, value: str | None) -> str | None:
        if value is not None and time_format(value).has_clock:
            raise ValueError(f"'{value}' has a time of day: declare the column as timestamp, with timestamp_format")
        return value

    @field_validator("timestamp_format")
    @classmethod
    def _is_of_times(cls, value: str | None) -> str | None:
        if value is not None:
            time_format(value)
        return value

    @model_validator(mode="after")
    def _characters_differ(self) -> Self:
        marks = {"separator": self.separator, "quote": self.quote, "comment": self.comment}
        if self.escape != self.quote:
            marks["escape"] = self.escape
        if self.decimal == ",":
            marks["decimal"] = ","
        seen: dict[str, str] = {}
        for name, mark in marks.items():
            if mark and mark in seen:
                raise ValueError(f"'{name}' and '{seen[mark]}' are both '{mark}'")
            seen[mark] = name
        return self

    @model_validator(mode="after")
    def _lines_are_bytes(self) -> Self:
        if self.encoding.startswith(("utf-16", "utf-32")) and self.multi_line is False:
            raise ValueError(f"Spark reads {self.encoding} with multi_line: true alone; leave multi_line out")
        return self

    @property
    def lines_may_break(self) -> bool | None:
        """Whether values go over line ends; None: where a line alone is no row. In UTF-16 they do, as in Spark."""
        return True if self.encoding.startswith(("utf-16", "utf-32")) else self.multi_line

    @property
    def days(self) -> TimeFormat | None:
        """How dates are written; None: as ISO texts."""
        return None if self.date_format is None else time_format(self.date_format)

    @property
    def times(self) -> TimeFormat | None:
        """How times are written; None: as ISO texts."""
        return None if self.timestamp_format is None else time_format(self.timestamp_format)


CSV_OPTIONS = tuple(CsvForm.model_fields)
PLAIN = CsvForm()
