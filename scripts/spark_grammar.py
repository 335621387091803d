"""Takes the grammar of queries out of Spark's jar, as the automaton that `streamhouse.sql.dialect.spark_grammar` runs.

Run it when pyspark has a new version; the file it writes is committed, and a unit test compares it with the jar.
ANTLR keeps the automaton of a parser (ATN, format 4) in a string constant of the parser's class.
"""

import json
import struct
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

OUT = Path(__file__).parents[1] / "plugins" / "streamhouse" / "sql" / "dialect" / "spark_grammar.json"
PACKAGE = "org/apache/spark/sql/catalyst/parser/"
ROOTS = ("query", "expression")
_POOL_BYTES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
_TRUE_BY_DEFAULT = frozenset({"parameter_substitution_enabled"})  # of the parser's settings; all others are off
_RULE_STOP, _LOOP_END, _BLOCK_STARTS = 7, 12, (3, 4, 5)
_EPSILON, _RANGE, _RULE, _PREDICATE, _ATOM, _ACTION, _SET, _NOT_SET, _WILDCARD, _PRECEDENCE = range(1, 11)


class ClassFile:
    """String constants and methods of one Java class."""

    def __init__(self, data: bytes) -> None:
        self._data, self._pool, self._at = data, [(0, b"")], 10
        self._read_pool(self._u2(8))
        self._at += 6
        self._at += 2 + 2 * self._u2(self._at)
        self.fields, self.methods = self._members(), self._members()

    def _u2(self, at: int) -> int:
        return int(struct.unpack_from(">H", self._data, at)[0])

    def _read_pool(self, size: int) -> None:
        while len(self._pool) < size:
            tag = self._data[self._at]
            start = self._at + 3 if tag == 1 else self._at + 1
            length = self._u2(self._at + 1) if tag == 1 else _POOL_BYTES[tag]
            self._pool += [(tag, self._data[start : start + length])] * (2 if tag in (5, 6) else 1)
            self._at = start + length

    def _members(self) -> dict[str, dict[str, bytes]]:
        found, number = {}, self._u2(self._at)
        self._at += 2
        for _ in range(number):
            name, count = self._u2(self._at + 2), self._u2(self._at + 6)
            self._at += 8
            attributes = {}
            for _ in range(count):
                length = struct.unpack_from(">I", self._data, self._at + 2)[0]
                attributes[self._text(self._u2(self._at))] = self._data[self._at + 6 : self._at + 6 + length]
                self._at += 6 + length
            found[self._text(name)] = attributes
        return found

    def _text(self, index: int) -> str:
        return self._pool[index][1].decode()

    def _referred(self, index: int, at: int = 0) -> int:
        return int(struct.unpack_from(">H", self._pool[index][1], at)[0])

    def constant(self, field: str) -> list[int]:
        """The characters of a string constant, as numbers."""
        text = self._pool[self._referred(struct.unpack(">H", self.fields[field]["ConstantValue"])[0])][1]
        found, at = [], 0
        while at < len(text):
            width = 1 if text[at] < 0x80 else 2 if text[at] >> 5 == 6 else 3
            value = text[at] & (0x7F, 0x1F, 0x0F)[width - 1]
            for follow in text[at + 1 : at + width]:
                value = value << 6 | follow & 63
            found.append(value)
            at += width
        return found

    def code(self, method: str) -> bytes:
        """The instructions of a method."""
        body = self.methods[method]["Code"]
        return body[8 : 8 + struct.unpack_from(">I", body, 4)[0]]

    def names(self, method: str) -> dict[int, str]:
        """What a method puts into an array of strings, by place."""
        code, at, place = self.code(method), 0, 0
        found: dict[int, str] = {}
        while at < len(code):
            op = code[at]
            if op in (0x12, 0x13):  # ldc
                index = code[at + 1] if op == 0x12 else code[at + 1] << 8 | code[at + 2]
                found[place] = self._text(self._referred(index))
            elif op in (0x10, 0x11):  # bipush, sipush
                place = code[at + 1] if op == 0x10 else code[at + 1] << 8 | code[at + 2]
            elif 3 <= op <= 8:  # iconst
                place = op - 3
            at += {0x12: 2, 0x13: 3, 0x10: 2, 0x11: 3, 0xBD: 3}.get(op, 1)
        return found

    def predicates(self, rule: str) -> dict[int, bool]:
        """Number of a condition on settings → whether it is met by default."""
        code, found = self.code(f"{rule}_sempred"), {}
        at = 4  # behind `iload_2` and the switch, padded to four bytes
        if code[1] == 0xAA:
            low, high = struct.unpack_from(">ii", code, at + 4)
            cases = {low + n: struct.unpack_from(">i", code, at + 12 + 4 * n)[0] for n in range(high - low + 1)}
        else:
            pairs = struct.unpack_from(">i", code, at + 4)[0]
            cases = dict(struct.unpack_from(">ii", code, at + 8 + 8 * n) for n in range(pairs))
        for number, jump in cases.items():
            body = code[1 + jump :]
            if body[4] in (0x9A, 0xAC):  # of one setting: `ifne` tells that it is denied
                setting = self._text(self._referred(self._referred(body[2] << 8 | body[3], 2)))
                found[number] = (setting in _TRUE_BY_DEFAULT) != (body[4] == 0x9A)
        return found


class Automaton:
    """States, and the edges between them."""

    def __init__(self, words: list[int]) -> None:
        self._words = words
        self._at = 0
        format_, self.kind, _ = self._next(), self._next(), self._next()
        if format_ != 4:
            raise SystemExit(f"this automaton has format {format_}; the script reads 4")
        self.stops: set[int] = set()
        self.rule_of: list[int] = []
        for state in range(self._next()):
            type_ = self._next()
            self.rule_of.append(self._next() if type_ else -1)
            if type_ == _RULE_STOP:
                self.stops.add(state)
            elif type_ in (*_BLOCK_STARTS, _LOOP_END):
                self._next()
        for _ in range(2):  # non-greedy and precedence states
            self._many()
        self.starts: list[int] = []
        self.types: list[int] = []
        for _ in range(self._next()):
            self.starts.append(self._next())
            if self.kind == 0:
                self.types.append(self._next())
        self._many()  # modes
        self.sets = [self._set() for _ in range(self._next())]
        self.edges: dict[int, list[tuple[int, int, int, int, int]]] = {}
        for _ in range(self._next()):
            source, target, type_, *given = (self._next() for _ in range(6))
            self.edges.setdefault(source, []).append((type_, target, given[0], given[1], given[2]))

    def _next(self) -> int:
        value = self._words[self._at]
        self._at += 1
        if value & 0x8000:
            low = self._words[self._at]
            self._at += 1
            return -1 if value == low == 0xFFFF else (value & 0x7FFF) << 16 | low
        return value

    def _many(self) -> list[int]:
        return [self._next() for _ in range(self._next())]

    def _set(self) -> list[int]:
        number, with_end = self._next(), self._next()
        found = [-1] if with_end else []
        for _ in range(number):
            low, high = self._next(), self._next()
            found += range(low, min(high, 0xFFFF) + 1)
        return found


def spellings(lexer: Automaton, state: int, text: str = "") -> Iterator[str]:
    """Every text that a rule of a lexer reads, if it reads only fixed ones."""
    if state in lexer.stops:
        yield text
    for type_, target, first, *_ in lexer.edges.get(state, []):
        if type_ == _ATOM:
            yield from spellings(lexer, target, text + chr(first))
        elif type_ in (_EPSILON, _ACTION, _PREDICATE):
            yield from spellings(lexer, target, text)
        else:
            raise ValueError("this rule reads any of a set of characters")


def class_in(jar: Path, name: str) -> ClassFile:
    """One class of the parser's package."""
    with zipfile.ZipFile(jar) as archive:
        return ClassFile(archive.read(f"{PACKAGE}{name}.class"))


def automaton_of(file: ClassFile) -> Automaton:
    """The automaton that a class of ANTLR holds."""
    parts = sorted(name for name in file.fields if name.startswith("_serializedATNSegment"))
    return Automaton([word for name in parts for word in file.constant(name)])


def grammar() -> dict[str, Any]:
    """What the file holds."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    jar = next((Path(spec.origin).parent / "jars").glob("spark-sql-api_*.jar"))
    parser, lexer = class_in(jar, "SqlBaseParser"), class_in(jar, "SqlBaseLexer")
    names = parser.names("makeRuleNames")
    kinds = {name: number for number, name in parser.names("makeSymbolicNames").items()}
    words: dict[str, int] = {}
    letters = automaton_of(lexer)
    for start, kind in zip(letters.starts, letters.types, strict=True):
        try:
            texts = list(spellings(letters, start))
        except (ValueError, RecursionError):
            continue
        words.update(dict.fromkeys(texts, kind))
    used = set(words.values())
    made = states(automaton_of(parser), parser, names)
    qualify = words["QUALIFY"] = max(kinds.values()) + 1
    add_qualify(made, qualify, kinds["IDENTIFIER"])
    return {
        "spark": version("pyspark"),
        "words": dict(sorted(words.items())),
        "kinds": {name: number for name, number in sorted(kinds.items()) if number not in used},
        **{key: value for key, value in made.items() if key != "rules"},
    }


def add_qualify(made: dict[str, Any], kind: int, name: int) -> None:
    """Let QUALIFY and a condition stand where HAVING may have stood; the word stays a name as well."""
    sets, found = made["sets"], made["states"]
    for kinds in sets:
        if name in kinds:
            kinds.append(kind)
    sets.append([kind])
    having, condition = (made["rules"][rule] for rule in ("havingClause", "booleanExpression"))
    for state in list(found):
        for how, behind, *given in state if state != "stop" else []:
            if how == "call" and given[0] == having:
                end = found[behind][0][1]  # of `havingClause?`, also where it is not there
                found[end].append(["read", len(found), len(sets) - 1])
                found.append([["call", end, condition, 0]])


def states(atn: Automaton, parser: ClassFile, names: dict[int, str]) -> dict[str, Any]:
    """The states that can be reached from the roots, numbered anew."""
    known = {rule: parser.predicates(name) for rule, name in names.items() if f"{name}_sempred" in parser.methods}
    numbers: dict[int, int] = {}
    sets: dict[tuple[int, ...], int] = {}
    roots = [atn.starts[rule] for rule, name in sorted(names.items()) if name in ROOTS]
    waiting, found = list(roots), []
    for state in roots:
        numbers[state] = len(numbers)

    def number(state: int) -> int:
        if state not in numbers:
            numbers[state] = len(numbers)
            waiting.append(state)
        return numbers[state]

    while waiting:
        state, edges = waiting.pop(0), list[list[Any]]()
        for type_, target, *given in atn.edges.get(state, []):
            if type_ == _RULE:
                edges.append(["call", number(target), number(given[0]), given[2]])
            elif type_ == _PRECEDENCE:
                edges.append(["least", number(target), given[0]])
            elif type_ in (_EPSILON, _ACTION):
                edges.append(["pass", number(target)])
            elif type_ == _PREDICATE:
                if known[given[0]][given[1]]:
                    edges.append(["pass", number(target)])
            elif type_ in (_ATOM, _SET, _RANGE):
                kinds = [given[0]] if type_ == _ATOM else atn.sets[given[0]]
                kinds = list(range(given[0], given[1] + 1)) if type_ == _RANGE else kinds
                edges.append(["read", number(target), sets.setdefault(tuple(kinds), len(sets))])
            else:
                raise SystemExit(f"the parser has an edge of type {type_}")
        found.append("stop" if state in atn.stops else edges)
    start = {name: numbers[atn.starts[rule]] for rule, name in names.items() if name in ROOTS}
    rules = {names[rule]: numbers[state] for rule, state in enumerate(atn.starts) if state in numbers}
    return {"starts": start, "sets": [list(kinds) for kinds in sets], "states": found, "rules": rules}


def text() -> str:
    """The content of the file: one line for each state."""
    lines = [f'"{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in grammar().items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    OUT.write_text(text(), encoding="utf-8")
    sys.stdout.write(f"{OUT.relative_to(Path.cwd())}: {OUT.stat().st_size:,} bytes\n")
