"""What the kind of a step and the history of its table make of a change of meaning."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from streamhouse.model.outcome import Finding, Outcome
from streamhouse.model.plan import PlannedStep
from streamhouse.model.types import History, Strategy

_RULES = {
    3: "a column is added",
    4: "an aggregate is added",
    5: "a column is dropped",
    6: "an aggregate is dropped",
    8: "a column that it reads is wider",
    11: "a constant column is added",
    13: "the filter changed",
    14: "the expression changed",
    15: "the group key changed",
    16: "the aggregate changed",
    17: "the kind of a join changed",
    18: "the key of a join changed",
    19: "a condition of a join other than equality changed",
    21: "the lookup changed",
    22: "the time window changed",
    37: "what the step reads changed",
    38: "the function that chooses among rows changed",
}
_ALWAYS_REBUILD = frozenset({15, 22, 37, 38})  # whatever the layer
_BY_HISTORY = frozenset({21})  # whatever the kind of the step


@dataclass(frozen=True)
class EditedStep:
    """A step before and after an edit.

    Attributes:
        keys: Table or source → its primary key, after the edit.
        known: Tables and sources that the flow read or wrote before the edit, and new tables that get their history:
            it stands beyond their older rows.
        renames: Column → the name it had.
        age: How long the flow has run: rows may be as old.
    """

    old: PlannedStep
    new: PlannedStep
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    renames: dict[str, str] = field(default_factory=dict)
    age: timedelta = timedelta(0)

    @property
    def by_row(self) -> bool:
        """Whether each output row comes of the rows of one epoch, before and after."""
        return self.old.strategy is Strategy.MAP and self.new.strategy is Strategy.MAP

    @property
    def whole(self) -> bool:
        """Whether each run computes the whole table."""
        return self.new.strategy.sees_all

    @property
    def rewrites(self) -> bool:
        """Whether older rows are to get the new meaning."""
        return self.new.history is History.REWRITE


def changed(
    edited: EditedStep,
    rule: int,
    what: str,
    *,
    columns: tuple[str, ...] = (),
    rows: bool = False,
    forward: bool = False,
) -> Finding:
    """The finding for a change of meaning: of some columns, or of which rows there are.

    Args:
        edited: The step.
        rule: Its number.
        what: What was, and what is.
        columns: Whose values change; empty with `rows`.
        rows: Whether the rows change.
        forward: The rule says FORWARD whatever the layer.
    """
    summary = f"{_RULES[rule]}: {what}"
    if edited.whole:
        proof = f"{summary}; each run computes the whole table, so the next one recomputes all of it"
        return Finding(rule=rule, outcome=Outcome.SWAP, proof=proof, columns=columns, rows=rows)
    keeps = not edited.rewrites and (edited.by_row or rule in _BY_HISTORY)
    if forward or (keeps and rule not in _ALWAYS_REBUILD):
        proof = f"{summary}; rows already written keep the old meaning"
        return Finding(
            rule=rule, outcome=Outcome.FORWARD, proof=proof, columns=columns, rows=rows, restate=edited.rewrites
        )
    if rule in _ALWAYS_REBUILD:
        why = "older rows would be of another table"
    elif edited.by_row or rule in _BY_HISTORY:
        why = "the layer rewrites its history"
    else:
        why = "a row is made of many, of which most were read before"
    return Finding(rule=rule, outcome=Outcome.REBUILD, proof=f"{summary}; {why}", columns=columns, rows=rows)
