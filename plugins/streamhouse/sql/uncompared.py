"""Where Spark compares values, and which types it does not compare: maps, VARIANT, and what has one inside; pure.

To order, to group, to find the largest, to look for an element: each compares. A hash and the key of a map have
rules of their own. All of them are here, for clauses and for functions.

References: `TypeUtils.checkForOrderingExpr`, `OrderUtils.isOrderable` and `TypeUtils.checkForMapKeyType` of Spark 4.1.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from sqlglot import exp

from streamhouse.sql.admit import Refused
from streamhouse.sql.classes import Kinds
from streamhouse.sql.scopes import arguments_of, function_name, grouping_keys
from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.typed import Typed
from streamhouse.sql.words import words

TypeOf = Callable[[exp.Expr], SparkType | None]

COMPARISONS = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
COMPARING = (
    *COMPARISONS, exp.In, exp.Between, exp.Case, exp.Ordered, exp.Cluster, exp.Window, exp.Distinct, exp.Group,
    exp.Func,
)  # fmt: skip
"""Nodes that this module looks at."""
ORDERS = ("order", "sort", "cluster")
"""Clauses of a query that order rows."""

_BOTH, _MAP, _VARIANT = ("map", "variant"), ("map",), ("variant",)
_HINT = "use map_entries(…) or to_json(…) of it, or a value of it"
_ALL, _FIRST, _SECOND = slice(None), slice(0, 1), slice(1, 2)
_COMPARES = {
    **dict.fromkeys(words("max min array_min array_max array_distinct sort_array"), _FIRST),
    **dict.fromkeys(words("array_contains array_position array_remove"), _ALL),
    **dict.fromkeys(words("array_union array_intersect array_except arrays_overlap"), _ALL),
    **dict.fromkeys(words("greatest least nullif equal_null"), _ALL),
    **dict.fromkeys(words("max_by min_by"), _SECOND),
}
"""Function → the arguments that it compares, or whose elements it compares."""
_TAKES_NO = {
    "hash": _BOTH,
    "xxhash64": _BOTH,
    "mode": _BOTH,
    "collect_set": _MAP,
    "approx_count_distinct": _VARIANT,
    "approx_top_k": _VARIANT,
    "to_csv": _VARIANT,
}
"""Function → the kinds of which it makes no hash or text."""
_SHOWS = words("format_string printf")
_LAMBDA = Kinds(exp.Lambda)


class _Compared(NamedTuple):
    """Values that are compared, and the kinds of which none may be; `said` and the type of one are the message."""

    said: str
    values: Iterable[exp.Expr]
    never: Sequence[str] = _BOTH


_NOTHING = _Compared("", ())


def has(kind: SparkType, *names: str) -> bool:
    """Whether a type is of one of these kinds, or has one inside."""
    return kind.kind in names or any(has(part, *names) for _, part in kind.fields)


def chooses(given: Sequence[exp.Expr]) -> bool:
    """Whether DECODE with these arguments chooses a result; with two it makes a text of a binary value."""
    return len(given) > 2


def is_compared(kind: SparkType) -> bool:
    """Whether Spark compares the values of a type."""
    return not has(kind, *_BOTH)


def uncompared(node: exp.Expr, type_of: TypeOf, items: Iterable[exp.Expr] = ()) -> Iterator[Refused]:
    """What a node compares and Spark does not.

    Args:
        node: Of one of `COMPARING`. The nodes below it are not looked at.
        type_of: The type of an expression; None: it is not known.
        items: The output columns that GROUP BY ALL groups by.
    """
    if function_name(node) == "map_from_entries":
        yield from _keys_of_entries(node, type_of)
    compared = _compared(node, items)
    for value in compared.values:
        kind = type_of(value)
        if kind is not None and has(kind, *compared.never):
            yield Refused(value, f"{compared.said} {kind}", _HINT)
            return


def uncompared_keys(node: exp.Expr, body: exp.Lambda, kind: SparkType | None) -> Iterator[Refused]:
    """The keys that a function of `transform_keys` makes, of a type that Spark does not compare."""
    if function_name(node) == "transform_keys" and kind is not None and not is_compared(kind):
        yield Refused(body, f"the key of a map cannot be {kind}", _HINT)


def unordered_outputs(query: exp.Expr, outputs: Sequence[Typed]) -> Iterator[Refused]:
    """What a query orders its rows by, where that is an output column: by its name, by its place, or by ALL.

    Args:
        query: A SELECT, or several put together.
        outputs: Its output columns.
    """
    places = {column.name: column for column in outputs}
    for clause in ORDERS:
        for item in query.args[clause].expressions if query.args.get(clause) else ():
            key = item.this if isinstance(item, exp.Ordered) else item
            found: Sequence[Typed | None] = ()
            if isinstance(key, exp.Var):
                found = outputs
            elif isinstance(key, exp.Literal) and key.is_int:
                found = outputs[int(key.name) - 1 : int(key.name)]
            elif isinstance(key, exp.Column) and not key.table:
                found = (places.get(key.name.lower()),)
            for column in found:
                if column is not None and column.type is not None and not is_compared(column.type):
                    yield Refused(item, f"nothing orders {column.type}", _HINT)


def _keys_of_entries(node: exp.Expr, type_of: TypeOf) -> Iterator[Refused]:
    for part in arguments_of(node):
        kind = type_of(part)
        entry = kind.element if kind is not None else None
        if entry is not None and entry.fields and not is_compared(entry.fields[0][1]):
            yield Refused(part, f"the key of a map cannot be {entry.fields[0][1]}", _HINT)


def _compared(node: exp.Expr, items: Iterable[exp.Expr]) -> _Compared:
    match node:
        case exp.In():
            return _Compared("nothing compares", (node.this, *node.expressions))
        case exp.Between():
            return _Compared("nothing compares", (node.this, node.args["low"], node.args["high"]))
        case exp.Case() if node.this is not None:
            return _Compared("nothing compares", [node.this])
        case exp.Ordered() if isinstance(node.parent, exp.Distribute):
            return _Compared("nothing distributes", [node.this], _VARIANT)
        case exp.Ordered():
            return _Compared("nothing orders", [node.this])
        case exp.Cluster():
            return _Compared("nothing orders", node.expressions)
        case exp.Distinct() if not isinstance(node.parent, exp.Select):
            return _Compared("DISTINCT compares no", node.expressions, _VARIANT)  # Spark refuses it only when it runs
        case exp.Window():
            return _Compared("PARTITION BY orders no", node.args.get("partition_by") or ())
        case exp.Group():
            return _Compared("nothing groups", _group_keys(node, items), _VARIANT)
        case _ if isinstance(node, COMPARISONS):
            return _Compared("nothing compares", (node.this, node.expression))
        case exp.Func():
            return _compared_by_call(node)
    return _NOTHING


def _group_keys(group: exp.Group, items: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    """The keys of GROUP BY, also those of ROLLUP, CUBE and GROUPING SETS."""
    if group.args.get("all"):
        yield from items
    yield from grouping_keys(group)


def _compared_by_call(node: exp.Expr) -> _Compared:
    name = function_name(node)
    given = arguments_of(node)
    if name in _COMPARES:
        return _Compared(f"{name}() compares no", given[_COMPARES[name]])
    if name == "array_sort" and not any(_LAMBDA[type(part)] for part in given):
        return _Compared("array_sort() compares no", given)
    if name == "decode" and chooses(given):
        return _Compared("decode() compares no", given[:1])
    if name in _TAKES_NO:
        return _Compared(f"{name}() takes no", given, _TAKES_NO[name])
    if name == "map":
        return _Compared("the key of a map cannot be", given[::2])
    if name == "map_from_arrays":
        return _Compared("the keys of a map cannot be those of", given[:1])
    if name in _SHOWS:  # Spark writes where the map is in memory, which is another text each time
        return _Compared(f"{name}() shows no", given[1:], _MAP)
    return _NOTHING
