"""A small project whose sources somebody else changes; what is applied is recorded as a run would."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from streamhouse.errors import StateConflictError
from streamhouse.project.check import check_project
from streamhouse.project.known_inputs import KnownInputs
from streamhouse.project.project import Project
from streamhouse.registry import Registry
from streamhouse.state.store import StateStore
from streamhouse.trigger.result import DecidedChange, FlowLook
from streamhouse.trigger.trigger import Trigger

ACTIONS = {
    "take": ("ingest", "rows: {}", "", "SELECT * FROM rows"),
    "clean": (
        "clean",
        "rows: {id: bigint, price: bigint}",
        "output: {primary_key: [id], extra_columns: pass}",
        "SELECT id, price FROM rows WHERE price > 0",
    ),
    "totals": (
        "aggregate",
        "rows: {id: bigint, price: bigint}",
        "output: {primary_key: [id], extra_columns: pass}",
        "SELECT id, price * 2 AS twice FROM rows",
    ),
    "board": (
        "customize",
        "rows: {id: bigint, twice: bigint}",
        "output: {primary_key: [id], extra_columns: pass}",
        "SELECT id, twice FROM rows",
    ),
}
FLOW = """flow: shop
sources: {rows: {files: {path: data/*.json}}}
steps:
  - {use: take, reads: {rows: rows}, writes: ods.rows}
  - {use: clean, reads: {rows: ods.rows}, writes: dwd.sales}
  - {use: totals, reads: {rows: dwd.sales}, writes: dws.totals}
"""
BOARDS = """flow: boards
steps:
  - {use: board, reads: {rows: dws.totals}, writes: ads.board}
"""


class World:
    def __init__(self, project: Project, state: StateStore) -> None:
        self.project, self.state = project, state
        self.applied: list[DecidedChange] = []
        self.fails = False
        self.trigger = Trigger(project, state, {}, self.apply)

    def apply(self, change: DecidedChange) -> None:
        if self.fails or change.beyond:
            raise StateConflictError("the flow does not run")
        self.applied.append(change)
        self.state.save_plan(change.plan, definition=change.definition)

    def rows(self, name: str, **row: Any) -> None:
        (self.project.root / "data" / f"{name}.json").write_text(json.dumps(row) + "\n")

    def without_price(self) -> None:
        for name in ("2", "3", "4"):
            self.rows(name, id=2, note="b")

    def flow(self, rules: str = "", name: str = "shop", text: str = FLOW) -> None:
        (self.project.root / "flows" / f"{name}.yaml").write_text(text + rules)

    def action(self, name: str, old: str, new: str) -> None:
        file = self.project.root / "actions" / f"{name}.sql"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    def run(self) -> None:
        registry = Registry.load(self.project.root)
        registry.check()
        checked = check_project(self.project, registry, KnownInputs.of(self.state))
        assert not checked.errors
        for plan in checked.plans.values():
            self.state.save_plan(plan, definition=registry.definition(plan.flow))
            self.trigger.pin(plan.flow)

    def look(self, flow: str = "shop") -> FlowLook:
        self.applied.clear()
        return {one.flow: one for one in self.trigger.look()}[flow]

    def columns(self, table: str, flow: str = "shop") -> tuple[str, ...]:
        plan = self.state.plan(flow)
        assert plan is not None
        return plan[1].tables[table].column_names

    def events(self, flow: str = "shop") -> dict[str, str]:
        return {str(r.event).split(": ", 1)[1]: r.status for r in self.state.upstream.events(flow)}


@contextmanager
def made_world(root: Path, auto_apply: str) -> Iterator[World]:
    """The project, which ran once; `auto_apply` as in its settings."""
    for folder in ("actions", "flows", "data"):
        (root / folder).mkdir()
    for name, (step, inputs, output, sql) in ACTIONS.items():
        header = "\n".join(
            part for part in (f"action: {name}", f"step: {step}", f"inputs: {{{inputs}}}", output) if part
        )
        (root / "actions" / f"{name}.sql").write_text(f"/* ---\n{header}\n--- */\n{sql}\n")
    (root / "streamhouse.yaml").write_text(f"auto_apply: {auto_apply}\n")
    project = Project.at(root)
    with project.state() as state:
        made = World(project, state)
        made.flow()
        made.flow(name="boards", text=BOARDS)
        made.rows("1", id=1, price=5, note="a")
        made.run()
        yield made
