"""Conditions on groups."""

from dataclasses import replace

from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.comparisons import scaled
from streamhouse.planner.language.draft import Clause, Compared, Figure, Noun
from streamhouse.planner.language.figures import measured
from streamhouse.planner.language.named_measures import folds_as, named_measure
from streamhouse.planner.language.place import NotPlacedError, Placed, RefusedError, UnclearError
from streamhouse.planner.language.scope import is_quantity
from streamhouse.planner.language.units import unit_of
from streamhouse.planner.language.windows import derived_number
from streamhouse.planner.request import (
    Condition,
    Derived,
)


def is_id(placed: Placed) -> bool:
    """Whether a number is a key, which nobody adds up."""
    return placed.column.references is not None or placed.column.name in placed.reach.table.primary_key


def same_noun(noun: Noun, compared: Compared) -> bool:
    """Whether a comparison is about this noun itself."""
    left = compared.left.noun if isinstance(compared.left, Figure) else compared.left
    return isinstance(left, Noun) and left.head == noun.head


def split_clauses(bench: Bench, clauses: list[Clause]) -> tuple[list[Compared], list[Clause]]:
    """Conditions on groups, and conditions on rows."""
    having: list[Compared] = []
    rows: list[Clause] = []
    for clause in clauses:
        if isinstance(clause, Compared) and _is_having(bench, clause):
            having.append(clause)
        else:
            rows.append(clause)
    return having, rows


def _is_having(bench: Bench, clause: Compared) -> bool:
    if clause.average:
        return True
    left = clause.left
    if isinstance(left, Figure):
        if left.function != "number":
            return True
        noun = left.noun
        assert isinstance(noun, Noun)
        if _of_rows(bench, noun, clause.subject):
            return False
        if bench.places.is_base(noun.head) or named_measure(bench, noun):
            return True
        numbers = bench.places.columns(noun, want="number")
        return not (numbers and not is_id(numbers[0]) and numbers[0].cost < 5 and is_quantity(numbers[0].column))
    if isinstance(left, Noun):
        sense = named_measure(bench, left)
        if bench.places.is_base(left.head):
            return False
        columns = bench.places.columns(left, want="number")
        grouped = bool(bench.draft.groups) or bench.draft.figures
        if sense is None:
            return False
        if not columns or columns[0].cost > 1.0:
            return True
        return bool(grouped) and folds_as(bench, sense) in {"sum", "count"}
    return False


def _of_rows(bench: Bench, noun: Noun, subject: Noun | None) -> bool:
    """Whether a number of things is a column of the rows that are meant: "stations with fewer than 20 docks".

    Beside groups and figures it is one where it is said of the rows: "orders with more than 100 copies, per product".
    """
    named = subject.mentions if subject is not None and subject.head != noun.head else ()
    said = any(bench.places.is_base(one) for one in named)
    if (bench.draft.groups or bench.draft.figures) and not said:
        return False
    found = [one for one in bench.places.columns(noun, want="number") if not one.of.role]
    listed = said or any(bench.places.is_base(other.head) for other in bench.draft.nouns if other.head != noun.head)
    return listed and bool(found) and found[0].cost <= _EXACT and is_quantity(found[0].column)


_EXACT = 0.5


def _no_adjective(bench: Bench, clause: Compared) -> None:
    """A number of things is not compared with a sum whose name only says which things: "two unpaid invoices"."""
    noun = clause.left.noun if isinstance(clause.left, Figure) else clause.left
    if not isinstance(noun, Noun) or not named_measure(bench, noun):
        return
    if any(other.head.start == noun.head.end and bench.places.is_base(other.head) for other in bench.draft.nouns):
        raise NotPlacedError(noun.text, f"it says which rows of {bench.base.name} are meant, and is no figure there")


def having_of(bench: Bench, clause: Compared) -> Condition:
    """The condition on groups that a comparison is; its measure is added.

    Raises:
        NotPlacedError: its left side is no figure.
        RefusedError: it is a 'between'.
        UnclearError: it may count rows or different values.
    """
    left = clause.left
    _no_adjective(bench, clause)
    if isinstance(left, Noun):
        left = Figure("", left, phrase=clause.phrase)
    if not isinstance(left, Figure):
        raise NotPlacedError(clause.phrase)
    plain = replace(left, phrase="")
    name = derived_number(bench, left, shown=False) if left.window else measured(bench, plain)
    measure = next((one for one in bench.measures if one.name == name), None)
    if left.function == "number" and measure is not None and measure.function == "count distinct" and clause.low:
        rows = bench.base.name.split(".")[1].replace("_", " ")
        phrase = clause.phrase
        thing = left.noun.text if isinstance(left.noun, Noun) else ""
        raise UnclearError(
            f"'{phrase}': different ones, or rows of {bench.base.name}?",
            phrase,
            (
                f"{clause.operator} {clause.low.value} {rows}",
                f"{clause.operator} {clause.low.value} different {thing}",
            ),
        )
    if clause.average:
        derived = bench.derive(Derived(name=f"{name}_above_average", kind="above_average", of=name))
        bench.hidden[derived] = None
        bench.places.note(clause.phrase, f"{name} against the average of all groups")
        return Condition(left=derived, operator=clause.operator, values=(0,))
    if clause.low is None:
        raise NotPlacedError(clause.phrase, "a figure of a group is compared with a number only")
    if clause.operator in {"between", "not between"}:
        raise RefusedError(f"'{clause.phrase}': say 'at least' and 'at most'")
    unit = unit_of(measure.unit) if measure and measure.unit else None
    value = scaled(clause.low, unit, clause.phrase, name)
    bench.places.note(clause.phrase, f"{name} {clause.operator} {value}")
    return Condition(left=name, operator=clause.operator, values=(value,))
