"""Arguments that a call gives by their names, as in `mask(k, upperChar => 'A')`; pure."""

from collections.abc import Sequence

from sqlglot import exp

from streamhouse.sql.admit import Refused
from streamhouse.sql.scopes import function_name
from streamhouse.sql.words import words

_NAMED = {
    "mask": ("str", "upperchar", "lowerchar", "digitchar", "otherchar"),
    "count_min_sketch": ("column", "epsilon", "confidence", "seed"),
    **dict.fromkeys(words("explode explode_outer posexplode posexplode_outer"), ("collection",)),
    **dict.fromkeys(words("inline inline_outer variant_explode variant_explode_outer"), ("input",)),
}
"""Function → the names of its arguments, in lower case; all others take values alone."""
_NEEDED = {"count_min_sketch": 4}
"""How many of these a call must have; elsewhere the first one."""


def wrong_name(argument: exp.Kwarg) -> Refused | None:
    """What is wrong with an argument that has a name, or with its call if it is the first one there; None: nothing."""
    call = argument.find_ancestor(exp.Func, exp.Struct)
    if call is None:
        return Refused(argument, f"'{argument.name} =>' is in no call", f"write AS {argument.name} behind the value")
    given: list[exp.Expr] = list(call.iter_expressions())
    named = [part for part in given if type(part) is exp.Kwarg]
    function, before = function_name(call) or call.key, len(given) - len(named)
    problem = _misnamed(function, argument.name, before)
    if problem is None and argument is named[0]:
        if any(type(part) is exp.Kwarg for part in given[:before]):
            problem = f"{function}() gets an argument without a name behind '{argument.name}'", "write it before them"
        else:
            problem = _misses(function, [part.name for part in named], before)
    return None if problem is None else Refused(argument, *problem)


def _misnamed(function: str, argument: str, before: int) -> tuple[str, str] | None:
    """What is wrong with the name of an argument, and a hint; `before`: how many arguments of the call have no name."""
    known = _NAMED.get(function)
    if known is None:
        return f"{function}() takes no names of arguments", "write the values alone, in their order"
    if argument.lower() not in known:
        return f"{function}() has no argument '{argument}'", f"it has {', '.join(known)}"
    return _twice(function, argument) if known.index(argument.lower()) < before else None


def _misses(function: str, names: Sequence[str], before: int) -> tuple[str, str] | None:
    known, given = _NAMED.get(function, ()), [name.lower() for name in names]
    if (twice := next((name for name in names if given.count(name.lower()) > 1), None)) is not None:
        return _twice(function, twice)
    lacking = [name for name in known[before : _NEEDED.get(function, 1)] if name not in given]
    return (f"{function}() lacks its argument '{lacking[0]}'", f"add {lacking[0]} => …") if lacking else None


def _twice(function: str, argument: str) -> tuple[str, str]:
    return f"{function}() gets '{argument}' twice", "leave one of both out"


def in_order(function: str, arguments: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The values of the arguments of a call at their places; NULL where a call leaves one out.

    Args:
        function: Its name in lower case.
        arguments: As written; those with names are after the others, and have names that the function knows.
    """
    known = _NAMED.get(function, ())
    named = {known.index(a.name.lower()): a.expression for a in arguments if _is_known(a, known)}
    if not named:
        return list(arguments)
    plain = [argument for argument in arguments if type(argument) is not exp.Kwarg]
    return [*plain, *(named.get(place, exp.null()) for place in range(len(plain), max(named) + 1))]


def _is_known(argument: exp.Expr, known: Sequence[str]) -> bool:
    return type(argument) is exp.Kwarg and argument.name.lower() in known
