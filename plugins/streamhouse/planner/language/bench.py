"""The parts of a block while it is built over one base."""

from dataclasses import dataclass, field

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.place import PlaceFinder
from streamhouse.planner.language.units import Unit, unit_of, unit_of_name
from streamhouse.planner.request import Block, ColumnRef, Derived, Dimension, Filter, Measure, Scalar


@dataclass
class Bench:
    """What is known so far of the block over one base."""

    draft: Draft
    places: PlaceFinder
    dimensions: list[Dimension] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)
    derived: list[Derived] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    having: list[Filter] = field(default_factory=list)
    hidden: dict[str, None] = field(default_factory=dict)
    beside: dict[str, ColumnRef] = field(default_factory=dict)  # groups of ranked rows that other tables have
    shows: bool = False  # the columns that the wish begins with are in the result

    @property
    def base(self) -> CatalogTable:
        """The table whose rows are read."""
        return self.places.scope.base

    def free(self, name: str) -> str:
        """A name for a column of the result that none has yet."""
        taken = {one.name for one in self.dimensions} | {one.name for one in self.measures}
        taken |= {one.name for one in self.derived}
        number, found = 2, name
        while found in taken:
            number, found = number + 1, f"{name}_{number}"
        return found

    def dimension(self, name: str, of: Scalar) -> str:
        """Group by a scalar; the name of its column."""
        for known in self.dimensions:
            if known.of == of:
                return known.name
        found = self.free(name)
        self.dimensions.append(Dimension(name=found, of=of))
        return found

    def measure(self, measure: Measure, *, hidden: bool = False) -> str:
        """Add a measure, or find the one that is the same; its name."""
        for known in self.measures:
            if known.model_copy(update={"name": measure.name}) == measure:
                if not hidden:
                    self.hidden.pop(known.name, None)
                return known.name
        name = self.free(measure.name)
        self.measures.append(measure.model_copy(update={"name": name}))
        if hidden:
            self.hidden[name] = None
        return name

    def derive(self, derived: Derived) -> str:
        """Add a derived number; its name."""
        for known in self.derived:
            if known.model_copy(update={"name": derived.name}) == derived:
                return known.name
        name = self.free(derived.name)
        self.derived.append(derived.model_copy(update={"name": name}))
        return name


def unit_of_column(column: CatalogColumn) -> Unit | None:
    """The unit of a column: the described one, else the one in its name."""
    return unit_of(column.unit) if column.unit else unit_of_name(column.name)


def build_block(bench: Bench, columns: tuple[Dimension, ...] = ()) -> Block:
    """The block of what is on the bench."""
    return Block(
        base=bench.base.name,
        joins=bench.places.scope.joins(bench.places.used),
        filters=tuple(bench.filters),
        dimensions=tuple(bench.dimensions),
        measures=tuple(bench.measures),
        derived=tuple(bench.derived),
        having=tuple(bench.having),
        columns=columns,
        hidden=tuple(bench.hidden),
    )
