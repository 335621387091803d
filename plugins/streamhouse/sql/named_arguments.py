"""Arguments that a call gives by their names, as in `mask(k, upperChar => 'A')`; pure."""

from collections.abc import Sequence

from sqlglot import exp

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


def wrong_name(argument: exp.Kwarg) -> str | None:
    """What is wrong with an argument that has a name, or with its call if it is the first one there; None: nothing."""
    call = argument.find_ancestor(exp.Func, exp.Struct) or argument
    given = list(call.iter_expressions())
    named = [part for part in given if type(part) is exp.Kwarg]
    function, before = function_name(call) or call.key, len(given) - len(named)
    problem = misnamed(function, argument.name, before)
    if problem is not None or argument is not named[0]:
        return problem
    if any(type(part) is exp.Kwarg for part in given[:before]):
        return f"{function}() gets an argument without a name behind '{argument.name}'"
    return _misses(function, [part.name for part in named], before)


def misnamed(function: str, argument: str, before: int) -> str | None:
    """What is wrong with the name of an argument; None: nothing.

    Args:
        function: Its name in lower case.
        argument: The name that the text gives the argument.
        before: How many arguments of the call have no name.

    >>> misnamed("upper", "str", 0)
    'upper() takes no names of arguments'
    """
    known = _NAMED.get(function)
    if known is None:
        return f"{function}() takes no names of arguments"
    if argument.lower() not in known:
        return f"{function}() has no argument '{argument}'"
    return f"{function}() gets '{argument}' twice" if known.index(argument.lower()) < before else None


def _misses(function: str, names: Sequence[str], before: int) -> str | None:
    known, given = _NAMED.get(function, ()), [name.lower() for name in names]
    if (twice := next((name for name in names if given.count(name.lower()) > 1), None)) is not None:
        return f"{function}() gets '{twice}' twice"
    lacking = [name for name in known[before : _NEEDED.get(function, 1)] if name not in given]
    return f"{function}() lacks its argument '{lacking[0]}'" if lacking else None


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
