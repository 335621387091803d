"""Epochs that began with one plan and are to end with another, as they fail with the one that they have."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from streamhouse.change.building import last_epochs, reached
from streamhouse.compiler.migration import same_streams, touched
from streamhouse.engine.vector import covers
from streamhouse.model.plan import QUARANTINE, FlowPlan, Segment
from streamhouse.model.version import stored_name, table_name
from streamhouse.runtime.open import Open
from streamhouse.state.records import Change


@dataclass(frozen=True)
class HalfDone:
    """The epochs of a flow that began and did not end; such an epoch runs again over the same rows."""

    open: Open
    plan: FlowPlan
    segments: tuple[Segment, ...]

    @classmethod
    def of(cls, open_: Open, plan: FlowPlan) -> Self:
        """Those of a flow that runs with `plan`, over the names that stores hold."""
        begun = (s for s in plan.segments if open_.state.unfinished(plan.flow, s.name) is not None)
        return cls(open_, plan, tuple(begun))

    def __bool__(self) -> bool:
        """Whether there is one."""
        return bool(self.segments)

    def may_end_with(self, change: Change, wanted: FlowPlan) -> bool:
        """Whether they can end with the plan of a change that rebuilds nothing.

        That is where they wrote no table that it writes otherwise; the others it completes as they would have.
        """
        if change.versions or change.moves or not same_streams(self.plan, wanted):
            return False
        return not self.wrote(touched(self.plan, wanted))

    def may_end_by_rebuild(self, change: Change, wanted: FlowPlan) -> bool:
        """Whether they can end with the plan of a change that rebuilds tables, as of where these epochs began.

        What they wrote to the versions that are replaced does not matter then, unless other flows read it. It must
        be certain that the new versions have the rows up to where their segments go on, and no others.
        """
        if not change.versions or change.moves or not same_streams(self.plan, wanted):
            return False
        if _read_from_outside(self.plan) != _read_from_outside(wanted):
            return False  # a stream would go on in another table
        replaced_tables = self.replaced(change)
        if self.wrote(touched(self.plan, wanted) - replaced_tables):
            return False
        if any(self.open.state.tables.readers(table_name(name)) for name in self.wrote(replaced_tables)):
            return False
        at, last = reached(self.open.state, change), last_epochs(self.open.state, self.plan)
        for segment in self.plan.segments:
            if replaced_tables.isdisjoint(segment.tables):
                continue
            stands = last[segment.name].end if segment.name in last else None
            known = {name: at[name] for name in stands or () if name in at}
            if stands is None or known.keys() != stands.keys() or not (covers(known, stands) and covers(stands, known)):
                return False
        return True

    def replaced(self, change: Change) -> set[str]:
        """The versions that a change replaces, and their quarantines, as stores call them."""
        serving = self.open.state.versions()
        found = {stored_name(name, serving.get(name, 1)) for name in change.versions}
        return found | {f"{name}{QUARANTINE}" for name in found}

    def wrote(self, names: Collection[str]) -> set[str]:
        """Of these tables those that the epochs may have written to."""
        last = last_epochs(self.open.state, self.plan)
        found = set()
        for segment in self.segments:
            ends = last[segment.name].ends if segment.name in last else {}
            for name in segment.tables.keys() & names:
                table = segment.tables[name]
                if not covers({name: ends.get(name, {})}, {name: self.open.stores[table.tiers.target].end(table)}):
                    found.add(name)
        return found


def _read_from_outside(plan: FlowPlan) -> dict[str, set[str]]:
    """Segment → what it reads and does not write."""
    return {segment.name: set(segment.reads) - set(segment.tables) for segment in plan.segments}
