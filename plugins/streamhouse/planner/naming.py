"""Layer and name of a result: `dws.revenue_by_store_and_hour`."""

import re
from collections.abc import Collection, Mapping

from streamhouse.errors import RequestShapeError
from streamhouse.model.types import Layer, StepKind
from streamhouse.planner.request import Block, Condition, Related, Request
from streamhouse.planner.sql.filters import parameter_name
from streamhouse.planner.sql.windows import OF_ONE_GROUP

_LONGEST = 60
_KINDS = {kind.layer: kind for kind in StepKind}


def layer_of(request: Request) -> Layer:
    """As the Request says; else rows to DWD, aggregates to DWS, rankings, alerts and comparisons to ADS."""
    if request.layer is not None:
        return request.layer
    block = request.block
    base = Layer((innermost(block).base or "ods.").split(".")[0])
    compares = any(one.kind not in OF_ONE_GROUP for one in block.derived)
    if request.alert or request.ranking is not None or compares or base is Layer.ADS:
        return Layer.ADS
    grouped = bool(block.measures or block.dimensions or block.sessions)
    if grouped:
        return Layer.DWS
    return Layer.ADS if base is Layer.DWS else Layer.DWD


def kind_of(layer: Layer) -> StepKind:
    """The kind of step that writes a layer."""
    return _KINDS[layer]


def innermost(block: Block) -> Block:
    """The block that reads a table."""
    return innermost(block.inner) if block.inner is not None else block


def table_name(request: Request, taken: Mapping[str, str]) -> str:
    """`layer.name` that nothing has yet.

    Args:
        request: Its own name wins; only a name that nobody gave is numbered.
        taken: Name of a table without its layer, or of an action → what has it, in words.

    Raises:
        RequestShapeError: something has the Request's own name.
    """
    if request.name is not None:
        return f"{layer_of(request)}.{own_name(request.name, taken)}"
    name = _described(request)
    if name in taken and (more := _filtered(request.block)) and not name.endswith(more):
        name = _fitting(f"{name}_{more}")
    return f"{layer_of(request)}.{free_name(name, taken)}"


def own_name(name: str, taken: Mapping[str, str]) -> str:
    """The name that a person gave.

    Raises:
        RequestShapeError: something has it.
    """
    if name in taken:
        raise RequestShapeError(
            f"the name '{name}' is taken: {taken[name]} has it",
            hint=f"give another name, such as {free_name(name, taken)}",
        )
    return name


def free_name(name: str, taken: Collection[str]) -> str:
    """A name that is not taken: `name`, or else the first of `name_2`, `name_3` and so on."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _described(request: Request) -> str:
    block = request.block
    base = (innermost(block).base or "rows").partition(".")[2]
    per = [_stem(one.name) for one in block.dimensions]
    if block.sessions is not None:
        per = [*(_stem(part.column) for part in block.sessions.per), "session"]
    by = f"_by_{'_and_'.join(per)}" if per else ""
    figures = [one.name for one in block.measures] + [one.name for one in block.derived]
    if request.ranking is not None:
        end = "top" if request.ranking.descending else "lowest"
        return _fitting(f"{end}_{'_and_'.join(per) or base}_by_{request.ranking.by}")
    if figures:
        return _fitting(f"{'_and_'.join(figures[:2])}{by or '_overall'}")
    if per:
        return _fitting(f"{base}{by}")
    if block.pick is not None:
        which = "latest" if block.pick.last else "first"
        each = "_and_".join(_stem(getattr(part, "column", "group")) for part in block.pick.per)
        return _fitting(f"{which}_{base}_by_{each}")
    if request.alert:
        return _fitting(f"{base}_alerts")
    more = _filtered(block)
    return _fitting(f"{base}_{more}" if more else f"{base}_rows")


def _filtered(block: Block) -> str:
    """What the first filters are about."""
    found = []
    for one in block.filters:
        if isinstance(one, Related):
            found.append(f"{'with' if one.exists else 'without'}_{one.table.partition('.')[2]}")
        elif isinstance(one, Condition):
            found.append(
                f"with_{parameter_name(one)}" if one.operator != "is null" else f"without_{parameter_name(one)}"
            )
    return "_and_".join(found[:1])


def _stem(name: str) -> str:
    return name.removesuffix("_id").removesuffix("_key") or name


def _fitting(name: str) -> str:
    """A name that files and tables may have."""
    plain = re.sub(r"[^a-z0-9_]+", "_", name.lower())
    plain = re.sub(r"__+", "_", plain).strip("_")[:_LONGEST].strip("_")
    return plain if plain[:1].isalpha() else f"result_{plain}".strip("_")
