"""A Request with one part removed or renamed, and all that hangs on the part with it. Pure."""

from typing import Any, Literal

from pydantic import BaseModel

from streamhouse.planner.request import AnyOf, Block, ColumnRef, Condition, Derived, Dimension, Filter, Measure, Request
from streamhouse.planner.sql.scope import columns_in

Listed = Literal["dimensions", "measures", "derived", "filters", "having", "columns"]
"""Parts of a block that are lists."""


def without(request: Request, part: Listed, index: int) -> Request:
    """The Request without one entry of a list of its outermost block.

    Derived numbers, conditions on results and the ranking go, too, where they are made of what is removed. A join stays
    only while something uses it.

    Raises:
        IndexError: the list has no such entry.
    """
    block = request.block
    entries = list(getattr(block, part))
    removed = entries.pop(index)
    request = _with(request, block.model_copy(update={part: tuple(entries)}))
    if part in ("dimensions", "measures", "derived", "columns"):
        request = _without_names(request, {removed.name})
    return _with(request, _without_idle_joins(request.block, block))


def without_inner_filter(block: Block, index: int) -> Block:
    """An inner block without one of its filters."""
    filters = (*block.filters[:index], *block.filters[index + 1 :])
    return _without_idle_joins(block.model_copy(update={"filters": filters}), block)


def renamed(request: Request, old: str, new: str) -> Request:
    """The Request whose result calls a column otherwise; a name that another column has changes nothing."""
    block = request.block
    if new == old or new in names(block):
        return request
    changed = {
        part: tuple(_renamed(one, old, new) for one in getattr(block, part))
        for part in ("dimensions", "measures", "derived", "having", "columns")
    }
    hidden = tuple(new if name == old else name for name in block.hidden)
    request = _with(request, block.model_copy(update={**changed, "hidden": hidden}))
    return request.model_copy(update={"ranking": _renamed(request.ranking, old, new)})


def names(block: Block) -> frozenset[str]:
    """What the columns of a block's result are called."""
    parts: tuple[Dimension | Measure | Derived, ...] = (
        *block.dimensions,
        *block.measures,
        *block.derived,
        *block.columns,
    )
    return frozenset(one.name for one in parts)


_NAMING = frozenset({"name", "of", "to", "by", "left", "other"})
_LISTING = frozenset({"per"})


def _renamed(part: Any, old: str, new: str) -> Any:
    """A part that names columns of the result by text; columns of tables are no texts, and stay."""
    if not isinstance(part, BaseModel):
        return part
    changed: dict[str, Any] = {}
    for field in type(part).model_fields:
        value = getattr(part, field)
        if field in _NAMING and value == old and not (field == "by" and isinstance(value, ColumnRef)):
            changed[field] = new
        elif field in _LISTING and isinstance(value, tuple):
            changed[field] = tuple(new if one == old else one for one in value)
        elif field == "of" and isinstance(value, tuple):  # of `any`
            changed[field] = tuple(_renamed(one, old, new) for one in value)
    return part.model_copy(update=changed) if changed else part


def _with(request: Request, block: Block) -> Request:
    return request.model_copy(update={"block": block})


def _without_names(request: Request, removed_names: set[str]) -> Request:
    block = request.block
    derived = list(block.derived)
    while lost := [one for one in derived if _operands(one) & removed_names]:
        removed_names = removed_names | {one.name for one in lost}
        derived = [one for one in derived if one not in lost]
    block = block.model_copy(
        update={
            "derived": tuple(one.model_copy(update={"per": _less(one.per, removed_names)}) for one in derived),
            "having": tuple(one for one in block.having if not _named_in(one) & removed_names),
            "hidden": _less(block.hidden, removed_names),
        }
    )
    block, removed_names = _without_hidden(block, removed_names)
    ranking = request.ranking
    if ranking is not None:
        ranking = (
            None
            if ranking.by in removed_names
            else ranking.model_copy(update={"per": _less(ranking.per, removed_names)})
        )
    return request.model_copy(update={"block": block, "ranking": ranking})


def _without_hidden(block: Block, removed_names: set[str]) -> tuple[Block, set[str]]:
    """Measures that nobody asked for go with the last number that is made of them."""
    used = set().union(*(_operands(one) for one in block.derived), *(_named_in(one) for one in block.having))
    idle = {name for name in block.hidden if name not in used}
    remaining_measures = tuple(one for one in block.measures if one.name not in idle)
    block = block.model_copy(update={"measures": remaining_measures, "hidden": _less(block.hidden, idle)})
    return block, removed_names | idle


def _operands(derived: Derived) -> set[str]:
    return {derived.of} | ({derived.to} if derived.to is not None else set())


def _named_in(condition: Filter) -> set[str]:
    """Columns of the result that a condition is about."""
    if isinstance(condition, Condition):
        return {side for side in (condition.left, condition.other) if isinstance(side, str)}
    return set().union(*(_named_in(one) for one in condition.of)) if isinstance(condition, AnyOf) else set()


def _without_idle_joins(block: Block, before: Block) -> Block:
    """The block without joins that only what it had `before` used."""
    joins, idle = block.joins, _roles(before)
    while True:
        used = _roles(block) | {join.left for join in joins}
        remaining_joins = tuple(join for join in joins if join.role in used or join.role not in idle)
        if remaining_joins == joins:
            return block.model_copy(update={"joins": joins})
        idle = idle | {join.left for join in joins if join not in remaining_joins}
        joins = remaining_joins


def _roles(block: Block) -> set[str]:
    parts: list[Any] = [block.filters, block.pick, block.sessions, block.dimensions, block.measures, block.columns]
    return {column.role for part in parts for column in columns_in(part)}


def _less(names_: tuple[str, ...], removed_names: set[str]) -> tuple[str, ...]:
    return tuple(name for name in names_ if name not in removed_names)
