"""The figures that a person can add to a Request: measures of its table, and functions of its columns. Pure."""

from collections.abc import Iterable, Iterator

from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable
from streamhouse.planner.edit_request import names
from streamhouse.planner.request import Block, ColumnRef, Function, Measure
from streamhouse.ui.proposal_answers import Chip, Choice, Menu

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
FUNCTIONS: dict[Function, str] = {
    "sum": "total", "avg": "average", "min": "lowest", "max": "highest", "median": "median",
    "count distinct": "different",
}  # fmt: skip
_ORDERED: frozenset[Function] = frozenset({"min", "max"})
_MOST = 40  # columns of a table that one menu offers


def new_figure(block: Block, catalog: Catalog) -> Chip | None:
    """What adds a figure; None: the block has none, or it counts on what another block gives.

    Args:
        block: The outermost one of a Request.
        catalog: Offers measures and columns of its table.
    """
    table = catalog.tables.get(block.base) if block.base is not None else None
    if table is None or not block.measures:
        return None
    menus = (Menu(label=label, choices=tuple(choices)) for label, choices in _offers(block, table))
    return Chip(group="figure", text="add a figure", menus=tuple(one for one in menus if one.choices), set=False)


def _offers(block: Block, table: CatalogTable) -> Iterator[tuple[str, Iterable[Choice]]]:
    named = [(name, Measure(name=name, named=name, unit=of.unit)) for name, of in table.measures.items()]
    yield "measure", _choices(block, named)
    yield "count", _choices(block, [("rows", Measure(name="rows", function="count"))])
    for function, word in FUNCTIONS.items():
        fitting = [one for one in table.columns if _fits(function, one, table)][:_MOST]
        yield word, _choices(block, [(one.name, _of(function, word, one)) for one in fitting])


def _of(function: Function, word: str, column: CatalogColumn) -> Measure:
    unit = column.unit if function != "count distinct" else None
    return Measure(name=f"{word}_{column.name}", function=function, of=ColumnRef(column=column.name), unit=unit)


def _fits(function: Function, column: CatalogColumn, table: CatalogTable) -> bool:
    """Whether the figure says something: no total of numbers that only tell rows apart."""
    if function == "count distinct":
        return True
    if function in _ORDERED and column.type.startswith(("timestamp", "date")):
        return True
    tells_apart = column.name in table.primary_key or column.references is not None
    return column.type.startswith(NUMBERS) and not tells_apart


def _choices(block: Block, offered: Iterable[tuple[str, Measure]]) -> Iterator[Choice]:
    for text, measure in offered:
        if measure.name not in names(block):
            more = [one.model_dump(mode="json") for one in (*block.measures, measure)]
            yield Choice(text=text, edits={"block.measures": more}, chosen=False)
