"""Applied plans: each flow's history of what was run."""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache

from pydantic import ValidationError
from sqlalchemy import Connection, Row, Select, func, insert, select

from streamhouse.errors import StateConflictError
from streamhouse.model.plan import FlowPlan, fingerprint_of
from streamhouse.model.types import Tier
from streamhouse.state.damage import OtherVersionError, damaged, parsing
from streamhouse.state.instants import from_ms
from streamhouse.state.records import PlanRevision
from streamhouse.state.schema import plan as plans

Unreadable = dict[str, StateConflictError]
"""Flow → why its plan cannot be read."""


@contextmanager
def noting(unreadable: Unreadable | None, flow: str) -> Iterator[None]:
    """Note the error of what is read in this block of a flow, and go on behind the block.

    Args:
        unreadable: Gets flow → error; None: the error is raised.
        flow: Whose plan, change or question is read.

    Raises:
        OtherVersionError, StateConflictError: it cannot be read, and `unreadable` is None.
    """
    try:
        yield
    except StateConflictError as error:
        if unreadable is None:
            raise
        unreadable[flow] = error


def refuse_unreadable(unreadable: Unreadable, flows: Collection[str]) -> None:
    """Refuse what is asked of flows of which one has a plan that cannot be read.

    Args:
        unreadable: As `newest_of_all` fills it.
        flows: Those that are asked for; empty: all flows.

    Raises:
        OtherVersionError, StateConflictError: the error of the first such flow.
    """
    for flow, error in unreadable.items():
        if not flows or flow in flows:
            raise error


def save(connection: Connection, plan: FlowPlan, now_ms: int) -> int:
    """Record `plan` as the flow's newest revision unless it already is; return its revision, from 1."""
    newest = connection.execute(_newest(plan.flow).with_for_update()).one_or_none()
    if newest is not None and newest.fingerprint == plan.fingerprint:
        return int(newest.revision)
    revision = newest.revision + 1 if newest is not None else 1
    connection.execute(
        insert(plans).values(
            flow=plan.flow,
            revision=revision,
            fingerprint=plan.fingerprint,
            body=plan.model_dump_json(),
            applied_ms=now_ms,
        )
    )
    return int(revision)


def newest(connection: Connection, flow: str) -> tuple[int, FlowPlan] | None:
    """The revision and plan applied last; None when there is none.

    Raises:
        OtherVersionError: it was written by a version whose plans this one cannot read.
        StateConflictError: it is damaged.
    """
    row = connection.execute(_newest(flow)).one_or_none()
    return (row.revision, _parsed(row)) if row is not None else None


def newest_of_all(connection: Connection, unreadable: Unreadable | None = None) -> dict[str, tuple[int, FlowPlan]]:
    """Flow → what `newest` gives, by name.

    Args:
        connection: To the state store.
        unreadable: Gets flow → error of each plan that cannot be read; None: the first such error is raised.

    Raises:
        OtherVersionError: as `newest`.
        StateConflictError: as `newest`.
    """
    last = select(plans.c.flow, func.max(plans.c.revision).label("revision")).group_by(plans.c.flow).subquery()
    joined = plans.join(last, (plans.c.flow == last.c.flow) & (plans.c.revision == last.c.revision))
    rows = connection.execute(select(plans).select_from(joined).order_by(plans.c.flow))
    found: dict[str, tuple[int, FlowPlan]] = {}
    for row in rows:
        with noting(unreadable, row.flow):
            found[row.flow] = row.revision, _parsed(row)
    return found


def at_revision(connection: Connection, flow: str, revision: int) -> FlowPlan | None:
    """An applied plan; None when there is none, or this version cannot read it.

    Raises:
        StateConflictError: it is damaged.
    """
    query = select(plans).where(plans.c.flow == flow, plans.c.revision == revision)
    row = connection.execute(query).one_or_none()
    try:
        return _parsed(row) if row is not None else None
    except OtherVersionError:
        return None


def history(connection: Connection, flow: str) -> Sequence[PlanRevision]:
    """Every revision of a flow, oldest first."""
    columns = (plans.c.flow, plans.c.revision, plans.c.fingerprint, plans.c.applied_ms)
    rows = connection.execute(select(*columns).where(plans.c.flow == flow).order_by(plans.c.revision))
    return [PlanRevision(row.flow, row.revision, row.fingerprint, from_ms(row.applied_ms)) for row in rows]


def tier_since(connection: Connection, flow: str, table: str, tier: Tier) -> datetime | None:
    """When a table of a flow got a tier that it has had ever since; None: it has none.

    A revision that this version cannot read does not count.

    Raises:
        StateConflictError: a revision is damaged.
    """
    since: datetime | None = None
    rows = connection.execute(select(plans).where(plans.c.flow == flow).order_by(plans.c.revision.desc()))
    for row in rows:
        try:
            found = _parsed(row).tables.get(table)
        except OtherVersionError:
            break
        if found is None or tier not in found.tiers.present:
            break
        since = from_ms(row.applied_ms)
    return since


def columns_ever(connection: Connection, flow: str) -> dict[str, set[str]]:
    """Table → every column that some revision of the flow wrote; also of revisions that this version cannot read."""
    found: dict[str, set[str]] = {}
    for body in connection.execute(select(plans.c.body).where(plans.c.flow == flow)).scalars():
        with parsing(f"a plan of flow '{flow}'"):
            for segment in json.loads(body).get("segments", ()):
                for step in segment.get("steps", ()):
                    table = step.get("writes", {})
                    found.setdefault(table.get("name"), set()).update(c.get("name") for c in table.get("columns", ()))
    return found


def _newest(flow: str) -> Select[tuple[object, ...]]:
    return select(plans).where(plans.c.flow == flow).order_by(plans.c.revision.desc()).limit(1)


@lru_cache(maxsize=1024)  # a plan is read far more often than it changes, and it is frozen
def _plan(body: str, fingerprint: str) -> FlowPlan | None:
    """The plan; None: its text is not the one of its fingerprint, which every version makes in the same way."""
    return FlowPlan.model_validate_json(body) if fingerprint_of(body) == fingerprint else None


def _parsed(row: Row[tuple[object, ...]]) -> FlowPlan:
    try:
        found = _plan(row.body, row.fingerprint)
    except ValidationError as error:
        raise OtherVersionError(
            f"revision {row.revision} of flow '{row.flow}' was recorded by another version of Streamhouse",
            hint="finish the run with the version that wrote it, or move the state store away",
        ) from error
    if found is None:
        raise damaged(f"revision {row.revision} of flow '{row.flow}'")
    return found
