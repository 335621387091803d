"""Functions whose answer depends on when or where they run (design D5)."""

from sqlglot import exp

from streamhouse.sql import functions
from streamhouse.sql.classes import Kinds
from streamhouse.sql.refused import NOT_REPEATABLE, REFUSED
from streamhouse.sql.scopes import function_name

_MOMENTS = ("now", "today", "tomorrow", "yesterday")  # which Spark takes for times, where they are made one
_TIMES = (exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ, exp.DType.TIMESTAMPNTZ)
_REFUSED = (exp.Rand, exp.Randn, exp.CurrentUser, exp.SessionUser, exp.CurrentDatabase, exp.TableSample)

_LOOKED_AT = Kinds(*_REFUSED, exp.Anonymous, exp.Cast)
_CLOCKS = Kinds(exp.CurrentTimestamp, exp.CurrentDate, exp.Localtimestamp)
_ANONYMOUS = Kinds(exp.Anonymous)


def fault(node: exp.Expr) -> str | None:
    """Why a node gives another answer when an epoch is replayed; None: it does not."""
    if not _LOOKED_AT[type(node)]:
        return None
    if isinstance(node, exp.TableSample):
        return "TABLESAMPLE takes other rows each time"
    if isinstance(node, _REFUSED) or (isinstance(node, exp.Anonymous) and function_name(node) in NOT_REPEATABLE):
        name = function_name(node)
        return f"{name}() {REFUSED.get(name, 'gives another answer each time')}"
    if isinstance(node, exp.Cast) and node.to.this in _TIMES and isinstance(node.this, exp.Literal):
        word = node.this.name.lower().split()[:1]  # a zone may follow
        if word and word[0] in _MOMENTS:
            return (
                f"'{node.this.name}' is another time each time; CURRENT_DATE() and CURRENT_TIMESTAMP() are the epoch's"
            )
    return None


def decides_by_clock(query: exp.Query) -> bool:
    """Whether the time of day decides more than the value of an output column.

    Such a result changes although no input does: `WHERE sold_at > now() - INTERVAL 1 DAY`.
    """
    clocks = [node for node in query.find_all(exp.Func) if is_clock(node)]
    if not clocks:
        return False
    shown = {id(part) for item in _outputs(query) for part in item.walk()}
    return any(id(node) not in shown for node in clocks)


def _outputs(query: exp.Expr) -> list[exp.Expr]:
    if isinstance(query, exp.SetOperation):
        return [*_outputs(query.this), *_outputs(query.expression)]
    return list(query.selects) if isinstance(query, exp.Select) else []


def is_clock(node: exp.Expr) -> bool:
    """Whether a node is a clock function, which `bind` replaces by the epoch's time."""
    if _CLOCKS[type(node)]:
        return True
    if not _ANONYMOUS[type(node)]:
        return False
    name = function_name(node)
    return name in functions.CLOCKS and (name != "unix_timestamp" or not node.expressions)
