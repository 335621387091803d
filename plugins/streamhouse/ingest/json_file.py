"""A file of JSON objects, in lines or in a list: its records, and the error of one that cannot be read."""

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.foreign import ForeignError, refuse_foreign
from streamhouse.ingest.not_null import HINT, REASON
from streamhouse.ingest.packed_file import text_bytes
from streamhouse.ingest.records import MOST_ITEMS, Records, TooManyItemsError, json_records
from streamhouse.ingest.stored_object import AnyFile
from streamhouse.ingest.unreadable import UnreadableError

_MEND = "mend the line, or let such lines go to a table of their own: on_bad_rows: dead_letter"
_TYPE = "mend the value, or declare the column with a type that it fits: a string takes every value"


def json_file(path: AnyFile, name: str) -> Records:
    """The records of a file.

    Raises:
        SourceError: it is no text, has a list with too many items, or cannot be unpacked; `name` is what the message
            calls it.
        OSError: it cannot be read.
    """
    data = text_bytes(path, name)
    try:
        refuse_foreign(data)
    except ForeignError as error:
        raise SourceError(str(error), at=Location(name, 1), hint=error.hint) from error
    try:
        return json_records(data)
    except TooManyItemsError as error:
        hint = "write each item in a line of its own: jq -c '.[]' FILE"
        raise SourceError(f"the list has more than {MOST_ITEMS:,} items", at=Location(name, 1), hint=hint) from error


def wrong_line(error: UnreadableError, number: int, records: Records, name: str) -> SourceError:
    """The error of a record that is no row.

    Args:
        error: Why.
        number: Which record, from 0.
        records: Of the file.
        name: Of the file.
    """
    at = Location(name, records.lines[number], (records.columns[number] if records.columns else 0) or 1)
    if error.reason == REASON:
        return SourceError(str(error), at=at, hint=HINT)
    if error.reason == "type":
        return SourceError(str(error), at=at, hint=_TYPE)
    return SourceError(f"the line cannot be read: {error}", at=at, hint=_remedy(records.texts[number]))


def _remedy(record: bytes) -> str:
    text = record.removeprefix(b"\xef\xbb\xbf").strip()
    if text[:1] == b"[":
        return f"write one object in each line: jq -c '.[]' FILE; or {_MEND}"
    if text[:1] == b"{" and text[-1:] != b"}":
        return f"write the whole object in one line: jq -c . FILE; or {_MEND}"
    return _MEND
