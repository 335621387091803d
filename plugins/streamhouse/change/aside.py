"""How far steps that stand, or stood, are behind the others of their flow.

When all may be one segment again, and when rows that they have yet to read may be lost.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from streamhouse.change.building import last_epochs
from streamhouse.compiler.aside import is_aside
from streamhouse.engine.inputs import EpochInput, open_inputs
from streamhouse.engine.moved import furthest
from streamhouse.errors import StreamhouseError
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.types import format_duration
from streamhouse.model.version import table_name
from streamhouse.runtime.open import Open
from streamhouse.stores.base import LogStore

_PATIENCE = 0.5
"""How much of the time that a log keeps a row may pass until who waits for a person must have read it."""


@dataclass
class Distance:
    """Between what was set aside in a flow and the rest of it. Keeps what it opened."""

    open: Open
    _plan: FlowPlan | None = None
    _inputs: dict[str, dict[str, EpochInput]] = field(default_factory=dict)  # segment → what it reads

    def is_small(self, plan: FlowPlan) -> bool:
        """Whether one epoch of each segment that was set aside would bring it to where the others are.

        Args:
            plan: As the flow runs, over the names that stores hold.
        """
        try:
            return all(self._rows(plan, name) <= plan.max_rows_per_epoch for name in self._opened(plan))
        except StreamhouseError:
            return False  # what cannot be read is told by who reads it

    def _opened(self, plan: FlowPlan) -> dict[str, dict[str, EpochInput]]:
        if plan != self._plan:
            root, stores = self.open.project.root, self.open.stores
            aside = [segment for segment in plan.segments if is_aside(segment.name)]
            self._inputs = {segment.name: open_inputs(plan, segment, root, stores) for segment in aside}
            self._plan = plan
        return self._inputs

    def _rows(self, plan: FlowPlan, segment: str) -> int:
        """About how many rows of what a segment reads the others have read, or written, and it has not."""
        last = last_epochs(self.open.state, plan)
        goals = furthest(plan, last) | {
            n: end for s in plan.segments if s.name in last for n, end in last[s.name].ends.items()
        }
        read = last[segment].end if segment in last else {}
        inputs = self._inputs[segment].items()
        return sum(given.rows_between(read.get(name, {}), goals[name]) for name, given in inputs if name in goals)


def endangered(open_: Open, plan: FlowPlan, held: Iterable[str], now: datetime) -> Iterator[tuple[str, str]]:
    """Rows that segments which stand have yet to read, and that their log drops: table, and a sentence for people.

    Args:
        open_: Everything connected.
        plan: As the flow runs, over the names that stores hold.
        held: The segments.
        now: The time; half of what a log keeps may lie between it and the oldest row that is not read.

    Raises:
        StoreError: a store does not answer.
    """
    last, tables = last_epochs(open_.state, plan), {table.name: table for table in plan.readable}
    for segment in plan.segments:
        for name in sorted(segment.reads & tables.keys() - segment.tables.keys()):
            store = open_.stores[tables[name].tiers.target]
            if segment.name not in held or segment.name not in last or not isinstance(store, LogStore):
                continue
            kept, read = store.kept(tables[name]), last[segment.name].end.get(name, {})
            due = store.position_before(tables[name], now - kept * _PATIENCE)
            rows = sum(max(0, offset - read.get(bucket, 0)) for bucket, offset in due.items())
            if rows:
                yield table_name(name), _danger(table_name(name), rows, segment, kept)


def _danger(table: str, rows: int, segment: Segment, kept: timedelta) -> str:
    old, steps = format_duration(kept * _PATIENCE), ", ".join(table_name(step.id) for step in segment.steps)
    who = f"{steps}, which waits for a person, has not read"
    return f"{table}: {who} {rows:,} rows older than {old}, and the log drops rows after {format_duration(kept)}"
