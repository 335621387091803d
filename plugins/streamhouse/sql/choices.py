"""Of which parts an expression gives one, and which parts only choose. Pure."""

from sqlglot import exp

from streamhouse.sql.functions import decode_results
from streamhouse.sql.scopes import function_name
from streamhouse.sql.words import words

_ANY = words("coalesce nvl ifnull nanvl greatest least array")
_CHOOSING_FIRST = words("if iff nvl2 elt")


def choices_of(node: exp.Expr) -> list[exp.Expr] | None:
    """The parts of which an expression gives one; of an array, its elements. None: the expression is no choice.

    What only chooses is left out: conditions, the value that CASE and `decode` compare, the number of `elt`.

    Example:
        >>> from sqlglot import parse_one
        >>> [part.sql() for part in choices_of(parse_one("CASE WHEN a > 1 THEN b ELSE c END"))]
        ['b', 'c']
        >>> choices_of(parse_one("a + b")) is None
        True
    """
    if isinstance(node, exp.Case):
        results = [*(one.args["true"] for one in node.args["ifs"]), node.args.get("default")]
        return [one for one in results if one is not None]
    return _chosen(function_name(node), given_to(node))


def given_to(node: exp.Expr) -> list[exp.Expr]:
    """The arguments of a call, without types; empty: it has none, or the expression is no call.

    Example:
        >>> from sqlglot import parse_one
        >>> [part.sql() for part in given_to(parse_one("COALESCE(a, b, 0)"))]
        ['a', 'b', '0']
    """
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    if not isinstance(node, exp.Func):
        return []
    return [part for part in node.iter_expressions() if not isinstance(part, exp.DataType)]


def _chosen(name: str, given: list[exp.Expr]) -> list[exp.Expr] | None:
    if name in _ANY:
        return given
    if name in _CHOOSING_FIRST:
        return given[1:]
    return decode_results(given) if name == "decode" and len(given) > 2 else None
