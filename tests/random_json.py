"""Random files of JSON lines: nested types, values at the edges of their types, and forms that people write."""

import json
import random
from collections.abc import Callable

SCALARS = (
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "boolean",
    "string",
    "binary",
    "date",
    "timestamp",
    "timestamp_ntz",
    "decimal(10,2)",
    "decimal(20,2)",
    "decimal(38,18)",
)
INTEGERS = (
    "0",
    "-0",
    "1",
    "-1",
    "127",
    "-128",
    "128",
    "200",
    "32767",
    "32768",
    "2147483647",
    "-2147483648",
    "2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "9007199254740993",
    "123456789012345678901234567890",
)
FRACTIONS = (
    "0.0",
    "-0.0",
    "1.5",
    "1.50",
    "0.1",
    "1e3",
    "1E-2",
    "1.005",
    "-2.675",
    "123456789012345678.91",
    "1e400",
    "3.4028236e38",
    "1.00000017881393432617187501",
    "16777217.0",
    "1e-400",
    "99999999.99",
    "1e-19",
)
WORDS = (
    "NaN",
    "Infinity",
    "-Infinity",
    "+Infinity",
    "INF",
    "-INF",
    "+INF",
    "nan",
    "true",
    "false",
    "True",
    "null",
    "01",
    "+1",
    ".5",
    "1.",
    "0x10",
    "nope",
)
TEXTS = (
    "",
    "a",
    "NA",
    "null",
    "NULL",
    "N/A",
    " x ",
    "é",
    "日本",
    "😀",
    'say "hi"',
    "it's",
    "back\\slash",
    "tab\there",
    "line\nend",
    "\u2028",
    "\x7f",
    "NaN",
    "Infinity",
    "-INF",
    "1",
    "1.5",
    "true",
    "1,234.5",
    "aGk=",
    "aGk",
    "00",
)
DAYS = (
    "2020-01-02",
    "2020-1-2",
    "2020-02-30",
    "2020",
    "2020-01",
    "0001-01-01",
    "1582-10-10",
    "9999-12-31",
    " 2020-01-02 ",
    "2020-01-02T00:00:00Z",
    "2020-01-02 10:00:00",
    "20200102",
    "-5",
    "02.01.2020",
)
TIMES = (
    "2020-01-02T10:05:06Z",
    "2020-01-02 10:05:06",
    "2020-01-02T10:05:06.123456789Z",
    "2020-01-02T10:05",
    "2020-01-02T10:05Z",
    "2020-01-02T10:05:06+01:00",
    "2020-01-02T10:05:06 +0530",
    "2020-01-02T10:05:06-18:00",
    "2020-01-02T10:05:06+18:01",
    "2020-01-02T10:05:06 UTC",
    "2020-01-02T10:05:06 Europe/Paris",
    "10:05:06",
    "2020-01-02T24:00:00",
    "2020-01-02T23:59:60",
    "1969-12-31T23:59:59.9999999",
    "0001-01-01T00:00:00",
    "9999-12-31T23:59:59.999999Z",
    "1582-10-10T12:00:00",
    "2020-1-2 1:2:3",
    "2020-01-02T10:05:06.",
)
_BOUNDS = {
    "tinyint": ("0", "127", "-128"),
    "smallint": ("0", "32767", "-32768"),
    "int": ("1", "2147483647", "-2147483648"),
    "bigint": ("-0", "9223372036854775807", "9007199254740993"),
}


class JsonFile:
    """One random file.

    Args:
        chance: What it is drawn with.
        mess: How many of the values are of another kind than their type.
    """

    def __init__(self, chance: random.Random, mess: float) -> None:
        self._chance = chance
        self._mess = mess
        self.columns = {
            name: self._type(2) for name in chance.sample(("a", "b c", "x.y", "É", "D"), chance.randint(1, 4))
        }
        self.data = self._file()

    def _type(self, levels: int) -> str:
        kind = self._chance.random()
        if levels and kind < 0.12:
            return f"array<{self._type(levels - 1)}>"
        if levels and kind < 0.24:
            return f"struct<p:{self._type(levels - 1)},Q:{self._type(levels - 1)}>"
        if levels and kind < 0.34:
            return f"map<string,{self._type(levels - 1)}>"
        return self._chance.choice(SCALARS)

    def _file(self) -> bytes:
        rows = [self._row() for _ in range(self._chance.randint(1, 8))]
        if self._chance.random() < self._mess:
            rows.insert(
                self._chance.randrange(len(rows)), self._chance.choice(("", "  ", "null", "[]", "1", "{}", "\t"))
            )
        text = self._chance.choice(("\n", "\n", "\n", "\r\n", "\r")).join(rows) + self._chance.choice(("\n", ""))
        mark = self._chance.random() < 0.1
        other = self._chance.random() < 0.1 * self._mess
        return text.encode(
            self._chance.choice(("latin-1", "utf-16-le", "utf-16")) if other else "utf-8-sig" if mark else "utf-8",
            "replace",
        )

    def _row(self) -> str:
        fields = [(name, self._value(kind)) for name, kind in self.columns.items() if self._chance.random() < 0.9]
        if self._chance.random() < 0.3:
            fields.append(("other", self._value(self._type(2))))
        if fields and self._chance.random() < 0.05:
            fields.append((fields[0][0], self._value(self.columns.get(fields[0][0], "int"))))
        self._chance.shuffle(fields)
        text = self._object(fields)
        return text + (self._chance.choice((" ", "}", " x", "{}")) if self._chance.random() < 0.05 * self._mess else "")

    def _object(self, fields: list[tuple[str, str]]) -> str:
        blank = self._chance.choice(("", "", " "))
        return (
            "{" + f",{blank}".join(f"{self._text(name)}{blank}:{blank}{value}" for name, value in fields) + blank + "}"
        )

    def _text(self, text: str) -> str:
        if self._chance.random() < 0.05 * self._mess and "'" not in text:
            return f"'{text}'"
        written = json.dumps(text, ensure_ascii=self._chance.random() < 0.5)
        return written.replace("\\t", "\t") if self._chance.random() < 0.05 * self._mess else written

    def _value(self, kind: str) -> str:
        if self._chance.random() < 0.1:
            return "null"
        if self._chance.random() < 0.1 * self._mess:
            kind = self._type(1)
        if kind.startswith("array<"):
            return f"[{', '.join(self._value(kind[6:-1]) for _ in range(self._chance.randrange(3)))}]"
        if kind.startswith("map<"):
            names = self._chance.sample(("k", "", "K", "é", "a.b"), self._chance.randrange(3))
            return self._object([(name, self._value(kind[11:-1])) for name in names])
        if kind.startswith("struct<"):
            p, q = _parts(kind)
            return self._object([(n, self._value(t)) for n, t in (("p", p), ("Q", q)) if self._chance.random() < 0.8])
        return self._scalar(kind)

    def _scalar(self, kind: str) -> str:
        pick = self._chance.choice
        if self._chance.random() < 0.05 * self._mess:
            return pick((pick(INTEGERS), pick(FRACTIONS), pick(WORDS), self._text(pick(TEXTS)), '"\\ud83d"', '"\\x"'))
        makers: dict[str, Callable[[], str]] = {
            "boolean": lambda: pick(("true", "false")),
            "float": lambda: pick((*FRACTIONS, *INTEGERS, *WORDS[:4], '"NaN"')),
            "double": lambda: pick(
                (*FRACTIONS, *INTEGERS, *WORDS[:4], '"-INF"', repr(self._chance.uniform(-1e9, 1e9)))
            ),
            "string": lambda: self._text(pick(TEXTS)),
            "binary": lambda: pick(('"aGk="', '""', '"AAECAw=="')),
            "date": lambda: self._text(
                pick(DAYS) if self._messy() else f"20{self._chance.randint(10, 99)}-03-{self._chance.randint(10, 30)}"
            ),
            "timestamp": lambda: (
                self._text(pick(TIMES))
                if self._messy()
                else pick((f'"{TIMES[0]}"', f'"{TIMES[1]}"', "1577936706", "-1"))
            ),
            "timestamp_ntz": lambda: self._text(pick(TIMES)) if self._messy() else f'"{TIMES[1]}"',
        }
        if kind in makers:
            return makers[kind]()
        if kind in _BOUNDS:
            return pick(INTEGERS) if self._messy() else pick(_BOUNDS[kind])
        return (
            pick((*INTEGERS, *FRACTIONS, '"1.50"', '"1,234.5"'))
            if self._messy()
            else pick(("0", "1.5", "-2.25", '"7"', "12345678.91"))
        )

    def _messy(self) -> bool:
        return self._chance.random() < 0.2 * self._mess


def _parts(kind: str) -> tuple[str, str]:
    """The types of `p` and `Q` of a struct."""
    depth = 0
    for at, character in enumerate(kind[len("struct<p:") :]):
        depth += (character in "<(") - (character in ">)")
        if character == "," and not depth:
            cut = len("struct<p:") + at
            return kind[len("struct<p:") : cut], kind[cut + len(",Q:") : -1]
    raise AssertionError(kind)
