"""The columns of calls that make rows: `explode(…)`, `inline(…)`, `stack(…)` and others; pure.

Names and types are those of `Generator.elementSchema` of Spark 4.1.
"""

from collections.abc import Sequence

from sqlglot import exp

from streamhouse.sql import spark_type as t
from streamhouse.sql.literals import whole_number
from streamhouse.sql.scopes import function_name
from streamhouse.sql.spark_type import SparkType

Columns = tuple[tuple[str, SparkType | None], ...]

_VARIANT = (("pos", t.INT), ("key", t.STRING), ("value", SparkType("variant")))


def arguments_of(call: exp.Expr) -> list[exp.Expr]:
    """The arguments of a generator."""
    given = call.expressions if isinstance(call, exp.Anonymous) else [call.this, *call.expressions]
    return [part.expression if isinstance(part, exp.Kwarg) else part for part in given if isinstance(part, exp.Expr)]


def generated(call: exp.Expr, kinds: Sequence[SparkType | None]) -> Columns | None:
    """Name and type of each column of a generator, names as Spark has them where a query gives none.

    Args:
        call: Of a generator.
        kinds: The types of its arguments.

    Returns:
        None: the types do not tell, or Spark takes no such arguments.
    """
    name = function_name(call).removesuffix("_outer")
    if name == "stack":
        return _stacked(arguments_of(call), kinds)
    if name == "json_tuple":
        texts = len(kinds) > 1 and all(kind in (t.STRING, t.VOID) for kind in kinds)
        return tuple((f"c{i}", t.STRING) for i in range(len(kinds) - 1)) if texts else None
    kind = kinds[0] if len(kinds) == 1 else None
    if kind is None:
        return None
    if name == "variant_explode":
        return _VARIANT if kind.kind == "variant" else None
    if name == "inline":
        row = kind.element
        return row.fields if row is not None and row.kind == "struct" else None
    if kind.kind not in ("array", "map"):
        return None
    columns = kind.fields if kind.kind == "map" else (("col", kind.fields[0][1]),)
    return (("pos", t.INT), *columns) if name == "posexplode" else columns


def _stacked(arguments: Sequence[exp.Expr], kinds: Sequence[SparkType | None]) -> Columns | None:
    rows = whole_number(arguments[0].unnest()) if arguments else None
    if rows is None or rows < 1 or len(arguments) < 2:
        return None
    width = -(-(len(arguments) - 1) // rows)
    columns: list[tuple[str, SparkType | None]] = []
    for at in range(width):
        stacked = [kind for kind in kinds[1 + at :: width] if kind != t.VOID]
        if None in stacked or len(set(stacked)) > 1:
            return None  # Spark takes values of one type only
        columns.append((f"col{at}", stacked[0] if stacked else t.VOID))
    return tuple(columns)
