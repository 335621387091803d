"""The files that plans follow from: by these a flow is compiled again while its files in the project say more."""

from datetime import UTC, datetime

from sqlalchemy import Connection, delete, insert, select

from streamhouse.model.definition import Definition
from streamhouse.model.plan import FlowPlan
from streamhouse.state import plans
from streamhouse.state.connect import Database
from streamhouse.state.damage import parsing
from streamhouse.state.instants import stamp_of, to_ms
from streamhouse.state.schema import definition as definitions


class Definitions:
    """The files that plans of one project follow from; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        """Touches nothing yet."""
        self._database = database

    def applied(self, unreadable: plans.Unreadable | None = None) -> dict[str, Definition]:
        """Flow → the files that its plan applied last follows from, of flows of which they are known.

        Args:
            unreadable: As of `plans.newest_of_all`.
        """
        with self._database.read() as connection:
            return all_applied(connection, unreadable)

    def of(self, flow: str, fingerprint: str) -> Definition | None:
        """What a plan of a flow follows from; None: it is not known."""
        with self._database.read() as connection:
            return _of(connection, flow, fingerprint)

    def note(self, plan: FlowPlan, definition: Definition) -> None:
        """Record the files that a plan follows from, of which they were not known."""
        now_ms = to_ms(datetime.now(UTC))
        self._database.write(lambda connection: save(connection, plan, definition, now_ms))

    def stamp(self) -> tuple[int, int]:
        """Another one whenever `applied` may give something else for the same plans."""
        with self._database.read() as connection:
            rows, _, sum_ms = stamp_of(connection, definitions.c.noted_ms)
        return rows, sum_ms


def save(connection: Connection, plan: FlowPlan, found: Definition | None, now_ms: int) -> None:
    """Record what a plan follows from; None: that is not known, and what is recorded of an equal plan stays."""
    if found is None or found == of_plan(connection, plan):
        return
    this = (definitions.c.flow == plan.flow) & (definitions.c.fingerprint == plan.fingerprint)
    connection.execute(delete(definitions).where(this))
    row = {"flow": plan.flow, "fingerprint": plan.fingerprint, "body": found.model_dump_json(), "noted_ms": now_ms}
    connection.execute(insert(definitions).values(row))


def of_plan(connection: Connection, plan: FlowPlan) -> Definition | None:
    """What a plan follows from; None: it is not known."""
    return _of(connection, plan.flow, plan.fingerprint)


def _of(connection: Connection, flow: str, fingerprint: str) -> Definition | None:
    query = select(definitions.c.body).where(definitions.c.flow == flow, definitions.c.fingerprint == fingerprint)
    body = connection.execute(query).scalar_one_or_none()
    with parsing(f"what a plan of flow '{flow}' follows from"):
        return Definition.model_validate_json(body) if body is not None else None


def all_applied(connection: Connection, unreadable: plans.Unreadable | None = None) -> dict[str, Definition]:
    """Flow → what its plan that was applied last follows from; arguments and errors as of `plans.newest_of_all`."""
    applied = plans.newest_of_all(connection, unreadable)
    found = {flow: of_plan(connection, plan) for flow, (_, plan) in applied.items()}
    return {flow: one for flow, one in found.items() if one is not None}
