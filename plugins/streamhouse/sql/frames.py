"""What a window function needs of the order of rows, and what its frame gives it; pure.

Two rows that agree in PARTITION BY and ORDER BY of a window may change places between two runs.
"""

from enum import Enum

from sqlglot import exp

from streamhouse.sql.scopes import function_name
from streamhouse.sql.words import words

BEST_ROW = frozenset({"max_by", "min_by"})
_RANKS = words("rank dense_rank percent_rank cume_dist")  # rows that agree share the result
_PLACES = words("row_number ntile lag lead")  # which Spark gives a ROWS frame of their own
SKETCHES = words(
    """
    approx_top_k approx_top_k_accumulate approx_top_k_combine histogram_numeric hll_sketch_agg hll_union_agg
    theta_sketch_agg theta_union_agg theta_intersection_agg
    """
)
"""Functions that approximate a set of values; the bytes of what they keep follow the order of the values."""

SEQUENCES = SKETCHES | words(
    """
    first last first_value last_value any_value nth_value collect_list array_agg collect_set listagg string_agg
    mode percentile_approx approx_percentile
    """
)
"""Functions whose result depends on the order in which they see values."""


class Needs(Enum):
    """What must be the same in each run, so that a function gives one result."""

    NOTHING = "nothing"
    VALUES = "the values in their order"
    BEST = "the best row"
    PLACE = "the place of each row"


class _Frame(Enum):
    """What decides which rows are in the frame of a row."""

    ITSELF = "the row only"
    VALUES = "values: rows that agree have one frame"
    PLACE = "the place of the row"


_NEEDS = {_Frame.ITSELF: Needs.NOTHING, _Frame.PLACE: Needs.PLACE}


def needs(call: exp.Expr, definition: exp.Expr) -> Needs:
    """What a window function needs.

    Args:
        call: Without OVER and IGNORE NULLS.
        definition: The window, or the named one it stands for.
    """
    name = function_name(call)
    if name in _RANKS:
        return Needs.NOTHING
    if name in _PLACES:
        return Needs.PLACE
    return _NEEDS.get(_frame(definition.args.get("spec")), folded(name))


def folded(name: str) -> Needs:
    """What an aggregate needs that sees a set of rows."""
    if name in SEQUENCES:
        return Needs.VALUES
    return Needs.BEST if name in BEST_ROW else Needs.NOTHING


def _frame(spec: exp.Expr | None) -> _Frame:
    if spec is None or str(spec.args.get("kind")).upper() != "ROWS":
        return _Frame.VALUES  # without a frame it is RANGE, or the partition
    bounds = [_bound(spec, "start"), _bound(spec, "end")]
    if bounds == ["-UNBOUNDED", "+UNBOUNDED"]:
        return _Frame.VALUES
    return _Frame.ITSELF if bounds == ["", ""] else _Frame.PLACE


def _bound(spec: exp.Expr, end: str) -> str:
    """A bound with its direction; empty: the current row."""
    value = spec.args.get(end)
    shown = (value.sql() if isinstance(value, exp.Expr) else str(value or "CURRENT ROW")).upper()
    side = "+" if str(spec.args.get(f"{end}_side")).upper() == "FOLLOWING" else "-"
    return "" if shown in {"CURRENT ROW", "0"} else f"{side}{shown}"
