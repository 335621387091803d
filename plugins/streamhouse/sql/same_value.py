"""Expressions that Spark gives the same value and type as a simpler one, by the types of their parts."""

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql import spark_type as t
from streamhouse.sql.infer import Inference
from streamhouse.sql.literals import counted_number, whole_number
from streamhouse.sql.spark_type import SparkType

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_SINGLE = frozenset(
    {*_WHOLE, "float", "double", "boolean", "string", "binary", "date", "timestamp", "timestamp_ntz"}
)  # types with one form only, and no parts
_NEUTRAL: dict[type[exp.Expr], int] = {exp.Add: 0, exp.Sub: 0, exp.Mul: 1}
_SIZED = (exp.DType.CHAR, exp.DType.VARCHAR, exp.DType.NCHAR, exp.DType.NVARCHAR)  # texts with rules of their own
_COMPUTES = (exp.Binary, exp.Between, exp.In, exp.Func)  # where the types of values side by side meet


class Same:
    """Finds simpler expressions in one query."""

    def __init__(self, inference: Inference) -> None:
        self._inference = inference

    def simpler(self, tree: exp.Expr, scope: Scope) -> exp.Expr:
        """The expression, or a part of it that has its value and type."""
        while (found := self._step(tree, scope)) is not None:
            tree = found
        return tree

    def digits(self, tree: exp.Expr, scope: Scope) -> int | None:
        """The whole number that a literal is, where it may count with its digits: beside a DECIMAL, or who knows what.

        So `n / 3` differs from `n / CAST(3 AS INT)`, and from `n / c` over `(SELECT 3 AS c, …)`, whose types differ.
        """
        number = counted_number(tree) if isinstance(tree, (exp.Literal, exp.Neg, exp.Cast)) else None
        place, owner = tree, tree.parent
        while isinstance(owner, exp.Paren):
            place, owner = owner, owner.parent
        if number is None or isinstance(owner, exp.Cast) or not isinstance(owner, _COMPUTES):
            return None
        if isinstance(owner, exp.If) and isinstance(owner.parent, exp.Case) and owner.this is place:
            others = [owner.parent.this] if owner.parent.this is not None else []  # CASE n WHEN 3
        else:
            others = [one for one in owner.iter_expressions() if one is not place and isinstance(one, exp.Condition)]
        kinds = [self._type(part, scope) for part in others]
        return None if all(kind is not None and kind.kind != "decimal" for kind in kinds) else number

    def kin(self, left: exp.Expr, right: exp.Expr, scope: Scope) -> bool:
        """Whether two values are compared as they are: of one type, or both whole numbers."""
        one, other = self._type(left, scope), self._type(right, scope)
        return one is not None and other is not None and (one == other or (one.integral and other.integral))

    def sides(self, tree: exp.Expr, scope: Scope) -> tuple[exp.Expr, exp.Expr]:
        """What a comparison compares: whole numbers without casts that only make them wider."""
        pair = (tree.this, tree.expression)
        if not all(kind is not None and kind.integral for kind in (self._type(side, scope) for side in pair)):
            return pair
        return self._unwidened(pair[0], scope), self._unwidened(pair[1], scope)

    def summand(self, tree: exp.Expr, scope: Scope) -> exp.Expr:
        """What SUM, AVG or COUNT takes in: all three count whole numbers alike, whatever their width."""
        return self._unwidened(tree.this, scope)

    def _step(self, tree: exp.Expr, scope: Scope) -> exp.Expr | None:
        inner = tree.this
        if isinstance(tree, exp.Paren) and isinstance(inner, exp.Expr):
            return inner
        if isinstance(tree, exp.Cast) and isinstance(inner, exp.Expr) and tree.to.this not in _SIZED:
            source_type, wanted = self._type(inner, scope), t.from_tree(tree.to)
            return inner if source_type is not None and source_type == wanted and source_type.kind in _SINGLE else None
        return self._operand(tree, scope) if type(tree) in _NEUTRAL else None

    def _operand(self, tree: exp.Expr, scope: Scope) -> exp.Expr | None:
        """Of `a + 0`, `a - 0` and `a * 1` of whole numbers: `a`. With DOUBLE the sum of -0.0 and 0 is 0.0."""
        sides: list[tuple[exp.Expr, exp.Expr]] = [(tree.this, tree.expression)]
        neutral = _NEUTRAL[type(tree)]
        if not isinstance(tree, exp.Sub):
            sides.append((tree.expression, tree.this))
        for operand, other in sides:
            if whole_number(other.unnest()) == neutral and whole_number(operand.unnest()) is None:
                operand_type = self._type(operand, scope)
                if operand_type is not None and operand_type.integral and operand_type == self._type(tree, scope):
                    return operand
        return None

    def _unwidened(self, tree: exp.Expr, scope: Scope) -> exp.Expr:
        """Of a CAST of a whole number to a wider one: that number."""
        cast = tree.unnest()
        if isinstance(cast, exp.Cast):
            source_type, wanted = self._type(cast.this, scope), t.from_tree(cast.to)
            if (
                source_type is not None
                and source_type.kind in _WHOLE
                and wanted.kind in _WHOLE[_WHOLE.index(source_type.kind) :]
            ):
                return self._unwidened(cast.this, scope)
        return tree

    def _type(self, tree: exp.Expr, scope: Scope) -> SparkType | None:
        return self._inference.type_of(tree, scope)
