"""Two flows of the small shop that were applied, and a record of one that cannot be read."""

import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

from streamhouse.model.plan import fingerprint_of
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.runtime.owner import this_owner
from streamhouse.state.records import EpochRecord

DAMAGED = "the state store is damaged: revision 1 of flow 'orders'"
OTHER_VERSION = "revision 1 of flow 'orders' was recorded by another version of Streamhouse"
HOW = {"damaged": DAMAGED, "of another version": OTHER_VERSION}
"""How the plan of `orders` is → what every look says of it."""


def write_another_flow(project: Project) -> None:
    """Add the flow `others`, which does the same as `orders` with tables of its own."""
    flow = (project.root / "flows" / "orders.yaml").read_text()
    other = flow.replace("flow: orders", "flow: others").replace("ods.orders", "ods.others")
    other = re.sub(r"(dw[ds]|ads)\.(\w+)", r"\1.other_\2", other)
    (project.root / "flows" / "others.yaml").write_text(other)


def apply_both(project: Project) -> None:
    """Add the second flow, and apply both."""
    write_another_flow(project)
    with project.state() as state:
        for plan in desired_plans(project).values():
            state.save_plan(plan)


def record_epoch(project: Project, *reads: str) -> None:
    """Record an epoch of `orders` that read these."""
    with project.state() as state:
        now = datetime.now(UTC)
        lease = state.acquire("orders", this_owner(), timedelta(hours=1), now)
        state.begin_epoch(lease, "main", 0, 1_000, now)
        end = {name: {"0": 1} for name in reads}
        state.finish_epoch(lease, EpochRecord("orders", "main", 0, 1_000, 1_005, 1_090, end=end))
        state.release(lease)


def spoil_plan(project: Project, how: str, flow: str = "orders") -> None:
    """Leave the applied plan of a flow as nothing can read it; `how` as of `HOW`."""
    body = '{"flow": 1}'
    fingerprint = fingerprint_of(body) if how == "of another version" else "0"
    with closing(sqlite3.connect(project.state_dir / "state.db")) as connection, connection:
        update = "UPDATE streamhouse_plan SET body = ?, fingerprint = ? WHERE flow = ?"
        connection.execute(update, (body, fingerprint, flow))
