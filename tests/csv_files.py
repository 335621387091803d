"""Random files of delimited text, with the options to read them here and in Spark."""

import random
from dataclasses import dataclass
from typing import Any

_TYPES = (
    "string",
    "string",
    "string",
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal(9,2)",
    "decimal(38,10)",
    "date",
    "timestamp",
    "timestamp_ntz",
)
_WORDS = ("NA", "N/A", "null", "NULL", "nan", "NaN", "None", "\\N", "-", "", "", "")
_TEXTS = (
    "a",
    "b c",
    " a ",
    "é",
    "ß€",
    "x=1",
    "0x1F",
    "#a",
    "a#",
    "'",
    "it's",
    "\\",
    "a\\b",
    "\\n",
    "\t",
    "007",
    "\u202e",
    "😀",
    "x\0y",
)
_QUOTED = ('say "hi"', '"', '""', "a,b", "a;b|c\td", " x ", "", "a\\", '\\"', "it's", "é,ü", "#", "a^b", '^"')
_RAW = (
    '"a" ',
    '"a"b',
    'a"b',
    '"a""b"',
    '"a',
    'a"',
    '""',
    '"" ',
    '"\\"',
    '"a\\\\"',
    '"a\\"b"',
    ' "a"',
    "'a''b'",
    '"a" "b"',
)
_BROKEN = ("x\ny", "\n", "a\n\nb", "1,2\n3,4", "a\r\nb", "a\rb", "a\n  \nb")
_VALUES = {
    "boolean": ("true", "false", "TRUE", "False", "tRuE", "t", "1", "0", "yes", " true"),
    "tinyint": ("0", "127", "128", "-128", "-129", "+5", "05", "1.0"),
    "smallint": ("0", "32767", "32768", "-32768", "-0"),
    "int": ("0", "2147483647", "2147483648", "-2147483648", "+1", "1e3", " 1", "1 ", "1_000", "0x10"),
    "bigint": ("0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1L"),
    "float": (
        "0",
        "1.5",
        "-0.0",
        "1e38",
        "1e39",
        "NaN",
        "Inf",
        "-Inf",
        "Infinity",
        "nan",
        "16777217",
        "1e-46",
        ".1",
        "1f",
    ),
    "double": (
        "0",
        "1.5",
        "-0.0",
        "1e308",
        "1e400",
        "NaN",
        "Inf",
        "-Infinity",
        "inf",
        "5.",
        " 2.5 ",
        "1,5",
        "0.1",
        "1d",
    ),
    "decimal(9,2)": ("0", "1.5", "1234567.89", "12345678.9", "1.005", "1e3", "-.5", "+2", "1.500", "9999999.999"),
    "decimal(38,10)": (
        "0",
        "1.5",
        "9999999999999999999999999999.9999999999",
        "1e-10",
        "1e27",
        "1e28",
        "-0.00000000001",
    ),
    "date": (
        "2020-01-02",
        "2020-1-2",
        "0001-01-01",
        "9999-12-31",
        "10000-01-01",
        "0000-12-31",
        "1582-10-10",
        "2020-02-30",
        "2020-01-02 ",
        "2020-01-02T00:00:00",
        "2020-01-02 10:00:00",
        "1900-02-28",
        "2020",
    ),
    "timestamp": (
        "2020-01-02",
        "2020-01-02 03:04:05",
        "2020-01-02T03:04:05.678Z",
        "2020-01-02 03:04:05.123456789",
        "2020-01-02T03:04:05+05:30",
        "2020-01-02T03:04:05 -0800",
        "2020-1-2 3:4:5",
        "2020-01-02 03:04",
        "2020-01-02 03:04:05 UTC",
        "0001-01-01 00:00:00",
        "9999-12-31 23:59:59.999999",
        "0001-01-01 00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "294247-01-10 04:00:54.775807",
        "1900-01-01 00:00:00",
        "1969-12-31 23:59:59.999999",
        "2020-01-02T24:00:00",
        "12:30:00",
        "2020-01-02T03:04Z",
    ),
    "timestamp_ntz": (
        "2020-01-02",
        "2020-01-02 03:04:05",
        "0001-01-01 00:00:00",
        "9999-12-31 23:59:59.999999",
        "2020-01-02T03:04:05Z",
        "2020-01-02 03:04:05.5",
        "0000-01-01 00:00:00",
    ),
}
_FORMATS = {
    "date": {
        "dd.MM.yyyy": ("02.01.2020", "2.1.2020", "31.12.9999", "01.01.0001", "30.02.2020", "2020-01-02"),
        "M/d/yyyy": ("1/2/2020", "01/02/2020", "12/31/1999", "13/1/2020", "1/2/20"),
        "yyyyMMdd": ("20200102", "00010101", "99991231", "2020012"),
        "dd-MMM-yyyy": ("02-Jan-2020", "02-dec-1999", "02-Foo-1999", "31-FEB-2020"),
        "MM/dd/yy": ("01/02/20", "12/31/99", "01/02/2020"),
    },
    "timestamp": {
        "dd.MM.yyyy HH:mm": ("02.01.2020 03:04", "02.01.2020 3:04", "31.12.9999 23:59", "01.01.0001 00:00"),
        "M/d/yyyy h:mm a": ("1/2/2020 3:04 PM", "01/02/2020 12:00 am", "1/2/2020 13:00 AM", "1/2/2020 0:30 AM"),
        "yyyy-MM-dd'T'HH:mm:ss.SSSXXX": (
            "2020-01-02T03:04:05.678Z",
            "2020-01-02T03:04:05.6+01:00",
            "2020-01-02T03:04:05Z",
        ),
        "yyyy-MM-dd HH:mm:ss[.SSSSSS]": ("2020-01-02 03:04:05", "2020-01-02 03:04:05.1", "2020-01-02 03:04:05.1234567"),
        "yyyyMMddHHmmss": ("20200102030405", "20201302030405", "2020010203040"),
    },
}
_GOOD = 6
"""Values of a type that fit it come first: most files take only these."""


@dataclass(frozen=True)
class RandomCsv:
    """One file.

    Attributes:
        data: Its bytes.
        options: Of the source `files`, with the columns to read.
        spark: Options of Spark's reader that mean the same.
        schema: Name and type of each column of the file, in its order.
    """

    data: bytes
    options: dict[str, Any]
    spark: dict[str, Any]
    schema: tuple[tuple[str, str], ...]


def random_csv(chance: random.Random) -> RandomCsv:
    """One file; about half of them can be read."""
    some = chance.random
    separator = chance.choice((",", ",", ",", ";", "\t", "|"))
    quote = chance.choice(('"', '"', '"', '"', "'", ""))
    escape = chance.choice(("\\", "\\", "\\", '"', quote, quote, "", "^"))
    encoding = chance.choice(("utf-8",) * 6 + ("iso-8859-1", "utf-16", "utf-16le"))
    comment = chance.choice(("",) * 5 + ("#",))
    null_value = chance.choice(("",) * 5 + ("NA", "null", "-"))
    header = some() < 0.9
    multi_line = chance.choice((None, None, None, True, False)) if encoding[:6] != "utf-16" else None
    end = chance.choice(("\n", "\n", "\n", "\r\n", "\r\n", "\r"))
    wild, calm = some() < 0.25, some() < 0.6
    goes_on = some() < 0.25 and bool(quote)
    formats = {kind: chance.choice(tuple(_FORMATS[kind])) if some() < 0.3 else None for kind in _FORMATS}
    schema = tuple((_name(chance, place), chance.choice(_TYPES)) for place in range(chance.randint(1, 6)))

    def quoted(text: str) -> str:
        if not quote:
            return text
        for mark in dict.fromkeys((escape, quote)):
            text = text.replace(mark, (escape or "") + mark) if mark and (mark == quote or escape == "\\") else text
        return quote + text + quote

    def value(type_: str) -> str:
        if some() < 0.03 and not calm:
            return chance.choice(_WORDS)
        if some() < 0.1:
            return chance.choice(("", quote * 2, null_value))
        if type_ == "string":
            if wild and some() < 0.1:
                return chance.choice(_RAW)
            if goes_on and some() < 0.2:
                return quoted(chance.choice(_BROKEN))
            text = chance.choice((*_WORDS, *_TEXTS))
            safe = not any(mark and mark in text for mark in (separator, quote, "\n"))
            return text if safe and some() < 0.6 else quoted(chance.choice((text, *_QUOTED)))
        written = formats.get(type_)
        pool = _VALUES[type_] if written is None else _FORMATS[type_][written]
        text = chance.choice(pool[: 2 if written else _GOOD] if calm or some() < 0.8 else pool)
        if calm and type_ != "string":
            text = pool[chance.randrange(2)]
        return quoted(text) if some() < 0.2 or separator in text else text

    lines = [separator.join(quoted(name) if some() < 0.2 else name for name, _ in schema)] if header else []
    for _ in range(chance.choice((0, 1, 3, 8, 20))):
        row = [value(type_) for _, type_ in schema]
        if some() < 0.02:
            row = [*row, "x"] if some() < 0.5 else row[:-1]
        lines.append(separator.join(row))
        if some() < 0.04:
            lines.append(chance.choice(("", "  ", "\t", separator * (len(schema) - 1), "# x", "#")))
    if some() < 0.02:  # several blocks of a reader
        lines += lines[-1:] * (1_500_000 // (len(lines[-1]) + 1))
    ends = [chance.choice(("\n", "\r\n", "\r")) if some() < 0.05 and wild else end for _ in lines]
    if some() < 0.3 and ends:
        ends[-1] = ""
    text = "".join(line + one for line, one in zip(lines, ends, strict=True))
    bom = encoding in ("utf-8", "utf-16le") and some() < 0.15
    data = ("\ufeff" * bom + text).encode("latin-1" if encoding == "iso-8859-1" else encoding, "replace")
    if encoding == "utf-8" and some() < 0.02 and len(data) > 10:
        data = data[:-3] + b"\xe9" + data[-3:]

    options: dict[str, Any] = {"separator": separator, "quote": quote, "escape": escape, "encoding": encoding}
    options |= {"comment": comment, "null_value": null_value, "header": header, "multi_line": multi_line}
    options |= {"date_format": formats["date"], "timestamp_format": formats["timestamp"]}
    columns = [(_other_case(chance, name), type_) for name, type_ in schema]
    if header:
        chance.shuffle(columns)
        columns = columns[: chance.randint(1, len(columns))] if some() < 0.2 else columns
    read = {name.lower() for name, _ in columns}
    spark = {"sep": separator, "quote": quote, "escape": escape, "encoding": encoding, "header": header}
    spark |= {"comment": comment, "nullValue": null_value, "multiLine": bool(multi_line) or encoding[:6] == "utf-16"}
    spark |= {"dateFormat": formats["date"], "timestampFormat": formats["timestamp"]}
    return RandomCsv(
        data,
        {k: v for k, v in options.items() if v is not None} | {"columns": dict(columns)},
        {k: v for k, v in spark.items() if v is not None and (v != "" or k != "comment")},
        tuple((name, type_ if name.lower() in read else "string") for name, type_ in schema),
    )


def _name(chance: random.Random, place: int) -> str:
    return chance.choice((f"c{place}", f"Col {place}", f"c_{place}", f"é{place}"))


def _other_case(chance: random.Random, name: str) -> str:
    return chance.choice((name, name, name.upper()))
