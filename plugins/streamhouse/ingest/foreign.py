"""Files that are something else than their name or `format` says, by how they begin. Pure."""

import re
from types import MappingProxyType

from streamhouse.ingest.unreadable import UnreadableError

_WEB_PAGE = (
    "a page of HTML",
    "download the data again: such a page often says that a login or a permission is missing",
)
_BEGINNINGS: tuple[tuple[bytes, str, str], ...] = (
    (rb"PK\x03\x04", "a ZIP archive or a workbook of Excel", "unpack it, or save the sheet as CSV with UTF-8"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a workbook of Excel", "save the sheet as CSV with UTF-8"),
    (rb"ORC[^\t -~]", "a file of ORC", "write it as Parquet"),
    (rb"ARROW1\x00", "a file of Arrow", "write it as Parquet"),
    (rb"%PDF-", "a PDF", "take its table out as CSV"),
    (rb"SQLite format 3\x00", "a database of SQLite", "write a table of it as CSV: sqlite3 -header -csv FILE"),
    (rb"(?i:<\?xml)", "XML", "convert it to CSV, JSON or Parquet"),
    (rb"(?i:<!doctype html|<html)", *_WEB_PAGE),
)
_PACKED: tuple[tuple[bytes, str, str, str], ...] = (  # its mark, what it is, the ending of its name, what unpacks it
    (rb"\x1f\x8b", "compressed with gzip", ".gz", "gunzip"),
    (rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", "compressed with bzip2", ".bz2", "bunzip2"),
    (rb"(?:\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)", "compressed with zstd", ".zst", "unzstd"),
    (rb"\x04\x22\x4d\x18", "compressed with lz4", ".lz4", "unlz4"),
    (rb"\xfd7zXZ\x00", "compressed with xz", "", "unxz"),  # which Spark does not unpack
)
_MOST = 256


def _begins(mark: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*(?:%b)" % mark)


_TEXTS = tuple((_begins(mark), what, hint) for mark, what, hint in _BEGINNINGS)
_MARKS = tuple((re.compile(mark), what, ending, program) for mark, what, ending, program in _PACKED)
_COLUMNAR = MappingProxyType(
    {
        "parquet": (_begins(rb"PAR1[^\t -~]"), "a file of Parquet", "format: parquet"),
        "avro": (_begins(rb"Obj\x01"), "a file of Avro", "format: avro"),
    }
)


class ForeignError(UnreadableError):
    """A file is something else.

    Attributes:
        hint: What to do.
    """

    def __init__(self, what: str, hint: str) -> None:
        super().__init__("encoding", f"the file is {what}")
        self.hint = hint


def refuse_foreign(data: bytes, *, form: str = "text", must_unpack: bool = False) -> None:
    r"""Refuse a file that begins as something else than it has to be.

    Args:
        data: Its beginning, or all of it.
        form: What it has to be: `text`, `parquet` or `avro`.
        must_unpack: Whether a compressed file is not read under another name either.

    Raises:
        ForeignError: it does.

    Example:
        >>> refuse_foreign(b"id,name\n")
        >>> refuse_foreign(b"\x1f\x8b\x08\x00")
        Traceback (most recent call last):
        streamhouse.ingest.foreign.ForeignError: the file is compressed with gzip
    """
    for mark, what, ending, program in _MARKS:
        if mark.match(data):
            named = "" if form in _COLUMNAR or must_unpack or not ending else f"let its name end in {ending}, or "
            raise ForeignError(what, f"{named}unpack it: {program} FILE")
    others = (marks for one, marks in _COLUMNAR.items() if one != form)
    for begins, what, hint in (*_TEXTS, *others):
        if begins.match(data[:_MOST]):
            raise ForeignError(what, hint)


def packed_as(data: bytes) -> tuple[str, str] | None:
    r"""How a file is compressed, by its beginning, and the ending of the name that says so; None: it is not.

    The ending is empty where such files are not unpacked.

    Example:
        >>> packed_as(b"\x1f\x8b\x08\x00")
        ('compressed with gzip', '.gz')
    """
    return next(((what, ending) for mark, what, ending, _ in _MARKS if mark.match(data)), None)
