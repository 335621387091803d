"""The text of delimited files: its lines, its records and their values, as Spark's reader takes them apart. Pure.

What Spark and Arrow read alike is given to Arrow as it is. A record with escapes is written again, with its quotes
doubled. A record that the grammar here does not have is refused: Spark would read something of it, such as half a row.
"""

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from streamhouse.ingest.csv_options import ENCODINGS, CsvForm
from streamhouse.ingest.foreign import ForeignError, refuse_foreign
from streamhouse.ingest.records import Records
from streamhouse.ingest.unreadable import UnreadableError

MOST_COLUMNS = 20_480
_FIRST_LINE = re.compile(rb"[^\r\n]+")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_BLANKS = bytes(range(33))
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_EMPTY_LINES = re.compile(rb"(?:\r?\n)+")
_NEVER = rb"(?!)"
_LATIN = ("latin-1", "iso-8859-1")
_CONTROL = re.compile(rb"[\x80-\x9f]")
OTHER_ENCODING = "encoding: windows-1252, for example, says how the file is written"


class NoRowError(UnreadableError):
    """A record is no row.

    Attributes:
        hint: What to do.
        line: Of the file, where the whole file is at fault.
    """

    def __init__(self, reason: str, text: str, hint: str = "mend the line", line: int = 1) -> None:
        super().__init__(reason, text)
        self.hint = hint
        self.line = line


def utf8_text(data: bytes, form: CsvForm) -> bytes:
    """The bytes of a file as UTF-8 without a byte order mark; bytes that are no UTF-8 stay, for their line alone.

    Raises:
        NoRowError: the file is not of the encoding, or is no text at all; or Spark finds a row in it that is none.
    """
    try:
        refuse_foreign(data)
    except ForeignError as error:
        raise NoRowError(error.reason, str(error), error.hint) from error
    text = _decoded(data, form)
    _refuse_wide(text, form)
    # To Spark a mark alone, or one carriage return, is a row where values go over line ends and no names come first.
    marks = data and not text.strip(b"\r\n") and not _EMPTY_LINES.fullmatch(text)
    if marks and form.lines_may_break and not form.header and form.encoding != "utf-16":
        hint = "take the file away, or write it without a byte order mark and with \\n as line end"
        raise NoRowError("malformed", "the file has a mark, and no row", hint)
    return text


def _refuse_wide(text: bytes, form: CsvForm) -> None:
    """Refuse a file whose first line has more values than a table has columns; Spark's reader has the same bound."""
    first = _FIRST_LINE.search(text)
    if first is not None and text.count(form.separator.encode(), *first.span()) >= MOST_COLUMNS:
        found = f"the first line has more than {MOST_COLUMNS:,} values"
        raise NoRowError("malformed", found, "name another separator, or mend the file: separator: ';'")


def _decoded(data: bytes, form: CsvForm) -> bytes:
    if form.encoding == "utf-8":
        if data.startswith(_UTF16):
            raise NoRowError("encoding", "the file is UTF-16", "encoding: utf-16")
        return data.removeprefix(codecs.BOM_UTF8)
    if data.startswith(codecs.BOM_UTF8):
        if form.encoding not in (*_LATIN, "us-ascii"):
            raise NoRowError("encoding", f"the file begins as UTF-8, and not as {form.encoding}", "encoding: utf-8")
        data = data.removeprefix(codecs.BOM_UTF8)
    name = ENCODINGS[form.encoding]
    if name in ("utf-16", "utf-32") and not data.startswith((*_UTF16, codecs.BOM_UTF32_BE)):
        name += "-be"  # as Java has it
    try:
        decoded = data.decode(name)
    except UnicodeDecodeError as error:
        line = len(_LINE_END.findall(data[: error.start])) + 1
        text = f"line {line} is no {form.encoding}: {error.reason}"
        raise NoRowError("encoding", text, OTHER_ENCODING, line) from error
    if form.encoding in _LATIN and (control := _CONTROL.search(data)):
        line = len(_LINE_END.findall(data[: control.start()])) + 1
        text = f"line {line} has the byte 0x{control[0].hex()}, which is no letter in {form.encoding}"
        raise NoRowError("encoding", text, "encoding: windows-1252, in which it is one", line)
    return decoded.removeprefix("\ufeff").encode("utf-8", "surrogatepass")


def even_lines(text: bytes, *, multi_line: bool) -> bytes:
    """A text whose lines end alike; where values go over line ends, the first line says how lines end, as in Spark."""
    if b"\r" not in text:
        return text
    if not multi_line:
        return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    first = _LINE_END.search(text)
    assert first is not None, "there is one"
    return text if first.group() == b"\n" else text.replace(first.group(), b"\n")


@dataclass(frozen=True)
class CsvGrammar:
    """How records are written.

    Attributes:
        quoted: A value in quotes, with what may follow it up to the separator; its text is `body`.
        record: A whole record, up to its line end.
        plain: A whole text of which Arrow reads the same as Spark.
    """

    quoted: re.Pattern[bytes]
    record: re.Pattern[bytes]
    plain: re.Pattern[bytes]
    separator: bytes
    quote: bytes
    escape: bytes

    def canonical(self, record: bytes) -> bytes:
        """A record with its quotes doubled."""
        return self.quoted.sub(self._doubled, record) if self.quote and self.quote in record else record

    def _doubled(self, found: re.Match[bytes]) -> bytes:
        return self.quote + self.value(found).replace(self.quote, self.quote * 2) + self.quote

    def value(self, found: re.Match[bytes]) -> bytes:
        """The text of a value in quotes."""
        body = found["body"]
        if not self.escape or self.escape not in body:
            return body
        if self.escape == self.quote:
            return body.replace(self.quote * 2, self.quote)
        marks = re.escape(self.quote + self.escape)
        return re.sub(rb"%b([%b])" % (re.escape(self.escape), marks), rb"\1", body)

    def values(self, record: bytes) -> list[bytes]:
        """The values of a record that the grammar has."""
        found: list[bytes] = []
        at = 0
        while True:
            quoted = self.quoted.match(record, at)
            end = quoted.end() if quoted else record.find(self.separator, at)
            end = len(record) if end < 0 else end
            found.append(self.value(quoted) if quoted else record[at:end])
            if end >= len(record):
                return found
            at = end + 1


@lru_cache(maxsize=32)
def grammar(form: CsvForm, *, multi_line: bool) -> CsvGrammar:
    """How records of a form are written."""
    separator, quote, escape = (mark.encode() for mark in (form.separator, form.quote, form.escape))
    s, q, e = (re.escape(mark) for mark in (separator, quote, escape))
    ends = b"" if multi_line else rb"\n"
    blank = bytes(n for n in range(33) if n not in b"\n\r" + separator)
    behind = rb"[%b]*+(?=%b|\n|\Z)" % (re.escape(blank), s)
    if not quote:
        value = quoted = simple = _NEVER
        bare = rb"[^%b\n\r]*+" % s
    else:
        if not escape:
            body = rb"[^%b%b]++" % (q, ends)  # Spark makes a quote of quotes around nothing
        elif escape == quote:
            body = rb"[^%b%b]*+(?:%b%b[^%b%b]*+)*+" % (q, ends, q, q, q, ends)
        else:
            others = rb"[^%b%b%b]*+" % (q, e, ends)
            anything = rb"[^\n]" if ends else rb"(?s:.)"
            body = rb"%b(?:%b%b%b)*+" % (others, e, anything, others)
        quoted = rb"(?<![^%b\n])%b(?P<body>%b)%b%b" % (s, q, body, q, behind)
        value = rb"%b%b%b%b" % (q, body, q, behind)
        plain_body = rb"[^%b%b\r%b]%b+" % (q, e, ends, b"*" if escape else b"+")
        doubled = rb"(?:%b%b%b)*+" % (q, q, rb"[^%b\r%b]*+" % (q, ends)) if escape == quote else b""
        simple = rb"%b%b%b%b(?=%b|\n|\Z)" % (q, plain_body, doubled, q, s)
        bare = rb"(?:[^%b%b\n\r][^%b\n\r]*+)?+" % (q, s, s)
    record = rb"(?:%b|%b)(?:%b(?:%b|%b))*+(?=\n|\Z)" % (value, bare, s, value, bare)
    line = rb"(?:%b|%b)(?:%b(?:%b|%b))*+" % (simple, bare, s, simple, bare)
    plain = rb"(?:%b\n)*+(?:%b)?+" % (line, line)
    return CsvGrammar(re.compile(quoted), re.compile(record), re.compile(plain), separator, quote, escape)


def other_ends(text: bytes) -> dict[int, int]:
    """Line ends that are not as the first one of a text: place in the text with even lines → number of the line."""
    first = _LINE_END.search(text)
    if first is None or first.group() == b"\n":
        return {}
    found: dict[int, int] = {}
    shorter = 0
    for line, end in enumerate(_LINE_END.finditer(text), start=1):
        if end.group() == first.group():
            shorter += len(first.group()) - 1
        elif end.group() != b"\r":
            found[end.end() - 1 - shorter] = line
    return found


def is_plain(text: bytes, form: CsvForm, *, multi_line: bool) -> bool:
    """Whether Arrow reads the same of a text as Spark: it has no quotes, or only such as end where a value ends."""
    if form.comment or (multi_line and b"\r" in text) or (_takes_nul(form) and b"\0" in text):
        return False
    rules = grammar(form, multi_line=multi_line)
    return not rules.quote or rules.quote not in text or rules.plain.fullmatch(text) is not None


def first_record(text: bytes, form: CsvForm, *, multi_line: bool) -> tuple[bytes, int]:
    """The first record of a text with even lines and without comments, and where the text goes on behind it."""
    rules = grammar(form, multi_line=multi_line)
    at = 0
    while at < len(text):
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        if text[at:end].strip(b"" if multi_line else _BLANKS):
            found = rules.record.match(text, at)
            end = found.end() if found else end
            return text[at:end], end + 1
        at = end + 1
    return b"", len(text)


def records_of(data: bytes, form: CsvForm) -> tuple[Records, bool]:
    """The records of a text, and whether values of it go over line ends.

    A record that the grammar does not have is its first line alone, so that it takes no other row away. Where the
    form does not say whether values go over line ends, they do where a line alone is no record.

    Raises:
        NoRowError: values may go over line ends, and records end in two ways.
    """
    if form.lines_may_break is None:
        found, goes_on = _split(even_lines(data, multi_line=False), form, alone=grammar(form, multi_line=False))
        if not goes_on:
            return found, False
    multi_line = form.lines_may_break is not False
    others = other_ends(data) if multi_line and b"\r" in data else {}
    return _split(even_lines(data, multi_line=multi_line), form, others=others)[0], multi_line


def _split(
    text: bytes, form: CsvForm, alone: CsvGrammar | None = None, others: Mapping[int, int] = MappingProxyType({})
) -> tuple[Records, bool]:
    """The records; with `alone`, whether one goes over a line end, and then not all of them."""
    multi_line = form.lines_may_break is not False
    rules = grammar(form, multi_line=multi_line)
    comment = form.comment.encode() or None
    texts: list[bytes] = []
    lines: list[int] = []
    skips_blank = alone is not None or not multi_line
    at, line = 0, 1
    while at < len(text):
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        record = text[at:end]
        begins = line
        if rules.quote and rules.quote in record and not (comment and record.startswith(comment)):
            if alone is not None and not alone.record.fullmatch(record):
                if rules.record.match(text, at):
                    return Records([], []), True
            elif multi_line and (found := rules.record.match(text, at)):
                record = found.group()
        is_empty = not record.strip(_BLANKS) if skips_blank else not record
        if not is_empty and not (comment and record.startswith(comment)):
            texts.append(record)
            lines.append(begins)
        at += len(record) + 1
        if at - 1 in others:  # Spark takes some of them for line ends, and some for a part of the value
            text_of = f"line {others[at - 1]} ends in another way than the first one"
            hint = "let all lines end alike, or multi_line: false, if no value goes over line ends"
            raise NoRowError("malformed", text_of, hint, others[at - 1])
        line += record.count(b"\n") + 1
    header = texts[0] if form.header and texts else b""
    return Records(texts[1:], lines[1:], header) if form.header else Records(texts, lines), False


def canonical(records: Sequence[bytes], form: CsvForm, *, multi_line: bool, width: int) -> bytes:
    """Records as a text that Arrow reads as Spark reads them.

    Args:
        records: Each a row.
        form: How they are written.
        multi_line: Whether values go over line ends.
        width: How many values a row has.

    Raises:
        NoRowError: of one record alone: why it is none. Of several: one of them is none.
    """
    rules = grammar(form, multi_line=multi_line)
    return b"\n".join([*(_written(record, form, rules, width) for record in records), b""])


def canonical_apart(
    records: Sequence[bytes], form: CsvForm, *, multi_line: bool, width: int
) -> tuple[list[bytes], dict[int, NoRowError]]:
    """As `canonical`, each record alone: its text, empty where it is no row; and why each such number is none."""
    rules = grammar(form, multi_line=multi_line)
    texts: list[bytes] = []
    wrong: dict[int, NoRowError] = {}
    for number, record in enumerate(records):
        try:
            texts.append(_written(record, form, rules, width))
        except NoRowError as error:
            texts.append(b"")
            wrong[number] = error
    return texts, wrong


def _written(record: bytes, form: CsvForm, rules: CsvGrammar, width: int) -> bytes:
    if b"\0" in record and _takes_nul(form):
        text = "there is a character NUL, which Spark takes for a quote or an escape where there is none"
        raise NoRowError("malformed", text, "take the NUL out of the file")
    if not (rules.quote and rules.quote in record) and b"\r" not in record:
        return record
    if not rules.record.fullmatch(record):
        raise _why_not(record, form, rules)
    if form.lines_may_break is None and _LINE_END.search(record):
        _check_lines(record, form, width)
    return rules.canonical(record)


def _takes_nul(form: CsvForm) -> bool:
    return not (form.quote and form.escape)


def _why_not(record: bytes, form: CsvForm, rules: CsvGrammar) -> NoRowError:
    if not rules.quote:
        return NoRowError("malformed", "there is a carriage return within the line")
    at = 0
    while at <= len(record):
        if record[at : at + 1] == rules.quote and not rules.quoted.match(record, at):
            return _odd_quote(record, at, form, rules)
        found = rules.quoted.match(record, at)
        end = found.end() if found else record.find(rules.separator, at)
        if end < 0:
            break
        at = end + 1
    return NoRowError("malformed", "there is a carriage return within the line", "let all lines of the file end alike")


def _odd_quote(record: bytes, at: int, form: CsvForm, rules: CsvGrammar) -> NoRowError:
    behind, escaped = at + 1, False
    while behind < len(record):
        one = record[behind : behind + 1]
        if not escaped and one == rules.quote and rules.escape != rules.quote:
            break
        escaped = not escaped and one == rules.escape
        behind += 1
    quote = form.quote
    none = "quote: '', if quotes are characters like others"
    if behind >= len(record):
        hint = "" if form.lines_may_break is not False else "multi_line: true, if values have line ends; "
        return NoRowError("malformed", "a quote is not closed", f"mend the line; {hint}{none}")
    if record[behind + 1 : behind + 2] == rules.quote:
        hint = f'escape: "{quote}"' if quote == "'" else f"escape: '{quote}'"
        return NoRowError("malformed", f"{quote}{quote} within a value in quotes", f"{hint}, if quotes are doubled")
    if behind == at + 1:
        hint = f"escape: '\\', if no quote belongs to a value; {none}"
        return NoRowError("malformed", f"{quote}{quote} is no value without an escape", hint)
    return NoRowError("malformed", "text follows a closing quote", f"mend the line; {none}")


def _check_lines(record: bytes, form: CsvForm, width: int) -> None:
    """Refuse a record over line ends of which each line may be a row: Spark reads these by itself."""
    if all(_width_alone(line, form) in (width, None) for line in _LINE_END.split(record)):
        raise NoRowError(
            "malformed",
            "a quote is closed in a later line, and each line may be a row",
            "multi_line: true, if values go over line ends; false, if each line is a row",
        )


def _width_alone(line: bytes, form: CsvForm) -> int | None:
    """How many values a line has as Spark reads it alone; None: that is not known here."""
    rules = grammar(form, multi_line=False)
    at = count = 0
    while True:
        count += 1
        if line[at : at + 1] == rules.quote:
            found = rules.quoted.match(line, at)
            if not found:  # only a value that nothing closes is certain: it takes all that follows
                return count if rules.quote not in line[at + 1 :] else None
            end = found.end()
        else:
            end = line.find(rules.separator, at)
        if end < 0 or end >= len(line):
            return count
        at = end + 1
