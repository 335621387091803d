"""What the header of a new action promises of its output: meaning, event time, expectations."""

from typing import Any

from streamhouse.planner.catalog import Catalog, CatalogColumn
from streamhouse.planner.compose import Composed
from streamhouse.planner.request import Arithmetic, Block, ColumnRef, Cut, Measure, Request, Scalar
from streamhouse.planner.sentence import derived_words, measure_words, scalar_words

_KEEPS_UNIT = frozenset({"sum", "avg", "min", "max", "median", "percentile", "first", "last", "stddev"})
_TIMES = frozenset({"timestamp", "timestamp_ntz", "date"})


def meanings(request: Request, composed: Composed, catalog: Catalog) -> dict[str, dict[str, Any]]:
    """Output column → description and unit."""
    block, found = request.block, dict[str, dict[str, Any]]()
    for one in (*block.dimensions, *block.columns):
        found[one.name] = {"description": _described(one.of, block, catalog), "unit": _unit(one.of, block, catalog)}
    for measure in block.measures:
        words = measure_words(measure).replace(f" ({measure.name})", "")
        found[measure.name] = {"description": words, "unit": measure_unit(measure, block, catalog)}
    for derived in block.derived:
        words = derived_words(derived).replace(f" ({derived.name})", "")
        found[derived.name] = {"description": words, "unit": "percent" if derived.percent else None}
    return {
        name: {key: value for key, value in found[name].items() if value}
        for name in composed.columns
        if name in found and any(found[name].values())
    }


def expectations(request: Request, composed: Composed) -> dict[str, dict[str, Any]]:
    """Name → expectation: shares and counts lie where they can lie.

    Args:
        request: As the wish says.
        composed: A query that answers it.
    """
    found: dict[str, dict[str, Any]] = {}
    for measure in request.block.measures:
        if measure.function in ("count", "count distinct") and measure.named is None:
            found[f"{measure.name}_is_not_negative"] = {"check": f"{measure.name} >= 0", "on_violation": "warn"}
    for derived in request.block.derived:
        if derived.kind == "share":
            most = 100 if derived.percent else 1
            # Sums of doubles may end a little above: a warning for the last digit would be none of use.
            check = f"{derived.name} IS NULL OR {derived.name} BETWEEN 0 AND {most} + 0.000001"
            found[f"{derived.name}_is_a_share"] = {"check": check, "on_violation": "warn"}
    return {name: one for name, one in found.items() if name.rpartition("_is_")[0] in composed.columns}


def event_time(request: Request, composed: Composed, catalog: Catalog) -> str | None:
    """The output column with the time of a row; None: there is none."""
    if composed.timeline is not None and not composed.timeline.grain.comes_again:
        type_ = composed.columns.get(composed.timeline.name)
        return composed.timeline.name if type_ is not None and type_.kind in _TIMES else None
    block = request.block
    if block.measures or block.dimensions or block.base is None:
        return None
    own = catalog.tables[block.base].event_time
    shown = {one.of: one.name for one in block.columns} if block.columns else {ColumnRef(column=own or ""): own}
    name = shown.get(ColumnRef(column=own)) if own else None
    return name if name in composed.columns else None


def column_of(column: ColumnRef, block: Block, catalog: Catalog) -> CatalogColumn | None:
    """What the catalog says of a column; None: it is one of an inner block."""
    table = block.base if not column.role else next((j.table for j in block.joins if j.role == column.role), None)
    if table is None or table not in catalog.tables:
        return None
    return next((c for c in catalog.tables[table].columns if c.name == column.column), None)


def unit_of(of: Scalar, block: Block, catalog: Catalog) -> str | None:
    """The unit of a value of a row; None: it has none, or it is unknown."""
    return _unit(of, block, catalog)


def _unit(of: Scalar, block: Block, catalog: Catalog) -> str | None:
    if isinstance(of, ColumnRef):
        found = column_of(of, block, catalog)
        if found is not None:
            return found.unit
        return _inner_unit(of, block, catalog)
    if of.kind == "between":
        return f"{of.unit}s"
    if isinstance(of, Arithmetic) and of.operator in "+-":
        return _unit(of.left, block, catalog) or _unit(of.right, block, catalog)
    return None


def _inner_unit(of: ColumnRef, block: Block, catalog: Catalog) -> str | None:
    inner = block.inner
    if inner is None:
        return None
    measure = next((one for one in inner.measures if one.name == of.column), None)
    return measure_unit(measure, inner, catalog) if measure is not None else None


def measure_unit(measure: Measure, block: Block, catalog: Catalog) -> str | None:
    """The unit of a measure; None: it has none, or it is unknown."""
    if measure.unit is not None:
        return measure.unit
    if measure.named is not None and block.base is not None:
        named = catalog.tables[block.base].measures.get(measure.named)
        return named.unit if named is not None else None
    return _unit(measure.of, block, catalog) if measure.of is not None and measure.function in _KEEPS_UNIT else None


def _described(of: Scalar, block: Block, catalog: Catalog) -> str:
    if isinstance(of, ColumnRef):
        found = column_of(of, block, catalog)
        return found.description if found is not None else ""
    if isinstance(of, Cut):
        return f"{scalar_words(of)}, in UTC" if not of.grain.comes_again else scalar_words(of)
    return scalar_words(of)


__all__ = ["column_of", "event_time", "expectations", "meanings", "measure_unit", "unit_of"]
