"""A small flow over real stores that is edited while it runs."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from streamhouse.change.change_request import ask
from streamhouse.engine.execution import FlowExecution
from streamhouse.errors import StreamhouseError
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.outcome import FlowDiff
from streamhouse.model.types import Tier
from streamhouse.model.version import stored_name, table_at, table_name
from streamhouse.project.compare import Applied, Choices, compare
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.state.records import Change
from tests.oracle import assert_same_rows, batch
from tests.patience import PATIENCE_S, until

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

FLOW = "live"
ORDERS = "{order_id: int, customer: string, cents: bigint, tax: bigint}"
ACTIONS = {
    "keep": ("ingest", "{rows: {}}", "output: {extra_columns: pass}\n", "SELECT * FROM rows"),
    "valid": (
        "clean",
        f"{{rows: {ORDERS}}}",
        "output: {primary_key: [order_id]}\n",
        "SELECT order_id, customer, cents FROM rows WHERE cents > 0",
    ),
    "spent": (
        "aggregate",
        f"{{rows: {ORDERS}}}",
        "",
        "SELECT customer, SUM(cents) AS cents FROM rows GROUP BY customer",
    ),
    "average": (
        "aggregate",
        "{orders: {customer: string, cents: bigint}}",
        "",
        "SELECT customer, AVG(cents) AS cents FROM orders GROUP BY customer",
    ),
    "best": (
        "customize",
        "{customers: {customer: string, cents: bigint}}",
        "output: {primary_key: [customer]}\n",
        "SELECT customer, cents FROM customers WHERE cents > 50",
    ),
}
YAML = f"""\
flow: {FLOW}
freshness: 100ms
sources: {{orders: {{files: {{path: data/*.csv, columns: {ORDERS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.lv_orders}}
  - {{use: valid, reads: {{rows: ods.lv_orders}}, writes: dwd.lv_orders}}
  - {{use: spent, reads: {{rows: ods.lv_orders}}, writes: dws.lv_spent}}
  - {{use: average, reads: {{orders: dwd.lv_orders}}, writes: dws.lv_average}}
  - {{use: best, reads: {{customers: dws.lv_spent}}, writes: ads.lv_best}}
"""


def make_project(root: Path) -> None:
    """The files of the flow; no orders yet."""
    for folder in ("actions", "flows", "data"):
        (root / folder).mkdir()
    for name in ACTIONS:
        write_action(root, name)
    (root / "flows" / f"{FLOW}.yaml").write_text(YAML)


@contextmanager
def opened_project(root: Path, fluss: str, spark: "SparkSession") -> Iterator[Open]:
    """The flow's project over real services, its tables gone afterwards."""
    make_project(root)
    (root / "streamhouse.yaml").write_text(f"fluss: {fluss}\nauto_apply: all\n")  # for the processes of a test
    with opened(Project(root, Settings(fluss=fluss, auto_apply="all")), fluss, spark) as found:
        yield found


@contextmanager
def opened(project: Project, fluss: str, spark: "SparkSession") -> Iterator[Open]:
    """A project over real services, its tables gone afterwards."""
    stores = open_stores(project, spark, fluss)
    with project.state() as state:
        found = Open(project, spark, fluss, stores, state)
        yield found
        drop_tables(found)
    for store in stores.values():
        store.close()


def drop_tables(open_: Open) -> None:
    """Drop every version of every table of the flow."""
    versions = open_.state.versions()
    tables = {n: t for _, plan in open_.state.plans().values() for n, t in plan.tables.items()}
    for name, table in tables.items():
        for version in range(1, versions.get(name, 1) + 3):
            for tier in table.tiers.present:
                open_.stores[tier].drop(stored_name(name, version))


def served(open_: Open, name: str, tier: Tier | None = None, flow: str = FLOW) -> "pa.Table":
    """The rows of a table, of the version that serves."""
    table = table_at(plan_of(open_.project, flow).tables[name], open_.state.versions())
    return open_.stores[tier or table.tiers.target].read_state(table)


def expected(open_: Open) -> "dict[str, pa.Table]":
    """Table → what the SQL of the files makes of all rows, run once."""
    plan = plan_of(open_.project, FLOW)
    sources = {}
    for source in plan.sources:
        opened = open_source(source, open_.project.root)
        sources[source.name] = opened.read({}, opened.available())
    return batch(open_.spark, plan, sources)


def assert_equals_batch(open_: Open, *tables: str) -> None:
    """The tables (all, without any named) hold what `expected` gives."""
    plan, wanted = plan_of(open_.project, FLOW), expected(open_)
    for name in tables or plan.tables:
        assert_same_rows(served(open_, name), wanted[name], key=plan.tables[name].primary_key, name=name)


def write_action(root: Path, name: str, sql: str | None = None) -> None:
    step, inputs, output, query = ACTIONS[name]
    (root / "actions" / f"{name}.sql").write_text(
        f"/* ---\naction: {name}\nstep: {step}\ninputs: {inputs}\n{output}--- */\n{sql or query}\n"
    )


def orders(number: int, rows: int = 20) -> list[tuple[int, int]]:
    """Number and cents of the orders of a file, in its order; some of the one before come again."""
    first = number * rows - rows // 4 if number else 0
    return [(i, (i * 37 + number) % 90 - 10) for i in range(first, number * rows + rows)]


def add(root: Path, number: int) -> None:
    """One more file of orders, which appears as a whole."""
    lines = [f"{i},c{i % 7},{cents},{i % 5}" for i, cents in orders(number)]
    new = root / "data" / ".new"
    new.write_text("\n".join(["order_id,customer,cents,tax", *lines]) + "\n")
    new.replace(root / "data" / f"{number:04}.csv")


class Live:
    """A flow that runs in a thread of this process."""

    def __init__(self, open_: Open) -> None:
        self.open = open_
        self.root = open_.project.root
        self.files = 0
        self._executions: list[FlowExecution] = []
        self._thread = threading.Thread(target=self._run)
        self.error: StreamhouseError | None = None

    def _run(self) -> None:
        plan = plan_of(self.open.project, FLOW)
        try:
            carry(
                self.open,
                plan,
                Meter(plan, lambda _: None, once=False),
                once=False,
                on_execution=self._executions.append,
            )
        except StreamhouseError as error:
            self.error = error

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for execution in self._executions:
            execution.stop()
        self._thread.join(PATIENCE_S)

    def add(self) -> None:
        add(self.root, self.files)
        self.files += 1

    def until(self, condition: Callable[[], bool], what: str = "") -> None:
        def look() -> bool:
            found = condition()
            if self.error and not found:
                raise self.error
            return found

        until(look, what=what)

    def drained(self) -> None:
        """Wait until every file is in every layer."""
        plan = plan_of(self.open.project, FLOW)
        (source,) = plan.sources
        wanted = open_source(source, self.root).available()

        def there() -> bool:
            found = {s.name: self.open.state.last_epoch(FLOW, s.name) for s in plan.segments}
            last = {name: epoch for name, epoch in found.items() if epoch is not None}
            if len(last) < len(found):
                return False
            ends = {table_name(name): end for r in last.values() for name, end in r.ends.items()} | {"orders": wanted}
            read = {s.name: {table_name(name): end for name, end in last[s.name].end.items()} for s in plan.segments}
            return all(
                read[s.name].get(name) == ends[name] for s in plan.segments for name in s.reads if name not in s.tables
            )

        self.until(there, "the rows did not come through")

    def epoch(self) -> int:
        last = self.open.state.last_epoch(FLOW, "main")
        assert last is not None
        return last.epoch

    def isolate(self, table: str) -> None:
        """Give the step that writes a table a clock of its own."""
        file = self.root / "flows" / f"{FLOW}.yaml"
        file.write_text(file.read_text().replace(f"writes: {table}}}", f"writes: {table}, isolate: true}}"))

    def apply(self, choices: Choices | None = None) -> tuple[FlowDiff, Change]:
        """Ask for what the files say, and wait until it is done; the change."""
        state = self.open.state
        compared = compare(plan_of(self.open.project, FLOW), Applied.of(state), {})
        change = ask(state, compared, "test", choices)
        self.until(lambda: not state.change(change.id).is_open, f"change {change.id} is not done")
        return compared.found, state.change(change.id)

    def rows(self, table: str, tier: Tier | None = None) -> "pa.Table":
        return served(self.open, table, tier)

    def assert_equals_batch(self, *tables: str) -> None:
        assert_equals_batch(self.open, *tables)
