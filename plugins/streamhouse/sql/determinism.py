"""Functions whose answer depends on when or where they run (design D5)."""

from sqlglot import exp

from streamhouse.sql import functions
from streamhouse.sql.scopes import function_name

_REFUSED = (exp.Rand, exp.Randn, exp.CurrentUser, exp.SessionUser, exp.CurrentDatabase, exp.TableSample)


def fault(node: exp.Expr) -> str | None:
    """Why a node gives another answer when an epoch is replayed; None: it does not."""
    if isinstance(node, exp.TableSample):
        return "TABLESAMPLE takes other rows each time"
    if isinstance(node, _REFUSED) or (
        isinstance(node, exp.Anonymous) and function_name(node) in functions.NONDETERMINISTIC
    ):
        return f"{function_name(node)}() gives another answer each time"
    return None


def is_clock(node: exp.Expr) -> bool:
    """Whether a node is a clock function, which `bind` replaces by the epoch's time."""
    if isinstance(node, exp.CurrentTimestamp | exp.CurrentDate | exp.Localtimestamp):
        return True
    if not isinstance(node, exp.Anonymous):
        return False
    name = function_name(node)
    return name in functions.CLOCKS and (name != "unix_timestamp" or not node.expressions)
