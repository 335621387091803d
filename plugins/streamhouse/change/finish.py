"""How a change ends: its columns are made, it is completed in one transaction, or it fails and leaves nothing."""

from collections.abc import Callable
from dataclasses import dataclass

from streamhouse.change.building import Building
from streamhouse.change.switch import Switch
from streamhouse.engine.execution import FlowExecution
from streamhouse.engine.points import reach
from streamhouse.errors import LeaseHeldError, LeaseLostError, StreamhouseError
from streamhouse.model.plan import FlowPlan
from streamhouse.runtime.open import Open
from streamhouse.state.records import Change, Phase


@dataclass(frozen=True)
class Finish:
    """Ends changes of one flow.

    Attributes:
        open: Everything connected.
        flow: Its name.
        say: Is called with what the flow does now.
    """

    open: Open
    flow: str
    say: Callable[[str], None]

    def expand(self, wanted: FlowPlan) -> None:
        """Make the columns that a plan brings, in every tier, those downstream first; again does nothing.

        Raises:
            StoreError: a column cannot be added.
        """
        for table in reversed(wanted.tables.values()):
            for tier in reversed(table.tiers.present):
                copy = table if tier is table.tiers.target else table.replica
                if self.open.stores[tier].columns(table.name) is not None:
                    self.open.stores[tier].add_columns(copy)
                    reach("apply_expanded", table.name)

    def complete(self, execution: FlowExecution, change: Change, switch: Switch, take: Callable[[], None]) -> bool:
        """Record a change as done, and let its flow go on with it; False: it was given up meanwhile.

        Args:
            execution: Carries the flow.
            change: To complete.
            switch: What the transaction records.
            take: Lets the execution have the new plan; called once the transaction is done.

        Raises:
            LeaseLostError: a newer runner took the flow over.
        """
        reach("apply_prepared")
        done = self.open.state.complete_change(
            execution.lease, change, switch.records, switch.at, ends=switch.ends, ahead=switch.ahead
        )
        if done:
            reach("apply_completed")
            take()
            self.applied(change, switch.text)
        return done

    def applied(self, change: Change, how: str) -> None:
        """Say that a change is applied."""
        self.say("running")
        self.open.state.append_event(self.flow, "change", f"change {change.id} ({change.outcome}) applied: {how}")
        for table, columns in change.marks.items():
            text = f"from now on only, {table} has its new meaning in: {', '.join(columns)}"
            self.open.state.append_event(self.flow, "meaning", text)

    def failed(self, execution: FlowExecution, change: Change, error: StreamhouseError) -> None:
        """Record why a change cannot be carried out, and drop what it built.

        Where a store is away, or another process still builds it, it has not failed: it stays asked for, and goes on
        where it was.

        Raises:
            LeaseHeldError, LeaseLostError: that is the error; the change is tried again, or is the next runner's.
        """
        if isinstance(error, LeaseHeldError | LeaseLostError):
            raise error
        if error.retryable:
            return
        if self.open.state.move_change(execution.lease, change, Phase.FAILED, str(error)):
            text = f"change {change.id} failed, nothing was applied: {error}"
            self.open.state.append_event(self.flow, "change", text)
            Building(self.open, change).discard()
            self.open.state.cleared(change)
