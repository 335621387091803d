"""A Request as chips: each part in words, with the edits that change or remove it. Pure."""

from collections.abc import Iterator
from typing import Any, Literal

from streamhouse.model.types import Layer, format_duration
from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable
from streamhouse.planner.edit_request import Listed, names, renamed, without, without_inner_filter
from streamhouse.planner.naming import layer_of
from streamhouse.planner.request import (
    Block,
    ColumnRef,
    Condition,
    Cut,
    Derived,
    Dimension,
    During,
    Filter,
    Grain,
    Measure,
    Ranking,
    Request,
)
from streamhouse.planner.sentence import derived_words, filter_words, measure_words, scalar_words
from streamhouse.ui.new_figures import FUNCTIONS, NUMBERS, new_figure
from streamhouse.ui.proposal_answers import Chip, Choice, Edits, Entry, Menu

_ORDER = ("=", "<>", "<", "<=", ">", ">=")
_SYMBOLS = {"=": "is", "<>": "is not", "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least"}
_MOST_KNOWN = 100


def chips(request: Request, catalog: Catalog) -> tuple[Chip, ...]:
    """Every part of a Request that a person may want to correct, in the order of its sentence.

    Args:
        request: Of a proposal.
        catalog: Offers measures and known values.
    """
    return (*_of_block(request, catalog), *_of_inner(request, catalog), *_ranking(request), *_result(request))


def _of_block(request: Request, catalog: Catalog) -> Iterator[Chip]:
    block = request.block
    yield from _figures(request, catalog)
    yield from _groups(request)
    for i, column in enumerate(block.columns):
        last = len(block.columns) == 1  # none would mean all of them
        yield Chip(group="column", text=_named(column), removal=None if last else _less(request, "columns", i))
    yield from _source(block)
    for i, one in enumerate(block.filters):
        yield _filter(one, f"block.filters.{i}", _less(request, "filters", i), block, catalog)
    for i, one in enumerate(block.having):
        yield _filter(one, f"block.having.{i}", _less(request, "having", i), block, catalog)


def _figures(request: Request, catalog: Catalog) -> Iterator[Chip]:
    block = request.block
    for i, measure in enumerate(block.measures):
        if measure.name not in block.hidden:
            menus = tuple(_measure_menus(request, i, measure, catalog))
            yield Chip(group="figure", text=measure_words(measure), removal=_less(request, "measures", i), menus=menus)
    for i, derived in enumerate(block.derived):
        if derived.name not in block.hidden:
            yield Chip(
                group="figure", text=derived_words(derived), removal=_less(request, "derived", i),
                menus=tuple(_derived_menus(derived, i)),
            )  # fmt: skip
    if (more := new_figure(block, catalog)) is not None:
        yield more


def _groups(request: Request) -> Iterator[Chip]:
    block = request.block
    for i, dimension in enumerate(block.dimensions):
        menus = tuple(_grains(request, i, dimension))
        yield Chip(group="group", text=_per(dimension), removal=_less(request, "dimensions", i), menus=menus)
    if block.pick is not None:
        yield _pick(request)
    if block.sessions is not None:
        gap = Entry(
            label="a new one after", kind="duration", path="block.sessions.gap",
            value=format_duration(block.sessions.gap),
        )  # fmt: skip
        yield Chip(group="group", text="per session", entries=(gap,))


def _of_inner(request: Request, catalog: Catalog) -> Iterator[Chip]:
    """Of inner blocks the conditions can be changed; figures and groups are what the outer one counts on."""
    block, path = request.block.inner, "block.inner"
    while block is not None:
        for words in (*map(measure_words, block.measures), *map(_per, block.dimensions)):
            yield Chip(group="source", text=f"first {words}")
        for i, filter_ in enumerate(block.filters):
            less = without_inner_filter(block, i).model_dump(mode="json")
            removal = {f"{path}.{part}": less[part] for part in ("filters", "joins")}
            yield _filter(filter_, f"{path}.filters.{i}", removal, block, catalog)
        for i, filter_ in enumerate(block.having):
            rest = [one.model_dump(mode="json") for j, one in enumerate(block.having) if j != i]
            yield _filter(filter_, f"{path}.having.{i}", {f"{path}.having": rest}, block, catalog)
        block, path = block.inner, f"{path}.inner"


def _source(block: Block) -> Iterator[Chip]:
    if block.base is not None:
        yield Chip(group="source", text=f"of {block.base}")
    for join in block.joins:
        yield Chip(group="source", text=f"with {join.role} from {join.table}")


def _pick(request: Request) -> Chip:
    pick = request.block.pick
    assert pick is not None
    each = ", ".join(scalar_words(part) for part in pick.per)
    text = f"the {'last' if pick.last else 'first'} of each {each} by {scalar_words(pick.by)}"
    ends = tuple(
        Choice(text=word, edits={"block.pick.last": last}, chosen=pick.last is last)
        for word, last in (("last", True), ("first", False))
    )
    return Chip(group="group", text=text, removal={"block.pick": None}, menus=(Menu(label="which", choices=ends),))


def _measure_menus(request: Request, index: int, measure: Measure, catalog: Catalog) -> Iterator[Menu]:
    block = request.block
    base = catalog.tables.get(block.base) if block.base is not None else None
    if measure.named is not None and base is not None:
        choices = tuple(_other_measures(request, index, measure, base))
        if len(choices) > 1:
            yield Menu(label="measure", choices=choices)
    elif measure.function in FUNCTIONS and isinstance(measure.of, ColumnRef):
        column = _column(measure.of, block, catalog)
        yield Menu(label="figure", choices=tuple(_other_functions(request, index, measure, column)))


def _other_measures(request: Request, index: int, measure: Measure, base: CatalogTable) -> Iterator[Choice]:
    for name, meant in base.measures.items():
        if name == measure.named or name not in names(request.block):
            edits = _swapped(request, index, measure, {"named": name, "unit": meant.unit}, name)
            yield Choice(text=name, edits=edits, chosen=name == measure.named)


def _other_functions(request: Request, index: int, measure: Measure, column: CatalogColumn | None) -> Iterator[Choice]:
    numeric, before = column is None or column.type.startswith(NUMBERS), FUNCTIONS[measure.function]
    for function, word in FUNCTIONS.items():
        if numeric or function in ("min", "max", "count distinct", measure.function):
            name = f"{word}_{measure.name.removeprefix(f'{before}_')}"  # `average_discount` becomes `total_discount`
            edits = _swapped(request, index, measure, {"function": function}, name)
            yield Choice(text=word, edits=edits, chosen=function == measure.function)


def _swapped(request: Request, index: int, measure: Measure, change: dict[str, Any], name: str) -> Edits:
    """Edits that replace one measure by another, under its own name wherever it is named."""
    if change.items() <= measure.model_dump().items():
        return {}
    measures = list(request.block.measures)
    measures[index] = measure.model_copy(update=change)
    block = request.block.model_copy(update={"measures": tuple(measures)})
    return _edits(request, renamed(request.model_copy(update={"block": block}), measure.name, name))


def _derived_menus(derived: Derived, index: int) -> Iterator[Menu]:
    if derived.kind in ("ratio", "share", "change"):
        yield Menu(
            label="shown",
            choices=tuple(
                Choice(text=word, edits={f"block.derived.{index}.percent": percent}, chosen=derived.percent is percent)
                for word, percent in (("in percent", True), ("as a number", False))
            ),
        )


def _grains(request: Request, index: int, dimension: Dimension) -> Iterator[Menu]:
    if isinstance(dimension.of, Cut):
        yield Menu(
            label="grain",
            choices=tuple(
                Choice(
                    text=grain.value.replace("_", " "),
                    edits=_regrained(request, index, dimension, dimension.of, grain),
                    chosen=grain is dimension.of.grain,
                )
                for grain in Grain
            ),
        )


def _regrained(request: Request, index: int, dimension: Dimension, cut: Cut, grain: Grain) -> Edits:
    if grain is cut.grain:
        return {}
    dimensions = list(request.block.dimensions)
    dimensions[index] = dimension.model_copy(update={"of": cut.model_copy(update={"grain": grain})})
    block = request.block.model_copy(update={"dimensions": tuple(dimensions)})
    name = dimension.name.replace(cut.grain.value, grain.value)
    return _edits(request, renamed(request.model_copy(update={"block": block}), dimension.name, name))


def _filter(filter_: Filter, path: str, removal: Edits, block: Block, catalog: Catalog) -> Chip:
    menus: list[Menu] = []
    entries: list[Entry] = []
    if isinstance(filter_, During):
        entries += _during(filter_, path)
    elif isinstance(filter_, Condition):
        if filter_.operator in _ORDER:
            menus.append(
                Menu(
                    label="is",
                    choices=tuple(
                        Choice(text=_SYMBOLS[o], edits={f"{path}.operator": o}, chosen=o == filter_.operator)
                        for o in _ORDER
                    ),
                )
            )
        column = _column(filter_.left, block, catalog) if isinstance(filter_.left, ColumnRef) else None
        entries += _values(filter_, path, column)
    return Chip(group="filter", text=filter_words(filter_), removal=removal, menus=tuple(menus), entries=tuple(entries))


def _values(condition: Condition, path: str, column: CatalogColumn | None) -> Iterator[Entry]:
    kind: Literal["number", "text", "time"] = "number" if isinstance(condition.left, str) else "text"
    if column is not None and column.type.startswith(NUMBERS):
        kind = "number"
    elif column is not None and column.type.startswith(("timestamp", "date")):
        kind = "time"
    elif column is None and not isinstance(condition.left, ColumnRef):
        kind = "number"  # what is computed of columns
    known = tuple(column.values)[:_MOST_KNOWN] if column is not None else ()
    for i, value in enumerate(condition.values):
        label = "value" if len(condition.values) == 1 else f"value {i + 1}"
        shown = value.isoformat() if hasattr(value, "isoformat") else str(value)
        yield Entry(label=label, kind=kind, path=f"{path}.values.{i}", value=shown, known=known)


def _during(period: During, path: str) -> Iterator[Entry]:
    if period.within is not None:
        yield Entry(label=f"last {period.unit.value}s", kind="number", path=f"{path}.within", value=str(period.within))
        return
    for side, label in (("since", "from"), ("until", "before")):
        at = getattr(period, side)
        if at is not None:
            yield Entry(label=label, kind="time", path=f"{path}.{side}", value=at.isoformat())


def _end(ranking: Ranking) -> Menu:
    return Menu(
        label="end",
        choices=tuple(
            Choice(text=word, edits={"ranking.descending": end}, chosen=ranking.descending is end)
            for word, end in (("highest", True), ("lowest", False))
        ),
    )


def _ranking(request: Request) -> Iterator[Chip]:
    ranking = request.ranking
    if ranking is None:
        return
    block = request.block
    each = f" of each {', '.join(ranking.per)}" if ranking.per else ""
    text = f"{ranking.count} with the {'highest' if ranking.descending else 'lowest'} {ranking.by}{each}"
    figures = [*(one.name for one in block.measures), *(one.name for one in block.derived)]
    menus = [_end(ranking)]
    if len(figures) > 1:
        by = tuple(Choice(text=one, edits={"ranking.by": one}, chosen=one == ranking.by) for one in figures)
        menus.append(Menu(label="by", choices=by))
    count = Entry(label="how many", kind="number", path="ranking.count", value=str(ranking.count))
    yield Chip(group="order", text=text, removal={"ranking": None}, menus=tuple(menus), entries=(count,))


def _result(request: Request) -> Iterator[Chip]:
    """Where the answer belongs; always there, so that a person can say it."""
    if request.alert:
        yield Chip(group="result", text="as an alert", removal={"alert": False})
    yield _freshness(request)
    yield _layer(request)
    yield Chip(
        group="result",
        text=f"named {request.name}" if request.name else "named by what it is",
        removal={"name": None} if request.name else None,
        entries=(Entry(label="name", kind="name", path="name", value=request.name or "", optional=True),),
        set=request.name is not None,
    )


def _freshness(request: Request) -> Chip:
    fresh = format_duration(request.freshness) if request.freshness is not None else ""
    return Chip(
        group="result",
        text=f"fresh within {fresh}" if fresh else "fresh as its flow",
        removal={"freshness": None} if fresh else None,
        entries=(Entry(label="fresh within", kind="duration", path="freshness", value=fresh, optional=True),),
        set=bool(fresh),
    )


def _layer(request: Request) -> Chip:
    layer, layers = request.layer, (Layer.DWD, Layer.DWS, Layer.ADS)
    choices = tuple(Choice(text=one.value, edits={"layer": one.value}, chosen=one is layer) for one in layers)
    return Chip(
        group="result",
        text=f"layer {(layer or layer_of(request)).value}",
        removal={"layer": None} if layer is not None else None,
        menus=(Menu(label="layer", choices=choices),),
        set=layer is not None,
    )


def _column(of: ColumnRef, block: Block, catalog: Catalog) -> CatalogColumn | None:
    """The column of the catalog that a part is about; None: it is one of an inner block, or is not there."""
    roles = {join.role: join.table for join in block.joins} | ({"": block.base} if block.base is not None else {})
    table = catalog.tables.get(roles.get(of.role, ""))
    return next((one for one in table.columns if one.name == of.column), None) if table is not None else None


def _per(dimension: Dimension) -> str:
    return f"per {_named(dimension)}"


def _named(dimension: Dimension) -> str:
    words = scalar_words(dimension.of)
    return words if words == dimension.name else f"{dimension.name} ({words})"


def _less(request: Request, part: Listed, index: int) -> Edits:
    return _edits(request, without(request, part, index))


def _edits(before: Request, after: Request) -> Edits:
    """What leads from one Request to another that differs in its block or its ranking."""
    old, new = (one.model_dump(mode="json", include={"block", "ranking"}) for one in (before, after))
    edits: Edits = {
        f"block.{part}": new["block"][part] for part in new["block"] if new["block"][part] != old["block"][part]
    }
    if new["ranking"] != old["ranking"]:
        edits["ranking"] = new["ranking"]
    return edits
