"""What single rows do not say: counts and averages of each row, and numbers of parts of what is counted."""

from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.place import NotPlacedError, UnclearError
from streamhouse.planner.language.scope import is_quantity, key_column
from streamhouse.planner.request import AnyOf, ColumnRef, Condition, Cut, Grain


def check_row_groups(bench: Bench) -> None:
    """Counting the rows of each row says nothing: the wish means something else.

    Raises:
        NotPlacedError, UnclearError: it would.
    """
    key = key_column(bench.base)
    if (
        key
        and bench.base.event_time
        and bench.draft.best is None
        and bench.draft.groups
        and any(one.of == ColumnRef(column=key) for one in bench.dimensions)
    ):
        raise UnclearError(f"each row of {bench.base.name} is one: do you want the average?", key, ("average",))
    _no_row_averages(bench)
    alone = [m for m in bench.measures if m.of is None and m.named is None and not m.where]
    if key and alone and any(one.of == ColumnRef(column=key) for one in bench.dimensions):
        raise NotPlacedError(alone[0].name.removesuffix("_count"), f"each row of {bench.base.name} is one")


def _no_row_averages(bench: Bench) -> None:
    """The average of each single row is that row's number: the wish means the average over all, or other groups.

    Raises:
        UnclearError: as for "average number of vehicles per customer" over customers.
    """
    plain = {one.of.column for one in bench.dimensions if isinstance(one.of, ColumnRef) and not one.of.role}
    timed = {one.of.of.column for one in bench.dimensions if isinstance(one.of, Cut) and one.of.grain is Grain.DAY}
    if not bench.base.primary_key or not set(bench.base.primary_key) <= plain | timed:
        return
    averaged = [m for m in bench.measures if m.function in {"avg", "median", "stddev"} and m.named is None]
    if averaged:
        raise UnclearError(
            f"'{averaged[0].name.replace('_', ' ')}': each row of {bench.base.name} is one; the average over all?",
            averaged[0].name.replace("_", " "),
        )


def check_finer_rows(bench: Bench) -> None:
    """Things that are counted once are not said by numbers of single rows: "baskets without discount" of their lines.

    Raises:
        NotPlacedError: they are.
    """
    counts = [
        m for m in bench.measures if m.function == "count distinct" or (m.named and _counts_things(bench, m.named))
    ]
    if len(counts) != len(bench.measures) or not counts:
        return
    for one in bench.filters:
        parts = one.of if isinstance(one, AnyOf) else (one,)
        for part in parts:
            if not isinstance(part, Condition) or not isinstance(part.left, ColumnRef) or part.left.role:
                continue
            column = bench.base.column(part.left.column)
            if is_quantity(column) and not (part.operator == ">" and part.values == (0,)):
                raise NotPlacedError(column.name, f"it is a number of single rows of {bench.base.name}")


def _counts_things(bench: Bench, name: str) -> bool:
    return bench.base.measures[name].sql.upper().replace(" ", "").startswith("COUNT(DISTINCT")
