"""Whether the parts of an expression have types that Spark takes there, under its ANSI rules; pure.

Only what is known to be refused is an error: where a type is not known, Spark is the judge.

References: `Cast.canAnsiCast`, `AnsiTypeCoercion` and `CheckAnalysis` of Spark 4.1.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql import functions
from streamhouse.sql.admit import Refused
from streamhouse.sql.classes import Kinds
from streamhouse.sql.constants import CONSTANTS_FROM, wrong_constants
from streamhouse.sql.dialect import short
from streamhouse.sql.expressions import OPERATORS
from streamhouse.sql.frame_bounds import wrong_frame
from streamhouse.sql.infer import Inference
from streamhouse.sql.lambdas import lambdas, unlike_keys, wrong_function
from streamhouse.sql.literals import operated
from streamhouse.sql.met_types import alike, comparable, meet
from streamhouse.sql.missing_parts import missing_part, without_common_type
from streamhouse.sql.named_arguments import in_order
from streamhouse.sql.scopes import aggregates_in, arguments_of, function_name, selects_of
from streamhouse.sql.spark_type import BOOLEAN, SparkType
from streamhouse.sql.subquery_columns import wrong_columns
from streamhouse.sql.typed import Lambda
from streamhouse.sql.uncompared import (
    COMPARING,
    COMPARISONS,
    ORDERS,
    chooses,
    is_compared,
    uncompared,
    uncompared_keys,
    unordered_outputs,
)
from streamhouse.sql.words import words

_NESTED = frozenset({"array", "map", "struct"})
_TIMES = frozenset({"date", "timestamp", "timestamp_ntz"})
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv)
_ELEMENT_PLACES = {
    "array_contains": 1,
    "array_append": 1,
    "array_prepend": 1,
    "array_remove": 1,
    "array_position": 1,
    "array_insert": 2,
}
"""Function of an array → place of the argument that is like its elements."""
_OF_KIND = {
    "sort_array": (1, frozenset({"boolean"})),
    **dict.fromkeys(("from_json", "from_csv"), (0, frozenset({"string"}))),
}
"""Function → place of an argument that Spark converts from no other type."""

_MOST = 3
"""Arguments of the calls that the table is about."""

_LIKE = {"tinyint": "int", "smallint": "int", "float": "double"}
_KINDS = words("int bigint decimal double string timestamp timestamp_ntz date boolean binary array map struct")
_CONSTANT = frozenset({"constant"})
_OF_TIMES = frozenset({"date", "timestamp", "timestamp_ntz", "string"})
_VARIANT = frozenset({"variant"})
_AS_TEXT = words("int date boolean string")
"""What an argument takes that takes a VARIANT too, for Spark makes a text of it."""
_OF_VARIANT = words("is_variant_null schema_of_variant schema_of_variant_agg variant_get try_variant_get")
_ALSO_OF_VARIANT = frozenset({"to_json"})
_SKETCHED = words("tinyint smallint int bigint string binary")
_CAST = "convert it with CAST, or in another way"
_SELECT_OTHERS = "select map_entries(…) or to_json(…) of it, or values of it"
_APART = Kinds(exp.Query, exp.Lambda, exp.From, exp.With)
_LOOKED_AT = Kinds(
    exp.Group, exp.Where, exp.Join, exp.And, exp.Or, exp.Not, exp.If, exp.Cast, exp.Neg, exp.In, exp.Between,
    exp.Like, exp.ILike, exp.RegexpLike, exp.Is, exp.Bracket, exp.Dot, exp.BitwiseNot, *COMPARING, *_ARITHMETIC,
)  # fmt: skip
_COMPARING = Kinds(*COMPARING)
_CALLED = {
    "number": frozenset({"int", "bigint", "decimal", "double"}),
    "whole number": frozenset({"int", "bigint"}),
    "time": _TIMES,
}


@cache
def _takes() -> dict[str, frozenset[str]]:
    """Argument of a node → the kinds that Spark takes there, by `scripts/spark_takes.py`; absent: all, or not known."""
    text = files("streamhouse.sql").joinpath("spark_takes.json").read_text(encoding="utf-8")
    return {name: words(kinds) for name, kinds in json.loads(text).items()}


def misfits(root: Scope, inference: Inference) -> Iterator[Refused]:
    """Parts of a query whose types Spark refuses.

    Args:
        root: Of a qualified query.
        inference: Knows the types of its ports.
    """
    for scope in root.traverse():
        if isinstance(scope.expression, exp.Query) and any(scope.expression.args.get(one) for one in ORDERS):
            yield from unordered_outputs(scope.expression, inference.outputs(scope))
        if isinstance(scope.expression, exp.Select):
            yield from wrong_columns(scope, inference)
            yield from misfits_in(scope.expression, scope, inference)
        elif isinstance(scope.expression, exp.SetOperation):
            yield from _compared_rows(scope.expression, scope, inference)


def _compared_rows(query: exp.SetOperation, scope: Scope, inference: Inference) -> Iterator[Refused]:
    """UNION, EXCEPT and INTERSECT of rows that Spark does not compare; UNION ALL compares none."""
    if isinstance(query, exp.Union) and not query.args.get("distinct"):
        return
    for column in inference.outputs(scope):
        if column.type is not None and not is_compared(column.type):
            yield Refused(query.expression, f"{query.key.upper()} compares no {column.type}", _SELECT_OTHERS)


def misfits_in(part: exp.Expr, scope: Scope, inference: Inference) -> Iterator[Refused]:
    """As `misfits`, of one part of a SELECT, or of all of it.

    Sub-queries are left out.
    """
    return _Fit(scope, inference, {}).within(part)


class _Fit:
    """Looks at nodes of one scope; `names` are those of the lambda functions around them."""

    def __init__(self, scope: Scope, inference: Inference, names: Lambda) -> None:
        self._scope, self._inference, self._names = scope, inference, names

    def _type(self, node: exp.Expr | None) -> SparkType | None:
        return None if node is None else self._type_with(node, self._names)

    def _type_with(self, node: exp.Expr, names: Lambda) -> SparkType | None:
        return self._inference.type_of(node, self._scope, names or None)

    def within(self, part: exp.Expr) -> Iterator[Refused]:
        """What is wrong with a part and all that is below it."""
        for node in part.walk(prune=lambda n: _APART[type(n)] and n is not part):
            if _LOOKED_AT[type(node)]:
                yield from self.found(node)
            if isinstance(node, exp.Func):
                yield from unlike_keys(node, self._type_with, self._names)
                yield from self._lambdas(node)

    def _lambdas(self, node: exp.Expr) -> Iterator[Refused]:
        for one, names in lambdas(node, self._type_with, self._names):
            kind = self._type_with(one.this, names)
            wrong = [*wrong_function(node, one, kind), *uncompared_keys(node, one, kind)]
            yield from wrong or _Fit(self._scope, self._inference, names).within(one.this)

    def found(self, node: exp.Expr) -> Iterator[Refused]:
        """What is wrong with one node, whose parts are looked at by themselves."""
        if _COMPARING[type(node)]:
            items = _plain_items(self._scope) if isinstance(node, exp.Group) and node.args.get("all") else ()
            alone = [*uncompared(node, self._type, items), *without_common_type(node, self._type)]
            yield from alone
            if alone:
                return
        match node:
            case exp.Where():
                yield from self._condition(node.this, "WHERE", strict=True)
            case exp.Join() if isinstance(node.args.get("on"), exp.Expr):
                yield from self._condition(node.args["on"], "ON", strict=True)
            case exp.And() | exp.Or():
                for part in (node.left, node.right):
                    yield from self._condition(part, node.key.upper(), strict=False)
                if not (type(node.parent) is type(node) and node.parent.left is node):
                    yield from self._booleans(_chain(node), node.key.upper())
            case exp.Not():
                yield from self._condition(node.this, "NOT", strict=False)
            case exp.If():  # an arm of CASE; a call of IF keeps its name
                if isinstance(node.parent, exp.Case) and node.parent.this is not None:
                    yield from self._compared(node.parent, node.parent.this, node.this, exact=True)
                else:
                    yield from self._condition(node.this, "WHEN", strict=True)
            case exp.Window():
                yield from wrong_frame(node, self._type)
            case exp.Cast():
                yield from self._cast(node)
            case exp.Neg() | exp.BitwiseNot():
                yield from self._signed(node)
            case exp.In() if node.args.get("query") is None:
                for part in node.expressions:
                    yield from self._compared(node, node.this, part)
                    yield from self._of_one_type(node, node.this, part)
            case exp.Distinct() if isinstance(node.parent, exp.Select):
                yield from self._distinct(selects_of(self._scope))
            case exp.Between():
                for part in (node.args["low"], node.args["high"]):
                    yield from self._compared(node, node.this, part, exact=True)
            case exp.Like() | exp.ILike() | exp.RegexpLike():
                for part in (node.this, node.expression):
                    kind = self._type(part)
                    if kind is not None and kind.kind in _NESTED:
                        yield Refused(part, f"{node.key.upper()} takes a string, and {short(part)} is {kind}", _CAST)
            case exp.Is() if isinstance(node.expression, exp.Boolean):
                yield from self._condition(node.this, "IS", strict=False)
            case exp.Bracket() | exp.Dot():
                yield from self._part(node)
            case _ if isinstance(node, COMPARISONS):
                yield from self._compared(node, node.this, node.expression, exact=True)
            case _ if isinstance(node, _ARITHMETIC):
                yield from self._arithmetic(node)
            case exp.Func():
                yield from self._call(node)

    def _signed(self, node: exp.Unary) -> Iterator[Refused]:
        kind = self._type(node.this)
        if kind is None or kind.kind == "void":
            return
        if isinstance(node, exp.BitwiseNot):
            if not kind.integral:
                yield Refused(node, f"~ takes a whole number, and {short(node.this)} is {kind}", _CAST)
        elif kind.kind in _NESTED | _TIMES or kind.kind in ("boolean", "binary", "variant"):
            yield Refused(node, f"- takes no {kind}", "take it of a number")

    def _condition(self, node: exp.Expr, place: str, *, strict: bool) -> Iterator[Refused]:
        kind = self._type(node)
        if kind is None or kind.kind == "boolean" or (not strict and kind.kind in ("void", "string")):
            return
        if kind.kind == "void" and place == "IF":
            return
        shown = "NULL" if kind.kind == "void" else str(kind)
        yield Refused(node, f"{place} takes a boolean, and {short(node)} is {shown}", "compare it with a value")

    def _booleans(self, parts: list[exp.Expr], word: str) -> Iterator[Refused]:
        """Where Spark joins two parts of `a OR b OR c` of which one is a string, and none a boolean."""
        if len(parts) == 1:
            return
        middle = (len(parts) - 1) // 2 + 1  # Spark's parser makes a balanced tree
        left, right = parts[:middle], parts[middle:]
        yield from self._booleans(left, word)
        yield from self._booleans(right, word)
        kinds = [self._type(side[0]) if len(side) == 1 else BOOLEAN for side in (left, right)]
        names = {kind.kind for kind in kinds if kind is not None}
        if None not in kinds and "string" in names <= {"string", "void"}:
            shown = f"neither {short(left[0])} nor {short(right[0])} is one"
            yield Refused(left[0], f"{word} takes a boolean, and {shown}", "compare them with a value")

    def _compared(self, at: exp.Expr, left: exp.Expr, right: exp.Expr, *, exact: bool = False) -> Iterator[Refused]:
        """`exact`: as `=` does, which reads no text inside an array or a struct as a number."""
        one, other = self._type(left), self._type(right)
        if one is None or other is None:
            return
        if not comparable(one, other) or (exact and not meet(one, other)):
            hint = f"write CAST({short(right)} AS {one})" if one.kind not in _NESTED else "compare values of one type"
            yield Refused(at, f"{one} and {other} cannot be compared", hint)

    def _of_one_type(self, at: exp.Expr, value: exp.Expr, part: exp.Expr) -> Iterator[Refused]:
        """`(a, b) IN ((1, 2))`: Spark converts no field of a struct there."""
        one, other = self._type(value), self._type(part)
        if one is None or other is None or not one.kind == other.kind == "struct":
            return
        if [str(kind) for _, kind in one.fields] != [str(kind) for _, kind in other.fields]:
            hint = "give both the same types: 1L is a bigint, and CAST(…) makes others"
            yield Refused(at, f"IN converts no part of (…): {one} and {other}", hint)

    def _distinct(self, items: Sequence[exp.Expr]) -> Iterator[Refused]:
        for item in items:
            kind = self._type(item)
            if kind is not None and not is_compared(kind):
                yield Refused(item, f"DISTINCT compares no {kind}", _SELECT_OTHERS)

    def _arithmetic(self, node: exp.Expr) -> Iterator[Refused]:
        one, other = self._type(node.this), self._type(node.args.get("expression"))
        if one is None or other is None:
            return
        kinds = {one.kind, other.kind}
        never = any(kind in _NESTED or kind in ("boolean", "binary", "variant") for kind in kinds)
        sure = kinds == {"string"} or not kinds & {"string", "void", "calendar_interval"}
        if never or (sure and operated(OPERATORS[type(node)], one, other) is None):
            yield Refused(node, f"there is no arithmetic of {one} and {other}", "convert it with CAST")

    def _cast(self, node: exp.Cast) -> Iterator[Refused]:
        kind, wanted = self._type(node.this), self._type(node)
        if kind is not None and wanted is not None and not can_cast(kind, wanted):
            yield Refused(node, f"{kind} cannot be cast to {wanted}", "convert it in another way")

    def _part(self, node: exp.Bracket | exp.Dot) -> Iterator[Refused]:
        yield from missing_part(node, self._type)
        if isinstance(node, exp.Bracket) and len(node.expressions) == 1:
            yield from self._element(node, node.this, node.expressions[0])

    def _element(self, node: exp.Expr, of: exp.Expr, key: exp.Expr) -> Iterator[Refused]:
        kind, index = self._type(of), self._type(key)
        if kind is None or index is None:
            return
        if kind.kind == "array" and not (index.integral or index.kind == "void"):
            yield Refused(node, f"the place in an array is a whole number, and {short(key)} is {index}", "count from 0")
        elif kind.kind == "map" and not comparable(kind.fields[0][1], index):
            yield Refused(node, f"the keys of {kind} are no {index}", f"write CAST({short(key)} AS …)")

    def _key(self, node: exp.Expr, of: exp.Expr, key: exp.Expr) -> Iterator[Refused]:
        kind, key_type = self._type(of), self._type(key)
        if kind is None or key_type is None or kind.kind != "map":
            return
        if (kind.fields[0][1].kind == "string") != (key_type.kind == "string") and key_type.kind != "void":
            yield Refused(node, f"the keys of {kind} are no {key_type}", f"write {short(of)}[…], or cast the key")

    def _call(self, node: exp.Func) -> Iterator[Refused]:
        name = function_name(node)
        first = node.expressions[0] if isinstance(node, exp.Anonymous) and node.expressions else node.args.get("this")
        if not isinstance(first, exp.Expr):
            return
        if name in _OF_KIND and len(node.expressions) > _OF_KIND[name][0]:
            place, kinds = _OF_KIND[name]
            yield from self._argument(node.expressions[place], kinds, f"{name}()")
        yield from self._arguments(node, f"{name}()")
        yield from wrong_constants(name, in_order(name, arguments_of(node)), self._type)
        if name == "if":
            yield from self._condition(first, "IF", strict=True)
        elif name == "element_at":
            arguments = node.expressions if isinstance(node, exp.Anonymous) else [first, node.args.get("expression")]
            if len(arguments) == 2 and isinstance(arguments[1], exp.Expr):
                yield from self._element(node, first, arguments[1])
                yield from self._key(node, first, arguments[1])
                yield from self._int_place(name, first, arguments[1])
        elif name == "try_element_at" and len(node.expressions) == 2:
            yield from self._int_place(name, *node.expressions)
        elif name in ("equal_null", "nullif") and len(given := arguments_of(node)) == 2:
            yield from self._compared(node, *given, exact=True)
        elif name == "to_timestamp" and len(node.expressions) == 2:
            yield from self._formatted(name, first)
        elif name in _ELEMENT_PLACES:
            yield from self._element_argument(node, name)
        elif name in _OF_VARIANT:
            yield from self._argument(first, _VARIANT, f"{name}()")
        elif name == "session_window":
            yield from self._gap(arguments_of(node))
        elif name == "decode":
            yield from self._decoded(arguments_of(node))
        elif name in ("concat_ws", "array_join"):
            yield from self._joined_texts(arguments_of(node), name)
        elif name == "count_min_sketch" and (kind := self._type(first)) is not None and kind.kind not in _SKETCHED:
            yield Refused(first, f"count_min_sketch() takes no {kind}", _CAST)

    def _decoded(self, given: Sequence[exp.Expr]) -> Iterator[Refused]:
        """DECODE compares as `<=>` does.

        Without a default it gives a text where nothing fits, so its other results must go with a text.
        """
        if not chooses(given):
            return
        for looked_for in given[1 : len(given) - 1 : 2]:
            yield from self._compared(looked_for, given[0], looked_for, exact=True)
        if len(given) % 2 == 0:
            return
        kind = self._type(given[2])
        if kind is not None and kind.kind in _NESTED:
            hint = f"add a default, such as CAST(NULL AS {kind}), or write CASE"
            yield Refused(given[2], f"decode() without a default gives no {kind}", hint)

    def _gap(self, given: Sequence[exp.Expr]) -> Iterator[Refused]:
        """The gap of a session window is a text, or an interval of months, days and time; Spark converts no other."""
        kind = self._type(given[1]) if len(given) > 1 else None
        if kind is not None and kind.kind not in ("string", "void", "calendar_interval"):
            hint = "write a text such as '1 hour', or make_interval(…)"
            yield Refused(given[1], f"session_window() takes no gap of the type {kind}", hint)

    def _joined_texts(self, given: Sequence[exp.Expr], name: str) -> Iterator[Refused]:
        """Only texts and arrays of texts can be joined to one text."""
        for part in given[1:] if name == "concat_ws" else given[:1]:
            kind = self._type(part)
            of = kind.element if kind is not None and kind.element is not None else kind
            if of is not None and of.kind in _NESTED:
                yield Refused(part, f"{name}() takes texts and arrays of texts, and {short(part)} is {kind}", _CAST)

    def _element_argument(self, node: exp.Func, name: str) -> Iterator[Refused]:
        arguments = arguments_of(node)
        place = _ELEMENT_PLACES[name]
        if len(arguments) <= place:
            return
        if name == "array_insert":
            yield from self._int_place(name, arguments[0], arguments[1])
        array, kind = self._type(arguments[0]), self._type(arguments[place])
        if array is None or kind is None or array.element is None or alike(array.element, kind):
            return
        message = f"the elements of {array} are no {kind}"
        yield Refused(node, message, f"write CAST({short(arguments[place])} AS {array.element})")

    def _formatted(self, name: str, moment: exp.Expr) -> Iterator[Refused]:
        """A number beside a format ends in an error within Spark."""
        kind = self._type(moment)
        if kind is not None and kind.numeric:
            message = f"{name}() takes a text beside a format, and {short(moment)} is {kind}"
            yield Refused(moment, message, f"write CAST({short(moment)} AS STRING)")

    def _int_place(self, name: str, of: exp.Expr, place: exp.Expr) -> Iterator[Refused]:
        kind, place_type = self._type(of), self._type(place)
        if kind is not None and kind.kind == "array" and place_type is not None and place_type.kind == "bigint":
            message = f"{name}() takes an INT as place, and {short(place)} is BIGINT"
            yield Refused(place, message, f"write CAST({short(place)} AS INT)")

    def _arguments(self, node: exp.Expr, shown: str) -> Iterator[Refused]:
        if sum(1 for _ in node.iter_expressions()) > _MOST:
            return  # some functions mean another thing with more arguments
        of = function_name(node) if isinstance(node, exp.Anonymous) else type(node).__name__
        name = function_name(node)
        for key, value in node.args.items():
            for i, part in enumerate(in_order(name, value) if isinstance(value, list) else [value]):
                taken = _takes().get(f"{of}.{key}.{i}" if isinstance(value, list) else f"{of}.{key}")
                if taken == _CONSTANT and name in CONSTANTS_FROM:
                    continue
                if taken is not None and isinstance(part, exp.Expr):
                    more = _VARIANT if name in _ALSO_OF_VARIANT else frozenset()
                    yield from self._argument(part, taken | more, shown)

    def _argument(self, part: exp.Expr, taken: frozenset[str], shown: str) -> Iterator[Refused]:
        if taken == _CONSTANT:
            if part.find(exp.Column):
                message = f"{shown} takes a constant here, and {short(part)} differs from row to row"
                yield Refused(part, message, "write a literal")
            return
        kind = self._type(part)
        if kind is None or (kind.kind == "variant" and taken >= _AS_TEXT):
            return
        is_span = kind.kind in functions.INTERVALS and taken <= _OF_TIMES
        if is_span or _LIKE.get(kind.kind, kind.kind) in (_KINDS | _VARIANT) - taken:
            yield Refused(part, f"{shown} takes {_words(taken)} here, and {short(part)} is {kind}", _CAST)


def _plain_items(scope: Scope) -> list[exp.Expr]:
    """The output columns that GROUP BY ALL groups by."""
    return [item for item in selects_of(scope) if not aggregates_in(item)]


def _chain(node: exp.Expr) -> list[exp.Expr]:
    """The parts of `a OR b OR c`, as written: what stands in brackets is one part."""
    parts: list[exp.Expr] = []
    at = node
    while type(at) is type(node):
        parts.append(at.args["expression"])
        at = at.this
    return [at, *reversed(parts)]


def _words(kinds: frozenset[str]) -> str:
    rest, said = set(kinds), []
    for word, of in _CALLED.items():
        if of <= rest:
            said.append(word)
            rest -= of
    return " or ".join([*said, *sorted(rest)])


_INTERVALS = functions.INTERVALS | {"calendar_interval"}


def can_cast(kind: SparkType, wanted: SparkType) -> bool:
    """Whether Spark's ANSI mode has a cast between two types; True where that is not known."""
    if kind == wanted or kind.kind == "void" or wanted.kind == "string" or "variant" in (kind.kind, wanted.kind):
        return True
    if kind.kind in _NESTED or wanted.kind in _NESTED:
        if kind.kind != wanted.kind or len(kind.fields) != len(wanted.fields):
            return False
        return all(can_cast(a, b) for (_, a), (_, b) in zip(kind.fields, wanted.fields, strict=True))
    if kind.kind in _INTERVALS or wanted.kind in _INTERVALS or "time" in (kind.kind, wanted.kind):
        return True
    if kind.kind == "string":
        return True
    match wanted.kind:
        case "binary":
            return kind.kind == "binary"
        case "boolean":
            return kind.numeric or kind.kind == "boolean"
        case "date":
            return kind.kind in _TIMES
        case "timestamp":
            return kind.kind in _TIMES or kind.numeric
        case "timestamp_ntz":
            return kind.kind in _TIMES
    if wanted.numeric:
        return kind.numeric or kind.kind in ("boolean", "timestamp")
    return True
