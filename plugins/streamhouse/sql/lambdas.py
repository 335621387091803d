"""Lambda functions: the types of their names, and what Spark refuses of them as a whole; pure.

References: `HigherOrderFunction` and its classes of Spark 4.1.
"""

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from streamhouse.sql.admit import Refused
from streamhouse.sql.met_types import alike
from streamhouse.sql.scopes import arguments_of, function_name
from streamhouse.sql.spark_type import INT, SparkType
from streamhouse.sql.typed import Lambda

TypeOf = Callable[[exp.Expr, Lambda], SparkType | None]

_ARITIES: dict[str, tuple[int, int]] = {
    "transform": (1, 2),
    "filter": (1, 2),
    "exists": (1, 1),
    "forall": (1, 1),
    "zip_with": (2, 2),
    "map_filter": (2, 2),
    "map_zip_with": (3, 3),
    "transform_keys": (2, 2),
    "transform_values": (2, 2),
    "array_sort": (2, 2),
}
_TWO = 2
_PREDICATES = frozenset({"filter", "exists", "forall", "map_filter"})


def lambdas(node: exp.Expr, type_of: TypeOf, names: Lambda) -> Iterator[tuple[exp.Lambda, Lambda]]:
    """The lambda functions of a call, each with the types of its names and of those around it.

    Args:
        node: Any.
        type_of: The type of an expression, with the types of the names of a lambda function.
        names: Of the functions that the call is part of.
    """
    given = arguments_of(node)
    bodies = [part for part in given if isinstance(part, exp.Lambda)]
    if not bodies:
        return
    kinds = [type_of(part, names) for part in given if not isinstance(part, exp.Lambda)]
    for place, body in enumerate(bodies):
        types = _parameters(function_name(node), kinds, place)
        own = {str(name.name): kind for name, kind in zip(body.expressions, types, strict=False)}
        yield body, {**names, **own}


def wrong_function(node: exp.Expr, one: exp.Lambda, kind: SparkType | None) -> Iterator[Refused]:
    """What is wrong with a lambda function as an argument of a call.

    Args:
        node: The call.
        one: The function.
        kind: The type of what it gives; None: it is not known.
    """
    name = function_name(node)
    fewest, most = _ARITIES.get(name, (0, len(one.expressions)))
    if not fewest <= len(one.expressions) <= most:
        wanted = str(fewest) if fewest == most else f"{fewest} or {most}"
        message = f"the function in {name}() takes {wanted} arguments, and {len(one.expressions)} stand here"
        yield Refused(one, message, "compare it with Spark's list of functions")
    if name in _PREDICATES and kind is not None and kind.kind not in ("boolean", "void"):
        yield Refused(one, f"the function in {name}() gives {kind}, and no boolean", "compare it")


def unlike_keys(node: exp.Expr, type_of: TypeOf, names: Lambda) -> Iterator[Refused]:
    """The maps of `map_zip_with`, if their keys have no common type: it makes BINARY of text, and text of nothing."""
    if function_name(node) != "map_zip_with":
        return
    maps = [part for part in arguments_of(node) if not isinstance(part, exp.Lambda)]
    kinds = [type_of(part, names) for part in maps]
    keys = [kind.fields[0][1] for kind in kinds if kind is not None and kind.fields]
    if len(keys) == len(maps) == _TWO and not alike(*keys) and {key.kind for key in keys} != {"binary", "string"}:
        one, other = keys
        message = f"map_zip_with() takes maps of one type of keys, and {one} and {other} have none"
        yield Refused(maps[1], message, "convert the keys of one with transform_keys")


def _parameters(name: str, kinds: Sequence[SparkType | None], place: int) -> list[SparkType | None]:
    """The types of the arguments of a lambda function: of elements, of keys and values, of what is folded."""
    parts = [[part for _, part in kind.fields] if kind is not None else [None] for kind in kinds]
    if not kinds:
        return []
    if name in ("aggregate", "reduce"):
        start = kinds[1] if len(kinds) > 1 else None
        return [start, parts[0][0] if parts[0] else None] if place == 0 else [start]
    if name == "map_zip_with":
        return [parts[0][0], *(part[-1] for part in parts)] if all(parts) else []
    if name in ("map_filter", "transform_keys", "transform_values"):
        return list(parts[0])
    if name == "array_sort":
        return [*parts[0][:1], *parts[0][:1]]
    if name == "zip_with":
        return [part[0] if part else None for part in parts]
    return [*parts[0][:1], INT]
