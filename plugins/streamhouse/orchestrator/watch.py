"""What Airflow watches in the state store: changes upstream and approvals, and rows that were committed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from airflow.sdk import Asset, AssetAlias  # noqa: TID253  this module is for Airflow alone
from airflow.triggers.base import BaseEventTrigger, TriggerEvent  # noqa: TID253

from streamhouse.errors import StreamhouseError
from streamhouse.orchestrator.operators import ProjectOperator
from streamhouse.orchestrator.spec import table_asset
from streamhouse.orchestrator.state_store import existing_state
from streamhouse.state.store import StateStore

T = TypeVar("T")

COMMITTED = "streamhouse.committed"
"""Name of the alias through which tables get their events."""

_STATE_KEY = "seen"


class _StateTrigger(BaseEventTrigger):  # type: ignore[misc]
    """An event whenever something in the state store is other than it was, over restarts of Airflow."""

    def __init__(self, project: str, poll: float) -> None:
        super().__init__()
        self.project = project
        self.poll = poll

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """How another triggerer makes it again."""
        return f"{type(self).__module__}.{type(self).__qualname__}", {"project": self.project, "poll": self.poll}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look without end. What was seen is remembered after its event: after a crash one may come twice."""
        while True:
            now = await asyncio.to_thread(self._look)
            before = await self.asset_state_store.aget(_STATE_KEY)
            if now is not None and now != before:
                payload = self.payload(before, now)
                if payload:
                    yield TriggerEvent(payload)
                await self.asset_state_store.aset(_STATE_KEY, now)
            await asyncio.sleep(self.poll)

    def look(self, state: StateStore) -> Any:
        """What is compared; JSON."""
        raise NotImplementedError

    def payload(self, before: Any, now: Any) -> dict[str, Any] | None:
        """The content of the event; None: it is no event."""
        raise NotImplementedError

    def _look(self) -> Any:
        return _read(self.project, self.look, lambda error: self.log.warning("%s", error))


class NewsTrigger(_StateTrigger):
    """A change upstream was noted or settled, or somebody was asked or answered."""

    def __init__(self, project: str, poll: float = 5.0) -> None:
        super().__init__(project, poll)

    def look(self, state: StateStore) -> Any:
        """Stamps of both tables."""
        return {"changes": list(state.upstream.stamp()), "approvals": list(state.approvals.stamp())}

    def payload(self, before: Any, now: Any) -> dict[str, Any] | None:
        """Which of the two it is; of a project where nothing ever changed there is nothing to tell."""
        previous = before or {}
        found = [what for what, stamp in now.items() if stamp[0] and stamp != previous.get(what)]
        return {"news": found} if found else None


class CommitTrigger(_StateTrigger):
    """Rows were committed: once for each round, however many epochs it had."""

    def __init__(self, project: str, poll: float = 60.0) -> None:
        super().__init__(project, poll)

    def look(self, state: StateStore) -> Any:
        """Table → rows ever written."""
        return state.overview.rows_written()

    def payload(self, before: Any, now: Any) -> dict[str, Any] | None:
        """Table → rows that came since."""
        previous = before or {}
        rows = {
            table: count - previous.get(table, 0) for table, count in now.items() if count != previous.get(table, 0)
        }
        return {"rows": rows} if rows else None


class CommitsOperator(ProjectOperator):
    """Gives the asset of each table that got rows in a round an event with their number."""

    ui_color = "#e3e3f3"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(outlets=[AssetAlias(COMMITTED)], **kwargs)

    def work(self, context: Any) -> dict[str, int]:
        """Emit; several rounds that Airflow handed over at once are one."""
        rows: dict[str, int] = {}
        for event in (e for events in context["triggering_asset_events"].values() for e in events):
            payload = (event.extra or {}).get("payload") or event.extra or {}
            for table, count in (payload.get("rows") or {}).items():
                rows[table] = rows.get(table, 0) + count
        with self.state() as state:
            tables = {name: table for _, plan in state.plans({}).values() for name, table in plan.tables.items()}
        for name, count in rows.items():
            if name in tables:
                spec = table_asset(tables[name])
                asset = Asset(name=spec.name, uri=spec.uri, group=spec.group)
                context["outlet_events"][AssetAlias(COMMITTED)].add(asset, extra={"rows": count})
        self.log.info("%s", ", ".join(f"{name}: {count} rows" for name, count in rows.items()) or "no rows")
        return rows


def _read(project: str, look: Callable[[StateStore], T], say: Callable[[StreamhouseError], None]) -> T | None:
    """None: nothing ever ran, or the state store is away."""
    try:
        state = existing_state(project)
        if state is None:
            return None
        with state:
            return look(state)
    except StreamhouseError as error:
        if not error.retryable:
            raise
        say(error)
        return None
