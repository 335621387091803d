"""Which texts are known to be words: of letters of ASCII, digits, `-` and `_`, with bounds for their length; pure.

What is not known to be one is none. NULL is left out of account: it is no text.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.schema import CheckedQuery
from streamhouse.sql.scopes import selects_of
from streamhouse.sql.spark_type import STRING

_LETTERS = re.compile(r"[A-Za-z0-9_-]*")
_PRINTED = {"boolean": (4, 5), "tinyint": (1, 4), "smallint": (1, 6), "int": (1, 11), "bigint": (1, 20)}
"""Type → the fewest and the most letters that Spark prints a value of it with."""
_DAY = 10  # letters of 2026-11-21
_MD5, _SHA1 = 32, 40
_SHA2 = {"0": 64, "224": 56, "256": 64, "384": 96, "512": 128}
_HEX = 16  # digits of a bigint
_FIELD = re.compile(r"yyyy|yy|M{1,2}|d{1,2}|D{1,3}|H{1,2}|h{1,2}|k{1,2}|K{1,2}|m{1,2}|s{1,2}|S{1,9}|_+|-+")
"""What a pattern of `date_format` may have so that only digits, `-` and `_` come of it."""
_LONGEST_FIELD = 4
_OTHERS = {"[^A-Za-z0-9_-]", "[^a-zA-Z0-9_-]", "[^A-Za-z0-9-]", "[^a-zA-Z0-9-]", "[^A-Za-z0-9]", "[^a-zA-Z0-9]"}
"""Patterns that match every letter that a word cannot have."""
_MANY = 2**31
_CHOOSING = (exp.Coalesce, exp.Min, exp.Max, exp.First, exp.Last, exp.AnyValue, exp.FirstValue, exp.LastValue)


@dataclass(frozen=True)
class WordBounds:
    """Of texts that are words: the fewest and the most letters, and the most `_` at the beginning."""

    fewest: int
    most: int | None
    underscores: int

    @classmethod
    def of(cls, text: str) -> "WordBounds | None":
        """Those of one text."""
        return cls(len(text), len(text), len(text) - len(text.lstrip("_"))) if _LETTERS.fullmatch(text) else None

    def then(self, other: "WordBounds") -> "WordBounds":
        """Those of the two texts one after the other."""
        most = None if self.most is None or other.most is None else self.most + other.most
        # Behind a text that may be of nothing but `_`, more of them may follow.
        ends = self.fewest > self.underscores
        return WordBounds(self.fewest + other.fewest, most, self.underscores + (0 if ends else other.underscores))

    def either(self, other: "WordBounds") -> "WordBounds":
        """Those of either text."""
        most = None if self.most is None or other.most is None else max(self.most, other.most)
        return WordBounds(min(self.fewest, other.fewest), most, max(self.underscores, other.underscores))

    def cut(self, length: int) -> "WordBounds":
        """Those of the first letters."""
        most = length if self.most is None else min(self.most, length)
        return WordBounds(min(self.fewest, length), most, min(self.underscores, length))


Bounds = WordBounds | None
"""None: it is not known that the texts are words."""


def bounds_of(query: CheckedQuery, name: str, known: Mapping[tuple[str, str], WordBounds]) -> Bounds:
    """The bounds of an output column.

    Args:
        query: Checked.
        name: The output column, in lower case.
        known: `(port, column)`, both in lower case → the bounds of its texts.
    """
    return _BoundsReader(query, known).output(query.scope, name)


def listed_texts(conditions: Iterable[exp.Expr | None], column: exp.Column) -> Bounds:
    """The bounds of a column that all of some conditions allow only some texts for, as in `c IN ('a', 'b')`.

    Args:
        conditions: Each is met by every row.
        column: As the conditions name it.
    """
    parts = (part for one in conditions if one is not None for part in _conjuncts(one))
    for part in parts:
        if isinstance(part, exp.In):
            tested, texts = part.this, part.expressions
        elif isinstance(part, exp.EQ):
            tested, *texts = sorted((part.this, part.expression), key=lambda side: not isinstance(side, exp.Column))
        else:
            continue
        same = isinstance(tested, exp.Column) and _name(tested) == _name(column)
        if same and texts and all(isinstance(text, exp.Literal) and text.is_string for text in texts):
            return _either(WordBounds.of(text.name) for text in texts)
    return None


class _BoundsReader:
    def __init__(self, query: CheckedQuery, known: Mapping[tuple[str, str], WordBounds]) -> None:
        self._types = query.inference
        self._known = known

    def output(self, scope: Scope, name: str) -> Bounds:
        items = selects_of(scope)
        place = next((at for at, item in enumerate(items) if item.alias_or_name.lower() == name.lower()), None)
        if place is None:
            return None
        if isinstance(scope.expression, exp.SetOperation):
            arms = scope.set_operation_scopes
            return _either(self.output(arm, selects_of(arm)[place].alias_or_name) for arm in arms)
        return self.of(items[place].unalias(), scope)

    def of(self, node: exp.Expr, scope: Scope) -> Bounds:
        """Of an expression whose value counts as text."""
        if isinstance(node, exp.Null):
            return WordBounds(1, 1, 0)  # beside other texts it adds none
        if isinstance(node, exp.Literal):
            return WordBounds.of(node.name) if node.is_string else self._printed(node, scope)
        if isinstance(node, exp.Paren):
            return self.of(node.this, scope)
        type_ = self._types.type_of(node, scope)
        if type_ is None or type_ != STRING:
            return self._printed(node, scope)
        if isinstance(node, exp.Column):
            return self._column(node, scope)
        if isinstance(node, exp.Cast):  # TRY_CAST among them: where it fails it is NULL
            return self.of(node.this, scope)
        if isinstance(node, _CHOOSING):
            return _either(self.of(part, scope) for part in (node.this, *node.expressions))
        if isinstance(node, exp.Case):
            branches = [branch.args["true"] for branch in node.args["ifs"]] + [node.args.get("default")]
            return _either(self.of(part, scope) for part in branches if part is not None)
        if isinstance(node, exp.Nullif):
            return self.of(node.this, scope)
        if isinstance(node, exp.DPipe):
            return self._one_after_the_other([node.this, node.expression], scope)
        if isinstance(node, exp.Substring):
            return self._start(node.this, node.args.get("start"), node.args.get("length"), scope)
        made = _FUNCTIONS.get(node.name.upper()) if isinstance(node, exp.Anonymous) else None
        return made(self, node.expressions, scope) if made is not None else None

    def _printed(self, node: exp.Expr, scope: Scope) -> Bounds:
        """Of a value that is no text, as Spark prints it."""
        type_ = self._types.type_of(node, scope)
        if type_ is None:
            return None
        name = str(type_)
        if name == "date":
            return WordBounds(_DAY, _DAY, 0)
        return WordBounds(*_PRINTED[name], 0) if name in _PRINTED else None

    def _column(self, node: exp.Column, scope: Scope) -> Bounds:
        where = scope.expression.args.get("where")
        if where is not None and (listed := listed_texts([where.this], node)) is not None:
            return listed
        source = scope.sources.get(node.table)
        if isinstance(source, exp.Table):
            return self._known.get((source.name.lower(), node.name.lower()))
        return self.output(source, node.name) if isinstance(source, Scope) else None

    def _one_after_the_other(self, parts: Sequence[exp.Expr], scope: Scope) -> Bounds:
        whole = WordBounds(0, 0, 0)
        for part in parts:
            bounds = self.of(part, scope)
            if bounds is None:
                return None
            whole = whole.then(bounds)
        return whole

    def _concat_ws(self, parts: Sequence[exp.Expr], scope: Scope) -> Bounds:
        """NULLs are left out, with their separator: any of the texts may come first, or none."""
        between, *texts = (self.of(part, scope) for part in parts)
        if between is None or not texts:
            return None
        whole = WordBounds(0, 0, 0)
        for text in texts:
            if text is None:
                return None
            whole = whole.then(text).then(between)
        safe = all(text is not None and text.fewest > text.underscores for text in texts)
        most_underscores = max(text.underscores for text in texts if text is not None)
        return WordBounds(0, whole.most, most_underscores if safe else _MANY)

    def _start(self, text: exp.Expr, start: exp.Expr | None, length: exp.Expr | None, scope: Scope) -> Bounds:
        bounds, first, count = self.of(text, scope), _number(start), _number(length)
        return None if bounds is None or first != 1 or count is None else bounds.cut(count)

    def _left(self, parts: Sequence[exp.Expr], scope: Scope) -> Bounds:
        match parts:
            case [text, length]:
                return self._start(text, exp.Literal.number(1), length, scope)
        return None

    def _substring(self, parts: Sequence[exp.Expr], scope: Scope) -> Bounds:
        match parts:
            case [text, start, length]:
                return self._start(text, start, length, scope)
        return None

    def _any(self, parts: Sequence[exp.Expr], scope: Scope) -> Bounds:
        return _either(self.of(part, scope) for part in parts)

    def _branches(self, parts: Sequence[exp.Expr], scope: Scope) -> Bounds:
        return _either(self.of(part, scope) for part in parts[1:])

    def _same(self, parts: Sequence[exp.Expr], scope: Scope) -> Bounds:
        return self.of(parts[0], scope) if len(parts) == 1 else None

    def _md5(self, _: Sequence[exp.Expr], __: Scope) -> Bounds:
        return WordBounds(_MD5, _MD5, 0)

    def _sha(self, _: Sequence[exp.Expr], __: Scope) -> Bounds:
        return WordBounds(_SHA1, _SHA1, 0)

    def _sha2(self, parts: Sequence[exp.Expr], _: Scope) -> Bounds:
        match parts:
            case [_, exp.Literal(is_string=False, name=bits)] if (length := _SHA2.get(bits)) is not None:
                return WordBounds(length, length, 0)
        return None

    def _hex(self, parts: Sequence[exp.Expr], scope: Scope) -> Bounds:
        type_ = self._types.type_of(parts[0], scope) if len(parts) == 1 else None
        if type_ is None:
            return None
        return WordBounds(1, _HEX, 0) if type_.integral else WordBounds(0, None, 0)

    def _date_format(self, parts: Sequence[exp.Expr], _: Scope) -> Bounds:
        match parts:
            case [_, exp.Literal(is_string=True, name=pattern)] if pattern:
                runs = [run.group() for run in re.finditer(r"(.)\1*", pattern, re.DOTALL)]
                if all(_FIELD.fullmatch(run) for run in runs):
                    most = sum(max(_LONGEST_FIELD, len(run)) for run in runs)
                    return WordBounds(len(runs), most, len(pattern) - len(pattern.lstrip("_")))
        return None

    def _regexp_replace(self, parts: Sequence[exp.Expr], _: Scope) -> Bounds:
        match parts:
            case [_, exp.Literal(is_string=True, name=pattern), exp.Literal(is_string=True, name=into)]:
                # `_` may be in the text, or take the place of what was.
                fits = pattern in _OTHERS and WordBounds.of(into) is not None
                return WordBounds(0, None, _MANY) if fits else None
        return None


_FUNCTIONS: Mapping[str, Callable[[_BoundsReader, Sequence[exp.Expr], Scope], Bounds]] = {
    "MD5": _BoundsReader._md5,
    "SHA": _BoundsReader._sha,
    "SHA1": _BoundsReader._sha,
    "SHA2": _BoundsReader._sha2,
    "HEX": _BoundsReader._hex,
    "DATE_FORMAT": _BoundsReader._date_format,
    "REGEXP_REPLACE": _BoundsReader._regexp_replace,
    "CONCAT": _BoundsReader._one_after_the_other,
    "CONCAT_WS": _BoundsReader._concat_ws,
    "LEFT": _BoundsReader._left,
    "SUBSTRING": _BoundsReader._substring,
    "SUBSTR": _BoundsReader._substring,
    "NVL": _BoundsReader._any,
    "IFNULL": _BoundsReader._any,
    "COALESCE": _BoundsReader._any,
    "IF": _BoundsReader._branches,
    "UPPER": _BoundsReader._same,
    "LOWER": _BoundsReader._same,
    "STRING": _BoundsReader._same,
}
"""Name of a function → what it makes of its arguments."""


def _either(parts: Iterable[Bounds]) -> Bounds:
    found: Bounds = None
    for part in parts:
        if part is None:
            return None
        found = part if found is None else found.either(part)
    return found


def _conjuncts(condition: exp.Expr) -> Iterable[exp.Expr]:
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        yield from _conjuncts(inner.this)
        yield from _conjuncts(inner.expression)
    else:
        yield inner


def _name(column: exp.Expr) -> tuple[str, str]:
    return (column.table.lower(), column.name.lower()) if isinstance(column, exp.Column) else ("", "")


def _number(node: exp.Expr | None) -> int | None:
    plain = isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal()
    return int(node.name) if plain and node is not None else None
