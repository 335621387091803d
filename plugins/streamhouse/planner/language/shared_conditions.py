"""As in "number of cancelled bookings and their average price per channel": figures that count the same rows."""

from streamhouse.planner.request import Measure, Understood


def with_shared_conditions(found: Understood) -> Understood:
    """The same with the conditions of all figures as those of the rows, where every figure has the same ones.

    Groups without such rows are then no rows of the result, as with one figure alone.
    """
    request = found.request
    if request is None or request.block.base is None or request.alert:
        return found
    block = request.block
    shared = block.measures[0].where if block.measures else ()
    if len(block.measures) == 1 or not shared or not all(one.where == shared for one in block.measures):
        return found
    if block.derived or block.having or block.pick is not None or block.sessions is not None:
        return found
    measures = tuple(_of_all_rows(one) for one in block.measures)
    filters = (*block.filters, *(one for one in shared if one not in block.filters))
    block = block.model_copy(update={"filters": filters, "measures": measures})
    return found.model_copy(update={"request": request.model_copy(update={"block": block})})


def _of_all_rows(measure: Measure) -> Measure:
    return measure.model_copy(update={"where": ()})
