"""The header of an action file: YAML in the SQL file's first comment."""

import re
from dataclasses import dataclass

from streamhouse.errors import HeaderError, Location

_OPEN = re.compile(r"(?:\s|--[^\n]*\n)*/\*[ \t]*---[ \t]*(?=\n|\Z)", re.UNICODE)
_CLOSE = re.compile(r"^[ \t]*---[ \t]*\*/", re.MULTILINE)
_HEADER_HINT = "begin with a line '/* ---', then YAML such as 'action: clean_orders', then a line '--- */'"


@dataclass(frozen=True)
class SplitFile:
    """An action file cut in two; both places count in the whole file."""

    yaml: str  # whole lines
    yaml_line: int  # line of the file that `yaml` begins with, from 1
    sql: str  # without space around it
    sql_at: Location  # of the first character of `sql`; of the header's end when there is no SQL


def place_in(text: str, offset: int, begin: Location) -> Location:
    """The place of `text[offset]` when `text` itself begins at `begin`; a newline ends a line."""
    line = text.count("\n", 0, offset)
    if not line:
        return Location(begin.file, begin.line, begin.column + offset)
    return Location(begin.file, begin.line + line, offset - text.rfind("\n", 0, offset))


def split_header(text: str, file: str) -> SplitFile:
    r"""Cut an action file into its YAML header and its SQL.

    Only blank lines and `--` comments may stand before the header.

    Args:
        text: The whole file, lines ending in `\n`.
        file: Its name for messages.

    Raises:
        HeaderError: there is no header, or it does not end with `--- */`.

    Example:
        >>> split_header("/* ---\naction: a\n--- */\nSELECT 1", "a.sql").sql
        'SELECT 1'
    """
    begin = Location(file)
    opened = _OPEN.match(text)
    if opened is None:
        raise _no_header(text, begin)
    opened_at = place_in(text, text.index("/*", opened.end() - len(opened.group().lstrip())), begin)
    closed = _CLOSE.search(text, opened.end())
    comment_end = text.find("*/", opened.end())
    if comment_end < 0:
        raise HeaderError("the header does not end", at=opened_at, hint="close it with a line '--- */' before the SQL")
    if closed is None or comment_end < closed.start():
        raise HeaderError(
            "the header's comment ends here, without '---' before it",
            at=place_in(text, comment_end, begin),
            hint="close the header with a line '--- */', and write '*/' nowhere else in it",
        )
    rest = text[closed.end() :]
    sql = rest.strip()
    sql_offset = closed.end() + (len(rest) - len(rest.lstrip()) if sql else 0)
    return SplitFile(
        yaml=text[opened.end() + 1 : closed.start()],
        yaml_line=text.count("\n", 0, opened.end()) + 2,
        sql=sql,
        sql_at=place_in(text, sql_offset, begin),
    )


def _no_header(text: str, begin: Location) -> HeaderError:
    stray = re.match(r"(?:\s|--[^\n]*\n)*/\*[ \t]*---[ \t]*", text, re.UNICODE)
    if stray is None:
        return HeaderError("the file has no header", at=begin, hint=_HEADER_HINT)
    place = place_in(text, stray.end(), begin)
    return HeaderError("YAML stands on the line of '/* ---'", at=place, hint="begin the YAML on the next line")
