"""Whether a block adds or compares numbers of one unit only; a unit that nobody wrote down fits every other."""

from streamhouse.errors import UnitError
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.contract import measure_unit, unit_of
from streamhouse.planner.request import (
    AnyOf,
    Arithmetic,
    Banded,
    Block,
    Condition,
    Filter,
    Scalar,
)
from streamhouse.planner.sentence import scalar_words


def check_units(block: Block, catalog: Catalog) -> None:
    """Do nothing when all units fit; inner blocks are not looked at.

    Raises:
        UnitError: one does not.
    """
    for one in (*block.dimensions, *block.columns):
        _scalar(one.of, block, catalog)
    for condition in block.filters:
        _filter(condition, block, catalog)
    for measure in block.measures:
        if measure.of is not None:
            _scalar(measure.of, block, catalog)
        for condition in measure.where:
            _filter(condition, block, catalog)
    units = {one.name: measure_unit(one, block, catalog) for one in block.measures}
    for derived in block.derived:
        if derived.kind == "difference":
            _refuse(derived.of, units.get(derived.of), derived.to or "", units.get(derived.to or ""), "subtracted")
    for condition in block.having:
        if isinstance(condition, Condition) and isinstance(condition.left, str) and isinstance(condition.other, str):
            _refuse(condition.left, units.get(condition.left), condition.other, units.get(condition.other), "compared")


def _filter(condition: Filter, block: Block, catalog: Catalog) -> None:
    if isinstance(condition, AnyOf):
        for part in condition.of:
            _filter(part, block, catalog)
    if isinstance(condition, Condition) and not isinstance(condition.left, str):
        _scalar(condition.left, block, catalog)
        if condition.other is not None and not isinstance(condition.other, str):
            _scalar(condition.other, block, catalog)
            left, right = unit_of(condition.left, block, catalog), unit_of(condition.other, block, catalog)
            _refuse(scalar_words(condition.left), left, scalar_words(condition.other), right, "compared")


def _scalar(of: Scalar, block: Block, catalog: Catalog) -> None:
    if isinstance(of, Banded):
        _scalar(of.of, block, catalog)
    if isinstance(of, Arithmetic):
        _scalar(of.left, block, catalog)
        _scalar(of.right, block, catalog)
        if of.operator in ("+", "-"):
            left, right = unit_of(of.left, block, catalog), unit_of(of.right, block, catalog)
            what = "added" if of.operator == "+" else "subtracted"
            _refuse(scalar_words(of.left), left, scalar_words(of.right), right, what)


def _refuse(one: str, left: str | None, other: str, right: str | None, what: str) -> None:
    if left is not None and right is not None and left.strip().lower() != right.strip().lower():
        raise UnitError(
            f"{one} is in {left} and {other} in {right}: they cannot be {what}",
            hint="convert one of them: multiply or divide it by a number",
        )
