"""Time windows: `window(ts, '1 hour')` and `session_window(ts, '1 hour')`."""

from collections.abc import Collection, Iterable, Iterator

from sqlglot import exp

from streamhouse.sql.admit import Refused
from streamhouse.sql.classes import Kinds
from streamhouse.sql.dialect import quote_names, short
from streamhouse.sql.dialect.literals import WRITTEN
from streamhouse.sql.dialect.moments import length_of
from streamhouse.sql.functions import TIME_WINDOWS
from streamhouse.sql.parameters import SAMPLED
from streamhouse.sql.scopes import function_name, own_nodes

_ANONYMOUS = Kinds(exp.Anonymous)
_AFTER_GROUPING = ("expressions", "having", "order", "qualify")


def spell_windows(nodes: Iterable[exp.Expr], columns: Collection[str]) -> bool:
    """Write `window.start` out as `window(ts, '1 hour').start` where a GROUP BY says which window; changes the tree.

    Args:
        nodes: All of a query as parsed.
        columns: Names of columns that the inputs have; one of that name is not a window.

    Returns:
        Whether one does, so that `nodes` may be others now.
    """
    found = False
    for select in (node for node in nodes if type(node) is exp.Select):
        group = select.args.get("group")
        for call in group.expressions if group is not None else ():
            name = function_name(call)
            if name in TIME_WINDOWS and name not in columns:
                _spell(select, name, call)
                found = True
    return found


def _spell(select: exp.Select, name: str, call: exp.Expr) -> None:
    from_ = select.args.get("from_")
    sources = [from_.this] if from_ is not None else []
    sources += [join.this for join in select.args.get("joins") or []]
    if any(source.alias_or_name.lower() == name for source in sources):
        return
    for clause in _AFTER_GROUPING:
        value = select.args.get(clause)
        for root in value if isinstance(value, list) else [value] if value is not None else []:
            for node in list(own_nodes(root)):
                if isinstance(node, exp.Column) and node.table.lower() == name:
                    node.replace(exp.Dot(this=call.copy(), expression=node.this))


def is_bound(node: exp.Expr) -> bool:
    """Whether an expression is the start or end of a time window, which is never NULL: rows without a time are out."""
    if not isinstance(node, exp.Dot) or node.expression.name not in {"start", "end"}:
        return False
    return function_name(node.this.unnest()) in TIME_WINDOWS


def bounds_of(node: exp.Expr) -> tuple[exp.Expr, ...]:
    """Start and end of a time window, each of which identifies the window; none of any other expression."""
    call = node.unnest()
    if function_name(call) not in TIME_WINDOWS:
        return ()
    bounds = tuple(exp.Dot(this=call.copy(), expression=exp.to_identifier(name)) for name in ("start", "end"))
    for bound in bounds:
        quote_names(bound)
    return bounds


def hops(select: exp.Select) -> bool:
    """Whether a row may be in several windows, and so is several rows, wherever the window stands."""
    return any(
        _ANONYMOUS[type(node)] and function_name(node) == "window" and len(node.expressions) > 2
        for node in own_nodes(select)
    )


def wrong_lengths(call: exp.Expr) -> Iterator[Refused]:
    """Lengths in `window(ts, length, slide, start)` that Spark does not take.

    Args:
        call: A time window. The gap of a session window may be any value.

    Reference: `TimeWindow` of Spark 4.1.
    """
    parts = call.expressions[1:]
    if function_name(call) != "window" or not parts or any(part.meta_get(SAMPLED) for part in parts):
        return
    known: list[int] = []
    for part in parts:
        micros = _micros(part)
        if micros is None:
            yield Refused(part, f"window() takes a length such as '1 hour' here, not {short(part)}", _LENGTH)
            return
        if micros <= 0 and len(known) < _START:
            yield Refused(part, f"the length of a time window is above 0, and {short(part)} is not", _LENGTH)
            return
        known.append(micros)
    slide = known[:_START][-1]
    if slide > known[0]:
        message = f"some rows are in none of the time windows of {short(parts[0])} that begin every {short(parts[1])}"
        yield Refused(parts[1], message, "let them begin as often as they end, or more often")
    elif len(known) > _START and abs(known[_START]) >= slide:
        message = f"the third length is shorter than the time from one window to the next, and {short(parts[2])} is not"
        yield Refused(parts[2], message, "subtract the time from one window to the next")


_START = 2
_LENGTH = "write weeks, days, hours, minutes or seconds: months and years have no fixed length"


def _micros(part: exp.Expr) -> int | None:
    """The microseconds that a literal says; None: it is none that Spark takes."""
    sign, inner = (-1, part.this) if isinstance(part, exp.Neg) else (1, part)
    if isinstance(inner, exp.Cast) and inner.meta_get(WRITTEN) is not None and inner.to.this == exp.DType.BIGINT:
        inner = inner.this
    if not isinstance(inner, exp.Literal):
        return None
    if not inner.is_string:
        return sign * int(inner.name) if inner.name.isdigit() else None
    months, micros = length_of(inner.name) or (1, 0)
    return None if months or inner is not part else micros
