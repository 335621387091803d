"""Expressions whose value one row alone decides, written so that no row makes them fail.

Such a value is computed for every row an input holds, also for rows that the query leaves out before it
computes anything. So `a / b` becomes `TRY_DIVIDE(a, b)`: the same value wherever there is one, else NULL.
Only what is known to behave so is accepted.
"""

import re
from collections.abc import Collection

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.infer import Inference
from streamhouse.sql.scopes import function_name
from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.windows import is_bound
from streamhouse.sql.words import words

STORED = frozenset({"boolean", "tinyint", "smallint", "int", "bigint", "string", "date", "timestamp", "timestamp_ntz"})
"""Types whose values are equal in Spark, Arrow and DuckDB when they are in one of them."""

_FLOATS = frozenset({"float", "double"})
_INTEGERS = frozenset({"tinyint", "smallint", "int", "bigint"})
_NUMBERS = _INTEGERS | _FLOATS
_TIMES = frozenset({"date", "timestamp"})
_PLAIN = STORED | _FLOATS
_TRIED: dict[type[exp.Expr], str] = {
    exp.Add: "TRY_ADD",
    exp.Sub: "TRY_SUBTRACT",
    exp.Mul: "TRY_MULTIPLY",
    exp.Div: "TRY_DIVIDE",
    exp.Mod: "TRY_MOD",
}
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ)
# Function → the kinds its arguments may have. None of these fails on any value of them.
_TOTAL: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        words("year month day dayofmonth dayofweek dayofyear weekday weekofyear quarter last_day unix_date to_date"),
        _TIMES,
    ),
    **dict.fromkeys(words("hour minute second unix_seconds unix_millis unix_micros"), frozenset({"timestamp"})),
    **dict.fromkeys(words("date_trunc trunc date_format"), _TIMES | {"literal"}),
    **dict.fromkeys(
        words("upper ucase lower lcase trim ltrim rtrim btrim length char_length character_length initcap reverse md5"),
        frozenset({"string"}),
    ),
    **dict.fromkeys(words("left right substring substr substring_index"), frozenset({"string", "int", "literal"})),
    "concat": frozenset({"string"}),
    **dict.fromkeys(words("ceil ceiling floor"), _NUMBERS),
}
_UNITS_US = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
_DURATION = re.compile(r"\s*(?:interval\s+)?((?:\d+\s+[a-z]+\s*)+)", re.IGNORECASE | re.ASCII)


def row_function(node: exp.Expr, scope: Scope, inference: Inference) -> exp.Expr | None:
    """An expression with the value of `node` on every row on which that has one, and NULL on the others.

    Args:
        node: Stands in `scope`; not changed.
        scope: A SELECT.
        inference: Of the query.

    Returns:
        A tree with the columns of `node`, at least one; None: it cannot be promised.
    """
    kind = inference.type_of(node, scope)
    if kind is None or kind.kind not in STORED:
        return None
    found = _Total(scope, inference).of(node)
    return found if found is not None and found.find(exp.Column) is not None else None


class _Total:
    def __init__(self, scope: Scope, inference: Inference) -> None:
        self._scope = scope
        self._inference = inference

    def of(self, node: exp.Expr) -> exp.Expr | None:
        if isinstance(node, exp.Column):
            return node.copy() if self._kind(node) in _PLAIN else None
        if isinstance(node, (exp.Literal, exp.Boolean, exp.Null)):
            return node.copy()
        if isinstance(node, exp.Neg):
            return node.copy() if isinstance(node.this, exp.Literal) else None
        if isinstance(node, exp.Paren):
            return self._rebuilt(node)
        if isinstance(node, (exp.Not, exp.And, exp.Or)):
            return self._rebuilt(node) if self._kinds(list(node.iter_expressions())) == {"boolean"} else None
        if isinstance(node, exp.Is):
            return self._rebuilt(node) if isinstance(node.expression, exp.Null) else None
        if isinstance(node, _COMPARED):
            return self._rebuilt(node) if self._comparable([node.this, node.expression]) else None
        if isinstance(node, exp.Between):
            parts = [node.this, node.args["low"], node.args["high"]]
            return self._rebuilt(node) if self._comparable(parts) else None
        if isinstance(node, exp.In):
            listed = not node.args.get("query") and not node.args.get("unnest")
            return self._rebuilt(node) if listed and self._comparable([node.this, *node.expressions]) else None
        if isinstance(node, exp.Case):
            return self._case(node)
        if isinstance(node, exp.Coalesce):
            parts = [node.this, *node.expressions]
            return self._rebuilt(node) if self._alike(parts) else None
        if isinstance(node, exp.Cast):
            return self._cast(node)
        if type(node) in _TRIED:
            return self._tried(node)
        if isinstance(node, exp.DPipe):
            return self._rebuilt(node) if self._kinds([node.this, node.expression]) == {"string"} else None
        if isinstance(node, exp.IntDiv):
            divisor = node.expression.unnest()
            safe = isinstance(divisor, exp.Literal) and divisor.name.strip("0").isdigit()
            return self._rebuilt(node) if safe and self._kinds([node.this, divisor]) <= _INTEGERS else None
        if isinstance(node, exp.Extract):
            return self._rebuilt(node) if self._kind(node.expression) in _TIMES else None
        if is_bound(node):
            return self._window(node)
        return self._call(node)

    def _kind(self, node: exp.Expr) -> str:
        found: SparkType | None = self._inference.type_of(node, self._scope)
        return found.kind if found is not None else "unknown"

    def _kinds(self, nodes: Collection[exp.Expr]) -> set[str]:
        return {self._kind(node) for node in nodes}

    def _alike(self, nodes: Collection[exp.Expr]) -> bool:
        """Whether Spark puts values of these expressions together without reading text as something else."""
        kinds = self._kinds([node for node in nodes if not isinstance(node, exp.Null)])
        return kinds <= _INTEGERS or (len(kinds) == 1 and kinds <= _PLAIN)

    def _comparable(self, nodes: Collection[exp.Expr]) -> bool:
        literals = [node for node in nodes if isinstance(node.unnest(), exp.Literal)]
        kinds = self._kinds([node for node in nodes if not isinstance(node.unnest(), exp.Literal)])
        if kinds <= _NUMBERS:
            return True
        # Text in quotes is read as a time once, whatever the rows are; text in a column next to a number is not.
        return self._kinds(literals) <= {"string"} and (kinds <= _TIMES or (len(kinds) == 1 and kinds <= _PLAIN))

    def _rebuilt(self, node: exp.Expr) -> exp.Expr | None:
        """The node over the total forms of its parts; None when one has none."""
        total_form = node.copy()
        for old, part in zip(list(total_form.iter_expressions()), list(node.iter_expressions()), strict=True):
            if isinstance(part, (exp.Identifier, exp.DataType, exp.Var)):
                continue
            new = self.of(part)
            if new is None:
                return None
            old.replace(new)
        return total_form

    def _case(self, node: exp.Case) -> exp.Expr | None:
        branches = node.args["ifs"]
        results = [branch.args["true"] for branch in branches]
        if node.args.get("default") is not None:
            results.append(node.args["default"])
        tested = [branch.this for branch in branches]
        sound = self._comparable([node.this, *tested]) if node.this is not None else self._kinds(tested) == {"boolean"}
        if not sound or not self._alike(results):
            return None
        total_form = node.copy()
        for old, part in zip(total_form.args["ifs"], branches, strict=True):
            for name in ("this", "true"):
                new = self.of(part.args[name])
                if new is None:
                    return None
                old.set(name, new)
        for name in ("this", "default"):
            if node.args.get(name) is not None:
                new = self.of(node.args[name])
                if new is None:
                    return None
                total_form.set(name, new)
        return total_form

    def _cast(self, node: exp.Cast) -> exp.Expr | None:
        inner = self.of(node.this)
        wanted = self._inference.type_of(node, self._scope)
        # A float as text, and text as a time of day that depends on the day, are left alone.
        if inner is None or wanted is None or wanted.kind not in _PLAIN or node.args.get("format"):
            return None
        source_kind = self._kind(node.this)
        if (source_kind in _FLOATS and wanted.kind == "string") or (
            source_kind == "string" and wanted.kind.startswith("timestamp")
        ):
            return None
        return exp.TryCast(this=inner, to=node.args["to"].copy(), safe=True)

    def _tried(self, node: exp.Expr) -> exp.Expr | None:
        if not self._kinds([node.this, node.expression]) <= _NUMBERS:
            return None
        parts = [self.of(node.this), self.of(node.expression)]
        if any(part is None for part in parts):
            return None
        return exp.Anonymous(this=_TRIED[type(node)], expressions=[part.unnest() for part in parts if part is not None])

    def _call(self, node: exp.Expr) -> exp.Expr | None:
        allowed = _TOTAL.get(function_name(node)) if isinstance(node, exp.Func) else None
        if allowed is None:
            return None
        parts = [p for p in node.iter_expressions() if not isinstance(p, (exp.Var, exp.DataType))]
        for part in parts:
            kind = "literal" if isinstance(part, exp.Literal) else self._kind(part)
            if kind not in allowed and not (kind == "literal" and self._kind(part) in allowed):
                return None
        return self._rebuilt(node)

    def _window(self, node: exp.Expr) -> exp.Expr | None:
        """The bound of a window that does not overlap others, as Spark computes it: from 1970 on, in microseconds."""
        call = node.this.unnest()
        arguments = call.expressions
        if function_name(call) != "window" or len(arguments) != 2 or self._kind(arguments[0]) != "timestamp":
            return None
        at, length = self.of(arguments[0]), _microseconds(arguments[1])
        if at is None or not length:
            return None
        micros = exp.Anonymous(this="UNIX_MICROS", expressions=[at])
        into = exp.Anonymous(this="PMOD", expressions=[micros.copy(), exp.Literal.number(length)])
        bound: exp.Expr = exp.Anonymous(this="TRY_SUBTRACT", expressions=[micros, into])
        if node.expression.name == "end":
            bound = exp.Anonymous(this="TRY_ADD", expressions=[bound, exp.Literal.number(length)])
        return exp.Anonymous(this="TIMESTAMP_MICROS", expressions=[bound])


def _microseconds(duration: exp.Expr) -> int:
    """Of a text like '1 hour 30 minutes'; 0: not understood."""
    found = _DURATION.fullmatch(duration.name) if isinstance(duration, exp.Literal) and duration.is_string else None
    parts = found.group(1).split() if found else []
    units = [_UNITS_US.get(unit.lower().removesuffix("s"), 0) for unit in parts[1::2]]
    return sum(int(n) * unit for n, unit in zip(parts[::2], units, strict=True)) if all(units) else 0
