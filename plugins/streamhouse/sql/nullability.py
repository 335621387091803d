"""Which expressions are never NULL: by Spark's `Expression.nullable`, and by the conditions of a query."""

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.null_functions import ALL_NULL, CASTS, KINDS, NEVER, UNITS
from streamhouse.sql.null_rejecting import NOTHING, Proved
from streamhouse.sql.scopes import TangledError, function_name, has_grouping_sets, read_sources, selects_of
from streamhouse.sql.spark_type import BOOLEAN, SparkType
from streamhouse.sql.typed import Types
from streamhouse.sql.types import INTEGRAL_DIGITS
from streamhouse.sql.windows import is_bound

_FIXED = (
    exp.Literal, exp.Boolean, exp.Interval, exp.Count, exp.CountIf, exp.ApproxDistinct, exp.ArrayAgg,
    exp.ArrayUniqueAgg, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Struct, exp.CurrentDate,
    exp.CurrentTimestamp, exp.Array,
)  # fmt: skip
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile)
_OF_BOTH = (
    exp.Add, exp.Sub, exp.Mul, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift,
    exp.BitwiseRightShift, exp.Neg, exp.BitwiseNot,
)  # fmt: skip
_OF_TEXT = (exp.DPipe, exp.Trim, exp.Substring, exp.Like, exp.ILike, exp.RegexpLike, exp.StrPosition, exp.Overlay)
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_LOGIC = (exp.And, exp.Or, exp.Not)
_TIMES = frozenset({"date", "timestamp", "timestamp_ntz"})


def nullable(
    types: Types, node: exp.Expr, scope: Scope, proved: Proved = NOTHING, *, before_totals: bool = False
) -> bool:
    """Whether an expression may be NULL in a row of a SELECT; what is unknown may be.

    Args:
        types: Of the query.
        node: Of `scope`.
        scope: Of a SELECT.
        proved: What is not NULL in the rows asked for, beside what WHERE and joins prove of all rows.
        before_totals: Ask of the rows that are grouped, and not of the totals that ROLLUP makes of them.
    """
    return _Nullability(types, scope, proved, before_totals=before_totals).of(node)


class _Nullability:
    """Answers for one SELECT."""

    def __init__(self, types: Types, scope: Scope, proved: Proved, *, before_totals: bool) -> None:
        self._types = types
        self._scope = scope
        self._sets = not before_totals and has_grouping_sets(scope.expression)
        # A group of ROLLUP has NULL for a column, whatever the rows have.
        self._proved = proved if self._sets else proved | types.proved(scope)

    def of(self, node: exp.Expr) -> bool:
        """Whether it may be NULL."""
        node = node.unnest()
        if self._proved and node in self._proved:
            return False
        if self._sets and self._is_key(node):
            return True
        return self._of(node)

    def _of(self, node: exp.Expr) -> bool:
        if isinstance(node, exp.Column):
            return self._sets or self._column(node)
        if isinstance(node, (*_FIXED, *_RANKS)) or is_bound(node):
            return False
        if isinstance(node, exp.Window):
            return self._window(node.this)
        if isinstance(node, exp.Filter):
            return self.of(node.this)
        if isinstance(node, exp.Cast):
            return self._cast(node)
        if isinstance(node, exp.Case):
            return self._case(node)
        if isinstance(node, exp.Coalesce):
            return self._all_of([node.this, *node.expressions], node)
        if isinstance(node, _OF_BOTH):
            return self._arithmetic(node)
        if isinstance(node, _OF_TEXT):
            return any(self.of(part) for part in _parts(node))
        if isinstance(node, _LOGIC):
            return any(self._type(part) != BOOLEAN or self.of(part) for part in _parts(node))
        if isinstance(node, _COMPARED):
            return self._compared(_parts(node))
        if isinstance(node, exp.In):
            return bool(node.args.get("query")) or self._compared([node.this, *node.expressions])
        if isinstance(node, exp.Exists):
            return not isinstance(node.this, exp.Query)
        if isinstance(node, exp.Extract):
            return not self._is_time(node.expression) or self.of(node.expression)
        return self._call(node)

    # --- columns ---

    def _column(self, node: exp.Column) -> bool:
        at: Scope | None = self._scope
        while at is not None:
            if node.table in at.sources:
                found = self._types.resolve(node, self._scope)
                return found is None or found.nullable or may_be_absent(node.table, at)
            at = at.parent
        return True

    def _is_key(self, node: exp.Expr) -> bool:
        group = self._scope.expression.args["group"]
        keys = [key.unnest() for key in group.find_all(exp.Expr) if key is not group]
        shown = selects_of(self._scope)
        numbers = [key.this for key in keys if isinstance(key, exp.Literal) and not key.is_string]
        ordinals = [shown[int(n) - 1].unalias().unnest() for n in numbers if n.isdigit() and 0 < int(n) <= len(shown)]
        return not isinstance(node, exp.Literal) and node in {*keys, *ordinals}

    # --- expressions ---

    def _type(self, node: exp.Expr) -> SparkType | None:
        return self._types.type_of(node, self._scope)

    def _is_text(self, node: exp.Expr) -> bool:
        """Whether Spark would have to convert it from text where it needs another type; what is unknown may be text."""
        kind = self._type(node)
        return kind is None or kind.kind in ("string", "void", "variant")

    def _is_time(self, node: exp.Expr) -> bool:
        kind = self._type(node)
        return kind is not None and kind.kind in _TIMES

    def _cast(self, node: exp.Cast) -> bool:
        if node.args.get("safe"):
            return True
        if type(node) is exp.Cast and isinstance(node.this, (exp.Literal, exp.Neg, exp.Array)):
            return False  # DATE '2020-01-01', or a parameter
        return not _never_fails(self._type(node.this), self._type(node)) or self.of(node.this)

    def _case(self, node: exp.Case) -> bool:
        default = node.args.get("default")
        if default is None:
            return True
        return self._any_of([*(branch.args["true"] for branch in node.args["ifs"]), default], node)

    def _any_of(self, branches: Sequence[exp.Expr], node: exp.Expr) -> bool:
        kind = self._type(node)
        return any(self._branch(branch, kind) for branch in branches)

    def _all_of(self, branches: Sequence[exp.Expr], node: exp.Expr) -> bool:
        kind = self._type(node)
        return all(self._branch(branch, kind) for branch in branches) and not self._of_full_join(branches)

    def _branch(self, node: exp.Expr, kind: SparkType | None) -> bool:
        """Whether a value may be NULL as one of this type."""
        own = self._type(node)
        widens = own is not None and kind is not None and (own == kind or _never_fails(own, kind))
        return not widens or self.of(node)

    def _of_full_join(self, branches: Sequence[exp.Expr]) -> bool:
        """Whether one of the two sides of a FULL JOIN has the value: no row lacks both."""
        query = self._scope.expression
        joins = query.args.get("joins") or []
        if self._sets or len(joins) != 1 or joins[0].side != "FULL":
            return False
        sides = {query.args["from_"].this.alias_or_name, joins[0].alias_or_name}
        columns = [branch.unnest() for branch in branches]
        return len(sides) == 2 and sides <= {
            column.table
            for column in columns
            if isinstance(column, exp.Column)
            and column.table in self._scope.sources
            and (found := self._types.resolve(column, self._scope)) is not None
            and not found.nullable
        }

    def _arithmetic(self, node: exp.Expr) -> bool:
        parts = _parts(node)
        if any(self._is_text(part) or self.of(part) for part in parts):
            return True
        # Spark makes a whole number that is written out a decimal with just as many digits, and does not look at it.
        kinds = [self._type(part) for part in parts]
        written = any(
            kind is not None and kind.integral and part.find(exp.Column) is None
            for part, kind in zip(parts, kinds, strict=True)
        )
        return written and any(kind is not None and kind.kind == "decimal" for kind in kinds)

    def _compared(self, parts: Sequence[exp.Expr]) -> bool:
        texts = {self._is_text(part) for part in parts}
        return len(texts) != 1 or any(self.of(part) for part in parts)

    def _window(self, call: exp.Expr) -> bool:
        """Of a function under OVER: LAG and others give NULL where there is no row."""
        name = function_name(call)
        return not isinstance(call, (*_RANKS, *_FIXED)) and name not in NEVER

    def _call(self, node: exp.Expr) -> bool:
        name = function_name(node)
        if name in NEVER:
            return False
        if not isinstance(node, exp.Anonymous):
            return True
        given = node.expressions
        if name in ALL_NULL:
            return self._all_of(given, node)
        if name in ("if", "nvl2") and len(given) == 3:
            return self._any_of(given[1:], node)
        if name in UNITS and len(given) == 2:
            unit, time = given if name == "date_trunc" else reversed(given)
            known = isinstance(unit, exp.Literal) and unit.is_string and unit.this.lower() in UNITS[name]
            return not known or not self._is_time(time) or self.of(time)
        if name == "concat_ws" and given:
            return self.of(given[0])
        if name in CASTS and len(given) == 1:
            return not _never_fails(self._type(given[0]), self._type(node)) or self.of(given[0])
        kinds = KINDS.get(name)
        if kinds is None or not given:
            return True
        if isinstance(given[0], exp.Var):
            kinds = KINDS["dateadd"] if name == "date_add" else kinds
        return any(
            not self._taken(part, kinds[min(number, len(kinds) - 1)], number) or self.of(part)
            for number, part in enumerate(given)
            if not isinstance(part, exp.Var)
        )

    def _taken(self, part: exp.Expr, kind: str, number: int) -> bool:
        """Whether Spark takes an argument as it is, or by a conversion that never fails."""
        literal = isinstance(part.unnest(), exp.Literal)
        match kind:
            case "t":
                return True
            case "T":
                return number < 2 or literal or not self._is_text(part)
            case "n":
                own = self._type(part)
                return own is not None and own.numeric
            case "d":
                return self._is_time(part)
            case "l":
                return literal
            case "c":
                own = self._type(part)
                return own is not None and own.kind in ("array", "map")
        return False


def may_be_absent(source: str, scope: Scope) -> bool:
    """Whether an outer join can fill the columns of a source with NULL."""
    try:
        if source not in read_sources(scope):
            return True
    except TangledError:
        return True
    joins = scope.expression.args.get("joins") or []
    mine = [i for i, join in enumerate(joins) if join.alias_or_name == source]
    position = mine[0] if mine else -1
    own = joins[position].side if mine else ""
    later = {join.side for join in joins[position + 1 :]}
    lateral = any(v.alias_or_name == source for v in scope.expression.args.get("laterals") or [])
    return lateral or own in {"LEFT", "FULL"} or bool(later & {"RIGHT", "FULL"})


def _parts(node: exp.Expr) -> list[exp.Expr]:
    return [part for part in node.iter_expressions() if not isinstance(part, exp.Var)]


def _never_fails(own: SparkType | None, kind: SparkType | None) -> bool:
    """Whether each value of a type has one of another: of the pairs for which Spark's `Cast.forceNullable` is false."""
    if own is None or kind is None or own.kind in ("void", "variant"):
        return False
    if own == kind:
        return True
    if kind.kind == "string":
        return True
    if own.kind == "string":
        return kind.kind == "binary"
    if own.kind == "date":
        return kind.kind in ("timestamp", "timestamp_ntz")
    if own.kind == "timestamp":
        return kind.kind in ("date", "timestamp_ntz")
    if kind.kind == "decimal":
        whole = INTEGRAL_DIGITS.get(own.kind, own.precision - own.scale if own.kind == "decimal" else 100)
        return whole <= kind.precision - kind.scale and own.scale <= kind.scale
    if own.integral:
        return kind.integral or kind.kind in ("float", "double", "boolean")
    if own.kind in ("float", "double", "decimal"):
        return kind.kind in ("float", "double", "boolean")
    if own.kind == "boolean":
        return kind.numeric
    return False
